//! An effect with its interval, and the plan of looks under which it may be judged.

use serde::{Deserialize, Serialize};

use super::distribution::Reference;
use super::{Ratios, StatsError, bootstrap, exact, median_of_sorted};

/// No resampling below this many blocks: the tails of so few are not in the sample.
const FEWEST_BLOCKS: usize = 15;

/// When to look at the pairs. Looking again and again finds something by chance; so there are few
/// looks, fixed beforehand, and the error is shared out among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plan {
    /// Samples repeated inside a process: looks at 30, 60, 120 and 240 pairs.
    Samples,
    /// One sample for each run of a command: looks at 4, 6 and 10 pairs.
    WholeRuns,
}

impl Plan {
    /// The numbers of pairs at which to look.
    pub fn looks(self) -> &'static [usize] {
        match self {
            Plan::Samples => &[30, 60, 120, 240],
            Plan::WholeRuns => &[4, 6, 10],
        }
    }

    /// The level of each look's interval; over all looks an error stays below 5 % for samples and
    /// 3 % for whole runs, of which there are so few that a chance finding is a large one.
    pub fn level(self) -> f64 {
        match self {
            Plan::Samples => 0.9875,
            Plan::WholeRuns => 0.99,
        }
    }

    /// The next look after so many pairs; `None` after the last.
    pub fn next_look(self, pairs: usize) -> Option<usize> {
        self.looks().iter().copied().find(|look| *look > pairs)
    }

    /// The most pairs that will be taken.
    pub fn last_look(self) -> usize {
        self.looks()[self.looks().len() - 1]
    }
}

/// How an interval was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Percentiles of medians of resampled blocks.
    Bootstrap,
    /// Exact permutation of signs, on ranks.
    SignedRank,
    /// Student's t, where too few pairs have sign patterns enough.
    StudentT,
    /// Not measured, because the compiled code is proven equal.
    Proven,
}

/// An effect on the log scale: the candidate takes `exp(effect)` times the base's time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Median log ratio of the pairs. Negative: the candidate is faster.
    pub effect: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Level of the interval.
    pub level: f64,
    /// Standard error of the effect.
    pub standard_error: f64,
    /// Pairs behind it.
    pub pairs: usize,
    /// Blocks (of one A B B A each) that these pairs are from; fewer once it is [`widened`] by a
    /// spread between processes that is known from few of them.
    ///
    /// [`widened`]: Self::widened
    pub blocks: usize,
    /// Pairs dropped for their clock.
    pub dropped: usize,
    /// How the interval was made.
    pub method: Method,
}

impl Estimate {
    /// No change at all, as proven without measuring.
    pub fn unchanged() -> Self {
        Estimate {
            effect: 0.0,
            low: 0.0,
            high: 0.0,
            level: 1.0,
            standard_error: 0.0,
            pairs: 0,
            blocks: 0,
            dropped: 0,
            method: Method::Proven,
        }
    }

    /// The relative change of the time: -0.05 is 5 % faster.
    pub fn change(&self) -> f64 {
        self.effect.exp_m1()
    }

    /// The ends of the interval as relative changes, the faster first.
    pub fn change_interval(&self) -> (f64, f64) {
        (self.low.exp_m1(), self.high.exp_m1())
    }

    /// The estimate with what two processes differ by although they run the same code: each of them
    /// has its own addresses, its own hash seed, its own luck with the cache, and no number of pairs
    /// from the same two processes averages that out. `between` is its standard deviation on the log
    /// scale, known from `draws` comparisons.
    #[must_use]
    pub fn widened(self, between: f64, draws: usize) -> Self {
        let within = self.standard_error;
        if between <= 0.0 || self.method == Method::Proven {
            return self;
        }
        let draws = draws.max(1);
        let half = Reference::Student(draws as u32).upper_quantile((1.0 - self.level) / 2.0);
        let reach = half * between;
        // Welch and Satterthwaite: the degrees of freedom of a sum of two variances.
        let own = (self.blocks.max(2) - 1) as f64;
        let degrees = (within.powi(2) + between.powi(2)).powi(2)
            / (within.powi(4) / own + between.powi(4) / draws as f64);
        Estimate {
            low: self.effect - (self.effect - self.low).hypot(reach),
            high: self.effect + (self.high - self.effect).hypot(reach),
            standard_error: within.hypot(between),
            blocks: degrees.floor() as usize + 1,
            ..self
        }
    }

    /// One-sided chance of such data if the true log effect were at or below `margin`.
    pub fn p_above(&self, margin: f64) -> f64 {
        self.tail(self.effect - margin)
    }

    /// One-sided chance of such data if the true log effect were at or above `margin`.
    pub fn p_below(&self, margin: f64) -> f64 {
        self.tail(margin - self.effect)
    }

    fn tail(&self, distance: f64) -> f64 {
        if self.standard_error > 0.0 {
            return self.reference().upper_tail(distance / self.standard_error);
        }
        if distance > 0.0 { 0.0 } else { 1.0 }
    }

    pub(crate) fn reference(&self) -> Reference {
        match self.method {
            Method::Proven => Reference::Normal,
            Method::Bootstrap => Reference::Student(self.blocks.max(2) as u32 - 1),
            Method::SignedRank | Method::StudentT => {
                Reference::Student(self.pairs.min(self.blocks.max(2) * 2).max(2) as u32 - 1)
            }
        }
    }
}

/// The effect of pairs at a look of the plan (or at what the time allowed).
///
/// # Errors
/// [`StatsError::TooFew`] below two pairs.
pub fn estimate(ratios: &Ratios, plan: Plan) -> Result<Estimate, StatsError> {
    let sorted = ratios.sorted();
    let pairs = sorted.len();
    let effect = median_of_sorted(&sorted)
        .filter(|_| pairs >= 2)
        .ok_or(StatsError::TooFew { pairs })?;
    let level = plan.level();
    let (low, high, standard_error, method) = if ratios.blocks().len() >= FEWEST_BLOCKS {
        let found = bootstrap::median_interval(ratios, level);
        (
            found.low,
            found.high,
            found.standard_error,
            Method::Bootstrap,
        )
    } else {
        let standard_error = exact::standard_error_of_mean(&sorted);
        match exact::signed_rank_interval(&sorted, level) {
            Some((low, high)) => (low, high, standard_error, Method::SignedRank),
            None => {
                let (low, high) = exact::student_interval(&sorted, level);
                (low, high, standard_error, Method::StudentT)
            }
        }
    };
    Ok(Estimate {
        effect,
        low,
        high,
        level,
        standard_error,
        pairs,
        blocks: ratios.blocks().len(),
        dropped: ratios.dropped(),
        method,
    })
}
