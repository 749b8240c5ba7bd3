//! The `tileperf` binary: the language server for editors and the same engine on the command line.
//!
//! This crate is the edge of the program. It is the only one that knows the Language Server
//! Protocol, JSON-RPC or the terminal; what it shows comes from the engine as plain data.

mod cli;
mod dirs;
mod local_gpu;
mod logging;
mod lsp;

use std::process::ExitCode;

use tikv_jemallocator::Jemalloc;

/// An edit makes and drops thousands of small values, on one thread and then on another: the
/// system's allocator takes a fifth of the time from key press to diagnostics. How many arenas it
/// has, which memory is for, is set in `.cargo/config.toml`.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    cli::run()
}
