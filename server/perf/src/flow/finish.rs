//! The session's result goes where it was wanted.

use tileperf_vcs::Finish;

use crate::error::Error;
use crate::event::{Event, Intent};

use super::Loop;

/// How commits get onto the branch that the session started from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// As one commit.
    Squash,
    /// As they are.
    Commits,
}

impl Loop<'_> {
    /// Ends the session and returns to the branch it started from, with everything that was kept.
    /// Files and index are not touched: what is on the disk stays as it is.
    ///
    /// # Errors
    /// [`Error::State`] if it is over; [`Error::Git`] if that branch has moved elsewhere, and the
    /// like. Then nothing has changed.
    pub fn finish(&mut self, how: How) -> Result<(), Error> {
        if matches!(self.completed, Some(Intent::Finish { .. })) {
            return Ok(());
        }
        self.expect_alive()?;
        self.expect_branch()?;
        let squash = how == How::Squash;
        self.intend(Intent::Finish { squash }, |this| this.finish_now(how))
    }

    pub(super) fn finish_now(&mut self, how: How) -> Result<(), Error> {
        if let (Some(repo), Some(on), Some(to)) =
            (&self.repo, self.session_head(), self.original_head())
        {
            let message = self.summary();
            let kept =
                self.session.base_commit != self.session.git.as_ref().map(|g| g.commit.clone());
            let how = match how {
                How::Squash if kept => Finish::Squash {
                    message: &message,
                    author: None,
                },
                _ => Finish::KeepCommits,
            };
            repo.finish(&on, &to, how)?;
        }
        self.conclude_finish(how)
    }

    /// Tidies up and says that the result is where it was wanted.
    pub(super) fn conclude_finish(&mut self, how: How) -> Result<(), Error> {
        // Before the end is on record: nobody opens a session that is over to tidy up after a kill.
        self.remove_trees();
        // The same commits are on the other branch now; those of a squash are kept there.
        if let (How::Commits, Some(repo), Some(git), Some(tip)) =
            (how, &self.repo, &self.session.git, self.base_commit())
            && let Err(error) = repo.delete_branch(&git.session_branch, tip)
        {
            tracing::warn!("{}: {error}", git.session_branch);
        }
        let head = self
            .repo
            .as_ref()
            .map(tileperf_vcs::Repo::head)
            .transpose()?;
        let commit = head.and_then(|head| head.commit()).map(|c| c.to_string());
        self.record(Event::Finished {
            commit,
            squashed: how == How::Squash,
        })
    }

    /// A commit message for everything that was kept.
    fn summary(&self) -> String {
        let session = &self.session;
        let kept = session
            .runs
            .iter()
            .filter(|r| r.kept && !r.undone && r.iteration > 0);
        let list: Vec<String> = kept
            .filter_map(|r| {
                let name = &r.tried.as_ref()?.optimization;
                Some(format!("- {name} ({:.6} ms)", r.row.as_ref()?.latency_ms))
            })
            .collect();
        let change = match (session.first_latency(), session.latency()) {
            (Some(first), Some(last)) => {
                format!("{first:.6} ms to {last:.6} ms ({:.2}x)", first / last)
            }
            _ => "not measured".to_owned(),
        };
        format!(
            "Optimize {}: {change}\n\n{}\n\nTileperf-Session: {}\n",
            session.plan.kernel,
            list.join("\n"),
            session.name
        )
    }
}
