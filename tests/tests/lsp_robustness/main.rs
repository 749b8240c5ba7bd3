//! The server survives its client: each robustness promise of the language server is a test here,
//! against the real binary over its real pipes.

mod edits;
mod ending;
mod lifecycle;
mod malformed;
mod requests;
mod silence;
mod workspace;

/// A document that no other test opens.
const URI: &str = "file:///project/kernel.py";
