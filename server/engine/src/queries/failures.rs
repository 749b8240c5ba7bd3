//! Failing tests of the last runs, at their assertions.

use tileperf_syntax::{Span, Text};

use crate::runs::FailureNote;
use crate::view::Location;
use crate::{DocId, Engine};

/// Failing tests at one line.
#[derive(Debug, Clone)]
pub struct FailureAt {
    /// The line without its indentation.
    pub location: Location,
    /// What failed, why, and the likely cause.
    pub message: String,
}

/// Names of tests in a message; a parametrized test can fail a hundred times at one line.
const MOST_NAMES: usize = 3;

impl Engine {
    /// The documents in which a test fails.
    pub fn failing_documents(&self) -> Vec<DocId> {
        let notes = self.runs(None);
        let failures = notes.iter().flat_map(|note| &note.failures);
        let mut docs: Vec<DocId> = failures.map(|f| DocId::file(&f.file)).collect();
        docs.sort();
        docs.dedup();
        docs
    }

    /// The failing tests in a document, line by line. Reads the file if it is not open.
    pub fn failures(&self, doc: &DocId) -> Vec<FailureAt> {
        let path = doc.path();
        let notes = self.runs(None);
        let mut here: Vec<&FailureNote> = (notes.iter())
            .flat_map(|note| &note.failures)
            .filter(|failure| Some(&failure.file) == path.as_ref())
            .collect();
        if here.is_empty() {
            return Vec::new();
        }
        let text = match self.text(doc) {
            Some((_, text)) => text,
            None => match path.map(std::fs::read) {
                Some(Ok(bytes)) => Text::new(String::from_utf8_lossy(&bytes)),
                _ => return Vec::new(),
            },
        };
        here.sort_by_key(|failure| failure.line);
        (here.chunk_by(|a, b| a.line == b.line))
            .map(|failures| FailureAt {
                location: Location {
                    doc: doc.clone(),
                    span: code_of_line(&text, failures[0].line as usize),
                    text: text.clone(),
                },
                message: message(failures),
            })
            .collect()
    }
}

/// The line without its indentation; the last one for a line that is not there.
fn code_of_line(text: &Text, line: usize) -> Span {
    let line = text.line_span(line.min(text.line_count().saturating_sub(1)));
    let written = text.slice(line);
    let indent = written.len() - written.trim_start().len();
    let end = line.start as usize + written.trim_end().len();
    Span::new((line.start as usize + indent).min(end), end)
}

fn message(failures: &[&FailureNote]) -> String {
    let names: Vec<&str> = (failures.iter())
        .take(MOST_NAMES)
        .map(|failure| failure.test.rsplit("::").next().unwrap_or(&failure.test))
        .collect();
    let more = match failures.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let mut out = format!(
        "{}{more}: {}",
        names.join(", "),
        failures[0].message.trim_end()
    );
    if let Some(cause) = failures.iter().find_map(|failure| failure.cause.as_ref()) {
        out.push_str(&format!("\nLikely cause: {cause}"));
    }
    out
}
