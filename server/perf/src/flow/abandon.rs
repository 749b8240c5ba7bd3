//! Giving a session up: everything as it was before it.

use crate::error::Error;
use crate::event::{Event, Intent};

use tileperf_vcs::Head;

use super::Loop;

impl Loop<'_> {
    /// Ends the session and puts the changeable files back to what they were before it. A change that
    /// was not tried yet is not lost either: the call fails and shows it. Where something else is
    /// checked out by now, branch and files are the user's own doing and are left alone.
    ///
    /// # Errors
    /// [`Error::State`] if it is over; [`Error::Conflict`] or [`Error::Git`] if a file is not what
    /// the session left there. Then nothing has changed.
    pub fn abandon(&mut self) -> Result<(), Error> {
        if self.completed == Some(Intent::Abandon) {
            return Ok(());
        }
        self.expect_alive()?;
        self.intend(Intent::Abandon, Self::abandon_now)
    }

    pub(super) fn abandon_now(&mut self) -> Result<(), Error> {
        let swaps = self.store.swaps(&self.session.base, &self.session.found)?;
        match (&self.repo, self.branch_as_it_is()?, self.original_head()) {
            (Some(repo), Some(on), Some(to)) => {
                // Before any change was tried, the user's own is still there and stays.
                let untouched = self.session.base == self.session.first_base
                    && self.on_disk_is(&self.session.found)?;
                let files = if untouched { &[][..] } else { &swaps };
                repo.switch_back(&self.git, &on, &to, files)?;
            }
            (Some(_), ..) => {}
            _ => {
                let run = self.session.runs.last().map_or(0, |r| r.run);
                self.swap(run, &swaps)?;
            }
        }
        self.conclude_abandon()
    }

    /// Tidies up and says that everything is as it was.
    pub(super) fn conclude_abandon(&mut self) -> Result<(), Error> {
        // Before the end is on record: nobody opens a session that is over to tidy up after a kill.
        self.remove_trees();
        self.record(Event::Abandoned)
    }

    /// The session's branch, if it is checked out: with commits that the user has made on it.
    fn branch_as_it_is(&self) -> Result<Option<Head>, Error> {
        let (Some(repo), Some(expected)) = (&self.repo, self.session_head()) else {
            return Ok(None);
        };
        let found = repo.head()?;
        let same = matches!(
            (&found, &expected),
            (Head::Branch { name, .. }, Head::Branch { name: wanted, .. }) if name == wanted
        );
        Ok(same.then_some(found))
    }

    fn on_disk_is(&self, files: &[crate::event::Stored]) -> Result<bool, Error> {
        Ok(self.on_disk()? == self.get_all(files)?)
    }
}
