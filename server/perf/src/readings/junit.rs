//! JUnit XML as pytest writes it, for benchmark runs and for correctness runs.
//!
//! Both families are read; `xunit1` names file and line, in `xunit2` the file is derived from the
//! class name. What a test recorded comes as `<property name="benchmark" value="{...}"/>`, a Python
//! literal in milliseconds.

use roxmltree::{Document, Node, ParsingOptions, TextPos};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::{Frame, Outcome, Reading, ReadingsError, literal, printed, trace};

/// A whole report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The tests in the order they ran.
    pub cases: Vec<Case>,
}

/// One `<testcase>`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// pytest's node id, parameters included.
    pub configuration: SmolStr,
    /// The file that defines the test.
    pub file: Option<String>,
    /// 1-based line of the test's definition (xunit1 only).
    pub line: Option<u32>,
    /// How it ended.
    pub outcome: Outcome,
    /// Wall time of the test in seconds.
    pub seconds: Option<f64>,
    /// Where it failed: see [`trace::failing_frame`](super::failing_frame).
    pub failed_at: Option<Frame>,
    /// The whole traceback, for the record.
    pub trace: Option<String>,
    /// What its benchmark property said. Empty in correctness runs.
    pub readings: Vec<Reading>,
}

impl Case {
    /// Whether the test counts against correctness.
    pub fn is_failure(&self) -> bool {
        matches!(self.outcome, Outcome::Failed { .. } | Outcome::Error { .. })
    }
}

impl Report {
    /// The tests that failed or broke.
    pub fn failures(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.is_failure())
    }

    /// How many tests passed.
    pub fn passed(&self) -> usize {
        self.cases
            .iter()
            .filter(|case| case.outcome == Outcome::Passed)
            .count()
    }

    /// Every reading; a test without a benchmark record, or one that did not pass, is a reading
    /// without a number. A number from a test that failed later is not used.
    pub fn readings(&self) -> Vec<Reading> {
        let mut readings = Vec::new();
        for case in &self.cases {
            if case.outcome == Outcome::Passed && !case.readings.is_empty() {
                readings.extend(case.readings.iter().cloned());
            } else {
                readings.push(Reading::unmeasured(
                    case.configuration.clone(),
                    case.outcome.clone(),
                ));
            }
        }
        super::number_repetitions(readings)
    }
}

/// Reads a report.
///
/// # Errors
/// XML that is not well-formed (a killed run), another document, or a benchmark record that cannot
/// be read.
pub fn parse(text: &str) -> Result<Report, ReadingsError> {
    let options = ParsingOptions {
        allow_dtd: false,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, options).map_err(|e| malformed(text, &e))?;
    let root = document.root_element();
    if !matches!(root.tag_name().name(), "testsuites" | "testsuite") {
        return Err(ReadingsError::NotJunit {
            root: root.tag_name().name().to_owned(),
        });
    }
    let mut cases: Vec<Case> = Vec::new();
    for node in root
        .descendants()
        .filter(|node| node.has_tag_name("testcase"))
    {
        cases.push(case(&document, node)?);
    }
    Ok(Report { cases })
}

fn malformed(text: &str, error: &roxmltree::Error) -> ReadingsError {
    let at = match error {
        // What is missing is missing at the end; the reader only says "somewhere".
        roxmltree::Error::UnclosedRootNode
        | roxmltree::Error::UnexpectedEndOfStream
        | roxmltree::Error::NoRootNode => {
            let last = text.lines().last().unwrap_or_default();
            let row = text.lines().count().max(1) as u32;
            TextPos::new(row, last.chars().count() as u32 + 1)
        }
        _ => error.pos(),
    };
    ReadingsError::Xml {
        line: at.row,
        column: at.col,
        message: error.to_string(),
    }
}

fn case(document: &Document<'_>, node: Node<'_, '_>) -> Result<Case, ReadingsError> {
    let class = node.attribute("classname").unwrap_or_default();
    let name = node.attribute("name").unwrap_or_default();
    let (configuration, file) = node_id(class, name, node.attribute("file"));
    let mut outcome = Outcome::Passed;
    let mut trace_text = None;
    for child in node.children().filter(Node::is_element) {
        let Some(found) = outcome_of(child) else {
            continue;
        };
        // A test that fails and whose tear-down then breaks too has both; the failure is the news.
        if found.severity() > outcome.severity() {
            outcome = found;
            trace_text = child.text().map(str::to_owned);
        }
    }
    let failed_at = match (&outcome, &trace_text) {
        (Outcome::Failed { .. } | Outcome::Error { .. }, Some(text)) => {
            trace::failing_frame(&trace::frames(text), file.as_deref()).cloned()
        }
        _ => None,
    };
    Ok(Case {
        readings: records(document, node, &configuration)?,
        configuration,
        file,
        // pytest counts this one from zero, and the lines of tracebacks from one.
        line: node
            .attribute("line")
            .and_then(|line| line.parse::<u32>().ok()?.checked_add(1)),
        outcome,
        seconds: node.attribute("time").and_then(|time| time.parse().ok()),
        failed_at,
        trace: trace_text,
    })
}

fn outcome_of(node: Node<'_, '_>) -> Option<Outcome> {
    let text = || {
        let said = node
            .attribute("message")
            .or_else(|| node.text())
            .unwrap_or_default();
        said.trim().to_owned()
    };
    match node.tag_name().name() {
        "failure" => Some(Outcome::Failed { message: text() }),
        "error" => Some(Outcome::Error {
            message: error_message(node, text()),
        }),
        "skipped" => Some(Outcome::Skipped { reason: text() }),
        _ => None,
    }
}

/// pytest says only "collection failure" where an import broke; the exception is in the text.
fn error_message(node: Node<'_, '_>, message: String) -> String {
    if message != "collection failure" {
        return message;
    }
    let exception = node
        .text()
        .unwrap_or_default()
        .lines()
        .rev()
        .find_map(|line| {
            line.strip_prefix("E ")
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .map(str::to_owned)
        });
    exception.unwrap_or(message)
}

/// The node id and the file of a test.
fn node_id(class: &str, name: &str, file: Option<&str>) -> (SmolStr, Option<String>) {
    if class.is_empty() {
        // A module that could not be collected: its only name is its own.
        let id = file.unwrap_or(name);
        return (SmolStr::from(id), file.map(str::to_owned));
    }
    let module_of = |file: &str| file.trim_end_matches(".py").replace(['/', '\\'], ".");
    if let Some(file) = file {
        let rest = class.strip_prefix(module_of(file).as_str());
        if let Some(classes) = rest.filter(|rest| rest.is_empty() || rest.starts_with('.')) {
            return (
                joined(file, classes.trim_start_matches('.'), name),
                Some(file.to_owned()),
            );
        }
    }
    // xunit2, or a test inherited from a class in another file: modules are lower case and test
    // classes start with a capital by both pytest's and Python's conventions.
    let split = class
        .match_indices('.')
        .find(|(dot, _)| class[dot + 1..].starts_with(|c: char| c.is_uppercase()))
        .map_or(class.len(), |(dot, _)| dot);
    let (module, classes) = class.split_at(split);
    let path = format!("{}.py", module.replace('.', "/"));
    let id = joined(&path, classes.trim_start_matches('.'), name);
    (id, Some(file.map_or(path, str::to_owned)))
}

fn joined(file: &str, classes: &str, name: &str) -> SmolStr {
    if classes.is_empty() {
        SmolStr::from(format!("{file}::{name}"))
    } else {
        SmolStr::from(format!("{file}::{}::{name}", classes.replace('.', "::")))
    }
}

/// The benchmark records of a test: its properties, else what it printed into the report
/// (`junit_logging=system-out`).
fn records(
    document: &Document<'_>,
    case: Node<'_, '_>,
    configuration: &SmolStr,
) -> Result<Vec<Reading>, ReadingsError> {
    let mut readings = Vec::new();
    let properties = case.descendants().filter(|node| {
        node.has_tag_name("property") && node.attribute("name") == Some("benchmark")
    });
    for property in properties {
        let line = document.text_pos_at(property.range().start).row;
        let value = property.attribute("value").unwrap_or_default();
        let record = literal::parse(value).map_err(|source| ReadingsError::Literal {
            line,
            configuration: configuration.clone(),
            source,
        })?;
        readings.extend(super::benchmark(configuration, &record, line)?);
    }
    if readings.is_empty() {
        let outputs = case
            .children()
            .filter(|node| node.has_tag_name("system-out"));
        for text in outputs.filter_map(|node| node.text()) {
            readings.extend(printed::records(text, configuration)?);
        }
    }
    Ok(readings)
}
