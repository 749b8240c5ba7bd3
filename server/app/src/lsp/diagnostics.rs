//! What the engine finds wrong, as the protocol's diagnostics.

use tileperf_engine::{DocId, Engine, FailureAt};
use tower_lsp::ls_types::{Diagnostic, DiagnosticSeverity, NumberOrString};

use super::convert::Converter;

/// Everything that is wrong in a document. Reads the file if it is not open, so off the message loop.
pub(super) fn of(engine: &Engine, convert: &Converter, doc: &DocId) -> Vec<Diagnostic> {
    let failures = engine.failures(doc);
    failures.iter().map(|at| failure(convert, at)).collect()
}

/// A failing test of the last run.
fn failure(convert: &Converter, at: &FailureAt) -> Diagnostic {
    Diagnostic {
        range: convert.range(&at.location.text, at.location.span),
        severity: Some(DiagnosticSeverity::ERROR),
        code: Some(NumberOrString::String("perf-failure".to_owned())),
        source: Some("tileperf".to_owned()),
        message: at.message.clone(),
        ..Diagnostic::default()
    }
}
