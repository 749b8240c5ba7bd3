//! `tileperf completions`: a completion script for the user's shell.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;

/// Print a script that teaches your shell to complete tileperf commands.
///
/// For bash:  tileperf completions bash > ~/.local/share/bash-completion/completions/tileperf
/// For zsh:   tileperf completions zsh > "${fpath[1]}/_tileperf"
/// For fish:  tileperf completions fish > ~/.config/fish/completions/tileperf.fish
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    about = "Print a script that teaches your shell to complete tileperf commands"
)]
pub(crate) struct CompletionsArgs {
    /// The shell to print the script for.
    shell: Shell,
}

/// Writes the script for `command` to standard output.
pub(crate) fn run(args: &CompletionsArgs, command: &mut clap::Command) -> anyhow::Result<ExitCode> {
    // Generated in memory first: the generator panics when its writer fails.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "tileperf", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
