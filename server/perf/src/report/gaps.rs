//! What a session does not know, and why: the part of a report that is easily left out.

use std::collections::BTreeSet;

use crate::event::{RunKind, Tried};
use crate::session::{Run, Session};
use crate::verdict::{Goal, Verdict};

use super::briefly;
use super::escape::{code, text};
use super::result::Outcome;
use super::words;

/// One thing that is not known: where, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gap {
    /// What it is about: an iteration, a configuration, a test.
    pub(super) about: String,
    /// What is not known, and why.
    pub(super) what: String,
}

impl Gap {
    fn new(about: impl Into<String>, what: impl Into<String>) -> Self {
        Gap {
            about: about.into(),
            what: what.into(),
        }
    }

    /// As an item of a Markdown list.
    pub(super) fn markdown(&self) -> String {
        format!("- {}: {}", code(&self.about), text(&self.what))
    }
}

/// Everything that was not measured.
pub(super) fn gaps(session: &Session, outcome: Option<&Outcome>) -> Vec<Gap> {
    let mut gaps = Vec::new();
    if outcome.is_none() {
        gaps.push(Gap::new("iteration 0", why_no_baseline(session)));
    }
    let known = outcome.map(|_| session.baseline().map_or(&[][..], |r| &r.tests));
    let known: BTreeSet<&String> = (known.into_iter().flatten())
        .flat_map(|t| &t.skipped)
        .collect();
    for run in &session.runs {
        of_run(session, run, &known, &mut gaps);
    }
    if let Some(outcome) = outcome {
        for key in &outcome.broken {
            gaps.push(Gap::new(
                key.to_string(),
                "not measured in every kept iteration, so there is no final number",
            ));
        }
        for measured in &outcome.origin.measured {
            if session.noise(&measured.key).is_none() {
                gaps.push(Gap::new(
                    measured.key.to_string(),
                    "its noise is not known, so nothing here can be called FASTER",
                ));
            }
        }
    }
    if matches!(session.plan.goal, Some(Goal::SpeedOfLight(_))) {
        gaps.push(Gap::new(
            "speed of light",
            "the least time that the device allows is not known for this kernel",
        ));
    }
    gaps
}

/// Why there is no iteration 0.
pub(super) fn why_no_baseline(session: &Session) -> String {
    let tried = (session.runs.iter().rev()).find(|r| r.kind == RunKind::Baseline);
    match tried {
        Some(run) => format!(
            "not measured: the run of {} {}",
            words::moment(&run.began),
            match &run.end {
                Some(_) => format!("was {}", briefly::end(session, run)),
                None => briefly::end(session, run).replacen("not ended", "has not ended", 1),
            }
        ),
        None => "not measured yet".to_owned(),
    }
}

/// What a run left open. `known`: tests that iteration 0 skipped, said there once.
fn of_run(session: &Session, run: &Run, known: &BTreeSet<&String>, gaps: &mut Vec<Gap>) {
    let here = match (run.kind, run.row.is_some()) {
        (RunKind::Baseline, _) => "iteration 0".to_owned(),
        (RunKind::Check, _) => "the sum of what was kept".to_owned(),
        // Not measured to be kept, and shown by itself.
        (RunKind::Experiment, _) => return,
        (RunKind::Iteration, true) => format!("iteration {}", run.iteration),
        // Shown among the runs without a result.
        (RunKind::Iteration, false) => return,
    };
    if run.kind == RunKind::Baseline && !run.kept {
        return;
    }
    if run.measured.is_empty() && run.row.is_some() {
        let why = match &run.decision {
            Some((candidate, _)) => words::correctness(&candidate.correctness),
            None => briefly::end(session, run),
        };
        gaps.push(Gap::new(here.clone(), format!("no time of its own: {why}")));
    }
    if let Some((candidate, _)) = &run.decision {
        for (key, change) in &candidate.sets.changes {
            gaps.push(Gap::new(
                key.to_string(),
                format!("{here}: {}", words::change(change)),
            ));
        }
        if !candidate.sets.unmeasured.is_empty() {
            gaps.push(Gap::new(
                here.clone(),
                format!(
                    "without a number before and after: {}",
                    words::names(&candidate.sets.unmeasured)
                ),
            ));
        }
    }
    let undecided: Vec<_> = (run.measured.iter())
        .filter(|m| m.verdict.verdict == Verdict::Ambiguous && run.kind == RunKind::Iteration)
        .map(|m| &m.key)
        .collect();
    if !undecided.is_empty() {
        gaps.push(Gap::new(
            here.clone(),
            format!(
                "still undecided at the last look, counted as unchanged: {}",
                words::names(&undecided)
            ),
        ));
    }
    let skipped: BTreeSet<&String> = run.tests.iter().flat_map(|t| &t.skipped).collect();
    let is_new = |test: &&String| run.kind == RunKind::Baseline || !known.contains(test);
    let skipped: Vec<&String> = skipped.into_iter().filter(is_new).collect();
    if !skipped.is_empty() {
        gaps.push(Gap::new(
            here.clone(),
            format!(
                "{} skipped: {}",
                words::count(skipped.len(), "test", "tests"),
                words::names(&skipped)
            ),
        ));
    }
    if let Some(Tried { ignored, .. }) = &run.tried
        && !ignored.is_empty()
    {
        let files: Vec<_> = ignored.iter().map(|p| p.display()).collect();
        gaps.push(Gap::new(
            here,
            format!(
                "other changed files were left alone and are not part of it: {}",
                words::names(&files)
            ),
        ));
    }
}
