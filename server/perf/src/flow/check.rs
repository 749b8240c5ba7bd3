//! The original against the current code: what many small decisions add up to.
//!
//! Each kept change was measured against the one before it. Errors of the same sign add up, and
//! changes may undo one another; so every five keeps, and before a session stops by a rule, the
//! present code is measured against that of iteration 0.

use crate::error::Error;
use crate::event::{Event, RunEnd, RunKind, Stage, Stored};
use crate::plan::Place;
use crate::session::Run;
use crate::verdict::{Candidate, Correctness, Decision, Why, decide};

use super::Loop;
use super::run::Running;

/// Keeps after which the sum is measured.
const EVERY: usize = 5;

impl Loop<'_> {
    /// Measures the sum if it is time to: after every five keeps.
    pub(super) fn check_after_keep(&mut self) -> Result<(), Error> {
        if self.kept_since_check() >= EVERY {
            self.check()?;
        }
        Ok(())
    }

    /// Measures the sum if more than one keep is behind it that was not.
    pub(super) fn check_at_end(&mut self) -> Result<(), Error> {
        if self.kept_since_check() >= 2 {
            self.check()?;
        }
        Ok(())
    }

    fn kept_since_check(&self) -> usize {
        let runs = self.session.runs.iter().rev();
        runs.take_while(|r| r.kind != RunKind::Check || r.measured.is_empty())
            .filter(|r| r.kept && !r.undone && r.iteration > 0)
            .count()
    }

    /// Measures the present code against that of iteration 0. Where the sum is slower, the last kept
    /// change is undone by a commit on top.
    fn check(&mut self) -> Result<(), Error> {
        let standing = self.on_disk()?;
        let standing = self.keep_all(&standing)?;
        let mut running = self.begin(RunKind::Check, None, standing.clone())?;
        running.base.clone_from(&self.session.first_base);
        let found = self.measure_sum(&mut running);
        let found = match (found, self.stand(&mut running, standing)) {
            (found, Ok(())) => found,
            (_, Err(error)) => Err(error),
        };
        match found {
            Ok((candidate, decision)) => {
                let lost = is_loss(&decision);
                let run = running.run;
                self.record(Event::Summed {
                    run,
                    candidate: Box::new(candidate),
                    decision: Box::new(decision),
                })?;
                self.end(&running, RunEnd::Completed, None)?;
                if lost {
                    self.undo_last()?;
                }
                Ok(())
            }
            Err(Error::Cancelled) => {
                self.end(&running, RunEnd::Cancelled, None)?;
                Err(Error::Cancelled)
            }
            // Not known is not worse: what was kept was kept for reasons of its own.
            Err(error) => {
                let why = error.to_string();
                self.end(&running, RunEnd::Refused { why }, None)
            }
        }
    }

    fn measure_sum(&mut self, running: &mut Running) -> Result<(Candidate, Decision), Error> {
        self.stage(
            running,
            Stage::Preparing,
            Some("the original against the current code"),
        )?;
        let (place, why) = (self.session.baseline()).map_or((Place::InPlace, None), |run: &Run| {
            (
                run.place.unwrap_or(Place::InPlace),
                run.place_reason.clone(),
            )
        });
        self.placed(running, place, why)?;
        let (_, comparison) = self.compare(running, |_| usize::MAX, 0)?;
        let run = running.run;
        self.record(Event::Measured {
            run,
            configurations: comparison.measured.clone(),
            versions: comparison.versions.clone(),
        })?;
        let candidate = Candidate {
            correctness: Correctness::Passed,
            configurations: comparison.measured.iter().map(|m| m.judged()).collect(),
            sets: comparison.sets,
            against_start: None,
        };
        let decision = decide(&candidate);
        Ok((candidate, decision))
    }

    fn undo_last(&mut self) -> Result<(), Error> {
        let before: Vec<Stored> = self.session.base.clone();
        let undone = self.undo(None);
        let text = match undone {
            Ok(iteration) => format!(
                "the original is faster than the current code, so iteration {iteration} was undone"
            ),
            Err(error) => format!(
                "the original is faster than the current code, and the last kept change could not be \
                 undone: {error}"
            ),
        };
        self.record(Event::Note { text })?;
        if self.session.base == before {
            return Ok(());
        }
        self.write_table()
    }
}

/// Whether the sum of what was kept is a loss.
fn is_loss(decision: &Decision) -> bool {
    match decision.why {
        Why::Slower | Why::SlowerThanStart { .. } => true,
        Why::Mixed => decision.total.is_some_and(|t| t.change() > 0.0),
        _ => false,
    }
}
