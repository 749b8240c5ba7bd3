//! `tileperf perf abandon`: give a session up.

use std::process::ExitCode;

use clap::Args;

use super::session::{Format, KernelArgs, Named, with_session};

/// Give the session up: branch and files are as they were before it. Its journal stays.
#[derive(Debug, Args)]
pub(crate) struct AbandonArgs {
    #[command(flatten)]
    kernel: KernelArgs,
}

/// Runs `tileperf perf abandon`.
pub(crate) fn run(args: &AbandonArgs) -> anyhow::Result<ExitCode> {
    let named = Named::parse(args.kernel.kernel.as_deref())?;
    let (store, session) = named.session(false)?;
    with_session(&store, &session, Format::Text, None, |looped| {
        looped.abandon()?;
        Ok(ExitCode::SUCCESS)
    })
}
