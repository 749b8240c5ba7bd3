//! One file per request. A handler takes what it needs of the current state before its first wait,
//! so that it answers for the documents as they were when the request arrived.

pub(super) mod diagnostic;
pub(super) mod document_text;
pub(super) mod server_info;
pub(super) mod test_hooks;
