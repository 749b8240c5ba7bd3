//! Heavy work off the message loop, on a bounded number of threads.
//!
//! Threads start when there is work and end when there has been none for a while, so a server that
//! has nothing to do holds none.

use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tower_lsp::jsonrpc::{Error, Result};

/// How long an idle thread is kept.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// The runtime of the message loop with its pool of worker threads.
///
/// # Errors
/// The system refuses what a runtime needs.
pub(super) fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(threads())
        .thread_keep_alive(KEEP_ALIVE)
        .thread_name("lsp-work")
        .build()
}

/// One per core; two on a single core, so that a long answer does not hold up a short one.
fn threads() -> usize {
    std::thread::available_parallelism()
        .map_or(2, std::num::NonZero::get)
        .clamp(2, 8)
}

/// Runs `work` on the pool and waits for its result. A panic continues in the caller. When the
/// caller is dropped, as by a cancellation, work that has not begun never begins.
///
/// # Errors
/// The work was given up because the server ends.
pub(super) async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let mut job = AbortOnDrop(tokio::task::spawn_blocking(work));
    match (&mut job.0).await {
        Ok(value) => Ok(value),
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(Error::request_cancelled()),
    }
}

/// Runs background work on the pool. Nobody waits for an answer to it, so a panic ends in the log.
pub(super) async fn caught<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => Some(value),
        Err(error) => {
            tracing::error!("{what}: {error}");
            None
        }
    }
}

struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}
