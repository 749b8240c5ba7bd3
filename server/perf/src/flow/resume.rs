//! A stopped session goes on.

use crate::error::Error;
use crate::event::Event;
use crate::session::Phase;

use super::Loop;

impl Loop<'_> {
    /// Goes on after a stop; `go_on`: also after small gains. What a killed process left was finished
    /// when the session was taken up.
    ///
    /// # Errors
    /// [`Error::State`] if it is over, [`Error::Io`].
    pub fn resume(&mut self, go_on: bool) -> Result<(), Error> {
        self.expect_alive()?;
        self.expect_branch()?;
        let stopped = matches!(self.session.phase, Phase::Stopped { .. });
        if stopped || go_on != self.session.go_on {
            self.record(Event::Resumed { go_on })?;
        }
        Ok(())
    }
}
