//! The numbers of one measurement, and what may be compared with what.

use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::literal::Literal;
use super::{Direction, Outcome, Reading};

/// What a benchmark's number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Time: less is better.
    Milliseconds,
    /// Bandwidth: more is better.
    GigabytesPerSecond,
    /// Compute rate: more is better.
    Teraflops,
}

impl Unit {
    /// The unit of that name, and the factor that brings a number into it.
    pub(crate) fn named(name: &str) -> Option<(Self, f64)> {
        Some(match name.trim().to_ascii_lowercase().as_str() {
            "ms" => (Unit::Milliseconds, 1.0),
            "us" | "µs" | "μs" => (Unit::Milliseconds, 1e-3),
            "s" => (Unit::Milliseconds, 1e3),
            "tb/s" | "tbps" => (Unit::GigabytesPerSecond, 1e3),
            "gb/s" | "gbps" => (Unit::GigabytesPerSecond, 1.0),
            "mb/s" | "mbps" => (Unit::GigabytesPerSecond, 1e-3),
            "tflops" | "tflop/s" | "tflops/s" => (Unit::Teraflops, 1.0),
            "gflops" | "gflop/s" | "gflops/s" => (Unit::Teraflops, 1e-3),
            "flops" | "flop/s" => (Unit::Teraflops, 1e-12),
            _ => return None,
        })
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unit::Milliseconds => "ms",
            Unit::GigabytesPerSecond => "GB/s",
            Unit::Teraflops => "TFLOPS",
        })
    }
}

/// A positive, finite number with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The number, in `unit`.
    pub value: f64,
    /// What it counts.
    pub unit: Unit,
}

impl Measure {
    /// A number that grows with time, whatever the unit: milliseconds as they are, the reciprocal
    /// of a rate. The work of a configuration is fixed, so the ratio of two costs of the same
    /// configuration in the same unit is the ratio of the times.
    pub fn cost(self) -> f64 {
        match self.unit {
            Unit::Milliseconds => self.value,
            Unit::GigabytesPerSecond | Unit::Teraflops => 1.0 / self.value,
        }
    }

    /// The time, if it is one.
    pub fn milliseconds(self) -> Option<f64> {
        (self.unit == Unit::Milliseconds).then_some(self.value)
    }
}

/// What a benchmark said about one configuration, backend and direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// The median; where a benchmark gives only a mean, that.
    pub median: Measure,
    /// Mean in milliseconds.
    pub mean_ms: Option<f64>,
    /// Standard deviation in milliseconds.
    pub std_ms: Option<f64>,
    /// Smallest sample in milliseconds.
    pub min_ms: Option<f64>,
    /// Largest sample in milliseconds.
    pub max_ms: Option<f64>,
    /// Number of repetitions behind the median.
    pub repetitions: Option<u32>,
    /// Peak memory in mebibytes.
    pub peak_memory_mb: Option<f64>,
    /// The mangled name of the kernel that took the time.
    pub kernel: Option<SmolStr>,
}

impl Timing {
    /// A timing of which only the median is known.
    pub(crate) fn of(median: Measure) -> Self {
        Timing {
            median,
            mean_ms: None,
            std_ms: None,
            min_ms: None,
            max_ms: None,
            repetitions: None,
            peak_memory_mb: None,
            kernel: None,
        }
    }
}

/// The readings of one backend's record `{'forward': {'median': ...}, 'backward': {...}}`, whose
/// times are in units of `scale` milliseconds. The error names what the record lacks.
pub(crate) fn from_record(
    configuration: &SmolStr,
    backend: &str,
    record: &Literal,
    scale: f64,
) -> Result<Vec<Reading>, &'static str> {
    let directions = record.entries().ok_or("dictionary of directions")?;
    let mut readings = Vec::with_capacity(directions.len());
    for (direction, numbers) in directions {
        let direction = direction.text().ok_or("name of a direction")?;
        // `None` stands for a pass that this benchmark does not time.
        if matches!(numbers, Literal::None) {
            continue;
        }
        numbers.entries().ok_or("dictionary of numbers")?;
        let number = |name: &str| numbers.get(name).and_then(Literal::number);
        let time = |name: &str| {
            number(name)
                .map(|value| value * scale)
                .filter(|v| v.is_finite())
        };
        let median = number("median")
            .or_else(|| number("mean"))
            .ok_or("median")?
            * scale;
        let mut reading = Reading {
            configuration: configuration.clone(),
            backend: Some(backend.to_lowercase().into()),
            direction: Some(Direction::named(direction)),
            outcome: Outcome::Passed,
            timing: None,
        };
        if median.is_finite() && median > 0.0 {
            reading.timing = Some(Timing {
                mean_ms: time("mean"),
                std_ms: time("std"),
                min_ms: time("min"),
                max_ms: time("max"),
                repetitions: number("nrep").filter(|n| *n >= 0.0).map(|n| n as u32),
                peak_memory_mb: number("peak_mem_mb").filter(|v| v.is_finite()),
                kernel: numbers
                    .get("kernel_name")
                    .and_then(Literal::text)
                    .map(SmolStr::from),
                ..Timing::of(Measure {
                    value: median,
                    unit: Unit::Milliseconds,
                })
            });
        } else {
            reading.outcome = Outcome::Unusable {
                reason: format!("the median is {median} ms"),
            };
        }
        readings.push(reading);
    }
    if readings.is_empty() {
        return Err("direction with numbers");
    }
    Ok(readings)
}
