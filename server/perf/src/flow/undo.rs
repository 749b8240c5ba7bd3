//! Taking one kept iteration back, later.

use tileperf_vcs::{CommitId, Head, Undo};

use crate::error::Error;
use crate::event::{Event, Intent};
use crate::session::Run;

use super::Loop;

impl Loop<'_> {
    /// Undoes a kept iteration; none named: the last one. With git by a commit on top, also from the
    /// middle; without only the last one.
    ///
    /// # Errors
    /// [`Error::State`] if there is no such kept iteration; [`Error::Git`] if later changes touch the
    /// same lines or files are not as committed; [`Error::Conflict`]; [`Error::Io`].
    pub fn undo(&mut self, iteration: Option<u32>) -> Result<u32, Error> {
        if let Some(Intent::Undo { iteration: done }) = self.completed
            && iteration.is_none_or(|wanted| wanted == done)
        {
            self.completed = None;
            return Ok(done);
        }
        self.expect_alive()?;
        self.expect_branch()?;
        let iteration = self.kept_run(iteration)?.iteration;
        self.intend(Intent::Undo { iteration }, |this| this.undo_now(iteration))?;
        Ok(iteration)
    }

    /// The run of a kept iteration; none named: the last one.
    fn kept_run(&self, iteration: Option<u32>) -> Result<Run, Error> {
        let kept = |r: &&Run| r.kept && !r.undone && r.iteration > 0;
        (self.session.runs.iter().rev())
            .filter(kept)
            .find(|r| iteration.is_none_or(|wanted| r.iteration == wanted))
            .cloned()
            .ok_or_else(|| {
                Error::State(match iteration {
                    Some(number) => format!("iteration {number} is not one that is kept"),
                    None => "no iteration is kept".to_owned(),
                })
            })
    }

    pub(super) fn undo_now(&mut self, iteration: u32) -> Result<(), Error> {
        let run = self.kept_run(Some(iteration))?;
        let (commit, base) = match (&self.repo, self.session_head(), &run.commit) {
            (Some(repo), Some(on), Some(kept)) => {
                let message = format!(
                    "{}: undo {}\n\nTileperf-Session: {}\nTileperf-Undo: {}\n",
                    self.session.plan.kernel,
                    run.tried.as_ref().map_or("", |t| &t.optimization),
                    self.session.name,
                    run.iteration,
                );
                let commit = match self.commit_on_top()? {
                    // Made by a process that died before it could say so.
                    Some(commit) => commit,
                    None => repo.undo(
                        &self.git,
                        &Undo {
                            on: &on,
                            kept: kept.parse()?,
                            message: &message,
                            author: None,
                        },
                    )?,
                };
                let files = repo.read_files_at(&self.git, commit, &self.session.plan.files)?;
                (Some(commit.to_string()), self.keep_all(&files)?)
            }
            _ => (None, self.undo_without_git(&run)?),
        };
        self.record(Event::Undone {
            iteration: run.iteration,
            commit,
            base,
        })
    }

    /// A commit on top of the session's last that touches only the changeable files, if that is what
    /// is checked out.
    fn commit_on_top(&self) -> Result<Option<CommitId>, Error> {
        let (Some(repo), Some(on)) = (&self.repo, self.session_head()) else {
            return Ok(None);
        };
        let found = repo.head()?;
        match (&found, &on) {
            (
                Head::Branch { name, commit },
                Head::Branch {
                    name: wanted,
                    commit: base,
                },
            ) if name == wanted && commit != base => {
                let touched = repo.files_between(*base, *commit)?;
                let ours = touched.iter().all(|f| self.session.plan.files.contains(f));
                Ok((ours && repo.is_ancestor(*base, *commit)?).then_some(*commit))
            }
            _ => Ok(None),
        }
    }

    fn undo_without_git(&mut self, run: &Run) -> Result<Vec<crate::event::Stored>, Error> {
        let Some(tried) = &run.tried else {
            return Ok(self.session.base.clone());
        };
        if tried.candidate != self.session.base {
            return Err(Error::State(format!(
                "without git only the last kept iteration can be undone, and {} is not it",
                run.iteration
            )));
        }
        let swaps = self.store.swaps(&tried.candidate, &tried.base)?;
        self.swap(run.run, &swaps)?;
        Ok(tried.base.clone())
    }
}
