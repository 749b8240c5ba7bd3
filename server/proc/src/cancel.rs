//! Cancelling from another thread, before, while or after a program runs.
//!
//! The owner's end of the leash is shared between the thread that pumps output, the handle and any
//! number of tokens. Cancelling shuts its sending side down: the guard reads end of file and ends
//! the tree, and its report still comes back the other way. Nobody has to be woken, no thread waits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The owner's end of the connection with one guard.
#[derive(Debug)]
pub(crate) struct Leash {
    #[cfg(unix)]
    pub(crate) link: std::os::unix::net::UnixStream,
    released: AtomicBool,
}

impl Leash {
    #[cfg(unix)]
    pub(crate) fn new(link: std::os::unix::net::UnixStream) -> Self {
        Self {
            link,
            released: AtomicBool::new(false),
        }
    }

    /// Lets go: the guard ends its tree. Later calls do nothing.
    pub(crate) fn release(&self) {
        self.released.store(true, Ordering::SeqCst);
        #[cfg(unix)]
        // Fails only if the guard is already gone, which is what was wanted.
        let _ = self.link.shutdown(std::net::Shutdown::Write);
    }

    pub(crate) fn released(&self) -> bool {
        self.released.load(Ordering::SeqCst)
    }
}

/// Cancels every program that was started with it, now and in future. Clones are the same token.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    cancelled: AtomicBool,
    leashes: Mutex<Vec<Weak<Leash>>>,
}

impl CancelToken {
    /// A token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the programs that run with this token; those started later end before they begin.
    /// Returns at once: the trees are gone when their `run` or `wait` returns.
    pub fn cancel(&self) {
        // The flag is set under the lock that `watch` takes: a leash registered at this moment
        // either is in the list or sees the flag.
        let leashes = {
            let mut leashes = self
                .state
                .leashes
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            self.state.cancelled.store(true, Ordering::SeqCst);
            std::mem::take(&mut *leashes)
        };
        for leash in leashes.iter().filter_map(Weak::upgrade) {
            leash.release();
        }
    }

    /// Whether [`cancel`](Self::cancel) was called.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.state.cancelled.load(Ordering::SeqCst)
    }

    /// Has `leash` released when this token is cancelled, at once if it already is.
    pub(crate) fn watch(&self, leash: &Arc<Leash>) {
        let mut leashes = self
            .state
            .leashes
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if self.is_cancelled() {
            leash.release();
            return;
        }
        leashes.retain(|known| known.strong_count() > 0);
        leashes.push(Arc::downgrade(leash));
    }
}
