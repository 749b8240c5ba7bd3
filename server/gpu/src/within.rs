//! A time limit for questions to a driver that may never return.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use crate::no_gpu::NoGpu;

/// Questions that nobody waits for any more, but whose threads have not returned.
static STUCK: AtomicUsize = AtomicUsize::new(0);

/// Who has finished with a question first. Guarded by a lock, so that exactly one side counts.
enum Phase {
    Asked,
    GivenUp,
    Answered,
}

/// Does `work` on a thread of its own and waits for at most `limit`.
///
/// While an earlier question is stuck, new ones are refused at once: a driver that does not answer one
/// would not answer the next, and each would cost a thread.
pub(crate) fn within<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NoGpu> {
    let seconds = limit.as_secs();
    if STUCK.load(Ordering::Acquire) > 0 {
        return Err(NoGpu::NoAnswer { seconds });
    }
    let (answer, answers) = mpsc::sync_channel(1);
    let phase = Arc::new(Mutex::new(Phase::Asked));
    let done = Arc::clone(&phase);
    let thread = thread::Builder::new().name("device probe".to_owned());
    let started = thread.spawn(move || {
        // Counts also if `work` panics.
        let _finished = Finished(done);
        // Nobody may be listening any more: then the answer is of no use.
        let _ = answer.send(work());
    });
    if let Err(error) = started {
        return Err(NoGpu::Failed {
            what: format!("cannot start a thread for the question: {error}"),
            hint: None,
        });
    }
    match answers.recv_timeout(limit) {
        Ok(value) => Ok(value),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            let mut phase = phase.lock().unwrap_or_else(PoisonError::into_inner);
            if matches!(*phase, Phase::Asked) {
                *phase = Phase::GivenUp;
                STUCK.fetch_add(1, Ordering::AcqRel);
            }
            Err(NoGpu::NoAnswer { seconds })
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(NoGpu::Failed {
            what: "the question to the driver ended without an answer".to_owned(),
            hint: None,
        }),
    }
}

struct Finished(Arc<Mutex<Phase>>);

impl Drop for Finished {
    fn drop(&mut self) {
        let mut phase = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*phase, Phase::GivenUp) {
            STUCK.fetch_sub(1, Ordering::AcqRel);
        }
        *phase = Phase::Answered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One test, because what is stuck is counted for the whole process.
    #[test]
    fn a_stuck_question_is_given_up_and_blocks_further_ones_until_it_returns() {
        let (release, released) = mpsc::channel::<()>();
        let stuck = within(Duration::from_millis(20), move || released.recv().is_ok());
        assert_eq!(stuck, Err(NoGpu::NoAnswer { seconds: 0 }));
        let refused = within(Duration::from_secs(60), || 1);
        assert_eq!(refused, Err(NoGpu::NoAnswer { seconds: 60 }));

        release.send(()).unwrap();
        let mut answer = Err(NoGpu::NoAnswer { seconds: 0 });
        for _ in 0..500 {
            answer = within(Duration::from_secs(60), || 1);
            if answer.is_ok() {
                break;
            }
            thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(answer, Ok(1));

        let panicked: Result<(), NoGpu> = within(Duration::from_secs(60), || panic!("as expected"));
        assert!(
            matches!(panicked, Err(NoGpu::Failed { .. })),
            "{panicked:?}"
        );
        assert_eq!(within(Duration::from_secs(60), || 2), Ok(2));
    }
}
