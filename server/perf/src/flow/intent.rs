//! Finish, abandon and undo across a kill.
//!
//! Each is announced before branch or files are touched. Where the announcement is the journal's last
//! word, its process died: either everything was done but the last word, which is then written, or it
//! is done again, for which every step of it counts what it finds done as done.

use tileperf_vcs::Head;

use crate::error::Error;
use crate::event::{Event, Intent};

use super::{How, Loop};

impl Loop<'_> {
    /// Announces what the user asked for, and does it. What fails is withdrawn: it is not to be done
    /// by whoever takes up the session next.
    pub(super) fn intend(
        &mut self,
        intent: Intent,
        work: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.record(Event::Intended { intent })?;
        let done = work(self);
        if done.is_err() && self.session.intent.is_some() {
            self.record(Event::Withdrawn)?;
        }
        done
    }

    /// Does again what a vanished process announced, unless that is done.
    pub(super) fn recover_intent(&mut self, intent: Intent) -> Result<(), Error> {
        let done = match intent {
            Intent::Finish { squash } if self.has_arrived()? => {
                self.conclude_finish(match squash {
                    true => How::Squash,
                    false => How::Commits,
                })
            }
            Intent::Finish { squash: true } => self.finish_now(How::Squash),
            Intent::Finish { squash: false } => self.finish_now(How::Commits),
            Intent::Abandon if self.has_arrived()? => self.conclude_abandon(),
            Intent::Abandon => self.abandon_now(),
            Intent::Undo { iteration } => self.undo_now(iteration),
        };
        match done {
            Ok(()) => self.completed = Some(intent),
            // The session goes on; whoever asked for it may ask again, and is told the same then.
            Err(error) => self.record(Event::Note {
                text: format!("what was interrupted cannot be completed: {error}"),
            })?,
        }
        Ok(())
    }

    /// Whether what was checked out before the session is checked out again.
    fn has_arrived(&self) -> Result<bool, Error> {
        let (Some(repo), Some(to)) = (&self.repo, self.original_head()) else {
            return Ok(false);
        };
        let found = repo.head()?;
        Ok(match (&found, &to) {
            (Head::Branch { name, .. }, Head::Branch { name: wanted, .. }) => name == wanted,
            (Head::Detached { .. }, Head::Detached { .. }) => true,
            _ => false,
        })
    }
}
