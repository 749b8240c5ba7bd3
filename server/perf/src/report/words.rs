//! Numbers, times and verdicts as words, the same in every form of the report.

use std::path::Path;

use crate::event::{Origin, RunEnd, RunKind};
use crate::plan::{Device, Place};
use crate::readings::{Change, Key};
use crate::session::Run;
use crate::stats::{Estimate, Method, Noise, Variant};
use crate::verdict::{Correctness, Decision, Stop, Why};

/// Names listed before "and so many more".
const MOST_NAMES: usize = 5;

/// A relative change: -0.0951 is `-9.51 %`.
pub(super) fn percent(change: f64) -> String {
    if !change.is_finite() {
        return "not known".to_owned();
    }
    let text = format!("{:+.2} %", change * 100.0);
    match text.as_str() {
        "-0.00 %" | "+0.00 %" => "0.00 %".to_owned(),
        _ => text,
    }
}

/// A share without a sign: 0.012 is `1.20 %`.
pub(super) fn share(value: f64) -> String {
    if value.is_finite() {
        format!("{:.2} %", value * 100.0)
    } else {
        "not known".to_owned()
    }
}

/// What two processes of the same code differ by, where it was looked at.
pub(super) fn between_processes(noise: &Noise) -> String {
    match noise.draws {
        0 => "not known".to_owned(),
        _ => share(noise.between),
    }
}

/// The ends of an interval.
pub(super) fn interval(estimate: &Estimate) -> String {
    let (low, high) = estimate.change_interval();
    format!("{} to {}", percent(low), percent(high))
}

/// A duration for people: `42 s`, `3 min 20 s`.
pub(super) fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "not known".to_owned();
    }
    let whole = seconds.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, _) if seconds < 10.0 => format!("{seconds:.1} s"),
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// `2026-11-29 10:15 UTC` of a journal's time; what is no time stays as it is.
pub(super) fn moment(at: &str) -> String {
    match at.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => at.to_owned(),
    }
}

/// A device in a few words: `NVIDIA H200 (sm_90)`.
pub(super) fn device(device: &Device) -> String {
    match &device.arch {
        Some(arch) => format!("{} ({arch})", device.name),
        None => device.name.clone(),
    }
}

/// `1 pair`, `3 pairs`.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{number} {many}"),
    }
}

/// With a capital letter.
pub(super) fn capital(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().chain(characters).collect(),
        None => String::new(),
    }
}

/// The first names of a list, and how many more.
pub(super) fn names<T: ToString>(list: &[T]) -> String {
    let shown: Vec<String> = list.iter().take(MOST_NAMES).map(T::to_string).collect();
    let shown = shown.join(", ");
    match list.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// A path of the session without its root, which is nobody's business elsewhere.
pub(super) fn inside(root: &Path, path: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/")
}

/// Who made a change.
pub(super) fn origin(origin: &Origin) -> String {
    match origin {
        Origin::User => "the user (saved edit)".to_owned(),
        Origin::Playbook { id, variant } if variant.is_empty() => format!("playbook ({id})"),
        Origin::Playbook { id, variant } => format!("playbook ({id}, {variant})"),
        Origin::Agent { name } => name.clone(),
    }
}

/// How an interval was made.
pub(super) fn method(method: Method) -> &'static str {
    match method {
        Method::Bootstrap => "bootstrap over blocks",
        Method::SignedRank => "exact signed-rank test",
        Method::StudentT => "Student's t",
        Method::Proven => "not measured: equal compiled code",
    }
}

/// Where variants were run.
pub(super) fn place(place: Place) -> &'static str {
    match place {
        Place::Trees => "base and candidate each in a work tree of their own",
        Place::InPlace => "in the user's tree, files exchanged between samples",
    }
}

/// The rule's answer in a few words, for a table.
pub(super) fn verdict(decision: &Decision) -> String {
    let configurations = |n: usize| count(n, "configuration", "configurations");
    match &decision.why {
        Why::LargeGain => "faster by 5 % or more".to_owned(),
        Why::MediumGain => "faster by 2 to 5 %".to_owned(),
        Why::SmallGain => "faster by less than 2 %".to_owned(),
        Why::Fixed => "right results, speed not compared".to_owned(),
        Why::SameProgram => "same program".to_owned(),
        Why::Incorrect { tests } => format!("wrong: {}", count(tests.len(), "test", "tests")),
        Why::Unverified => "no test ran".to_owned(),
        Why::Lost { configurations: of } => format!("lost {}", configurations(of.len())),
        Why::MeasuringError { configurations: of } => {
            format!("measuring error in {}", configurations(of.len()))
        }
        Why::NothingMeasured => "nothing measured on both sides".to_owned(),
        Why::Slower => format!("slower in {}", configurations(decision.slower.len())),
        Why::Mixed => format!(
            "faster in {}, slower in {}",
            decision.faster.len(),
            decision.slower.len()
        ),
        Why::SlowerThanStart { .. } => "total slower than iteration 0".to_owned(),
        Why::NoImprovement => "no improvement".to_owned(),
    }
}

/// The rule's answer as a sentence that never lists more than a few names.
pub(super) fn decision(decision: &Decision) -> String {
    match &decision.why {
        Why::Incorrect { tests } if tests.len() > MOST_NAMES => {
            format!("Reverted: wrong results in {}.", names(tests))
        }
        Why::Lost { configurations } if configurations.len() > MOST_NAMES => {
            let lost: Vec<&Key> = configurations.iter().map(|(key, _)| key).collect();
            format!("Reverted: no longer measured: {}.", names(&lost))
        }
        Why::MeasuringError { configurations } if configurations.len() > MOST_NAMES => format!(
            "Reverted: measuring error, faster than the device can be in {}.",
            names(configurations)
        ),
        Why::Slower if decision.slower.len() > MOST_NAMES => {
            format!("Reverted: slower in {}.", names(&decision.slower))
        }
        Why::Mixed if decision.slower.len() + decision.faster.len() > MOST_NAMES => format!(
            "Reverted: faster in {} but slower in {}; a gate by shape could keep the gain.",
            names(&decision.faster),
            names(&decision.slower)
        ),
        Why::NoImprovement if decision.perhaps_faster.len() > MOST_NAMES => format!(
            "Reverted: it may be chance in {}.",
            names(&decision.perhaps_faster)
        ),
        _ => decision.sentence(),
    }
}

/// What became of a configuration that only one side measured.
pub(super) fn change(change: &Change) -> String {
    match change {
        Change::Vanished => "no longer run".to_owned(),
        Change::Appeared => "new with the change, so compared with nothing".to_owned(),
        Change::Skipped { reason } => format!("skipped with the change: {reason}"),
        Change::Failed { message } => format!("fails with the change: {message}"),
        Change::Errored { message } => format!("breaks with the change: {message}"),
        Change::Unusable { reason } => format!("no usable number: {reason}"),
        Change::UnitChanged { from, to } => format!("counts {to} instead of {from}"),
    }
}

/// Why a run is no iteration, or how it broke.
pub(super) fn end(run: &Run) -> String {
    match &run.end {
        None => "not ended: it is still going on, or its process died and no later start has \
                 cleaned up"
            .to_owned(),
        Some(RunEnd::Completed) => match experiment(run) {
            Some(found) => format!("an experiment, {found}"),
            None => "completed".to_owned(),
        },
        Some(RunEnd::NothingToTry) => "nothing was changed".to_owned(),
        Some(RunEnd::NoChange) => match &run.identity {
            Some(crate::verdict::Identity::Same { proof }) => {
                format!("NO-CHANGE, not measured: {proof}")
            }
            _ => "NO-CHANGE: the compiled program is the same".to_owned(),
        },
        Some(RunEnd::Cited { run }) => {
            format!("not measured again: the same code was measured in run {run}")
        }
        Some(RunEnd::Crashed { why }) => format!("crashed: {why}"),
        Some(RunEnd::Cancelled) => "cancelled by the user".to_owned(),
        Some(RunEnd::Interrupted) => "interrupted: its process vanished".to_owned(),
        Some(RunEnd::Refused { why }) => format!("refused: {why}"),
    }
}

/// What an experiment found: `12.30 % faster, results right; never kept`. Nothing of another run.
pub fn experiment(run: &Run) -> Option<String> {
    let (candidate, decision) = run.decision.as_ref()?;
    if run.kind != RunKind::Experiment {
        return None;
    }
    let time = match decision.total.map(|total| total.change()) {
        Some(change) if change < 0.0 => format!("{} faster", share(-change)),
        Some(change) => format!("{} slower", share(change)),
        None => "not measured".to_owned(),
    };
    let tested = run.tests.iter().any(|t| t.variant == Variant::Candidate);
    let results = match (tested, &candidate.correctness) {
        (false, _) => "results not looked at".to_owned(),
        (true, of) => correctness(of),
    };
    Some(format!("{time}, {results}; never kept"))
}

/// What the tests said of a candidate.
pub(super) fn correctness(of: &Correctness) -> String {
    match of {
        Correctness::Passed => "all tests passed".to_owned(),
        Correctness::Failed { tests } => {
            format!("{} failed", count(tests.len(), "test", "tests"))
        }
        Correctness::NothingRan => "no test ran".to_owned(),
    }
}

/// Where the session stands.
pub(super) fn phase(phase: crate::session::Phase) -> String {
    use crate::session::Phase;
    match phase {
        Phase::SetUp => "Set up; iteration 0 is not measured yet.".to_owned(),
        Phase::Ready => "Ready for the next change.".to_owned(),
        Phase::Stopped { stop } => Stop::sentence(stop),
        Phase::Finished => "Finished: the result is on the branch it started from.".to_owned(),
        Phase::Abandoned => {
            "Abandoned: the files are as they were before; nothing of this is in the code."
                .to_owned()
        }
    }
}
