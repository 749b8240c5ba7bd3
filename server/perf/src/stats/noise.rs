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
/// It is the usual spread, by medians: a stray pair of processes (ten per cent, one time in thirty, on
/// a machine that others use) would make everything else invisible. Strays are met by looking twice:
/// nothing is kept that only one pair of processes shows.
///
/// Each configuration has too few draws to be judged alone, so the others count for some. What they
/// share is an absolute time, not a share of it: on an H200, two processes differed by 0.2 us in a
/// kernel of 5 us as in one of 88 us.
pub fn between_processes(configurations: &[Repeated]) -> Vec<(f64, usize)> {
    let beyond = |e: &Estimate| (e.effect.powi(2) - e.standard_error.powi(2)).max(0.0);
    let pooled = usual(
        (configurations.iter())
            .flat_map(|c| c.effects.iter().map(|e| beyond(e) * c.cost.powi(2)))
            .collect(),
    );
    (configurations.iter())
        .map(|c| {
            let draws = c.effects.len() + PRIOR_DRAWS;
            let own = usual(c.effects.iter().map(beyond).collect()) * c.effects.len() as f64;
            let shared = pooled / c.cost.powi(2) * PRIOR_DRAWS as f64;
            (((own + shared) / draws as f64).sqrt(), draws)
        })
        .collect()
}

/// The variance between processes that a comparison made in several pairs of processes shows by itself, by
/// configuration: whatever the change does, it does in each of them.
///
/// By the smallest distance between two effects (Qn of Rousseeuw and Croux, Alternatives to the Median
/// Absolute Deviation, 1993), which one stray pair of processes cannot make large. As there are two or three
/// effects, the other configurations count for as much as two.
pub fn between_rounds(configurations: &[Repeated]) -> Vec<f64> {
    let own: Vec<f64> = (configurations.iter())
        .map(|c| {
            let mut effects: Vec<f64> = c.effects.iter().map(|e| e.effect).collect();
            effects.sort_by(f64::total_cmp);
            let apart = effects.windows(2).map(|two| two[1] - two[0]);
            let nearest = apart.fold(f64::INFINITY, f64::min);
            // The mean square of it among normal draws of variance 1, of two and of three.
            let variance = match effects.len() {
                0 | 1 => return 0.0,
                2 => nearest.powi(2) / 2.0,
                _ => nearest.powi(2) * 2.894,
            };
            let errors = c.effects.iter().map(|e| e.standard_error.powi(2));
            (variance - errors.sum::<f64>() / effects.len() as f64).max(0.0)
        })
        .collect();
    let pairs = own.iter().zip(configurations);
    let shared = pairs.map(|(own, c)| own * c.cost.powi(2)).sum::<f64>();
    let shared = shared / configurations.len().max(1) as f64;
    (own.iter().zip(configurations))
        .map(|(own, c)| {
            let draws = c.effects.len().saturating_sub(1) as f64;
            let prior = PRIOR_DRAWS as f64;
            (own * draws + shared / c.cost.powi(2) * prior) / (draws + prior)
        })
        .collect()
}

/// The variance of normal draws around zero with these squares, by their median: that of the square
/// of a standard normal variable is 0.4549. Of one or two the mean.
fn usual(mut squares: Vec<f64>) -> f64 {
    squares.sort_by(f64::total_cmp);
    match squares.as_slice() {
        [] => 0.0,
        [one] => *one,
        [a, b] => f64::midpoint(*a, *b),
        many => {
            let middle = many.len() / 2;
            let median = if many.len() % 2 == 1 {
                many[middle]
            } else {
                f64::midpoint(many[middle - 1], many[middle])
            };
            median / 0.4549
        }
    }
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

    /// The noise with more draws of the spread between processes, of this variance: a machine may have
    /// become louder since the base was compared with itself.
    #[must_use]
    pub fn and_between(self, variance: f64, draws: usize, pairs: usize) -> Self {
        let all = self.draws + draws;
        if draws == 0 {
            return self;
        }
        let sum = self.between.powi(2) * self.draws as f64 + variance * draws as f64;
        self.with_processes((sum / all as f64).sqrt(), all, pairs)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(cost: f64, effects: &[f64]) -> Repeated {
        let of = |effect: &f64| Estimate {
            effect: *effect,
            standard_error: 0.001,
            ..Estimate::unchanged()
        };
        Repeated {
            cost,
            effects: effects.iter().map(of).collect(),
        }
    }

    #[test]
    fn a_stray_pair_of_processes_is_no_spread() {
        let usual = [0.01, -0.012, 0.008, -0.009, 0.011];
        let mut stray = usual.to_vec();
        stray[2] = -0.2;
        let spread = |effects: &[f64]| between_processes(&[repeated(1.0, effects)])[0].0;
        assert!(
            (0.008..0.022).contains(&spread(&usual)),
            "{}",
            spread(&usual)
        );
        assert!(spread(&stray) < 1.5 * spread(&usual), "{}", spread(&stray));
        // Where most of them stray, it is one.
        assert!(spread(&[0.1, -0.2, 0.15, 0.01]) > 0.08);
    }

    #[test]
    fn a_comparison_shows_the_spread_between_its_own_processes() {
        let spread = |effects: &[f64]| between_rounds(&[repeated(1.0, effects)])[0].sqrt();
        // Whatever the change does.
        for shift in [0.0, -0.3] {
            let of = |effects: [f64; 2]| spread(&effects.map(|effect| effect + shift));
            assert!((of([0.01, -0.01]) - 0.0141).abs() < 2e-4);
            // Within what each of them is known to.
            assert_eq!(of([0.0005, -0.0005]), 0.0);
        }
        // A stray pair of processes among three is none.
        assert!(spread(&[-0.05, -0.055, 0.1]) < 0.01);
        assert!(spread(&[-0.05, -0.15, 0.1]) > 0.1);
        assert_eq!(spread(&[0.01]), 0.0);
        assert!(between_rounds(&[]).is_empty());

        let noise = Noise {
            estimate: Estimate::unchanged(),
            per_pair: 0.0,
            bias: 0.0,
            detectable: 0.0,
            between: 0.01,
            draws: 3,
        };
        let louder = noise.and_between(0.03f64.powi(2), 1, 240);
        assert!((louder.between - 0.001_2f64.sqrt() / 2.0).abs() < 1e-12 && louder.draws == 4);
        assert_eq!(noise.and_between(1.0, 0, 240), noise);
    }

    #[test]
    fn configurations_share_an_absolute_time() {
        let long = repeated(10.0, &[0.001, -0.001, 0.001]);
        let short = repeated(1.0, &[0.0, 0.0, 0.0]);
        let spread = between_processes(&[long, short]);
        assert!(spread[1].0 >= 0.0 && spread[0].1 == 5);
    }
}
