//! From a session, as its journal adds up to, to what is shown of it.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use tileperf_analysis::views::measured::{Latency, percent};
use tileperf_perf::event::{Measured, RunEnd, RunKind};
use tileperf_perf::records;
use tileperf_perf::session::{Phase, Run};
use tileperf_perf::{Session, lock};

use super::journal::Aside;
use super::mixed;
use super::note::{BASELINE, LastRun, MeasuredOn, Result, RunNote, RunState};
use super::words;
use crate::DocId;

/// The note of a session below `root`. `holder`: who runs it now. What depends on the present texts
/// (place, staleness, failures) is added by the follower.
pub(super) fn note(
    root: &Path,
    session: &Session,
    aside: &Aside,
    holder: Option<lock::Holder>,
) -> RunNote {
    let plan = &session.plan;
    let held = holder.is_some();
    let measured = last_measured(session);
    let (results, measured_on) = match measured {
        Some(run) => (
            results(session, run),
            Some(measured_on(session, run, aside)),
        ),
        None => (Vec::new(), None),
    };
    RunNote {
        session: session.name.clone(),
        root: root.to_owned(),
        kernel: plan.kernel.clone(),
        doc: DocId::file(&root.join(&plan.file)),
        place: None,
        files: plan.files.iter().map(|file| root.join(file)).collect(),
        kept: (session.base.iter())
            .map(|stored| (root.join(&stored.path), stored.hash.clone()))
            .collect(),
        test_file: plan.test_file.as_ref().map(|file| root.join(file)),
        device: plan.device.clone(),
        phase: session.phase,
        running: held && !session.phase.is_over(),
        holder: holder.map(|holder| holder.0),
        has_baseline: session.has_baseline(),
        iterations: session.iterations(),
        run: session.runs.last().map(|run| last_run(run, aside, held)),
        latency: latency(session),
        verdict: verdict(session),
        results,
        measured_on,
        stale: None,
        failures: Vec::new(),
        mixed: mixed::of_session(session),
        table: records::render(&session.rows()),
    }
}

/// A note that tells clients to forget a session whose folder is gone.
pub(super) fn gone(note: &RunNote) -> RunNote {
    RunNote {
        phase: Phase::Abandoned,
        running: false,
        holder: None,
        run: None,
        latency: None,
        verdict: None,
        results: Vec::new(),
        measured_on: None,
        stale: None,
        failures: Vec::new(),
        mixed: Vec::new(),
        ..note.clone()
    }
}

fn last_run(run: &Run, aside: &Aside, held: bool) -> LastRun {
    let state = words::state(run, held);
    let mut out = LastRun {
        run: run.run,
        kind: run.kind,
        iteration: run.iteration,
        optimization: run.tried.as_ref().map(|tried| tried.optimization.clone()),
        stage: None,
        detail: None,
        pairs: run.looked.map(|(pairs, ..)| pairs),
        decided: run.looked.map(|(_, decided, of)| (decided, of)),
        began: run.began.clone(),
        must_end: must_end(&run.began, aside.limit),
        limit: aside.limit,
        state,
        sentence: String::new(),
    };
    if state == RunState::Running {
        out.stage = run.stage;
        out.detail.clone_from(&aside.note);
    }
    let stage = run.stage.map_or("starting", words::stage);
    out.sentence = words::sentence(run, state, stage);
    out
}

fn must_end(began: &str, limit: u64) -> Option<SystemTime> {
    let began: Timestamp = began.parse().ok()?;
    SystemTime::from(began).checked_add(Duration::from_secs(limit))
}

fn latency(session: &Session) -> Option<Latency> {
    let (current, baseline) = (session.latency()?, session.first_latency()?);
    let is_time = session.baseline()?.measured.iter().all(|m| m.is_time);
    Some(Latency {
        current,
        baseline,
        is_time,
    })
}

/// The last run that came to something. A cited one came to what the run that it cites did.
fn verdict(session: &Session) -> Option<String> {
    session
        .runs
        .iter()
        .rev()
        .filter(|run| run.kind == RunKind::Iteration && !run.undone)
        .find_map(|run| {
            let decided = |run: &Run| run.decision.as_ref().map(|(_, d)| words::verdict(d));
            match &run.end {
                Some(RunEnd::Cited { run }) => {
                    let cited = session.runs.iter().find(|r| r.run == *run)?;
                    Some(format!("as before, {}", decided(cited)?))
                }
                // Decided, and not yet carried out.
                None => None,
                Some(end) => decided(run).or_else(|| words::ended(end)),
            }
        })
}

/// The run whose measurements are shown: the last one that has any and still stands. What several
/// changes add up to is in the report.
fn last_measured(session: &Session) -> Option<&Run> {
    let is_shown = |kind| matches!(kind, RunKind::Baseline | RunKind::Iteration);
    let shown = |run: &&Run| is_shown(run.kind) && !run.measured.is_empty() && !run.undone;
    session.runs.iter().rev().find(shown)
}

fn results(session: &Session, run: &Run) -> Vec<Result> {
    let shorts = shorts(&run.measured);
    (run.measured.iter().zip(shorts))
        .map(|(measured, short)| match run.kind {
            RunKind::Baseline => of_baseline(session, measured, short),
            _ => of_iteration(measured, short),
        })
        .collect()
}

fn of_iteration(measured: &Measured, short: String) -> Result {
    let verdict = &measured.verdict;
    let estimate = &verdict.estimate;
    let interval = estimate.change_interval();
    Result {
        base: measured.base,
        candidate: measured.candidate,
        change: estimate.change(),
        interval,
        verdict: verdict.verdict.to_string(),
        sentence: format!(
            "{}: {} ({} to {}), {} pairs",
            verdict.verdict,
            percent(estimate.change()),
            percent(interval.0),
            percent(interval.1),
            estimate.pairs
        ),
        ..named(measured, short)
    }
}

/// The base was compared with itself: what differs is noise, and is shown as that and as no verdict.
fn of_baseline(session: &Session, measured: &Measured, short: String) -> Result {
    let median = f64::midpoint(measured.base, measured.candidate);
    let sentence = match session.noise(&measured.key) {
        Some(noise) => format!(
            "baseline; changes of {:.2} % and more can be told from noise",
            noise.detectable * 100.0
        ),
        None => "baseline".to_owned(),
    };
    Result {
        base: median,
        candidate: median,
        change: 0.0,
        interval: measured.verdict.estimate.change_interval(),
        verdict: BASELINE.to_owned(),
        sentence,
        ..named(measured, short)
    }
}

fn named(measured: &Measured, short: String) -> Result {
    Result {
        configuration: measured.key.configuration.clone(),
        short,
        direction: measured.key.direction.to_string(),
        backend: measured.key.backend.clone(),
        base: measured.base,
        candidate: measured.candidate,
        is_time: measured.is_time,
        change: 0.0,
        interval: (0.0, 0.0),
        verdict: String::new(),
        sentence: String::new(),
    }
}

fn measured_on(session: &Session, run: &Run, aside: &Aside) -> MeasuredOn {
    let of = match (run.kind, &run.tried) {
        (RunKind::Baseline, _) => "iteration 0, the baseline".to_owned(),
        (_, Some(tried)) => format!("iteration {}, {}", run.iteration, tried.optimization),
        (_, None) => format!("iteration {}", run.iteration),
    };
    let device = match &run.device.arch {
        Some(arch) => format!("{} ({arch})", run.device.name),
        None => run.device.name.clone(),
    };
    let at = aside.measured.iter().rev().find(|(of, _)| *of == run.run);
    let pairs = run.measured.iter().map(|m| m.verdict.estimate.pairs);
    let noise = run.measured.iter().map(|m| session.noise(&m.key));
    MeasuredOn {
        of,
        device,
        at: at.map_or_else(|| run.began.clone(), |(_, at)| at.clone()),
        pairs: pairs.min().unwrap_or(0),
        detectable: noise
            .map(|noise| noise.map(|n| n.detectable))
            .reduce(|a, b| Some(a?.max(b?)))
            .flatten(),
    }
}

/// Short names of configurations: the parameters in brackets, with the test's name where several
/// tests have equal ones.
fn shorts(measured: &[Measured]) -> Vec<String> {
    let keys = || measured.iter().map(|m| &m.key);
    let mut seen: HashMap<_, usize> = HashMap::new();
    for key in keys() {
        let short = short(&key.configuration);
        *seen
            .entry((short, &key.direction, &key.backend))
            .or_default() += 1;
    }
    keys()
        .map(|key| {
            let short = short(&key.configuration);
            match seen.get(&(short, &key.direction, &key.backend)) {
                Some(1) => short.to_owned(),
                _ => last_part(&key.configuration).to_owned(),
            }
        })
        .collect()
}

/// `[1-cutile]` of `tests/test_x.py::test_perf[1-cutile]`, else the last part of a path.
fn short(configuration: &str) -> &str {
    match configuration.find('[') {
        Some(at) if configuration.ends_with(']') => &configuration[at..],
        _ => last_part(configuration),
    }
}

fn last_part(configuration: &str) -> &str {
    // Parameters may hold anything, slashes included.
    let head = configuration.find('[').unwrap_or(configuration.len());
    let at = configuration[..head].rfind([':', '/']).map_or(0, |i| i + 1);
    &configuration[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_have_short_names() {
        let id = "tests/ops/test_scale.py::TestA::test_perf[1/2-cutile]";
        assert_eq!(short(id), "[1/2-cutile]");
        assert_eq!(last_part(id), "test_perf[1/2-cutile]");
        assert_eq!(short("tests/ops/test_scale.py::test_perf"), "test_perf");
        assert_eq!(short("softmax-GBps"), "softmax-GBps");
    }
}
