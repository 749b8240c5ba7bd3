//! The findings of a file, with places as people count them.

use std::path::PathBuf;
use std::sync::Arc;

use tileperf_analysis::rewrite;
use tileperf_analysis::rules::Finding;
use tileperf_engine::CheckedFile;
use tileperf_syntax::{Encoding, Text};

use super::Found;

/// A file with findings.
pub(super) struct Checked {
    /// As the user sees it.
    pub(super) path: PathBuf,
    pub(super) text: Text,
    pub(super) findings: Vec<Arc<Finding>>,
}

/// Lines and columns from 1; columns in code points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) end_line: u32,
    pub(super) end_column: u32,
}

impl Checked {
    /// What is wrong in a file; nothing if it is nothing.
    pub(super) fn of(found: &Found) -> Option<Checked> {
        let Some(checked) = found.engine.check(&found.doc) else {
            tracing::error!("cannot read {}", found.shown.display());
            return None;
        };
        Self::found(found, checked)
    }

    /// Of what was found in a file.
    pub(super) fn found(file: &Found, checked: CheckedFile) -> Option<Checked> {
        (!checked.findings.is_empty()).then(|| Checked {
            path: file.shown.clone(),
            text: checked.text,
            findings: checked.findings,
        })
    }

    /// Where a finding is.
    pub(super) fn place(&self, finding: &Finding) -> Place {
        let text = self.text.as_str();
        let point = |at: u32| {
            let line = self.text.position(at as usize, Encoding::Utf8).line;
            let start = rewrite::line_start(text, at) as usize;
            let before = text.get(start..at as usize).unwrap_or("");
            (line + 1, before.chars().count() as u32 + 1)
        };
        let (line, column) = point(finding.span.start);
        let (end_line, end_column) = point(finding.span.end);
        Place {
            line,
            column,
            end_line,
            end_column,
        }
    }

    /// With forward slashes, as reports want it.
    pub(super) fn shown(&self) -> String {
        self.path.to_string_lossy().replace('\\', "/")
    }
}
