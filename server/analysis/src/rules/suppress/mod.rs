//! `# tileperf: ignore[slug]`: findings that somebody has looked at and does not want to see again.
//!
//! On a line it counts for findings that begin on that line. Where a string or a `\` goes on behind a
//! line's end no comment can stand: the one at the next end that can have it counts for those lines
//! too. On a line of its own it counts for the statement that follows, within brackets for the line
//! that follows; among the file's first lines, before any code, for the whole file. Without square
//! brackets it means every rule.

mod lines;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use memchr::memmem;
use tileperf_syntax::Span;

use self::lines::{Line, lines};
use super::{Finding, Rule};
use crate::rewrite::{Edits, TextEdit};

const MARK: &str = "tileperf: ignore";

/// One such comment.
struct Ignore<'t> {
    /// Where the findings begin that it is about; nothing for the whole file.
    lines: Option<Span>,
    /// Rules by name; empty for all.
    names: Vec<&'t str>,
}

impl Ignore<'_> {
    fn covers(&self, finding: &Finding) -> bool {
        let at = finding.span.start;
        let here = self.lines.is_none_or(|l| l.start <= at && at < l.end);
        here && (self.names.is_empty() || self.names.iter().any(|n| finding.rule.is_called(n)))
    }
}

fn ignores(text: &str) -> Vec<Ignore<'_>> {
    // Most files have none.
    if memmem::find(text.as_bytes(), MARK.as_bytes()).is_none() {
        return Vec::new();
    }
    let lines = lines(text);
    let code = lines.iter().position(|l| !l.is_bare(text));
    let mut out = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some(comment) = line.comment else {
            continue;
        };
        let comment = text.get(comment as usize..line.end as usize).unwrap_or("");
        let own_line = line.is_bare(text);
        let first = own_line && code.is_none_or(|code| number < code);
        for names in marks(comment).map(|(_, names)| names) {
            out.push(Ignore {
                lines: match (first, own_line) {
                    (true, _) => None,
                    (false, true) => Some(below(text, &lines, number)),
                    (false, false) => Some(run_around(&lines, number)),
                },
                names: match names {
                    Some(names) => names.split(',').map(str::trim).collect(),
                    None => Vec::new(),
                },
            });
        }
    }
    out
}

/// Where the marks in a comment end, and what stands in their brackets.
fn marks(comment: &str) -> impl Iterator<Item = (usize, Option<&str>)> {
    memmem::find_iter(comment.as_bytes(), MARK).filter_map(move |at| {
        let after = at + MARK.len();
        let rest = comment.get(after..)?;
        let names = rest.trim_start().strip_prefix('[');
        let names = names
            .and_then(|r| r.split_once(']'))
            .map(|(names, _)| names);
        (comment.get(..at)?.trim_end().ends_with('#')).then_some((after, names))
    })
}

/// The lines that share the comment at the end of the last of them.
fn run_around(lines: &[Line], number: usize) -> Span {
    let first = (0..number)
        .rev()
        .take_while(|above| lines[*above].runs_on)
        .last()
        .unwrap_or(number);
    let last = end_of_run(lines, number).unwrap_or(lines.len() - 1);
    Span {
        start: lines[first].start,
        end: lines[last].next,
    }
}

/// The first line from one on whose end can have a comment.
fn end_of_run(lines: &[Line], number: usize) -> Option<usize> {
    (number..lines.len()).find(|n| !lines[*n].runs_on)
}

/// What a comment on a line of its own is about: the next statement, or the next line within it.
fn below(text: &str, lines: &[Line], number: usize) -> Span {
    let first = (number + 1..lines.len()).find(|n| !lines[*n].is_bare(text));
    let Some(first) = first else {
        return run_around(lines, number);
    };
    let mut whole = run_around(lines, first);
    if lines[number].nested {
        return whole;
    }
    let mut next = first + 1;
    while let Some(line) = lines.get(next).filter(|l| l.nested || l.start < whole.end) {
        whole.end = whole.end.max(run_around(lines, next).end);
        whole.end = whole.end.max(line.next);
        next += 1;
    }
    whole
}

/// The findings that no comment suppresses, in source order.
pub(super) fn apply(text: &str, mut findings: Vec<Arc<Finding>>) -> Vec<Arc<Finding>> {
    findings.sort_by(|a, b| {
        (a.span.start, a.span.end, a.rule.code).cmp(&(b.span.start, b.span.end, b.rule.code))
    });
    let ignores = ignores(text);
    if !ignores.is_empty() {
        findings.retain(|f| !ignores.iter().any(|ignore| ignore.covers(f)));
    }
    findings
}

/// The edits that suppress a rule on the line of a finding. None where no comment can stand, in a
/// text that ends within a string.
pub fn on_line(text: &str, span: Span, rule: &Rule) -> Vec<TextEdit> {
    let lines = lines(text);
    let edits = Edits::new(text);
    let number = lines.partition_point(|l| l.next <= span.start);
    let Some(line) = end_of_run(&lines, number).and_then(|n| lines.get(n)) else {
        return edits.finish();
    };
    if let Some(start) = line.comment {
        let comment = text.get(start as usize..line.end as usize).unwrap_or("");
        let named = marks(comment).find(|(_, names)| names.is_some());
        let close = named.and_then(|(at, _)| Some(at + comment.get(at..)?.find(']')?));
        // On a line of its own it would be about what follows.
        if let Some(close) = close.filter(|_| !line.is_bare(text)) {
            let at = start + close as u32;
            return edits.insert(at, format!(", {}", rule.slug)).finish();
        }
    }
    let stands = text
        .get(line.start as usize..line.end as usize)
        .unwrap_or("");
    let at = line.start + stands.trim_end().len() as u32;
    let comment = format!("  # {MARK}[{}]", rule.slug);
    edits.insert(at, comment).finish()
}

/// The edits that suppress a rule in a whole file.
pub fn in_file(text: &str, rule: &Rule) -> Vec<TextEdit> {
    let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
    // How a script is run and how it is encoded must stay in its first two lines.
    let mut at = bom;
    for line in lines(text).iter().take(2) {
        let start = line.start.max(bom);
        let stands = text.get(start as usize..line.end as usize).unwrap_or("");
        let runs = start == bom && stands.starts_with("#!");
        let encoded = stands.trim_start().starts_with('#')
            && (stands.contains("coding:") || stands.contains("coding="));
        if runs || encoded {
            at = line.next;
        }
    }
    let comment = format!("# {MARK}[{}]", rule.slug);
    let ends = at == bom || text[..at as usize].ends_with(['\n', '\r']);
    let line = if ends {
        format!("{comment}\n")
    } else {
        format!("\n{comment}")
    };
    Edits::new(text).insert(at, line).finish()
}
