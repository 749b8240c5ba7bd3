//! `tileperf lsp`: the language server on standard input and output.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::Args;

/// Run the language server. Editors start it; there is nothing to type here.
///
/// The server speaks the Language Server Protocol on standard input and output. Set it up in the
/// editor: the VS Code and Cursor extension and the Neovim plugin start this command themselves.
#[derive(Debug, Args)]
pub(crate) struct LspArgs {
    /// Accepted because several editors pass it; standard input and output are the only transport.
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Serves until the editor says `exit`, closes the pipe or dies.
pub(crate) fn run(_args: &LspArgs) -> anyhow::Result<ExitCode> {
    if io::stdin().is_terminal() {
        let hint = "tileperf lsp is started by an editor and waits for its messages on standard \
                    input.\nPress Ctrl-C to leave; `tileperf --help` lists commands for a terminal.\n";
        let _ = io::stderr().write_all(hint.as_bytes());
    }
    crate::lsp::run()
}
