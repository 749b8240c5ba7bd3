//! Holding up a thread from outside.

use std::sync::{Condvar, Mutex, PoisonError};

/// Holds up the thread that reads the server's output while it is closed.
#[derive(Debug, Default)]
pub(super) struct Gate {
    closed: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    pub(super) fn pass(&self) {
        let mut closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        while *closed {
            closed = self
                .opened
                .wait(closed)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn set(&self, close: bool) {
        *self.closed.lock().unwrap_or_else(PoisonError::into_inner) = close;
        self.opened.notify_all();
    }
}
