//! Tails and quantiles of the two distributions that intervals and corrections need.

use std::f64::consts::{FRAC_2_PI, FRAC_2_SQRT_PI, SQRT_2};

/// The reference distribution of a standardised effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reference {
    Normal,
    /// Student's t with that many degrees of freedom.
    Student(u32),
}

impl Reference {
    /// The probability of a value above `x`.
    pub(crate) fn upper_tail(self, x: f64) -> f64 {
        if x < 0.0 {
            return 1.0 - self.upper_tail(-x);
        }
        match self {
            Reference::Normal => normal_tail(x),
            Reference::Student(degrees) => student_tail(x, degrees),
        }
    }

    /// The value above which lies the probability `tail`, for a tail of at most one half.
    pub(crate) fn upper_quantile(self, tail: f64) -> f64 {
        let (mut low, mut high) = (0.0, 1.0);
        while self.upper_tail(high) > tail && high < 1e12 {
            high *= 2.0;
        }
        for _ in 0..80 {
            let middle = f64::midpoint(low, high);
            if self.upper_tail(middle) > tail {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high)
    }
}

/// Half the complementary error function: its power series near zero, its continued fraction in the
/// tail, where the series would cancel.
fn normal_tail(x: f64) -> f64 {
    let z = x / SQRT_2;
    if z < 2.0 {
        let mut term = z;
        let mut sum = z;
        for n in 1..60 {
            term *= -z * z / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        return 0.5 * (1.0 - FRAC_2_SQRT_PI * sum);
    }
    let mut fraction = z;
    for n in (1..60).rev() {
        fraction = z + 0.5 * f64::from(n) / fraction;
    }
    0.25 * FRAC_2_SQRT_PI * (-z * z).exp() / fraction
}

/// The finite sums for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4).
fn student_tail(t: f64, degrees: u32) -> f64 {
    let angle = (t / f64::from(degrees).sqrt()).atan();
    let (sin, cos) = angle.sin_cos();
    let odd = degrees % 2 == 1;
    let mut term = if odd { cos } else { 1.0 };
    let mut sum = 0.0;
    let mut power = if odd { 1 } else { 0 };
    while power + 2 <= degrees {
        sum += term;
        power += 2;
        term *= cos * cos * f64::from(power - 1) / f64::from(power);
    }
    let inside = if odd {
        FRAC_2_PI * (angle + sin * sum)
    } else {
        sin * sum
    };
    (0.5 * (1.0 - inside)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::Reference::{Normal, Student};

    #[test]
    fn quantiles_match_printed_tables() {
        for (reference, tail, expected) in [
            (Normal, 0.025, 1.959_964),
            (Normal, 0.006_25, 2.497_705),
            (Normal, 0.000_001, 4.753_424),
            (Student(1), 0.025, 12.706_2),
            (Student(2), 0.005, 9.924_84),
            (Student(3), 0.005, 5.840_91),
            (Student(4), 0.01, 3.746_95),
            (Student(5), 0.025, 2.570_58),
            (Student(9), 0.005, 3.249_84),
            (Student(30), 0.05, 1.697_26),
        ] {
            let found: f64 = reference.upper_quantile(tail);
            assert!(
                (found / expected - 1.0).abs() < 2e-6,
                "{reference:?} {tail}: {found}"
            );
        }
    }

    #[test]
    fn tails_are_complementary_and_continuous() {
        for reference in [Normal, Student(3), Student(8)] {
            assert!((reference.upper_tail(0.0) - 0.5).abs() < 1e-12);
            assert!((reference.upper_tail(-1.3) + reference.upper_tail(1.3) - 1.0).abs() < 1e-12);
        }
        // Where the normal tail changes its method.
        let at = 2.0 * std::f64::consts::SQRT_2;
        let (before, after) = (Normal.upper_tail(at - 1e-9), Normal.upper_tail(at + 1e-9));
        assert!(before > after && (before - after) < 1e-10);
    }
}
