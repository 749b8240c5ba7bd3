//! Several configurations together: one total, and a correction for having looked at many.

use serde::{Deserialize, Serialize};

use super::Estimate;

/// A configuration's effect and what it counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weighted {
    /// Its effect.
    pub estimate: Estimate,
    /// Its weight; 1 unless the project sets one.
    pub weight: f64,
}

/// The weighted geometric mean of effects, on the log scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Total {
    /// Weighted mean of the log effects.
    pub effect: f64,
    /// Lower end of its interval.
    pub low: f64,
    /// Upper end of its interval.
    pub high: f64,
    /// One-sided chance of such a total if nothing were faster.
    pub p_faster: f64,
}

impl Total {
    /// The relative change of the time: -0.05 is 5 % faster.
    pub fn change(&self) -> f64 {
        self.effect.exp_m1()
    }

    /// By how much the time fell: 0.05 is 5 % faster, negative is slower.
    pub fn improvement(&self) -> f64 {
        -self.change()
    }
}

/// The total of configurations measured independently of each other. Its interval adds up the
/// distances from each effect to the ends of its interval in squares, each side for itself (the
/// method of variance estimates recovery), so that lopsided intervals stay so. `None` without a
/// positive weight.
pub fn total(parts: &[Weighted]) -> Option<Total> {
    let sum: f64 = parts.iter().map(|part| part.weight).sum();
    if !(sum > 0.0 && sum.is_finite()) {
        return None;
    }
    let (mut effect, mut below, mut above, mut variance) = (0.0, 0.0, 0.0, 0.0);
    for Weighted { estimate, weight } in parts {
        let share = weight / sum;
        effect += share * estimate.effect;
        below += (share * (estimate.effect - estimate.low).max(0.0)).powi(2);
        above += (share * (estimate.high - estimate.effect).max(0.0)).powi(2);
        variance += (share * estimate.standard_error).powi(2);
    }
    // The widest reference of the parts: on the safe side for those with more pairs.
    let z = -effect / variance.sqrt();
    let p_faster = if variance > 0.0 {
        let tails = parts
            .iter()
            .map(|part| part.estimate.reference().upper_tail(z));
        tails.fold(0.0, f64::max)
    } else if effect < 0.0 {
        0.0
    } else {
        1.0
    };
    Some(Total {
        effect,
        low: effect - below.sqrt(),
        high: effect + above.sqrt(),
        p_faster,
    })
}

/// The weighted geometric mean of `(value, weight)`; `None` if empty, or if a value is no positive
/// number or the weights sum to nothing.
pub fn geometric_mean(values: &[(f64, f64)]) -> Option<f64> {
    let sum: f64 = values.iter().map(|(_, weight)| weight).sum();
    let usable = values.iter().all(|(value, weight)| {
        *value > 0.0 && value.is_finite() && *weight >= 0.0 && weight.is_finite()
    });
    (usable && sum > 0.0).then(|| {
        (values
            .iter()
            .map(|(v, weight)| weight * v.ln())
            .sum::<f64>()
            / sum)
            .exp()
    })
}

/// Holm's step-down correction: which of the p-values stay significant when all were looked at, so
/// that the chance of any false one stays below `alpha`.
pub fn holm(p_values: &[f64], alpha: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut rejected = vec![false; p_values.len()];
    for (step, index) in order.into_iter().enumerate() {
        let remaining = (p_values.len() - step) as f64;
        if p_values[index].is_nan() || p_values[index] > alpha / remaining {
            break;
        }
        rejected[index] = true;
    }
    rejected
}
