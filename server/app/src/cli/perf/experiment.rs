//! `tileperf perf experiment`: a measurement of something that is never kept.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use tileperf_perf::flow::{Experiment, Loop};

use super::super::trust::require_trust;
use super::begun::with_begun;
use super::session::{Format, Named, RunArgs};
use super::setup::WishArgs;

/// Measure something that is never kept: what a part of the kernel costs, or what a switch does.
///
/// The journal has the result, for reports and plans; table, branch and files stay as they are. Starts a
/// session and measures the baseline first where that was not done. Exit code 0: measured. 1: there is
/// no saved change. 2: it could not be measured.
#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs {
    /// What to compare the last kept code with.
    #[arg(value_enum, value_name = "WHAT")]
    what: What,

    #[command(flatten)]
    run: RunArgs,

    /// The kernel's name, where only its file is given or nothing.
    #[arg(long = "kernel", value_name = "NAME")]
    called: Option<String>,

    #[command(flatten)]
    wishes: WishArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// The saved change, without testing its results: something trivial in place of a costly part shows
    /// what that part costs. Take it back afterwards.
    Saved,
    /// The same code compiled by CUDA_TILE_TESTING_DISABLE_TOKEN_ORDER=1, without the order that cuTile
    /// keeps between memory operations. A switch for testing: results may be wrong, now or later, so the
    /// tests run, and no code may rely on it.
    TokenOrder,
}

/// Runs `tileperf perf experiment`.
pub(crate) fn run(args: &ExperimentArgs) -> anyhow::Result<ExitCode> {
    let named = Named::parse(args.run.kernel.kernel.as_deref())?.called(args.called.as_deref());
    let named = named.or_of_session();
    let engine = named.engine(&args.run.kernel.settings, args.run.trust);
    require_trust(&engine, &named.root)?;
    let what = match args.what {
        What::Saved => Experiment::Saved,
        What::TokenOrder => Experiment::TokenOrder,
    };
    let work = |looped: &mut Loop<'_>| {
        if !looped.session().has_baseline() {
            looped.baseline()?;
        }
        let run = looped.experiment(what)?;
        if run.is_none() && args.run.format == Format::Text {
            writeln!(io::stdout(), "there is no saved change to measure")?;
        }
        Ok(ExitCode::from(u8::from(run.is_none())))
    };
    let wishes = args.wishes.wishes();
    with_begun(
        &named,
        &engine,
        args.run.format,
        &wishes,
        |_, _| Ok(()),
        work,
    )
}
