//! The base against itself: what this machine can tell apart today.

use serde::{Deserialize, Serialize};

use super::distribution::Reference;
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
    /// What two processes that run the same code differ by: standard deviation on the log scale.
    #[serde(default)]
    pub between: f64,
    /// Comparisons of processes that this is known from.
    #[serde(default)]
    pub draws: usize,
}

/// How many comparisons the pooled spread of all configurations counts for in that of one.
const PRIOR_DRAWS: usize = 2;

/// The spread between processes by configuration, from the base compared with itself in several pairs
/// of processes: effects of nothing, so whatever they are beyond their own error is that spread. Each
/// configuration has too few draws to be judged alone (small kernels spread more than large ones, but
/// not without limit), so the spread of all counts for some.
pub fn between_processes(effects: &[Vec<Estimate>]) -> Vec<(f64, usize)> {
    let beyond = |e: &Estimate| (e.effect.powi(2) - e.standard_error.powi(2)).max(0.0);
    let all: Vec<f64> = effects.iter().flatten().map(beyond).collect();
    let pooled = all.iter().sum::<f64>() / all.len().max(1) as f64;
    effects
        .iter()
        .map(|own| {
            let draws = own.len() + PRIOR_DRAWS;
            let sum = own.iter().map(beyond).sum::<f64>() + pooled * PRIOR_DRAWS as f64;
            ((sum / draws as f64).sqrt(), draws)
        })
        .collect()
}

impl Noise {
    /// The noise with a spread between processes, for candidates that get up to `pairs` pairs from one
    /// pair of processes.
    #[must_use]
    pub fn with_processes(self, between: f64, draws: usize, pairs: usize) -> Self {
        if between <= 0.0 {
            return Self { draws, ..self };
        }
        let tails = [(1.0 - self.estimate.level) / 2.0, 1.0 - POWER];
        let reach = |reference: Reference| -> f64 {
            tails
                .iter()
                .map(|tail| reference.upper_quantile(*tail))
                .sum()
        };
        let within =
            reach(self.estimate.reference()) * self.per_pair / (pairs.max(2) as f64).sqrt();
        let across = reach(Reference::Student(draws.max(1) as u32)) * between;
        Self {
            // What looks like a bias of two processes is one draw of their spread.
            bias: 0.0,
            detectable: -(-within.hypot(across)).exp_m1(),
            between,
            draws,
            ..self
        }
    }
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
        between: 0.0,
        draws: 0,
    })
}
