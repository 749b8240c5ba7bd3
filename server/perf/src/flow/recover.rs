//! After a kill at any instant: the journal and the repository say where it was.

use tileperf_vcs::Swap;

use crate::error::Error;
use crate::event::{Event, RunEnd, RunKind, Stored, Tried};
use crate::records::Row;
use crate::session::Run;

use super::Loop;

impl Loop<'_> {
    /// Finishes or undoes what a vanished process left. The lock is held, so it has vanished.
    pub(super) fn recover(&mut self) -> Result<(), Error> {
        self.recover_branch()?;
        if let Some(intent) = self.session.intent {
            self.recover_intent(intent)?;
            self.settle_index(&[]);
            return Ok(());
        }
        let Some(run) = self.session.open_run().cloned() else {
            return Ok(());
        };
        self.put_back(&run)?;
        let (end, row) = match (&run.decision, run.kind) {
            (Some((_, decision)), RunKind::Iteration) => {
                if !run.kept && decision.keeps() {
                    match self.keep_again(&run) {
                        Err(error @ Error::Conflict { .. }) => {
                            let why = error.to_string();
                            return self.end_again(run.run, RunEnd::Refused { why }, None);
                        }
                        kept => kept?,
                    }
                } else if !decision.keeps() && run.conflict.is_none() {
                    self.revert(run.run)?;
                }
                (RunEnd::Completed, self.row_of(&run))
            }
            (None, RunKind::Iteration) if run.broke.is_some() => {
                if run.conflict.is_none() {
                    self.revert(run.run)?;
                }
                let why = run.broke.clone().unwrap_or_default();
                (RunEnd::Crashed { why }, self.broken_row(&run))
            }
            (_, RunKind::Baseline) if run.kept => (RunEnd::Completed, self.baseline_row(&run)),
            _ => (RunEnd::Interrupted, None),
        };
        self.settle_index(run.tried.as_ref().map_or(&[], |t| &t.candidate));
        self.end_again(run.run, end, row)
    }

    fn end_again(&mut self, run: u32, end: RunEnd, row: Option<Row>) -> Result<(), Error> {
        let has_row = row.is_some();
        self.record(Event::RunEnded {
            run,
            end,
            row,
            seconds: 0.0,
        })?;
        if has_row {
            self.stop_by_rule()?;
        }
        self.write_table()
    }

    /// A setup that was killed before its branch was made: make it.
    fn recover_branch(&mut self) -> Result<(), Error> {
        let (Some(repo), Some(git)) = (&self.repo, &self.session.git) else {
            return Ok(());
        };
        let untouched = self.session.runs.is_empty() && !self.session.phase.is_over();
        if !untouched || Some(repo.head()?) != self.original_head() {
            return Ok(());
        }
        if let Some(tip) = repo.branch_tip(&git.session_branch)?
            && tip.to_string() == git.commit
        {
            repo.delete_branch(&git.session_branch, tip)?;
        }
        repo.start_branch(&git.session_branch)?;
        Ok(())
    }

    /// What a kill inside of git's work may have left: a lock, an index out of step. Nothing else
    /// depends on it, so what stands in the way is only said.
    fn settle_index(&self, tried: &[Stored]) {
        let Some(repo) = &self.repo else { return };
        let settled = self.get_all(tried).and_then(|files| {
            let head = repo.head()?;
            Ok(repo.settle_index(&self.git, &head, &files)?)
        });
        if let Err(error) = settled {
            tracing::warn!("the index may be out of step: {error}");
        }
    }

    /// In place, a variant's files may stand in the user's tree: put back what was there before the
    /// run. A file that is none of the variants has been changed by the user since and stays.
    fn put_back(&mut self, run: &Run) -> Result<(), Error> {
        if run.placing.is_none() {
            return Ok(());
        }
        let own: Vec<Stored> = match &run.tried {
            Some(tried) if run.kind == RunKind::Experiment => self
                .first_standing(run)
                .unwrap_or_else(|| tried.candidate.clone()),
            // Not the user's: it goes, unless it was to be kept, for which it is brought again.
            Some(tried) if tried.proposed => return self.take_out(run, tried),
            Some(tried) => tried.candidate.clone(),
            None => self
                .first_standing(run)
                .unwrap_or_else(|| self.session.base.clone()),
        };
        let found = self.on_disk()?;
        let mut swaps = Vec::new();
        for (stored, file) in own.iter().zip(found) {
            let wanted = self.store.get(stored)?;
            let other = self.session.base.iter().find(|b| b.path == stored.path);
            let Some(base) = other else { continue };
            let base = self.store.get(base)?;
            if file.content == base.content && file.content != wanted.content {
                swaps.push(Swap {
                    path: wanted.path,
                    expected: base.content,
                    new: wanted.content,
                });
            }
        }
        match self.swap(run.run, &swaps) {
            Err(Error::Conflict { .. }) => Ok(()),
            other => other,
        }
    }

    /// A proposal that stands in the user's tree: what was there before it is put back.
    fn take_out(&mut self, run: &Run, tried: &Tried) -> Result<(), Error> {
        let keeps = (run.decision.as_ref()).is_some_and(|(_, decision)| decision.keeps());
        if keeps {
            return Ok(());
        }
        let swaps = self.store.swaps(&tried.candidate, &tried.base)?;
        match self.swap(run.run, &swaps) {
            Err(Error::Conflict { .. }) => Ok(()),
            other => other,
        }
    }

    /// What stood in the user's tree before a run exchanged anything.
    fn first_standing(&self, run: &Run) -> Option<Vec<Stored>> {
        let entries = crate::journal::read(&self.store.journal()).ok()?;
        entries.into_iter().find_map(|entry| match entry.event {
            Event::Placing { run: of, from, .. } if of == run.run => Some(from),
            _ => None,
        })
    }

    /// Keeps a change whose commit may have been made already.
    fn keep_again(&mut self, run: &Run) -> Result<(), Error> {
        let (Some(repo), Some(tried)) = (&self.repo, &run.tried) else {
            return self.keep(run.run);
        };
        let head = repo.head()?;
        if let Some(commit) = head.commit()
            && Some(commit) != self.base_commit()
        {
            let there = repo.read_files_at(&self.git, commit, &self.session.plan.files)?;
            let wanted = self.get_all(&tried.candidate)?;
            if there == wanted {
                return self.record(Event::Kept {
                    run: run.run,
                    commit: Some(commit.to_string()),
                });
            }
        }
        self.keep(run.run)
    }

    /// The latency of the base that a run was measured against.
    fn latency_before(&self, run: &Run) -> Option<f64> {
        (self.session.runs.iter().rev())
            .find(|r| r.kept && !r.undone && r.run < run.run)
            .and_then(|r| r.row.as_ref())
            .map(|r| r.latency_ms)
    }

    fn broken_row(&self, run: &Run) -> Option<Row> {
        Some(Row {
            iteration: run.iteration,
            optimization: run.tried.as_ref()?.optimization.clone(),
            latency_ms: self.latency_before(run)?,
            correctness: crate::records::Correctness::Fail,
            status: crate::records::Status::Crash,
        })
    }

    fn row_of(&self, run: &Run) -> Option<Row> {
        let (candidate, decision) = run.decision.as_ref()?;
        let passed = candidate.correctness == crate::verdict::Correctness::Passed;
        let base = self.latency_before(run)?;
        let ratio = crate::session::total_latency(&run.measured, |m| m.candidate / m.base);
        Some(Row {
            iteration: run.iteration,
            optimization: run.tried.as_ref()?.optimization.clone(),
            latency_ms: if passed {
                base * ratio.unwrap_or(1.0)
            } else {
                base
            },
            correctness: match passed {
                true => crate::records::Correctness::Pass,
                false => crate::records::Correctness::Fail,
            },
            status: decision.status(),
        })
    }

    fn baseline_row(&self, run: &Run) -> Option<Row> {
        let latency =
            crate::session::total_latency(&run.measured, |m| f64::midpoint(m.base, m.candidate))?;
        let failed = run.tests.iter().any(|t| !t.failures.is_empty());
        Some(Row {
            iteration: 0,
            optimization: "baseline".to_owned(),
            latency_ms: latency,
            correctness: match failed {
                false => crate::records::Correctness::Pass,
                true => crate::records::Correctness::Fail,
            },
            status: crate::records::Status::Keep,
        })
    }
}
