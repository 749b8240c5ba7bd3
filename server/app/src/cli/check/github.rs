//! Annotations of GitHub Actions.

use std::io::{self, Write};

use tileperf_analysis::rules::Severity;

use super::finding::Checked;

pub(super) fn write(out: &mut dyn Write, checked: &[Checked]) -> io::Result<()> {
    for file in checked {
        for finding in &file.findings {
            let place = file.place(finding);
            let level = match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Hint => "notice",
            };
            writeln!(
                out,
                "::{level} file={},line={},endLine={},col={},endColumn={},title={} {}::{}",
                property(&file.shown()),
                place.line,
                place.end_line,
                place.column,
                place.end_column,
                finding.rule.code,
                finding.rule.slug,
                data(&finding.message),
            )?;
        }
    }
    Ok(())
}

/// As the runner wants text escaped.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// As above, within a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
