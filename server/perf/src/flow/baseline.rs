//! Iteration 0: the code as it is, tested, timed, and timed against itself.

use std::time::Instant;

use tileperf_vcs::FileVersion;

use crate::error::Error;
use crate::event::{Event, RunEnd, RunKind, Stage, Tests};
use crate::plan::{Place, PlaceChoice};
use crate::records::{self, Row, Status};
use crate::run::pairs::{Looks, Sampled};
use crate::session::total_latency;
use crate::stats::{Plan, Variant};
use crate::verdict::{BaselineDecision, Correctness, decide_baseline};
use crate::workplace;

use super::Loop;
use super::run::Running;

/// Looks at the base against itself. On a quiet device one is enough. On a noisy one thirty pairs know
/// the effect of two processes so badly that their own error passes for a spread between processes,
/// and then no change is found; a hundred and twenty halve that. Whole runs take too long for more.
const LOOKS: Looks = |plan| match plan {
    Plan::Samples => 3,
    Plan::WholeRuns => 1,
};

/// Comparisons of the base with itself, each with processes of its own, if the time allows.
pub(super) const ROUNDS: usize = 3;

/// At most so many, where that few find too much noise: one unlucky process among three passes for a
/// spread that is not there.
pub(super) const MOST_ROUNDS: usize = 8;

/// More noise than this is worth another comparison: half of it is what one is after.
pub(super) const LOUD: f64 = 0.04;

impl Loop<'_> {
    /// Measures iteration 0. The user's own unsaved change, if there is one, is left alone.
    ///
    /// # Errors
    /// [`Error::State`] if the tests fail on the unchanged code (unless the session is a correctness
    /// fix), or the session is over; and all that can go wrong in a run, which is journalled.
    pub fn baseline(&mut self) -> Result<(), Error> {
        self.expect_alive()?;
        self.expect_branch()?;
        let standing = self.on_disk()?;
        let standing = self.keep_all(&standing)?;
        let mut running = self.begin(RunKind::Baseline, None, standing.clone())?;
        let done = self.measure_baseline(&mut running);
        let back = self.stand_back(&mut running, standing);
        let done = done.and_then(|row| back.map(|()| row));
        match done {
            Ok(row) => self.end(&running, RunEnd::Completed, Some(row)),
            Err(error) => {
                let end = match &error {
                    Error::Cancelled => RunEnd::Cancelled,
                    error => RunEnd::Refused {
                        why: error.to_string(),
                    },
                };
                self.end(&running, end, None)?;
                Err(error)
            }
        }
    }

    fn measure_baseline(&mut self, running: &mut Running) -> Result<Row, Error> {
        self.stage(running, Stage::Preparing, None)?;
        let choice = self.session.plan.place;
        let (place, why) = workplace::choose(choice, self.repo.as_ref(), self.base_commit())?;
        self.placed(running, place, why)?;
        let tests = self.probe_place(running, choice)?;
        let correctness = correctness_of(&tests, &[]);
        let fix = self.session.plan.fix;
        if decide_baseline(&correctness, fix) == BaselineDecision::Stop {
            let shown: Vec<String> = (tests.failures.iter())
                .take(5)
                .map(|f| format!("  {}: {}", f.test, f.message.lines().next().unwrap_or("")))
                .collect();
            return Err(Error::State(format!(
                "the tests fail on the unchanged code, so no change could be judged (`perf setup --fix` \
                 starts a session that is to correct this):\n{}",
                if shown.is_empty() {
                    "  no test ran".to_owned()
                } else {
                    shown.join("\n")
                }
            )));
        }
        let began = Instant::now();
        let (sampled, comparison) = self.compare(running, LOOKS, 0)?;
        let each = began.elapsed();
        let mut rounds = vec![sampled];
        while rounds[0].repeated
            && wants_another(&rounds)
            && Instant::now() + each * 2 < running.deadline
        {
            rounds.push(self.compare(running, LOOKS, rounds.len())?.0);
        }
        let run = running.run;
        self.record(Event::Noise {
            run,
            noise: Self::noise_of(&rounds),
        })?;
        self.record(Event::Measured {
            run,
            configurations: comparison.measured.clone(),
            versions: comparison.versions.clone(),
        })?;
        let latency = total_latency(&comparison.measured, |m| f64::midpoint(m.base, m.candidate))
            .ok_or_else(|| Error::Command {
            what: "benchmark",
            why: "gave no number".to_owned(),
        })?;
        self.record(Event::BaselineKept { run })?;
        Ok(Row {
            iteration: 0,
            optimization: "baseline".to_owned(),
            latency_ms: latency,
            correctness: match correctness {
                Correctness::Passed => records::Correctness::Pass,
                _ => records::Correctness::Fail,
            },
            status: Status::Keep,
        })
    }

    /// Runs the tests where the variants are to be run. Trees of their own may lack what a project
    /// needs and no rule can know (built extensions, data): if the tests fail there and pass in the
    /// user's tree, that is where everything will be run.
    fn probe_place(&mut self, running: &mut Running, choice: PlaceChoice) -> Result<Tests, Error> {
        let tests = self.test(running, Variant::Base, false);
        let failed = match &tests {
            Ok(tests) => !tests.failures.is_empty() || tests.passed.is_empty(),
            Err(error) => matches!(
                error,
                Error::WrongCode(_) | Error::Crash(_) | Error::Command { .. }
            ),
        };
        if !failed || running.place == Place::InPlace || choice == PlaceChoice::Trees {
            return tests;
        }
        let why = match &tests {
            Ok(tests) => match tests.failures.first() {
                Some(failure) => {
                    let said = failure.message.lines().next().unwrap_or_default();
                    format!("{} fails there: {said}", failure.test)
                }
                None => "no test ran there".to_owned(),
            },
            Err(error) => error.to_string(),
        };
        self.placed(
            running,
            Place::InPlace,
            Some(format!("in a tree of its own, {why}")),
        )?;
        match self.test(running, Variant::Base, false) {
            Ok(again) if again.failures.is_empty() && !again.passed.is_empty() => Ok(again),
            // It fails everywhere: the first answer is the one to report.
            _ => {
                self.placed(running, Place::Trees, None)?;
                tests
            }
        }
    }

    /// After measuring in place: the user's files as they were.
    pub(super) fn stand_back(
        &mut self,
        running: &mut Running,
        files: Vec<crate::event::Stored>,
    ) -> Result<(), Error> {
        self.stand(running, files)
    }
}

/// Whether the base should be compared with itself once more.
fn wants_another(rounds: &[Sampled]) -> bool {
    let loud = || {
        let noise = Loop::noise_of(rounds);
        noise.iter().any(|(_, noise)| noise.detectable > LOUD)
    };
    rounds.len() < ROUNDS || rounds.len() < MOST_ROUNDS && loud()
}

/// What the tests of a variant say, against those that passed on the base.
pub(super) fn correctness_of(tests: &Tests, base_passed: &[String]) -> Correctness {
    let mut bad: Vec<String> = tests.failures.iter().map(|f| f.test.clone()).collect();
    // A test that passed before and does not run any more proves nothing any more.
    for name in base_passed {
        if !tests.passed.contains(name) && !bad.contains(name) {
            bad.push(name.clone());
        }
    }
    if !bad.is_empty() {
        return Correctness::Failed { tests: bad };
    }
    if tests.passed.is_empty() {
        return Correctness::NothingRan;
    }
    Correctness::Passed
}

/// Whether any of these files holds a search over configurations.
pub(super) fn searches(files: &[FileVersion]) -> bool {
    files.iter().any(|file| {
        let bytes = file.content.as_ref().map(|c| c.bytes.as_slice());
        bytes.is_some_and(|bytes| {
            [&b"exhaustive_search"[..], b"autotune_launch"]
                .iter()
                .any(|word| memchr::memmem::find(bytes, word).is_some())
        })
    })
}
