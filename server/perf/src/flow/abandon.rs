//! Giving a session up: everything as it was before it.

use crate::error::Error;
use crate::event::Event;

use super::Loop;

impl Loop<'_> {
    /// Ends the session and puts the changeable files back to what they were before it. A change that
    /// was not tried yet is not lost either: the call fails and shows it.
    ///
    /// # Errors
    /// [`Error::State`] if it is over; [`Error::Conflict`] or [`Error::Git`] if a file is not what
    /// the session left there. Then nothing has changed.
    pub fn abandon(&mut self) -> Result<(), Error> {
        self.expect_alive()?;
        let swaps = self.store.swaps(&self.session.base, &self.session.found)?;
        match (&self.repo, self.session_head(), self.original_head()) {
            (Some(repo), Some(on), Some(to)) if repo.head()? == on => {
                // Before any change was tried, the user's own is still there and stays.
                let untouched = self.session.base == self.session.first_base
                    && self.on_disk_is(&self.session.found)?;
                let files = if untouched { &[][..] } else { &swaps };
                repo.switch_back(&self.git, &on, &to, files)?;
            }
            (Some(_), ..) => self.expect_branch()?,
            _ => {
                let run = self.session.runs.last().map_or(0, |r| r.run);
                self.swap(run, &swaps)?;
            }
        }
        self.record(Event::Abandoned)?;
        self.remove_trees();
        Ok(())
    }

    fn on_disk_is(&self, files: &[crate::event::Stored]) -> Result<bool, Error> {
        Ok(self.on_disk()? == self.get_all(files)?)
    }
}
