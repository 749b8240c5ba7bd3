//! JSON Lines: one object for each finding.

use std::io::{self, Write};

use serde_json::json;
use tileperf_analysis::rules::Safety;

use super::finding::Checked;

pub(super) fn write(out: &mut dyn Write, checked: &[Checked]) -> io::Result<()> {
    for file in checked {
        for finding in &file.findings {
            let place = file.place(finding);
            let archs: Vec<&str> = finding.archs.iter().map(|a| a.name()).collect();
            let fix = finding
                .fixes
                .first()
                .map(|fix| json!({ "title": fix.title, "safe": fix.safety == Safety::Safe }));
            let line = json!({
                "schema": "tileperf.check/1",
                "path": file.shown(),
                "line": place.line,
                "column": place.column,
                "end_line": place.end_line,
                "end_column": place.end_column,
                "code": finding.rule.code,
                "slug": finding.rule.slug,
                "severity": finding.severity.name(),
                "message": finding.message,
                "archs": archs,
                "fix": fix,
            });
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}
