//! Taking one kept iteration back, later.

use tileperf_vcs::Undo;

use crate::error::Error;
use crate::event::Event;
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
        self.expect_alive()?;
        self.expect_branch()?;
        let kept = |r: &&Run| r.kept && !r.undone && r.iteration > 0;
        let run = (self.session.runs.iter().rev())
            .filter(kept)
            .find(|r| iteration.is_none_or(|wanted| r.iteration == wanted))
            .cloned()
            .ok_or_else(|| {
                Error::State(match iteration {
                    Some(number) => format!("iteration {number} is not one that is kept"),
                    None => "no iteration is kept".to_owned(),
                })
            })?;
        let (commit, base) = match (&self.repo, self.session_head(), &run.commit) {
            (Some(repo), Some(on), Some(kept)) => {
                let message = format!(
                    "{}: undo {}\n\nTileperf-Session: {}\nTileperf-Undo: {}\n",
                    self.session.plan.kernel,
                    run.tried.as_ref().map_or("", |t| &t.optimization),
                    self.session.name,
                    run.iteration,
                );
                let commit = repo.undo(
                    &self.git,
                    &Undo {
                        on: &on,
                        kept: kept.parse()?,
                        message: &message,
                        author: None,
                    },
                )?;
                let files = repo.read_files_at(&self.git, commit, &self.session.plan.files)?;
                (Some(commit.to_string()), self.keep_all(&files)?)
            }
            _ => (None, self.undo_without_git(&run)?),
        };
        self.record(Event::Undone {
            iteration: run.iteration,
            commit,
            base,
        })?;
        Ok(run.iteration)
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
