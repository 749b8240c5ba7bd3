//! What a benchmark's costs are, so that a rate is never printed as a time.

use crate::event::Measured;
use crate::session::Session;

/// What the numbers of a session count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Milliseconds.
    Time,
    /// Reciprocals of a rate.
    Rate,
    /// Some of both: a mean of them has no unit.
    Mixed,
}

impl Quantity {
    /// What a session's benchmark reports; none if it never gave a number.
    pub(super) fn of(session: &Session) -> Option<Self> {
        let runs = session.runs.iter().rev();
        let measured = runs.map(|r| &r.measured).find(|m| !m.is_empty())?;
        Some(Self::all(measured))
    }

    fn all(measured: &[Measured]) -> Self {
        match measured.iter().filter(|m| m.is_time).count() {
            0 => Quantity::Rate,
            n if n == measured.len() => Quantity::Time,
            _ => Quantity::Mixed,
        }
    }

    /// That of one configuration.
    pub(super) fn one(is_time: bool) -> Self {
        match is_time {
            true => Quantity::Time,
            false => Quantity::Rate,
        }
    }

    /// What the numbers are called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Quantity::Time => "latency",
            Quantity::Rate => "rate",
            Quantity::Mixed => "cost",
        }
    }

    /// Name, unit and direction, for an axis.
    pub(super) fn axis(self) -> &'static str {
        match self {
            Quantity::Time => "latency in ms, lower is better",
            Quantity::Rate => "rate in the benchmark's unit, higher is better",
            Quantity::Mixed => "mean cost of times and reciprocal rates, lower is better",
        }
    }

    /// The number that a cost stands for.
    pub(super) fn value(self, cost: f64) -> f64 {
        match self {
            Quantity::Rate => 1.0 / cost,
            Quantity::Time | Quantity::Mixed => cost,
        }
    }

    /// A cost in full, with its unit.
    pub(super) fn exact(self, cost: f64) -> String {
        if !is_cost(cost) {
            return "not known".to_owned();
        }
        match self {
            Quantity::Time => format!("{cost:.6} ms"),
            Quantity::Rate => significant(1.0 / cost, 6),
            Quantity::Mixed => significant(cost, 6),
        }
    }

    /// A cost with four digits, with its unit.
    pub(super) fn short(self, cost: f64) -> String {
        if !is_cost(cost) {
            return "not known".to_owned();
        }
        match self {
            Quantity::Time if cost < 0.1 => format!("{} µs", significant(cost * 1000.0, 4)),
            Quantity::Time => format!("{} ms", significant(cost, 4)),
            Quantity::Rate => significant(1.0 / cost, 4),
            Quantity::Mixed => significant(cost, 4),
        }
    }
}

/// Whether a number can be a cost.
pub(super) fn is_cost(cost: f64) -> bool {
    cost.is_finite() && cost > 0.0
}

/// A positive number with so many significant digits, never in scientific notation.
fn significant(value: f64, digits: i32) -> String {
    let before = value.log10().floor() as i32 + 1;
    let decimals = (digits - before).clamp(0, 12) as usize;
    format!("{value:.decimals$}")
}
