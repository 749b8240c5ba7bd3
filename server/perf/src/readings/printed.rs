//! Records that are printed: `Cutile: {'forward': {...}} ms` in a pytest transcript.
//!
//! The line belongs to the test whose id was shown last: in front of it on the same line (`-s -v`),
//! on the line before, or in the heading of its captured output (`-rA`).

use std::borrow::Cow;
use std::collections::HashMap;

use smol_str::SmolStr;

use super::timing::{self, Unit};
use super::{Outcome, Reading, ReadingsError, literal};

/// The configuration of a record that no test id precedes, as a script prints it.
const NO_TEST: SmolStr = SmolStr::new_static("stdout");

/// Words by which pytest ends a test's line.
const ENDINGS: [&str; 6] = ["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS"];

/// Reads the records of a transcript. A test that was shown but printed no record is a reading
/// without a number. A text without either gives an empty list.
///
/// # Errors
/// A line that is a record but cannot be read.
pub fn parse(text: &str) -> Result<Vec<Reading>, ReadingsError> {
    let mut transcript = Transcript::default();
    for (index, raw) in text.lines().enumerate() {
        transcript.line(index as u32 + 1, &without_colour(raw))?;
    }
    Ok(transcript.readings())
}

/// The records printed by one test.
pub(crate) fn records(text: &str, configuration: &SmolStr) -> Result<Vec<Reading>, ReadingsError> {
    let mut readings = Vec::new();
    for (index, raw) in text.lines().enumerate() {
        let line = without_colour(raw);
        readings.extend(
            record(&line, index as u32 + 1, configuration)?
                .into_iter()
                .flatten(),
        );
    }
    Ok(readings)
}

#[derive(Default)]
struct Transcript {
    /// Tests in the order they were first shown, each with its outcome.
    tests: Vec<(SmolStr, Outcome)>,
    index: HashMap<SmolStr, usize>,
    current: Option<SmolStr>,
    records: HashMap<SmolStr, Vec<Reading>>,
}

impl Transcript {
    fn line(&mut self, number: u32, line: &str) -> Result<(), ReadingsError> {
        let shown = test_line(line);
        if let Some((id, outcome)) = &shown {
            self.see(id, outcome.clone());
            self.current = Some(id.clone());
        } else if let Some(title) = heading(line) {
            self.current = Some(self.test_titled(title));
        }
        let configuration = self.current.clone().unwrap_or(NO_TEST);
        if let Some(found) = record(line, number, &configuration)? {
            if self.current.is_none() {
                self.see(&NO_TEST, None);
            }
            self.records.entry(configuration).or_default().extend(found);
        } else if shown.is_none()
            && let Some(outcome) = ending(line.trim())
            && let Some(current) = self.current.clone()
        {
            self.see(&current, Some(outcome));
        }
        Ok(())
    }

    fn see(&mut self, id: &SmolStr, outcome: Option<Outcome>) {
        let index = *self.index.entry(id.clone()).or_insert_with(|| {
            self.tests.push((id.clone(), Outcome::Passed));
            self.tests.len() - 1
        });
        let known = &mut self.tests[index].1;
        if let Some(outcome) = outcome.filter(|new| new.severity() > known.severity()) {
            *known = outcome;
        }
    }

    /// The test that a heading such as `Test_X.test_perf[8]` stands for; of several files with
    /// such a test, the first that has no record yet.
    fn test_titled(&mut self, title: &str) -> SmolStr {
        let matching = |id: &SmolStr| {
            id.split_once("::").is_some_and(|(_, path)| {
                let (path, parameters) = path.split_at(path.find('[').unwrap_or(path.len()));
                title
                    .strip_suffix(parameters)
                    .is_some_and(|t| t == path.replace("::", "."))
            })
        };
        let mut candidates = self
            .tests
            .iter()
            .map(|(id, _)| id)
            .filter(|id| matching(id));
        let first = candidates.clone().next().cloned();
        let fresh = candidates
            .find(|id| !self.records.contains_key(*id))
            .cloned();
        match fresh.or(first) {
            Some(id) => id,
            None => {
                let id = SmolStr::from(title);
                self.see(&id, None);
                id
            }
        }
    }

    fn readings(mut self) -> Vec<Reading> {
        let mut readings = Vec::new();
        for (id, outcome) in self.tests {
            match self.records.remove(&id) {
                Some(records) if outcome == Outcome::Passed => readings.extend(records),
                _ => readings.push(Reading::unmeasured(id, outcome)),
            }
        }
        super::number_repetitions(readings)
    }
}

/// The record on a line. `None` where the line is something else.
fn record(
    line: &str,
    number: u32,
    configuration: &SmolStr,
) -> Result<Option<Vec<Reading>>, ReadingsError> {
    let Some((before, brace)) = payload(line) else {
        return Ok(None);
    };
    let backend = before.rsplit(char::is_whitespace).next().unwrap_or(before);
    let payload = &line[brace..];
    // Only what is certainly meant as a record may fail: programs print other dictionaries too.
    let certain = ["{'forward'", "{'backward'", "{\"forward\"", "{\"backward\""]
        .iter()
        .any(|start| payload.starts_with(start));
    let (value, used) = match literal::parse_prefix(payload) {
        Ok(read) => read,
        Err(source) if certain => {
            return Err(ReadingsError::Literal {
                line: number,
                configuration: configuration.clone(),
                source,
            });
        }
        Err(_) => return Ok(None),
    };
    let unit = payload[used..]
        .split_whitespace()
        .next()
        .unwrap_or_default();
    let scale = match Unit::named(unit) {
        Some((Unit::Milliseconds, scale)) => scale,
        _ if certain => {
            return Err(ReadingsError::Shape {
                line: number,
                configuration: configuration.clone(),
                missing: "unit of time after it",
            });
        }
        _ => return Ok(None),
    };
    match timing::from_record(configuration, backend, &value, scale) {
        Ok(readings) => Ok(Some(readings)),
        Err(missing) if certain => Err(ReadingsError::Shape {
            line: number,
            configuration: configuration.clone(),
            missing,
        }),
        Err(_) => Ok(None),
    }
}

/// The text before `: {` and the byte of the brace: the first such place behind a plain word, since
/// inside a record the words are quoted.
fn payload(line: &str) -> Option<(&str, usize)> {
    line.match_indices(": {").find_map(|(colon, found)| {
        let (before, brace) = (&line[..colon], colon + found.len() - 1);
        let word = before.rsplit(char::is_whitespace).next()?;
        let plain = !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+'));
        let quoted = line[brace + 1..].starts_with(['\'', '"']);
        (plain && quoted).then_some((before, brace))
    })
}

/// A line that shows a test id, and its outcome if the line has it too.
fn test_line(line: &str) -> Option<(SmolStr, Option<Outcome>)> {
    let file_end = line.find(".py::")?;
    let start = line[..file_end]
        .rfind(char::is_whitespace)
        .map_or(0, |space| space + 1);
    // In front of an id stand at most a worker and an outcome (`[gw0] [ 50%] PASSED a.py::t`, or
    // the summary's `FAILED a.py::t - message`); prose that mentions a test does not count.
    let before = line[..start].trim();
    let rest = line[start..].trim_end();
    if let Some(word) = before
        .rsplit(' ')
        .next()
        .filter(|word| ENDINGS.contains(word))
    {
        let (id, message) = rest.split_once(" - ").unwrap_or((rest, ""));
        return Some((SmolStr::from(id), ending(&format!("{word} ({message})"))));
    }
    if !before.is_empty() {
        return None;
    }
    let (id, after) = rest.split_at(id_end(rest, file_end - start));
    Some((SmolStr::from(id.trim_end()), ending(after.trim())))
}

/// Where the node id at the start of a text ends. Parameters may hold spaces and brackets, so what
/// follows decides: an outcome or a record; else the first `] `, or the first space.
fn id_end(text: &str, from: usize) -> usize {
    if let Some((before, _)) = payload(text) {
        let backend = before.rfind(char::is_whitespace).unwrap_or(before.len());
        let id = before[..backend].trim_end();
        if id.ends_with(']') || !id.contains(char::is_whitespace) {
            return id.len();
        }
    } else if let Some(at) = ENDINGS
        .iter()
        .filter_map(|word| outcome_at(text, word))
        .max()
    {
        return at;
    }
    let bracket = text[from..].find('[').map(|at| at + from);
    let space = text[from..].find(char::is_whitespace).map(|at| at + from);
    match (bracket, space) {
        (Some(bracket), Some(space)) if bracket < space => text[bracket..]
            .find("] ")
            .map_or(text.len(), |at| bracket + at + 1),
        (_, space) => space.unwrap_or(text.len()),
    }
}

/// Where an outcome stands as a word of its own.
fn outcome_at(text: &str, word: &str) -> Option<usize> {
    let (at, found) = text.rmatch_indices(word).next()?;
    let after = &text[at + found.len()..];
    let alone = text[..at].ends_with(' ') && (after.is_empty() || after.starts_with(' '));
    alone.then_some(at)
}

/// The outcome that a text is: alone, with its reason, or with pytest's progress. Anything else that
/// starts with such a word is another line (`SKIPPED [1] tests/t.py:41: reason` in a summary).
fn ending(text: &str) -> Option<Outcome> {
    let word = text.split_whitespace().next()?;
    let rest = text[word.len()..].trim();
    if !(rest.is_empty() || rest.starts_with('(') || rest.ends_with("%]")) {
        return None;
    }
    let reason = rest
        .strip_prefix('(')
        .and_then(|inner| Some(inner.rsplit_once(')')?.0));
    let said = reason.unwrap_or_default().to_owned();
    match word {
        "PASSED" | "XPASS" => Some(Outcome::Passed),
        "FAILED" => Some(Outcome::Failed { message: said }),
        "ERROR" => Some(Outcome::Error { message: said }),
        "SKIPPED" | "XFAIL" => Some(Outcome::Skipped { reason: said }),
        _ => None,
    }
}

/// The title of a section such as `_____ Test_X.test_perf[8] _____`.
fn heading(line: &str) -> Option<&str> {
    let inner = line.trim();
    let title = inner.trim_start_matches('_').trim_end_matches('_');
    let ruled = inner.starts_with("__") && inner.ends_with("__");
    let title = title.strip_prefix(' ')?.strip_suffix(' ')?;
    (ruled && !title.is_empty() && !title.starts_with("ERROR ")).then_some(title)
}

/// The line without ANSI colour sequences.
fn without_colour(line: &str) -> Cow<'_, str> {
    if !line.contains('\x1b') {
        return Cow::Borrowed(line);
    }
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, sequence)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        rest = sequence
            .find(|c: char| c.is_ascii_alphabetic())
            .map_or("", |at| &sequence[at + 1..]);
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}
