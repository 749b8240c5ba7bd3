//! A list of findings that were there before: legacy code can be checked for new ones only.
//!
//! A finding is known again by its file, its rule and the text of its line, so that lines may move.
//! Of several alike as many are left out as are listed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use tileperf_analysis::rewrite;
use tileperf_analysis::rules::Finding;

use super::finding::Checked;

#[derive(Debug, Serialize, Deserialize)]
struct File {
    schema: String,
    findings: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Entry {
    path: String,
    code: String,
    /// The line of code, without white space around it.
    line: String,
}

/// Findings to leave out, and how many of each.
pub(super) struct Baseline(BTreeMap<Entry, usize>);

const SCHEMA: &str = "tileperf.baseline/1";

/// Reads a baseline file.
pub(super) fn read(path: &Path) -> anyhow::Result<Baseline> {
    let shown = path.display();
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the baseline {shown}; --write-baseline makes it"))?;
    let file: File =
        serde_json::from_str(&text).with_context(|| format!("{shown} is no baseline file"))?;
    anyhow::ensure!(
        file.schema == SCHEMA,
        "{shown} is of the layout {}, not {SCHEMA}",
        file.schema
    );
    let mut known = BTreeMap::new();
    for entry in file.findings {
        *known.entry(entry).or_insert(0) += 1;
    }
    Ok(Baseline(known))
}

/// Writes a baseline file with everything found.
pub(super) fn write(path: &Path, checked: &[Checked]) -> anyhow::Result<()> {
    let mut findings: Vec<Entry> = (checked.iter())
        .flat_map(|file| file.findings.iter().map(|f| entry(file, f)))
        .collect();
    findings.sort();
    let schema = SCHEMA.to_owned();
    let mut text = serde_json::to_string_pretty(&File { schema, findings })?;
    text.push('\n');
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

impl Baseline {
    /// The findings that are not listed.
    pub(super) fn without(mut self, mut checked: Vec<Checked>) -> Vec<Checked> {
        for file in &mut checked {
            let findings = std::mem::take(&mut file.findings);
            let fresh = (findings.into_iter())
                .filter(|finding| match self.0.get_mut(&entry(file, finding)) {
                    Some(left) if *left > 0 => {
                        *left -= 1;
                        false
                    }
                    _ => true,
                })
                .collect();
            file.findings = fresh;
        }
        checked.retain(|file| !file.findings.is_empty());
        checked
    }
}

fn entry(file: &Checked, finding: &Finding) -> Entry {
    let text = file.text.as_str();
    let start = rewrite::line_start(text, finding.span.start) as usize;
    let end = rewrite::line_end(text, finding.span.start) as usize;
    Entry {
        path: file.shown(),
        code: finding.rule.code.to_owned(),
        line: text.get(start..end).unwrap_or("").trim().to_owned(),
    }
}
