//! `tileperf perf finish`: the result goes to the branch that the session started from.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use tileperf_perf::flow::How;

use super::session::{Format, KernelArgs, Named, with_session};

/// End the session with everything that was kept, and return to the branch it started from.
#[derive(Debug, Args)]
pub(crate) struct FinishArgs {
    #[command(flatten)]
    kernel: KernelArgs,

    /// Keep one commit for each kept iteration, instead of one for all.
    #[arg(long)]
    commits: bool,
}

/// Runs `tileperf perf finish`.
pub(crate) fn run(args: &FinishArgs) -> anyhow::Result<ExitCode> {
    let named = Named::parse(args.kernel.kernel.as_deref())?;
    let (store, session) = named.session(false)?;
    let how = if args.commits {
        How::Commits
    } else {
        How::Squash
    };
    with_session(&store, &session, Format::Text, None, |looped| {
        looped.finish(how)?;
        writeln!(
            io::stdout(),
            "`tileperf perf report --pull-request` writes the text for a pull request"
        )?;
        Ok(ExitCode::SUCCESS)
    })
}
