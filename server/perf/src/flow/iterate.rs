//! One change: correctness, benchmark, verdict, keep or revert.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tileperf_vcs::Untracked;

use crate::causes;
use crate::error::Error;
use crate::event::{Event, Origin, RunEnd, RunKind, Stage, Stored, Tests, Tried};
use crate::patch;
use crate::plan::Place;
use crate::run::pairs::Looks;
use crate::session::{Phase, Run};
use crate::stats::Variant;
use crate::verdict::{Candidate, Correctness, Decision, Identity, decide, decide_fix};

use super::Loop;
use super::baseline::{correctness_of, searches};
use super::proposal::Proposal;
use super::run::Running;

/// Looks at a candidate: all that the plan has.
const LOOKS: Looks = |_| usize::MAX;

/// The change to be tried.
#[derive(Debug, Clone)]
pub struct Change {
    /// What to call it; none: by its text.
    pub optimization: Option<String>,
    /// Who made it.
    pub origin: Origin,
    /// What it changes, a file each; none: what is on the disk now.
    pub proposals: Vec<Proposal>,
}

/// What became of a change.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The files are those of the last kept code.
    NothingToTry,
    /// The same code was measured before: the run with the result.
    Cited(u32),
    /// It was run; the session holds everything about it.
    Ran(u32),
}

impl Loop<'_> {
    /// Tries a change. One that is proposed is put into the user's tree when it is kept, not before.
    ///
    /// # Errors
    /// [`Error::State`] without a baseline, after a stop, with another branch checked out, or if
    /// there is a change on the disk beside the one proposed;
    /// [`Error::Conflict`] if files changed meanwhile and could not be taken back; and all that can
    /// go wrong in a run, which is journalled. A change that crashes or runs out of time is not an
    /// error: its row says so.
    pub fn iterate(&mut self, change: Change) -> Result<Outcome, Error> {
        self.expect_ready()?;
        let on_disk = self.on_disk()?;
        let standing = self.keep_all(&on_disk)?;
        let candidate = match change.proposals.as_slice() {
            [] => standing.clone(),
            proposals => self.candidate(proposals, &standing)?,
        };
        if candidate == self.session.base {
            return Ok(Outcome::NothingToTry);
        }
        let (before, after) = (self.get_all(&self.session.base)?, self.get_all(&candidate)?);
        let patch = patch::unified(&before, &after);
        let tried = Tried {
            optimization: match change.optimization {
                Some(name) => name,
                None => patch::describe(&patch),
            },
            origin: change.origin,
            proposed: !change.proposals.is_empty(),
            base: self.session.base.clone(),
            candidate: candidate.clone(),
            environment: BTreeMap::new(),
            ignored: self.other_changes()?,
        };
        if let Some(earlier) = self.session.measured_before(&candidate) {
            return self.cite(earlier.run, tried, standing);
        }
        let identity = (self.options.identity)(&tried);
        let searches = searches(&before) || searches(&after);
        let mut running = self.begin(RunKind::Iteration, Some(tried), standing.clone())?;
        let _ = std::fs::write(running.folder.join("change.patch"), &patch);
        let decided = self.try_change(&mut running, identity, &patch, searches);
        // In place: whatever stands there, the user's files are put back before it is judged.
        let decided = match (decided, self.stand_back(&mut running, standing)) {
            (decided, Ok(())) => decided,
            (_, Err(error)) => Err(error),
        };
        self.conclude(running, decided)
    }

    fn expect_ready(&self) -> Result<(), Error> {
        self.expect_alive()?;
        self.expect_branch()?;
        match self.session.phase {
            Phase::SetUp => Err(Error::State(
                "iteration 0 is not measured yet: `perf baseline` does that".to_owned(),
            )),
            Phase::Stopped { stop } => Err(Error::State(format!(
                "{} `perf resume` goes on all the same",
                stop.sentence()
            ))),
            _ => Ok(()),
        }
    }

    /// Changed files that are not the session's business.
    pub(super) fn other_changes(&self) -> Result<Vec<PathBuf>, Error> {
        let Some(repo) = &self.repo else {
            return Ok(Vec::new());
        };
        let changed = repo.changed_files(&self.git, Untracked::Folders)?;
        Ok((changed.into_iter())
            .map(|file| file.path)
            .filter(|path| !self.session.plan.files.contains(path))
            .take(50)
            .collect())
    }

    fn cite(
        &mut self,
        earlier: u32,
        tried: Tried,
        standing: Vec<Stored>,
    ) -> Result<Outcome, Error> {
        let running = self.begin(RunKind::Iteration, Some(tried), standing)?;
        self.end(&running, RunEnd::Cited { run: earlier }, None)?;
        Ok(Outcome::Cited(earlier))
    }

    /// Everything up to the decision. `None`: the compiled code is the same.
    fn try_change(
        &mut self,
        running: &mut Running,
        identity: Identity,
        patch: &str,
        searches: bool,
    ) -> Result<Option<(Candidate, Decision)>, Error> {
        self.stage(running, Stage::Preparing, None)?;
        let baseline = self.session.baseline();
        let (place, why) = baseline.map_or((Place::InPlace, None), |run: &Run| {
            (
                run.place.unwrap_or(Place::InPlace),
                run.place_reason.clone(),
            )
        });
        self.placed(running, place, why)?;
        let run = running.run;
        self.record(Event::Compared {
            run,
            identity: identity.clone(),
        })?;
        if matches!(identity, Identity::Same { .. }) {
            return Ok(None);
        }
        let base_passed = self.passed_on_base();
        let mut correctness = self.check_correctness(running, patch, &base_passed, false)?;
        if correctness == Correctness::Passed
            && searches
            && self.session.plan.search_switch.is_some()
        {
            correctness = self.check_correctness(running, patch, &[], true)?;
        }
        let mut candidate = Candidate {
            correctness,
            configurations: Vec::new(),
            sets: crate::readings::compare_sets(&[], &[]),
            against_start: None,
        };
        if candidate.correctness != Correctness::Passed {
            let decision = match self.session.plan.fix {
                true => decide_fix(&candidate.correctness),
                false => decide(&candidate),
            };
            return Ok(Some((candidate, decision)));
        }
        let (comparison, decision) = self.compare_until_decided(running, LOOKS, &mut candidate)?;
        self.record(Event::Measured {
            run,
            configurations: comparison.measured,
            versions: comparison.versions,
        })?;
        let decision = match self.is_first_fix() {
            true => decide_fix(&candidate.correctness),
            false => decision,
        };
        Ok(Some((candidate, decision)))
    }

    /// In a session that corrects wrong results: the first change that passes is compared with
    /// nothing.
    fn is_first_fix(&self) -> bool {
        let wrong = self.session.baseline().and_then(|r| r.row.as_ref());
        let wrong = wrong.is_some_and(|row| row.correctness == crate::records::Correctness::Fail);
        let fixed = self
            .session
            .runs
            .iter()
            .any(|r| r.kept && r.iteration > 0 && !r.undone);
        self.session.plan.fix && wrong && !fixed
    }

    fn check_correctness(
        &mut self,
        running: &mut Running,
        patch: &str,
        base_passed: &[String],
        search_off: bool,
    ) -> Result<Correctness, Error> {
        let cause = {
            let (removed, added) = patch::lines(patch);
            causes::likely(&removed, &added)
        };
        let root = self.place(running, Variant::Candidate)?;
        self.stage(
            running,
            Stage::Correctness,
            search_off.then_some("search switched off"),
        )?;
        let mut tests: Tests = self
            .bench(running)
            .tests(&root, Variant::Candidate, search_off)?;
        for failure in &mut tests.failures {
            failure.cause = cause.map(str::to_owned);
        }
        let correctness = correctness_of(&tests, base_passed);
        self.record(Event::Tested {
            run: running.run,
            tests,
        })?;
        Ok(correctness)
    }

    /// The tests that passed on the base: at iteration 0, or of the last kept change.
    pub(super) fn passed_on_base(&self) -> Vec<String> {
        (self.session.current())
            .and_then(|run| run.tests.iter().rev().find(|t| !t.search_off))
            .map(|tests| tests.passed.clone())
            .unwrap_or_default()
    }

    /// The candidate's total over that of iteration 0: the chain of what was kept, times this.
    pub(super) fn against_start(&self, measured: &[crate::event::Measured]) -> Option<f64> {
        let effect = |of: &[crate::event::Measured]| {
            let parts: Vec<crate::stats::Weighted> = (of.iter())
                .map(|m| crate::stats::Weighted {
                    estimate: m.verdict.counted(),
                    weight: m.weight,
                })
                .collect();
            crate::stats::total(&parts).map(|t| t.effect)
        };
        let mut sum = effect(measured)?;
        for run in &self.session.runs {
            if run.kept && !run.undone && run.iteration > 0 {
                sum += effect(&run.measured).unwrap_or(0.0);
            }
        }
        Some(sum.exp())
    }
}
