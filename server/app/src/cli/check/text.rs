//! For reading: each finding with its line of code, what holds for which architectures, and how it
//! can be corrected.

use std::io::{self, Write};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use tileperf_analysis::rules::{Finding, Safety, Severity};

use super::finding::Checked;

pub(super) fn write(out: &mut dyn Write, checked: &[Checked], color: bool) -> io::Result<()> {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    for file in checked {
        let path = file.shown();
        for finding in &file.findings {
            let report = report(file.text.as_str(), &path, finding);
            writeln!(out, "{}\n", renderer.render(&[report]))?;
        }
    }
    summary(out, checked)
}

fn report<'a>(text: &'a str, path: &'a str, finding: &'a Finding) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Hint => Level::HELP.with_name("hint"),
    };
    let related = finding.related.iter().map(|(span, message)| {
        AnnotationKind::Context
            .span(span.range())
            .label(message.as_str())
    });
    let snippet = Snippet::source(text)
        .path(path)
        .annotation(AnnotationKind::Primary.span(finding.span.range()))
        .annotations(related);
    let mut report = level
        .primary_title(finding.message.as_str())
        .id(finding.rule.code)
        .element(snippet);
    if !finding.archs.is_empty() {
        let archs: Vec<&str> = finding.archs.iter().map(|a| a.name()).collect();
        report = report.element(Level::NOTE.message(format!("on {}", archs.join(", "))));
    }
    if let Some(fix) = finding.fixes.first() {
        let how = match fix.safety {
            Safety::Safe => "--fix",
            Safety::Review => "--fix --review-fixes",
        };
        report = report.element(Level::HELP.message(format!("{} ({how})", fix.title)));
    }
    report.element(Level::NOTE.message(format!("`tileperf explain {}`", finding.rule.slug)))
}

fn summary(out: &mut dyn Write, checked: &[Checked]) -> io::Result<()> {
    let count = |severity: Severity| {
        let all = checked.iter().flat_map(|c| &c.findings);
        all.filter(|f| f.severity == severity).count()
    };
    let words: Vec<String> = [
        (count(Severity::Error), "error"),
        (count(Severity::Warning), "warning"),
        (count(Severity::Hint), "hint"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{count} {word}{}", if count == 1 { "" } else { "s" }))
    .collect();
    match words.as_slice() {
        [] => writeln!(out, "nothing found"),
        words => {
            let files = checked.len();
            let plural = if files == 1 { "" } else { "s" };
            writeln!(out, "{} in {files} file{plural}", words.join(", "))
        }
    }
}
