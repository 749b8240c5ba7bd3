//! What the engine finds wrong, as the protocol's diagnostics.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use tileperf_analysis::rules::{Finding, RULES, Rule, Severity};
use tileperf_engine::{CheckedFile, DocId, Engine, FailureAt, rule_url};
use tileperf_syntax::Text;
use tower_lsp::ls_types::{
    CodeDescription, Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    Location, NumberOrString, Uri,
};

use super::convert::Converter;

/// What is wrong in a document.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The text that was looked at and its version, of an open document.
    pub(super) of: Option<(i32, Text)>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Everything that is wrong in a document. Reads the file if it is not open, so off the message loop.
pub(super) fn of(engine: &Engine, convert: &Converter, doc: &DocId) -> Found {
    let failures = engine.failures(doc);
    let mut found = Found {
        of: None,
        diagnostics: failures.iter().map(|at| failure(convert, at)).collect(),
    };
    let checked = match engine.findings(doc) {
        None if engine.is_workspace_checked() => engine.check(doc),
        checked => checked,
    };
    if let Some(checked) = checked {
        found.of = checked
            .version
            .map(|version| (version, checked.text.clone()));
        if engine.settings().surfaces.diagnostics {
            let uri = convert.uri(doc);
            let each = |f: &Arc<Finding>| finding(convert, uri.as_ref(), &checked, f);
            found.diagnostics.extend(checked.findings.iter().map(each));
        }
    }
    found
}

/// A finding of a rule.
pub(super) fn finding(
    convert: &Converter,
    uri: Option<&Uri>,
    checked: &CheckedFile,
    finding: &Finding,
) -> Diagnostic {
    let text = &checked.text;
    let related = |(span, message): &(tileperf_syntax::Span, String)| {
        Some(DiagnosticRelatedInformation {
            location: Location {
                uri: uri?.clone(),
                range: convert.range(text, *span),
            },
            message: message.clone(),
        })
    };
    let related: Vec<_> = finding.related.iter().filter_map(related).collect();
    Diagnostic {
        range: convert.range(text, finding.span),
        severity: Some(match finding.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Hint => DiagnosticSeverity::HINT,
        }),
        code: Some(NumberOrString::String(finding.rule.code.to_owned())),
        code_description: page(finding.rule),
        source: Some("tileperf".to_owned()),
        message: finding.message.clone(),
        related_information: (!related.is_empty()).then_some(related),
        tags: (finding.rule.slug == "unused-kernel-param")
            .then(|| vec![DiagnosticTag::UNNECESSARY]),
        ..Diagnostic::default()
    }
}

/// The page that describes a rule.
fn page(rule: &Rule) -> Option<CodeDescription> {
    static PAGES: LazyLock<HashMap<&'static str, Uri>> = LazyLock::new(|| {
        let page = |rule: &&'static Rule| Some((rule.code, rule_url(rule).parse().ok()?));
        RULES.iter().filter_map(page).collect()
    });
    let href = PAGES.get(rule.code)?.clone();
    Some(CodeDescription { href })
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
