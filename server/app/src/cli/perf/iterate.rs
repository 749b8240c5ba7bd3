//! `tileperf perf iterate`: one change, kept or reverted by rule.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Args;
use tileperf_perf::event::{Origin, RunEnd};
use tileperf_perf::flow::{Change, Loop, Outcome};

use super::super::trust::require_trust;
use super::begun::with_begun;
use super::session::{Format, Named, RunArgs};
use super::setup::WishArgs;

/// Test and time the change that is saved in the kernel's files, and keep or revert it by rule.
///
/// Starts a session and measures the baseline first where that was not done. Exit code 0: kept, or
/// the baseline was measured and nothing was changed. 1: reverted, crashed, cancelled, or no change.
#[derive(Debug, Args)]
pub(crate) struct IterateArgs {
    #[command(flatten)]
    run: RunArgs,

    #[command(flatten)]
    wishes: WishArgs,

    /// What to call the change in the table; without it, its first changed line.
    #[arg(long, short = 'm', value_name = "NAME")]
    name: Option<String>,

    /// Run on in the background, also when the terminal closes. `perf attach` follows it.
    #[arg(long)]
    detach: bool,
}

/// Runs `tileperf perf iterate`.
pub(crate) fn run(args: &IterateArgs) -> anyhow::Result<ExitCode> {
    let named = Named::parse(args.run.kernel.kernel.as_deref())?;
    let engine = named.engine(&args.run.kernel.settings, args.run.trust);
    require_trust(&engine, &named.root)?;
    if args.detach {
        return detach();
    }
    let work = |looped: &mut Loop<'_>| {
        let had_baseline = looped.session().has_baseline();
        if !had_baseline {
            looped.baseline()?;
        }
        let outcome = looped.iterate(Change {
            optimization: args.name.clone(),
            origin: Origin::User,
            proposals: Vec::new(),
        })?;
        conclude(looped, &outcome, had_baseline, args.run.format)
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

/// The exit code for what became of a change; says what a person could not see from the events.
pub(super) fn conclude(
    looped: &Loop<'_>,
    outcome: &Outcome,
    had_baseline: bool,
    format: Format,
) -> anyhow::Result<ExitCode> {
    let run = match outcome {
        Outcome::NothingToTry => {
            if format == Format::Text {
                let files: Vec<String> = (looped.session().plan.files.iter())
                    .map(|f| f.display().to_string())
                    .collect();
                writeln!(
                    io::stdout(),
                    "nothing to try: {} as in the last kept iteration. Save a change and run this \
                     again",
                    match files.as_slice() {
                        [one] => format!("{one} is"),
                        many => format!("{} are", many.join(", ")),
                    }
                )?;
            }
            return Ok(ExitCode::from(u8::from(had_baseline)));
        }
        Outcome::Cited(_) => return Ok(ExitCode::from(1)),
        Outcome::Ran(run) => *run,
    };
    let kept = looped.session().runs.iter().any(|r| r.run == run && r.kept);
    let crashed = looped
        .session()
        .runs
        .iter()
        .any(|r| r.run == run && matches!(r.end, Some(RunEnd::Crashed { .. })));
    Ok(ExitCode::from(u8::from(!kept || crashed)))
}

/// Starts this very command again, without `--detach`, on its own.
pub(super) fn detach() -> anyhow::Result<ExitCode> {
    let program = std::env::current_exe()?;
    let arguments = std::env::args_os().skip(1).filter(|a| a != "--detach");
    let log = crate::dirs::state()?.join("detached.log");
    if let Some(folder) = log.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let detached = tileperf_proc::Guarded::new(program)
        .args(arguments)
        .spawn_detached(Some(&log))?;
    writeln!(
        io::stdout(),
        "runs on as process {}; `tileperf perf attach` follows it, its output is in {}",
        detached.pid,
        log.display()
    )?;
    Ok(ExitCode::SUCCESS)
}
