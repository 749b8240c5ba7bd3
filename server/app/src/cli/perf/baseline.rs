//! `tileperf perf baseline`: iteration 0.

use std::process::ExitCode;

use clap::Args;

use super::super::trust::require_trust;
use super::session::{Named, RunArgs, with_session};

/// Test and time the code as it is, and against itself.
#[derive(Debug, Args)]
pub(crate) struct BaselineArgs {
    #[command(flatten)]
    run: RunArgs,
}

/// Runs `tileperf perf baseline`.
pub(crate) fn run(args: &BaselineArgs) -> anyhow::Result<ExitCode> {
    let named = Named::parse(args.run.kernel.kernel.as_deref())?;
    let (store, session) = named.session(false)?;
    let engine = named.engine(&args.run.kernel.settings, args.run.trust);
    require_trust(&engine, &named.root)?;
    with_session(&store, &session, args.run.format, None, |looped| {
        looped.baseline()?;
        Ok(ExitCode::SUCCESS)
    })
}
