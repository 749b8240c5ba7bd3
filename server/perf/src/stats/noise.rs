//! The base against itself: what this machine can tell apart today.

use serde::{Deserialize, Serialize};

use super::{Estimate, Plan, Ratios, StatsError, estimate};

/// The usual chance of finding an effect of the detectable size.
const POWER: f64 = 0.8;

/// What an A/A comparison found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// The effect of nothing, with its interval.
    pub estimate: Estimate,
    /// Spread of a single pair: standard error times the root of the number of pairs.
    pub per_pair: f64,
    /// The effect of nothing where it is not zero within its interval: the harness itself favours
    /// one side (separate buffers did, by up to 1.9 %).
    pub bias: f64,
    /// The smallest true change (0.02 is 2 %) that the last look finds four times out of five.
    pub detectable: f64,
}

/// The noise of A/A pairs, for candidates that will get up to `pairs` pairs (usually
/// [`Plan::last_look`], or what the time allows).
///
/// # Errors
/// [`StatsError::TooFew`] below two pairs.
pub fn noise(ratios: &Ratios, plan: Plan, pairs: usize) -> Result<Noise, StatsError> {
    let estimate = estimate(ratios, plan)?;
    let reference = estimate.reference();
    let per_pair = estimate.standard_error * (estimate.pairs as f64).sqrt();
    let bias = if estimate.low > 0.0 || estimate.high < 0.0 {
        estimate.effect.abs()
    } else {
        0.0
    };
    let quantiles = reference.upper_quantile((1.0 - estimate.level) / 2.0)
        + reference.upper_quantile(1.0 - POWER);
    let smallest = bias + quantiles * per_pair / (pairs.max(2) as f64).sqrt();
    Ok(Noise {
        estimate,
        per_pair,
        bias,
        detectable: -(-smallest).exp_m1(),
    })
}
