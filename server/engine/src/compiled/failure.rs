//! Failures that are not a kernel's own: when they are tried again.

use std::time::{Duration, Instant};

/// That a kernel could not be compiled, which may pass: a full disk, a tool that is being replaced.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    /// In words.
    pub(super) why: String,
    /// When it may be tried again.
    again: Instant,
}

/// How soon what has failed at once is tried again.
const SOONEST: Duration = Duration::from_secs(5);
/// What took long to fail is left alone for so many times that.
const TIMES: u32 = 4;

impl Failure {
    /// One now, after trying since then.
    pub(super) fn new(why: String, began: Instant) -> Self {
        let wait = (began.elapsed() * TIMES).max(SOONEST);
        Self {
            why,
            again: Instant::now() + wait,
        }
    }

    /// Whether it may be tried again.
    pub(super) fn is_due(&self) -> bool {
        self.again <= Instant::now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_long_is_left_alone_for_longer() {
        let failure = |took: u64| {
            let began = Instant::now().checked_sub(Duration::from_secs(took));
            Failure::new("no room".to_owned(), began.unwrap())
        };
        for (took, wait) in [(0, 5), (1, 5), (30, 120), (180, 720)] {
            let failure = failure(took);
            assert!(!failure.is_due());
            let rest = failure.again.saturating_duration_since(Instant::now());
            let wait = Duration::from_secs(wait);
            assert!(rest <= wait + Duration::from_secs(1), "{took}: {rest:?}");
            assert!(rest + Duration::from_secs(1) >= wait, "{took}: {rest:?}");
        }
    }
}
