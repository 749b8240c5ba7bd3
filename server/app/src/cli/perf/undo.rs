//! `tileperf perf undo`: take one kept iteration back.

use std::process::ExitCode;

use clap::Args;

use super::session::{Format, KernelArgs, Named, with_session};

/// Undo a kept iteration by a commit on top; without a number, the last one.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    kernel: KernelArgs,

    /// The iteration, as the table numbers it.
    #[arg(long, value_name = "N")]
    iteration: Option<u32>,
}

/// Runs `tileperf perf undo`.
pub(crate) fn run(args: &UndoArgs) -> anyhow::Result<ExitCode> {
    let named = Named::parse(args.kernel.kernel.as_deref())?;
    let (store, session) = named.session(false)?;
    with_session(&store, &session, Format::Text, None, |looped| {
        looped.undo(args.iteration)?;
        Ok(ExitCode::SUCCESS)
    })
}
