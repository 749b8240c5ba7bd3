//! `tileperf perf resume`: go on after a stop or a crash.

use std::process::ExitCode;

use clap::Args;

use super::session::{Format, KernelArgs, Named, with_session};

/// Go on with a stopped session, after finishing or undoing what a killed run left.
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    kernel: KernelArgs,

    /// Go on after small gains, too.
    #[arg(long)]
    go_on: bool,
}

/// Runs `tileperf perf resume`.
pub(crate) fn run(args: &ResumeArgs) -> anyhow::Result<ExitCode> {
    let named = Named::parse(args.kernel.kernel.as_deref())?;
    let (store, session) = named.session(false)?;
    with_session(&store, &session, Format::Text, None, |looped| {
        looped.resume(args.go_on)?;
        Ok(ExitCode::SUCCESS)
    })
}
