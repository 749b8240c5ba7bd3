//! The `tileperf` binary: the language server for editors and the same engine on the command line.
//!
//! This crate is the edge of the program. It is the only one that knows the Language Server
//! Protocol, JSON-RPC or the terminal; what it shows comes from the engine as plain data.

mod cli;
mod dirs;
mod logging;
mod lsp;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
