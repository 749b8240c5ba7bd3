//! Durations of one kind and their quantiles.

use std::time::Duration;

/// Durations in the order in which they were taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Samples(Vec<Duration>);

impl Samples {
    pub(super) fn push(&mut self, taken: Duration) {
        self.0.push(taken);
    }

    pub(super) fn extend(&mut self, others: &Self) {
        self.0.extend_from_slice(&others.0);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The smallest duration that at least the share `q` of all does not exceed; zero of none.
    pub(super) fn quantile(&self, q: f64) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let rank = (q * sorted.len() as f64).ceil() as usize;
        sorted
            .get(rank.saturating_sub(1))
            .copied()
            .unwrap_or_default()
    }

    pub(super) fn median(&self) -> Duration {
        self.quantile(0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_samples_that_were_taken() {
        let mut samples = Samples::default();
        assert_eq!(samples.median(), Duration::ZERO);
        for ms in (1..=200).rev() {
            samples.push(Duration::from_millis(ms));
        }
        assert_eq!(samples.median(), Duration::from_millis(100));
        assert_eq!(samples.quantile(0.99), Duration::from_millis(198));
        assert_eq!(samples.quantile(1.0), Duration::from_millis(200));
    }
}
