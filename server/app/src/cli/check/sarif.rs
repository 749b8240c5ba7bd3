//! SARIF 2.1.0, for code scanning.

use std::io::{self, Write};

use serde_json::{Value, json};
use tileperf_analysis::rules::{Doc, Finding, RULES, Rule, Severity};

use super::finding::Checked;

pub(super) fn write(out: &mut dyn Write, checked: &[Checked]) -> io::Result<()> {
    let results: Vec<Value> = (checked.iter())
        .flat_map(|file| file.findings.iter().map(|f| result(file, f)))
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "tileperf",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": RULES.iter().map(|r| rule(r)).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &log)?;
    writeln!(out)
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Hint => "note",
    }
}

fn rule(rule: &Rule) -> Value {
    let doc = Doc::parse(rule.doc);
    json!({
        "id": rule.code,
        "name": rule.slug,
        "shortDescription": { "text": doc.summary },
        "help": { "text": doc.markdown, "markdown": doc.markdown },
        "helpUri": tileperf_engine::rule_url(rule),
        "defaultConfiguration": { "level": level(rule.severity) },
    })
}

fn result(file: &Checked, finding: &Finding) -> Value {
    let place = file.place(finding);
    json!({
        "ruleId": finding.rule.code,
        "ruleIndex": RULES.iter().position(|r| *r == finding.rule),
        "level": level(finding.severity),
        "message": { "text": finding.message },
        "locations": [{ "physicalLocation": {
            "artifactLocation": { "uri": file.shown() },
            "region": {
                "startLine": place.line,
                "startColumn": place.column,
                "endLine": place.end_line,
                "endColumn": place.end_column,
            },
        } }],
    })
}
