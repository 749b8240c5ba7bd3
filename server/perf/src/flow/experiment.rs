//! Experiments: the last kept code against something that is never kept.
//!
//! What a part costs is seen by putting something trivial in its place, which gives wrong results; what
//! cuTile's order of memory operations costs, by a testing switch that no code may rely on. So neither
//! can be an iteration: nothing is committed, reverted or put into the table, and the rules that stop a
//! session do not count it. The journal has it, for plans and reports.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::event::{Event, Origin, RunEnd, RunKind, Stage, Tried};
use crate::plan::Place;
use crate::session::Run;
use crate::stats::Variant;
use crate::verdict::{Candidate, Correctness, Decision, decide};

use super::Loop;
use super::baseline::correctness_of;
use super::run::Running;

/// What is compared with the last kept code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// What is on the disk, whatever its results are. It is not tested, and stays on the disk.
    Saved,
    /// The same code, compiled without the order that cuTile keeps between memory operations. Whether
    /// its results are right is tested and said.
    TokenOrder,
}

impl Experiment {
    /// What the journal calls it.
    pub fn name(self) -> &'static str {
        match self {
            Experiment::Saved => "the saved change",
            Experiment::TokenOrder => "without token order",
        }
    }

    /// What the candidate's commands are given.
    fn environment(self) -> BTreeMap<String, String> {
        match self {
            Experiment::Saved => BTreeMap::new(),
            // cuda-tile 1.7, cuda/tile/_debug.py: the frontend leaves out its token order pass. The
            // bytecode is another then, and with it the key of cuTile's cache.
            Experiment::TokenOrder => BTreeMap::from([(
                "CUDA_TILE_TESTING_DISABLE_TOKEN_ORDER".to_owned(),
                "1".to_owned(),
            )]),
        }
    }
}

impl Loop<'_> {
    /// Makes an experiment; `None` if there is no saved change.
    ///
    /// # Errors
    /// [`Error::State`] without a baseline, in a session that is over, or with another branch checked
    /// out; and all that can go wrong in a run, which is journalled.
    pub fn experiment(&mut self, what: Experiment) -> Result<Option<u32>, Error> {
        self.expect_alive()?;
        self.expect_branch()?;
        if !self.session.has_baseline() {
            return Err(Error::State(
                "iteration 0 is not measured yet: `perf baseline` does that".to_owned(),
            ));
        }
        let standing = self.on_disk()?;
        let standing = self.keep_all(&standing)?;
        let base = self.session.base.clone();
        let candidate = match what {
            Experiment::Saved if standing == base => return Ok(None),
            Experiment::Saved => standing.clone(),
            Experiment::TokenOrder => base.clone(),
        };
        let tried = Tried {
            optimization: what.name().to_owned(),
            origin: Origin::User,
            proposed: false,
            base,
            candidate,
            environment: what.environment(),
            ignored: self.other_changes()?,
        };
        let mut running = self.begin(RunKind::Experiment, Some(tried), standing.clone())?;
        let found = self.find_out(&mut running, what);
        // In place: whatever stands there, the user's files are put back before it is judged.
        let found = match (found, self.stand_back(&mut running, standing)) {
            (found, Ok(())) => found,
            (_, Err(error)) => Err(error),
        };
        self.conclude_experiment(&running, found)
    }

    fn conclude_experiment(
        &mut self,
        running: &Running,
        found: Result<(Candidate, Decision), Error>,
    ) -> Result<Option<u32>, Error> {
        let run = running.run;
        match found {
            Ok((candidate, decision)) => {
                self.record(Event::Found {
                    run,
                    candidate: Box::new(candidate),
                    decision: Box::new(decision),
                })?;
                self.end(running, RunEnd::Completed, None)?;
                Ok(Some(run))
            }
            Err(Error::Cancelled) => {
                self.end(running, RunEnd::Cancelled, None)?;
                Err(Error::Cancelled)
            }
            Err(error) => {
                let why = error.to_string();
                self.end(running, RunEnd::Refused { why }, None)?;
                Err(error)
            }
        }
    }

    fn find_out(
        &mut self,
        running: &mut Running,
        what: Experiment,
    ) -> Result<(Candidate, Decision), Error> {
        self.stage(running, Stage::Preparing, None)?;
        let (place, why) = (self.session.baseline()).map_or((Place::InPlace, None), |run: &Run| {
            (
                run.place.unwrap_or(Place::InPlace),
                run.place_reason.clone(),
            )
        });
        self.placed(running, place, why)?;
        let correctness = match what {
            Experiment::Saved => Correctness::Passed,
            Experiment::TokenOrder => {
                let base_passed = self.passed_on_base();
                let tests = self.test(running, Variant::Candidate, false)?;
                correctness_of(&tests, &base_passed)
            }
        };
        let (_, comparison) = self.compare(running, |_| usize::MAX, 0)?;
        self.record(Event::Measured {
            run: running.run,
            configurations: comparison.measured.clone(),
            versions: comparison.versions.clone(),
        })?;
        let measured = Candidate {
            correctness: Correctness::Passed,
            configurations: comparison.measured.iter().map(|m| m.judged()).collect(),
            sets: comparison.sets,
            against_start: None,
        };
        // What the times say, whatever the tests do: the two are told apart.
        let decision = decide(&measured);
        let candidate = Candidate {
            correctness,
            ..measured
        };
        Ok((candidate, decision))
    }
}
