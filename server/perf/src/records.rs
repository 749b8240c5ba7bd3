//! The table that people read: `sandbox/perf_results.md`.
//!
//! The file holds one Markdown table and nothing else. It is rendered from the journal, which is
//! the truth; it is parsed to show it, to check it, and to say where somebody's hand changed it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

const HEADER: &str = "| iteration | optimization       | latency_ms | correctness | status |";
const RULE: &str = "|----------:|:-------------------|-----------:|:------------|-------:|";
const COLUMNS: [&str; 5] = [
    "iteration",
    "optimization",
    "latency_ms",
    "correctness",
    "status",
];

/// One iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// 0 is the baseline.
    pub iteration: u32,
    /// What was tried.
    pub optimization: String,
    /// Weighted geometric mean over configurations of the median. A row that failed or crashed
    /// carries the last kept value.
    pub latency_ms: f64,
    /// Whether the tests passed.
    pub correctness: Correctness,
    /// What became of it.
    pub status: Status,
}

/// The column `correctness`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Correctness {
    /// All tests passed.
    Pass,
    /// Some did not, or none could be run.
    Fail,
}

/// The column `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Committed.
    Keep,
    /// Taken back.
    Revert,
    /// Ended without a verdict: a crash or the time limit. Taken back.
    Crash,
}

impl fmt::Display for Correctness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Correctness::Pass => "PASS",
            Correctness::Fail => "FAIL",
        })
    }
}

impl FromStr for Correctness {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "PASS" => Ok(Correctness::Pass),
            "FAIL" => Ok(Correctness::Fail),
            _ => Err(()),
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Status::Keep => "keep",
            Status::Revert => "revert",
            Status::Crash => "crash",
        })
    }
}

impl FromStr for Status {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "keep" => Ok(Status::Keep),
            "revert" => Ok(Status::Revert),
            "crash" => Ok(Status::Crash),
            _ => Err(()),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "| {:<9} | {:<18} | {:>10.6} | {:<11} | {:<6} |",
            self.iteration,
            escape(&self.optimization),
            self.latency_ms,
            self.correctness,
            self.status
        )
    }
}

/// The whole file for these rows; the header alone if there are none.
pub fn render(rows: &[Row]) -> String {
    let mut text = format!("{HEADER}\n{RULE}\n");
    for row in rows {
        text.push_str(&format!("{row}\n"));
    }
    text
}

/// The file with one row more: the header is made if it was empty, what is there stays as it is.
///
/// # Errors
/// The file is not such a table; appending to it would bury somebody's text.
pub fn append(existing: &str, row: &Row) -> Result<String, TableError> {
    if existing.trim().is_empty() {
        return Ok(render(std::slice::from_ref(row)));
    }
    parse(existing)?;
    Ok(format!("{}\n{row}\n", existing.trim_end()))
}

/// Why a file is not the table. Lines are 1-based.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct TableError {
    /// The line.
    pub line: u32,
    /// What is wrong with it.
    pub problem: TableProblem,
}

/// What can be wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TableProblem {
    /// The header is not that of the five columns.
    #[error("the header of the five columns is missing")]
    Header,
    /// The line under the header is not a rule.
    #[error("the rule under the header is missing")]
    Rule,
    /// Not a row of five cells.
    #[error("a row has five cells, this has {0}")]
    Cells(usize),
    /// A cell that does not hold what its column says.
    #[error("{text:?} is no {column}")]
    Cell {
        /// The column.
        column: &'static str,
        /// What stands there.
        text: String,
    },
}

/// Reads the table. An empty file has no rows. Widths and alignment are free, as editors reformat
/// tables.
///
/// # Errors
/// The first line that does not belong.
pub fn parse(text: &str) -> Result<Vec<Row>, TableError> {
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(index, line)| (index as u32 + 1, line.trim()))
        .filter(|(_, line)| !line.is_empty());
    let Some((line, header)) = lines.next() else {
        return Ok(Vec::new());
    };
    if cells(header) != COLUMNS {
        return Err(TableError {
            line,
            problem: TableProblem::Header,
        });
    }
    let is_rule = |text: &str| {
        let cells = cells(text);
        let dashes = |cell: &String| cell.contains('-') && cell.chars().all(|c| "-:".contains(c));
        cells.len() == COLUMNS.len() && cells.iter().all(dashes)
    };
    match lines.next() {
        Some((_, rule)) if is_rule(rule) => {}
        Some((line, _)) => {
            return Err(TableError {
                line,
                problem: TableProblem::Rule,
            });
        }
        None => {
            return Err(TableError {
                line: line + 1,
                problem: TableProblem::Rule,
            });
        }
    }
    lines
        .map(|(line, text)| row(text).map_err(|problem| TableError { line, problem }))
        .collect()
}

fn row(text: &str) -> Result<Row, TableProblem> {
    let cells = cells(text);
    let [iteration, optimization, latency, correctness, status] = cells.as_slice() else {
        return Err(TableProblem::Cells(cells.len()));
    };
    let wrong = |column: usize, text: &str| TableProblem::Cell {
        column: COLUMNS[column],
        text: text.to_owned(),
    };
    let time = latency
        .parse::<f64>()
        .ok()
        .filter(|time| time.is_finite() && *time >= 0.0);
    Ok(Row {
        iteration: iteration.parse().map_err(|_| wrong(0, iteration))?,
        optimization: optimization.clone(),
        latency_ms: time.ok_or_else(|| wrong(2, latency))?,
        correctness: correctness.parse().map_err(|()| wrong(3, correctness))?,
        status: status.parse().map_err(|()| wrong(4, status))?,
    })
}

/// A cell is one line, and a bar in it is written `\|`.
fn escape(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}

/// The cells of a row, trimmed and without escapes. Without outer bars it has none.
fn cells(line: &str) -> Vec<String> {
    let Some(mut rest) = line.strip_prefix('|') else {
        return Vec::new();
    };
    let mut cells = Vec::new();
    let mut from = 0;
    while let Some(at) = rest[from..].find('|').map(|at| at + from) {
        if rest[..at].ends_with('\\') {
            from = at + 1;
            continue;
        }
        cells.push(rest[..at].trim().replace("\\|", "|"));
        rest = &rest[at + 1..];
        from = 0;
    }
    if !rest.trim().is_empty() {
        return Vec::new();
    }
    cells
}

#[cfg(test)]
mod tests;
