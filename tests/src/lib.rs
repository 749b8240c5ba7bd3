//! What the end-to-end tests share: a language client that is stricter than any editor.
//!
//! [`client::Client`] starts the real binary, speaks the protocol over its pipes and keeps every
//! message. Everything it waits for has a time limit, a second response to one request fails the
//! test at once, and [`client::Client::finish`] fails it for anything left over that an editor's
//! user would have seen: an error message, an error in the log, an answer nobody waited for.

pub mod client;
pub mod gym;
pub mod process;
pub mod project;
pub mod random;
pub mod wire;
