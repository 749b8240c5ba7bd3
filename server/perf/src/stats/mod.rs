//! From pairs of samples to an effect with an interval.
//!
//! GPU timings move by several percent between processes and drift inside one; two runs measured
//! one after the other accept a change that does nothing about every fourth time. So base and
//! candidate are sampled in turns (A B B A), each pair gives one log ratio in which slow drift
//! cancels, and the effect is the median of these ratios. A negative effect is a faster candidate.
//!
//! Everything is a function of its input: resampling is seeded by a constant, so a journal can be
//! judged again and gives the same verdict.

mod bootstrap;
mod combine;
mod distribution;
mod estimate;
mod exact;
mod noise;
mod random;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use combine::{Total, Weighted, geometric_mean, holm, total};
pub use estimate::{Estimate, Method, Plan, estimate};
pub use noise::{Noise, Repeated, between_processes, between_rounds, noise};
#[cfg(test)]
pub(crate) use random::Random;

/// Pairs under this part of the median clock are dropped: the device was throttled or still waking.
const SLOWEST_CLOCK: f64 = 0.9;

/// One measured value of one variant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// What was measured; must grow with time (see [`Measure::cost`](crate::readings::Measure)).
    pub cost: f64,
    /// SM clock in MHz while it was measured, where the device tells.
    pub clock_mhz: Option<f64>,
}

impl Sample {
    /// A sample without a known clock.
    pub fn new(cost: f64) -> Self {
        Sample {
            cost,
            clock_mhz: None,
        }
    }
}

/// One sample of each variant, taken next to each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The base's sample.
    pub base: Sample,
    /// The candidate's sample.
    pub candidate: Sample,
}

/// The two sides of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// The last kept commit.
    Base,
    /// The change under test.
    Candidate,
}

impl Variant {
    /// The side that this one is compared with.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Variant::Base => Variant::Candidate,
            Variant::Candidate => Variant::Base,
        }
    }

    /// The name in paths of a run. Both are equally long: paths are in a process's environment, and
    /// how long that is moves its stack, which alone can make one of two equal programs the faster
    /// (Mytkowicz et al., Producing Wrong Data Without Doing Anything Obviously Wrong, ASPLOS 2009).
    pub fn in_paths(self) -> &'static str {
        match self {
            Variant::Base => "base",
            Variant::Candidate => "cand",
        }
    }
}

/// The order in which to take the samples of `pairs` pairs: A B B A A B B A, so that a steady drift
/// favours each side equally often.
pub fn order(pairs: usize) -> impl Iterator<Item = Variant> {
    (0..pairs).flat_map(|pair| match pair % 2 {
        0 => [Variant::Base, Variant::Candidate],
        _ => [Variant::Candidate, Variant::Base],
    })
}

/// Why samples give no effect.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum StatsError {
    /// A cost must be positive and finite to have a logarithm.
    #[error("pair {pair} holds a cost that is no positive number")]
    NotPositive {
        /// 0-based index of the pair.
        pair: usize,
    },
    /// Fewer than two pairs were left: nothing is known about their spread.
    #[error("{pairs} usable pairs are too few for an interval")]
    TooFew {
        /// Pairs left after dropping those under a slow clock.
        pairs: usize,
    },
}

/// The log ratios of pairs, in blocks of one A B B A each.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ratios {
    blocks: Vec<Vec<f64>>,
    dropped: usize,
}

impl Ratios {
    /// The ratios of pairs in the order they were taken (that of [`order`]), without those under a
    /// slow clock.
    ///
    /// # Errors
    /// [`StatsError::NotPositive`] for the first pair whose ratio has no logarithm.
    pub fn of(pairs: &[Pair]) -> Result<Self, StatsError> {
        let slowest = slowest_clock(pairs);
        let mut ratios = Ratios {
            blocks: Vec::new(),
            dropped: 0,
        };
        for (block, taken) in pairs.chunks(2).enumerate() {
            let mut kept = Vec::with_capacity(2);
            for (offset, pair) in taken.iter().enumerate() {
                let ratio = (pair.candidate.cost / pair.base.cost).ln();
                if pair.base.cost <= 0.0 || pair.candidate.cost <= 0.0 || !ratio.is_finite() {
                    return Err(StatsError::NotPositive {
                        pair: block * 2 + offset,
                    });
                }
                let slow = |sample: Sample| sample.clock_mhz.is_some_and(|clock| clock < slowest);
                if slow(pair.base) || slow(pair.candidate) {
                    ratios.dropped += 1;
                } else {
                    kept.push(ratio);
                }
            }
            if !kept.is_empty() {
                ratios.blocks.push(kept);
            }
        }
        Ok(ratios)
    }

    /// How many pairs count.
    pub fn pairs(&self) -> usize {
        self.blocks.iter().map(Vec::len).sum()
    }

    /// How many pairs were dropped for their clock.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    pub(crate) fn blocks(&self) -> &[Vec<f64>] {
        &self.blocks
    }

    /// All ratios, smallest first.
    pub(crate) fn sorted(&self) -> Vec<f64> {
        let mut values: Vec<f64> = self.blocks.iter().flatten().copied().collect();
        values.sort_by(f64::total_cmp);
        values
    }
}

/// The clock below which a pair is dropped; without known clocks, none.
fn slowest_clock(pairs: &[Pair]) -> f64 {
    let mut clocks: Vec<f64> = pairs
        .iter()
        .flat_map(|pair| [pair.base.clock_mhz, pair.candidate.clock_mhz])
        .flatten()
        .filter(|clock| clock.is_finite())
        .collect();
    clocks.sort_by(f64::total_cmp);
    median_of_sorted(&clocks).map_or(0.0, |median| SLOWEST_CLOCK * median)
}

/// The median of sorted values.
pub(crate) fn median_of_sorted(values: &[f64]) -> Option<f64> {
    let upper = *values.get(values.len() / 2)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(values[values.len() / 2 - 1], upper))
}

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
