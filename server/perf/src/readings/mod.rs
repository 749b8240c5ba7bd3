//! What a benchmark or a test run said, as plain readings.
//!
//! Projects report in four ways: the `benchmark` property of a JUnit file, a printed
//! `Cutile: {...} ms`, a table as Triton's `perf_report` prints it, and the pass or fail of a test.
//! All of them become [`Reading`]s, one for each configuration, backend and direction, so that no
//! later step averages over things that were measured apart. Text that was meant as a record but
//! cannot be read is an error with its place: a number that is guessed would decide a verdict.

pub mod junit;
pub mod literal;
pub mod printed;
pub mod sets;
pub mod table;
mod timing;
mod trace;

use std::fmt;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thiserror::Error;

pub use junit::{Case, Report};
pub use literal::LiteralError;
pub use sets::{Change, SetComparison, compare_sets};
pub use timing::{Measure, Timing, Unit};
pub use trace::{Frame, failing_frame, frames};

/// One number, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The test's node id with its parameters (`tests/ops/test_x.py::Test_X::test_perf[cutile-8]`),
    /// or a table's name with its row (`softmax-GBps[N=1024]`). A second, different number under
    /// the same id in one run gets `#2`, and so on.
    pub configuration: SmolStr,
    /// Whose number it is, in lower case (`cutile`, `pytorch`); absent where nothing was measured.
    pub backend: Option<SmolStr>,
    /// Which pass was timed; absent where nothing was measured.
    pub direction: Option<Direction>,
    /// How the test ended.
    pub outcome: Outcome,
    /// The measurement. Present only if the outcome is [`Outcome::Passed`].
    pub timing: Option<Timing>,
}

impl Reading {
    /// A reading without a number.
    pub(crate) fn unmeasured(configuration: impl Into<SmolStr>, outcome: Outcome) -> Self {
        Reading {
            configuration: configuration.into(),
            backend: None,
            direction: None,
            outcome,
            timing: None,
        }
    }

    /// The median in milliseconds, if the benchmark reports a time.
    pub fn median_ms(&self) -> Option<f64> {
        self.timing
            .as_ref()
            .and_then(|timing| timing.median.milliseconds())
    }

    /// What this reading is compared under, if it has a number.
    pub fn key(&self) -> Option<Key> {
        self.timing.as_ref()?;
        Some(Key {
            configuration: self.configuration.clone(),
            backend: self.backend.clone()?,
            direction: self.direction.clone()?,
        })
    }
}

/// The identity of a measured configuration, equal between two runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// See [`Reading::configuration`].
    pub configuration: SmolStr,
    /// See [`Reading::backend`].
    pub backend: SmolStr,
    /// See [`Reading::direction`].
    pub direction: Direction,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({} {})",
            self.configuration, self.backend, self.direction
        )
    }
}

/// Which pass a number is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The forward pass.
    Forward,
    /// The backward pass.
    Backward,
    /// Another name a project uses.
    Other(SmolStr),
}

impl Direction {
    /// The direction of that name.
    pub fn named(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "forward" | "fwd" => Direction::Forward,
            "backward" | "bwd" => Direction::Backward,
            _ => Direction::Other(name.into()),
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Forward => "forward",
            Direction::Backward => "backward",
            Direction::Other(name) => name,
        })
    }
}

/// How a test or a table cell ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// It passed.
    Passed,
    /// An assertion or an exception in the test itself.
    Failed {
        /// The first lines of the exception.
        message: String,
    },
    /// It was skipped, or failed as expected (xfail).
    Skipped {
        /// The project's reason.
        reason: String,
    },
    /// Set-up, tear-down or collection broke.
    Error {
        /// The first lines of the exception.
        message: String,
    },
    /// It passed, but what it reported is no time: not a number, infinite, zero or negative.
    Unusable {
        /// What was reported.
        reason: String,
    },
}

impl Outcome {
    /// Worse outcomes order higher, so that one bad half of a test decides.
    pub(crate) fn severity(&self) -> u8 {
        match self {
            Outcome::Passed => 0,
            Outcome::Skipped { .. } => 1,
            Outcome::Unusable { .. } => 2,
            Outcome::Error { .. } => 3,
            Outcome::Failed { .. } => 4,
        }
    }
}

/// Why a text could not be read. Lines and columns are 1-based.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ReadingsError {
    /// The file is not well-formed XML; a killed run leaves such a file.
    #[error("line {line}, column {column}: {message}")]
    Xml {
        /// Line in the file.
        line: u32,
        /// Column in the line.
        column: u32,
        /// What the XML reader says.
        message: String,
    },
    /// XML, but not a JUnit report.
    #[error("line 1: <{root}> is not a JUnit report")]
    NotJunit {
        /// Name of the root element.
        root: String,
    },
    /// A record that is not a Python literal.
    #[error("line {line}: the benchmark record of {configuration} cannot be read: {source}")]
    Literal {
        /// Line in the text where the record starts.
        line: u32,
        /// The test it belongs to.
        configuration: SmolStr,
        /// What is wrong, with its offset in the record.
        source: LiteralError,
    },
    /// A record that is a literal of another form.
    #[error("line {line}: the benchmark record of {configuration} has no {missing}")]
    Shape {
        /// Line in the text where the record starts.
        line: u32,
        /// The test it belongs to.
        configuration: SmolStr,
        /// What was looked for.
        missing: &'static str,
    },
    /// pandas left rows or columns out ("..."), so configurations are missing.
    #[error(
        "line {line}: the table {table} was shortened by pandas; print it with to_string(), or set \
         display.width and display.max_rows"
    )]
    Elided {
        /// Line of the elision.
        line: u32,
        /// Name of the table.
        table: String,
    },
    /// A table whose numbers have no known unit: whether more is better cannot be told.
    #[error("line {line}: the table {table} names no unit that is known (ms, us, GB/s, TFLOPS)")]
    Unit {
        /// Line of the table's header.
        line: u32,
        /// Name of the table.
        table: String,
    },
    /// The text holds no record at all.
    #[error("no benchmark record found")]
    Nothing,
}

/// The readings of a `benchmark` record `{'cutile': {'forward': {...}}}` of a test. `line` is where
/// it stands, for messages.
pub(crate) fn benchmark(
    configuration: &SmolStr,
    record: &literal::Literal,
    line: u32,
) -> Result<Vec<Reading>, ReadingsError> {
    let shape = |missing| ReadingsError::Shape {
        line,
        configuration: configuration.clone(),
        missing,
    };
    let mut readings = Vec::new();
    for (backend, directions) in record.entries().ok_or(shape("dictionary of backends"))? {
        let backend = backend.text().ok_or(shape("name of a backend"))?;
        readings
            .extend(timing::from_record(configuration, backend, directions, 1.0).map_err(shape)?);
    }
    Ok(readings)
}

/// The printed records of one test's output.
pub(crate) fn printed_records(
    output: &str,
    configuration: &SmolStr,
) -> Result<Vec<Reading>, ReadingsError> {
    printed::records(output, configuration)
}

/// Reads what a benchmark command printed: records first, else tables.
pub fn from_output(text: &str) -> Result<Vec<Reading>, ReadingsError> {
    let printed = printed::parse(text)?;
    if printed.iter().any(|reading| reading.timing.is_some()) {
        return Ok(printed);
    }
    match table::parse(text) {
        Err(ReadingsError::Nothing) if !printed.is_empty() => Ok(printed),
        other => other,
    }
}

/// Keeps apart what one run reported several times under the same id: an equal repetition (the
/// same line shown twice) is dropped, a different number gets `#2`, `#3` at its configuration.
pub(crate) fn number_repetitions(readings: Vec<Reading>) -> Vec<Reading> {
    let mut kept: Vec<Reading> = Vec::with_capacity(readings.len());
    let mut seen: std::collections::HashMap<Key, Vec<usize>> = std::collections::HashMap::new();
    for mut reading in readings {
        let Some(key) = reading.key() else {
            kept.push(reading);
            continue;
        };
        let earlier = seen.entry(key).or_default();
        if earlier
            .iter()
            .any(|&index| kept[index].timing == reading.timing)
        {
            continue;
        }
        earlier.push(kept.len());
        if earlier.len() > 1 {
            reading.configuration =
                SmolStr::from(format!("{}#{}", reading.configuration, earlier.len()));
        }
        kept.push(reading);
    }
    kept
}

#[cfg(test)]
mod tests;
