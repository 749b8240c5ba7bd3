//! One file per request. A handler takes what it needs of the session before its first wait and
//! asks the engine on the pool, about one version of the document (see [`super::about`]).

pub(super) mod code_action;
pub(super) mod code_lens;
pub(super) mod definition;
pub(super) mod diagnostic;
pub(super) mod document_highlight;
pub(super) mod document_symbol;
pub(super) mod document_text;
pub(super) mod execute_command;
pub(super) mod hover;
pub(super) mod inlay_hint;
pub(super) mod references;
pub(super) mod runs;
pub(super) mod server_info;
mod symbol_kind;
pub(super) mod test_hooks;
pub(super) mod workspace_diagnostic;
pub(super) mod workspace_symbol;
