//! From values to places: an axis with round ticks.

/// A linear axis. Places are percents, so that a chart is as wide as its reader's window and its text
/// stays as large.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// An axis over all of the values, with some air around; none without two different finite ends
    /// to make it from.
    pub(super) fn over(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut ends: Option<(f64, f64)> = None;
        for value in values.into_iter().filter(|v| v.is_finite()) {
            let (low, high) = ends.unwrap_or((value, value));
            ends = Some((low.min(value), high.max(value)));
        }
        let (low, high) = ends?;
        Some(Self::between(low, high)).filter(|scale| (scale.high - scale.low).is_finite())
    }

    /// An axis from one value to another that is not below it.
    pub(super) fn between(low: f64, high: f64) -> Self {
        // One value alone stands in the middle of a tenth of itself.
        let air = match high - low {
            0.0 => (low.abs() / 20.0).max(f64::MIN_POSITIVE),
            span => span * 0.08,
        };
        Scale {
            low: low - air,
            high: high + air,
        }
    }

    /// The place of a value in percent from the low end; outside values stand at the end.
    pub(super) fn percent(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low) * 100.0).clamp(0.0, 100.0)
    }

    /// Round values on the axis, at most so many, and the decimals that tell them apart.
    pub(super) fn ticks(&self, most: usize) -> (Vec<f64>, usize) {
        let rough = (self.high - self.low) / most.max(1) as f64;
        let power = 10f64.powf(rough.log10().floor());
        let factor = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .find(|f| f * power >= rough)
            .unwrap_or(10.0);
        let step = factor * power;
        let decimals = (-(step.log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize;
        let first = (self.low / step).ceil();
        let ticks = (0..=most)
            .map(|n| (first + n as f64) * step)
            .take_while(|tick| *tick <= self.high)
            .collect();
        (ticks, decimals)
    }
}

/// A place as SVG writes it.
pub(super) fn at(percent: f64) -> String {
    format!("{percent:.2}%")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_to_show_has_no_axis() {
        assert_eq!(Scale::over([]), None);
        assert_eq!(Scale::over([f64::NAN, f64::INFINITY]), None);
    }

    #[test]
    fn ticks_are_round() {
        let scale = Scale::over([0.70, 0.82]).unwrap();
        let (ticks, decimals) = scale.ticks(5);
        let shown: Vec<String> = ticks.iter().map(|t| format!("{t:.decimals$}")).collect();
        assert_eq!(shown, ["0.70", "0.75", "0.80"]);
    }

    proptest! {
        #[test]
        fn ticks_lie_on_the_axis_and_differ_as_shown(
            values in prop::collection::vec(1e-6..1e6f64, 1..20),
            most in 2..8usize,
        ) {
            let scale = Scale::over(values.iter().copied()).unwrap();
            let (ticks, decimals) = scale.ticks(most);
            prop_assert!(ticks.len() <= most + 1);
            let shown: Vec<String> = ticks.iter().map(|t| format!("{t:.decimals$}")).collect();
            prop_assert!(shown.windows(2).all(|pair| pair[0] != pair[1]), "{shown:?}");
            for value in &values {
                let place = scale.percent(*value);
                prop_assert!(place > 0.0 && place < 100.0);
            }
        }
    }
}
