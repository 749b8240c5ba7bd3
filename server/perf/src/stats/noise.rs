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

/// A configuration compared with itself: its cost, and the effect found by each pair of processes.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeated {
    /// Its median cost.
    pub cost: f64,
    /// The effects of nothing.
    pub effects: Vec<Estimate>,
}

/// The spread between processes by configuration, with the number of comparisons behind it, from the
/// base compared with itself in several pairs of processes: effects of nothing, so whatever they are
/// beyond their own error is that spread.
///
/// Each configuration has too few draws to be judged alone, so the others count for some. What they
/// share is an absolute time, not a share of it: on an H200, two processes differed by 0.2 us in a
/// kernel of 5 us as in one of 88 us.
pub fn between_processes(configurations: &[Repeated]) -> Vec<(f64, usize)> {
    let beyond = |e: &Estimate| (e.effect.powi(2) - e.standard_error.powi(2)).max(0.0);
    let all: Vec<f64> = (configurations.iter())
        .flat_map(|c| c.effects.iter().map(|e| beyond(e) * c.cost.powi(2)))
        .collect();
    let pooled = all.iter().sum::<f64>() / all.len().max(1) as f64;
    (configurations.iter())
        .map(|c| {
            let draws = c.effects.len() + PRIOR_DRAWS;
            let own = c.effects.iter().map(beyond).sum::<f64>();
            let shared = pooled / c.cost.powi(2) * PRIOR_DRAWS as f64;
            (((own + shared) / draws as f64).sqrt(), draws)
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
