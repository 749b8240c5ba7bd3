//! `# tileperf: ignore[slug]`: findings that somebody has looked at and does not want to see again.
//!
//! On a line it counts for findings that begin on that line; on a line of its own among the file's
//! first ones, before any code, for the whole file. Without brackets it means every rule.

use memchr::memmem;
use tileperf_syntax::Span;

use super::{Finding, Rule};
use crate::rewrite::{self, Edits, TextEdit};

const MARK: &str = "tileperf: ignore";

/// One such comment.
struct Ignore<'t> {
    /// Start of its line.
    line: u32,
    /// End of its line.
    end: u32,
    /// For the whole file.
    file: bool,
    /// Rules by name; empty for all.
    names: Vec<&'t str>,
}

impl Ignore<'_> {
    fn covers(&self, rule: &Rule) -> bool {
        self.names.is_empty() || self.names.iter().any(|n| rule.is_called(n))
    }
}

fn ignores(text: &str) -> Vec<Ignore<'_>> {
    let code = first_code(text);
    memmem::find_iter(text.as_bytes(), MARK)
        .filter_map(|at| {
            let start = rewrite::line_start(text, at as u32);
            let end = rewrite::line_end(text, at as u32);
            let before = text[start as usize..at].trim_end();
            if !before.ends_with('#') {
                return None;
            }
            let rest = text[at + MARK.len()..end as usize].trim_start();
            let names = match rest.strip_prefix('[').and_then(|r| r.split_once(']')) {
                Some((names, _)) => names.split(',').map(str::trim).collect(),
                None => Vec::new(),
            };
            let own_line = before.trim_start() == "#";
            Some(Ignore {
                line: start,
                end,
                file: own_line && start < code,
                names,
            })
        })
        .collect()
}

/// Where the first line begins that has code: not blank, not a comment.
fn first_code(text: &str) -> u32 {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let code = line.trim_start_matches('\u{feff}').trim_start();
        if !code.is_empty() && !code.starts_with('#') {
            return at;
        }
        at += line.len() as u32;
    }
    at
}

/// The findings that no comment suppresses, in source order.
pub(super) fn apply(text: &str, mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| {
        (a.span.start, a.span.end, a.rule.code).cmp(&(b.span.start, b.span.end, b.rule.code))
    });
    let ignores = ignores(text);
    if !ignores.is_empty() {
        findings.retain(|f| {
            !ignores.iter().any(|ignore| {
                let here = ignore.line <= f.span.start && f.span.start < ignore.end;
                (ignore.file || here) && ignore.covers(f.rule)
            })
        });
    }
    findings
}

/// The edits that suppress a rule on the line of a finding.
pub fn on_line(text: &str, span: Span, rule: &Rule) -> Vec<TextEdit> {
    let start = rewrite::line_start(text, span.start) as usize;
    let end = rewrite::line_end(text, span.start) as usize;
    let line = text[start..end].trim_end_matches(['\r', '\n']);
    if let Some(at) = line.find(MARK)
        && let Some(close) = line[at..].find(']')
    {
        let at = (start + at + close) as u32;
        return Edits::new(text)
            .insert(at, format!(", {}", rule.slug))
            .finish();
    }
    let at = (start + line.trim_end().len()) as u32;
    let comment = format!("  # {MARK}[{}]", rule.slug);
    Edits::new(text).insert(at, comment).finish()
}

/// The edits that suppress a rule in a whole file.
pub fn in_file(text: &str, rule: &Rule) -> Vec<TextEdit> {
    let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
    // A script's first line must stay the first.
    let at = if text[bom..].starts_with("#!") {
        rewrite::line_end(text, bom as u32)
    } else {
        bom as u32
    };
    let comment = format!("# {MARK}[{}]\n", rule.slug);
    Edits::new(text).insert(at, comment).finish()
}
