//! Carrying out a decision, announced first, and ending the run.

use tileperf_vcs::{FileVersion, NewCommit};

use crate::error::Error;
use crate::event::{Event, RunEnd, Stage, Stored, Tried};
use crate::records::{self, Row, Status};
use crate::session::{author, total_latency};
use crate::verdict::{Candidate, Correctness, Decision, stop};

use super::Loop;
use super::iterate::Outcome;
use super::run::Running;

impl Loop<'_> {
    /// Ends a run with what it came to.
    pub(super) fn conclude(
        &mut self,
        running: Running,
        decided: Result<Option<(Candidate, Decision)>, Error>,
    ) -> Result<Outcome, Error> {
        let run = running.run;
        match decided {
            Ok(Some((candidate, decision))) => {
                self.stage(&running, Stage::Deciding, None)?;
                let keeps = decision.keeps();
                let row = self.row(&running, &candidate, &decision);
                self.record(Event::Decided {
                    run,
                    candidate: Box::new(candidate),
                    decision: Box::new(decision),
                })?;
                let carried_out = match keeps {
                    true => self.keep(run),
                    false => self.revert(run),
                };
                // A proposal that was to be kept where somebody has typed meanwhile.
                if let Err(error @ Error::Conflict { .. }) = carried_out {
                    let why = error.to_string();
                    self.end(&running, RunEnd::Refused { why }, None)?;
                    return Err(error);
                }
                carried_out?;
                self.end(&running, RunEnd::Completed, Some(row))?;
                // The device's lock goes with the run.
                drop(running);
                if keeps {
                    self.check_after_keep()?;
                }
                self.stop_by_rule()?;
                Ok(Outcome::Ran(run))
            }
            Ok(None) => {
                self.end(&running, RunEnd::NoChange, None)?;
                Ok(Outcome::Ran(run))
            }
            // The change broke its processes or used up the time: taken back, and a row.
            Err(error @ (Error::Crash(_) | Error::Time { .. })) => {
                let row = self.failed_row(&running, Status::Crash);
                let why = error.to_string();
                self.record(Event::Broke {
                    run,
                    why: why.clone(),
                })?;
                self.revert(run)?;
                self.end(&running, RunEnd::Crashed { why }, Some(row))?;
                drop(running);
                self.stop_by_rule()?;
                Ok(Outcome::Ran(run))
            }
            Err(Error::Cancelled) => {
                self.end(&running, RunEnd::Cancelled, None)?;
                Err(Error::Cancelled)
            }
            // Nothing was learnt about the change: it stays where it is.
            Err(error) => {
                let why = error.to_string();
                self.end(&running, RunEnd::Refused { why }, None)?;
                Err(error)
            }
        }
    }

    /// Makes the tried change the base: a commit of exactly its files. A proposal is put into the
    /// user's tree first.
    ///
    /// # Errors
    /// [`Error::Conflict`] if there is something else now where a proposal would go.
    pub(super) fn keep(&mut self, run: u32) -> Result<(), Error> {
        let Some(tried) = self.tried(run) else {
            return Ok(());
        };
        if tried.proposed {
            self.bring(run, &tried)?;
        }
        let commit = match (&self.repo, self.session_head()) {
            (Some(repo), Some(on)) => {
                let files = self.changed(&tried)?;
                let message = self.message(run, &tried);
                let commit = repo.commit_files(
                    &self.git,
                    &NewCommit {
                        on: &on,
                        files: &files,
                        message: &message,
                        author: None,
                    },
                )?;
                Some(commit.to_string())
            }
            _ => None,
        };
        self.record(Event::Kept { run, commit })
    }

    /// Puts a proposal into the user's tree, announced first.
    fn bring(&mut self, run: u32, tried: &Tried) -> Result<(), Error> {
        let swaps = self.store.swaps(&tried.base, &tried.candidate)?;
        self.record(Event::Placing {
            run,
            from: tried.base.clone(),
            to: tried.candidate.clone(),
        })?;
        self.swap(run, &swaps)
    }

    /// Takes the tried change back in the user's tree, file by file, each only if it still is what
    /// was tried. A proposal never was there.
    pub(super) fn revert(&mut self, run: u32) -> Result<(), Error> {
        let Some(tried) = self.tried(run) else {
            return Ok(());
        };
        if tried.proposed {
            return self.record(Event::Reverted { run });
        }
        let swaps = self.store.swaps(&tried.candidate, &tried.base)?;
        match self.swap(run, &swaps) {
            Ok(()) => self.record(Event::Reverted { run }),
            // Both versions are kept and said; the run has its result all the same.
            Err(Error::Conflict { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Stops the session if a rule says so.
    pub(super) fn stop_by_rule(&mut self) -> Result<(), Error> {
        if let Some(stop) = stop(&self.session.standing(None)) {
            self.check_at_end()?;
            self.record(Event::Stopped { stop })?;
        }
        Ok(())
    }

    pub(super) fn tried(&self, run: u32) -> Option<Tried> {
        let found = self.session.runs.iter().find(|r| r.run == run)?;
        found.tried.clone()
    }

    /// The files that a change touches, as it leaves them.
    pub(super) fn changed(&self, tried: &Tried) -> Result<Vec<FileVersion>, Error> {
        let differs = |new: &&Stored| !tried.base.contains(new);
        (tried.candidate.iter().filter(differs))
            .map(|stored| self.store.get(stored))
            .collect()
    }

    fn message(&self, run: u32, tried: &Tried) -> String {
        let found = self.session.runs.iter().find(|r| r.run == run);
        let said = found
            .and_then(|r| r.decision.as_ref())
            .map(|(_, d)| d.sentence());
        let iteration = found.map_or(0, |r| r.iteration);
        format!(
            "{}: {}\n\n{}\n\nTileperf-Session: {}\nTileperf-Iteration: {iteration}\nTileperf-By: {}\n",
            self.session.plan.kernel,
            tried.optimization,
            said.unwrap_or_default(),
            self.session.name,
            author(&tried.origin),
        )
    }

    fn row(&self, running: &Running, candidate: &Candidate, decision: &Decision) -> Row {
        if candidate.correctness != Correctness::Passed {
            return self.failed_row(running, Status::Revert);
        }
        let measured = self.session.runs.iter().find(|r| r.run == running.run);
        let measured = measured.map(|r| r.measured.as_slice()).unwrap_or_default();
        // The candidate's own numbers are of another hour than iteration 0's; what is known well is
        // the ratio to its base.
        let latency = match (
            self.session.latency(),
            total_latency(measured, |m| m.candidate / m.base),
        ) {
            (Some(base), Some(ratio)) => base * ratio,
            (Some(base), None) => base,
            (None, _) => total_latency(measured, |m| m.candidate).unwrap_or(f64::NAN),
        };
        Row {
            iteration: running.iteration,
            optimization: self.optimization(running.run),
            latency_ms: latency,
            correctness: records::Correctness::Pass,
            status: decision.status(),
        }
    }

    /// The row of a change without a number of its own: it carries the last kept one.
    fn failed_row(&self, running: &Running, status: Status) -> Row {
        Row {
            iteration: running.iteration,
            optimization: self.optimization(running.run),
            latency_ms: self.session.latency().unwrap_or(f64::NAN),
            correctness: records::Correctness::Fail,
            status,
        }
    }

    fn optimization(&self, run: u32) -> String {
        self.tried(run).map_or_else(String::new, |t| t.optimization)
    }
}
