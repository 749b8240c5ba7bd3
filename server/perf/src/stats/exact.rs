//! Intervals for a handful of pairs, where resampling would only pretend to know the tails.

use super::distribution::Reference;

/// The exact interval of the signed-rank test (the permutation of signs, on ranks), whatever the
/// distribution: the ends are order statistics of the averages of all two pairs. `None` if so few
/// pairs cannot reach the level at all: four pairs have 16 sign patterns, so at most 87.5 %.
pub(crate) fn signed_rank_interval(sorted: &[f64], level: f64) -> Option<(f64, f64)> {
    let tail = (1.0 - level) / 2.0;
    let outside = critical_rank_sum(sorted.len(), tail)?;
    let mut averages = Vec::with_capacity(sorted.len() * (sorted.len() + 1) / 2);
    for (index, a) in sorted.iter().enumerate() {
        averages.extend(sorted[index..].iter().map(|b| f64::midpoint(*a, *b)));
    }
    averages.sort_by(f64::total_cmp);
    Some((averages[outside], averages[averages.len() - 1 - outside]))
}

/// The largest rank sum whose lower tail is within `tail`, by counting sign patterns.
fn critical_rank_sum(pairs: usize, tail: f64) -> Option<usize> {
    let most = pairs * (pairs + 1) / 2;
    let mut patterns = vec![0.0; most + 1];
    patterns[0] = 1.0;
    for rank in 1..=pairs {
        for sum in (rank..=most).rev() {
            patterns[sum] += patterns[sum - rank];
        }
    }
    let allowed = tail * 2f64.powi(pairs as i32);
    let mut below = 0.0;
    let reachable = patterns.iter().take_while(|count| {
        below += **count;
        below <= allowed
    });
    reachable.count().checked_sub(1)
}

/// The t interval around the mean.
pub(crate) fn student_interval(sorted: &[f64], level: f64) -> (f64, f64) {
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    let reference = Reference::Student(sorted.len() as u32 - 1);
    let half = reference.upper_quantile((1.0 - level) / 2.0) * standard_error_of_mean(sorted);
    (mean - half, mean + half)
}

/// Standard error of the mean of at least two values.
pub(crate) fn standard_error_of_mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rank_sums_match_printed_tables() {
        // Two-sided 5 %: 6 pairs 0, 8 pairs 3, 10 pairs 8. Two-sided 1 %: 8 pairs 0, 10 pairs 3.
        for (pairs, tail, expected) in [
            (4, 0.025, None),
            (5, 0.025, None),
            (6, 0.025, Some(0)),
            (8, 0.025, Some(3)),
            (10, 0.025, Some(8)),
            (8, 0.005, Some(0)),
            (10, 0.005, Some(3)),
        ] {
            assert_eq!(critical_rank_sum(pairs, tail), expected, "{pairs} {tail}");
        }
    }

    #[test]
    fn the_exact_interval_is_made_of_averages() {
        let values = [-3.0, -1.0, 0.0, 2.0, 4.0, 10.0];
        // No rank sum but 0 is rare enough: the ends are the outermost values.
        assert_eq!(signed_rank_interval(&values, 0.95), Some((-3.0, 10.0)));
        // Rank sums 0 to 2 take 3 of the 64 patterns, and the tail allows 4: the third averages.
        assert_eq!(signed_rank_interval(&values, 0.875), Some((-1.5, 6.0)));
        assert_eq!(signed_rank_interval(&values[..4], 0.95), None);
    }

    #[test]
    fn the_t_interval_is_that_of_a_textbook() {
        // Mean 0, sd 1, standard error 0.5, t(3, 97.5 %) = 3.18245.
        let half = 1.5f64.sqrt() / 2.0 * 2.0f64.sqrt();
        let values = [-half, -half, half, half];
        let (low, high) = student_interval(&values, 0.95);
        assert!(
            (low + 1.591_22).abs() < 1e-4 && (high - 1.591_22).abs() < 1e-4,
            "{low} {high}"
        );
    }
}
