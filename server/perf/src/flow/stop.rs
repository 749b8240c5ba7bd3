//! The user stops a session, from this process or another one.

use crate::error::Error;
use crate::event::Event;
use crate::lock::Lock;
use crate::session::Phase;
use crate::store::Store;
use crate::verdict::Stop;

use super::Loop;

/// The file that asks whoever runs the session to stop; a file reaches detached and remote runs.
pub(super) const WISH: &str = "stop";

/// Asks the process that runs the session to end its run; nothing is kept of it.
///
/// # Errors
/// [`Error::Io`].
pub fn ask_to_stop(store: &Store) -> Result<(), Error> {
    let path = store.folder().join(WISH);
    std::fs::write(&path, "").map_err(|e| Error::io("write", &path, e))
}

/// Forgets a wish that nobody is left to hear: its run is over.
pub fn forget_old_wish(store: &Store) {
    if Lock::holder(&store.lock()).is_none() {
        let _ = std::fs::remove_file(store.folder().join(WISH));
    }
}

/// Whether somebody has asked. Whoever runs the session looks several times a second.
pub fn stop_asked(store: &Store) -> bool {
    store.folder().join(WISH).exists()
}

impl Loop<'_> {
    /// Stops the session, between runs.
    ///
    /// # Errors
    /// [`Error::State`] if it is over, [`Error::Io`].
    pub fn stop(&mut self) -> Result<(), Error> {
        self.expect_alive()?;
        if !matches!(self.session.phase, Phase::Stopped { .. }) {
            self.record(Event::Stopped { stop: Stop::User })?;
        }
        Ok(())
    }
}
