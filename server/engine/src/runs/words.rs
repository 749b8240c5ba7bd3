//! States and decisions of the loop in few words.

use tileperf_perf::event::{RunEnd, RunKind, Stage};
use tileperf_perf::report;
use tileperf_perf::session::Run;
use tileperf_perf::verdict::{Decision, Why};

use super::note::RunState;

/// Longer reasons are cut: a lens is one line.
const LONGEST: usize = 60;

/// A stage of a run.
pub(super) fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Preparing => "preparing",
        Stage::Correctness => "correctness",
        Stage::Warming => "starting the benchmark",
        Stage::Measuring => "measuring",
        Stage::Deciding => "deciding",
    }
}

/// The last decision: `kept: 22.68 % faster`, `reverted: slower in 2 configurations`.
pub(super) fn verdict(decision: &Decision) -> String {
    let count = |n: usize, one: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    };
    match &decision.why {
        Why::LargeGain | Why::MediumGain | Why::SmallGain => format!("kept: {}", total(decision)),
        Why::Fixed => "kept: right results now".to_owned(),
        Why::SameProgram => "no change: same program".to_owned(),
        Why::Incorrect { tests } => {
            let fail = if tests.len() == 1 { "fails" } else { "fail" };
            format!("reverted: {} {fail}", count(tests.len(), "test"))
        }
        Why::Unverified => "reverted: no test ran".to_owned(),
        Why::Lost { configurations: of } => {
            format!("reverted: {} lost", count(of.len(), "configuration"))
        }
        Why::MeasuringError { configurations: of } => format!(
            "reverted: measuring error in {}",
            count(of.len(), "configuration")
        ),
        Why::NothingMeasured => "reverted: nothing measured".to_owned(),
        Why::Slower => format!(
            "reverted: slower in {}",
            count(decision.slower.len(), "configuration")
        ),
        Why::Mixed => format!(
            "reverted: faster in {}, slower in {}",
            decision.faster.len(),
            decision.slower.len()
        ),
        Why::SlowerThanStart { .. } => "reverted: slower than iteration 0".to_owned(),
        Why::NoImprovement => "reverted: no improvement".to_owned(),
    }
}

/// The change of the total: `22.68 % faster`.
fn total(decision: &Decision) -> String {
    match decision.total.map(|total| total.change()) {
        Some(change) if change < 0.0 => format!("{:.2} % faster", -change * 100.0),
        Some(change) => format!("{:.2} % slower", change * 100.0),
        None => "not measured".to_owned(),
    }
}

/// What a run that has no decision came to, if that says something about the change.
pub(super) fn ended(end: &RunEnd) -> Option<String> {
    match end {
        RunEnd::Crashed { why } => Some(format!("crashed: {}", first_line(why))),
        RunEnd::NoChange => Some("no change: same compiled code".to_owned()),
        _ => None,
    }
}

/// What a run came to for its change; nothing if it says nothing of it.
pub(crate) fn in_words(run: &Run) -> Option<String> {
    if run.kind == RunKind::Experiment {
        return report::experiment(run);
    }
    match (&run.decision, &run.end) {
        (Some((_, decision)), Some(_)) => Some(verdict(decision)),
        (_, Some(end)) => ended(end),
        (_, None) => None,
    }
}

/// How a run stands; `held`: a process runs its session now.
pub(super) fn state(run: &Run, held: bool) -> RunState {
    match &run.end {
        None if held => RunState::Running,
        None | Some(RunEnd::Interrupted) => RunState::Interrupted,
        Some(RunEnd::Completed) if run.kept || run.kind == RunKind::Check => RunState::Kept,
        Some(RunEnd::Completed) if run.kind == RunKind::Experiment => RunState::NoChange,
        Some(RunEnd::Completed) => RunState::Reverted,
        Some(RunEnd::NothingToTry | RunEnd::NoChange) => RunState::NoChange,
        Some(RunEnd::Cited { .. }) => RunState::Cited,
        Some(RunEnd::Crashed { .. }) => RunState::Crashed,
        Some(RunEnd::Cancelled) => RunState::Cancelled,
        Some(RunEnd::Refused { .. }) => RunState::Refused,
    }
}

/// How a run stands, for people. `stage`: the present one in words.
pub(super) fn sentence(run: &Run, state: RunState, stage: &str) -> String {
    let what = match run.kind {
        RunKind::Baseline => "the baseline".to_owned(),
        RunKind::Iteration => format!("iteration {}", run.iteration),
        RunKind::Check => "the check of what was kept".to_owned(),
        RunKind::Experiment => "the experiment".to_owned(),
    };
    match (&run.end, &run.decision) {
        (Some(RunEnd::Completed), Some((_, sum))) if run.kind == RunKind::Check => {
            format!("From the original to the current code: {}.", total(sum))
        }
        (Some(RunEnd::Completed), Some(_)) if run.kind == RunKind::Experiment => {
            let found = report::experiment(run).unwrap_or_default();
            format!("Experiment: {found}.")
        }
        (Some(RunEnd::Completed), Some((_, decision))) => decision.sentence(),
        (Some(RunEnd::Completed), None) => "The baseline is measured.".to_owned(),
        (Some(RunEnd::NothingToTry), _) => "Nothing was changed.".to_owned(),
        (Some(RunEnd::NoChange), _) => "No change: the compiled code is the same.".to_owned(),
        (Some(RunEnd::Cited { run }), _) => {
            format!("This code was measured before, in run {run}; its result stands.")
        }
        (Some(RunEnd::Crashed { why }), _) => format!("Crashed and taken back: {why}"),
        (Some(RunEnd::Cancelled), _) if run.kind != RunKind::Iteration => {
            "Cancelled; nothing was measured.".to_owned()
        }
        (Some(RunEnd::Cancelled), _) if run.tried.as_ref().is_some_and(|t| t.proposed) => {
            "Cancelled, unmeasured; your files are as they were.".to_owned()
        }
        (Some(RunEnd::Cancelled), _) => {
            "Cancelled; the change is still in your files, unmeasured.".to_owned()
        }
        (Some(RunEnd::Refused { why }), _) => format!("Not run: {why}"),
        (None, _) if state == RunState::Running => match (run.stage, run.looked) {
            (Some(Stage::Measuring), Some((pairs, decided, of))) => format!(
                "Running {what}: {stage}, {pairs} pairs, {decided} of {of} configurations decided."
            ),
            _ => format!("Running {what}: {stage}."),
        },
        (None | Some(RunEnd::Interrupted), _) => {
            format!("The process that ran {what} vanished; the next run finishes or undoes it.")
        }
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line.to_owned(),
    }
}
