//! Findings of an earlier text, in the present one.
//!
//! Rules that rest on other files are asked when nothing is typed. Until then a finding stays with
//! its line: as long as the same line stands somewhere near, what was said of it is shown there.

use std::ops::Range;
use std::sync::Arc;

use tileperf_analysis::rewrite;
use tileperf_analysis::rules::Finding;
use tileperf_syntax::Text;

use crate::document::Linked;

/// Adds the findings whose line still stands. Fixes are left out where the text is another one.
pub(super) fn over(linked: &Linked, now: &Text, out: &mut Vec<Arc<Finding>>) {
    if linked.findings.is_empty() {
        return;
    }
    let (old, new) = (linked.text.as_str(), now.as_str());
    if old == new {
        out.extend(linked.findings.iter().cloned());
    } else {
        let edited = Edited::between(old, new);
        out.extend((linked.findings.iter()).filter_map(|f| moved(f, old, new, edited)));
    }
    out.sort_by_key(|f| (f.span.start, f.span.end, f.rule.code));
}

fn moved(finding: &Finding, old: &str, new: &str, edited: Edited) -> Option<Arc<Finding>> {
    let start = rewrite::line_start(old, finding.span.start) as usize;
    let end = rewrite::line_end(old, finding.span.start) as usize;
    let line = old.get(start..end)?.trim_end_matches(['\r', '\n']);
    let untouched = (edited.moved(start, end, old, new)).filter(|at| stands(new, line, *at));
    let place = untouched.or_else(|| nearest(new, edited.lines(new), line, start))?;
    let delta = place as i64 - start as i64;
    let span = finding.span.moved(delta);
    new.get(span.range())?;
    Some(Arc::new(Finding {
        rule: finding.rule,
        span,
        message: finding.message.clone(),
        severity: finding.severity,
        archs: finding.archs.clone(),
        related: Vec::new(),
        fixes: Vec::new(),
        claims: Vec::new(),
    }))
}

/// What two texts have in common at either end; between is all that was edited.
#[derive(Debug, Clone, Copy)]
struct Edited {
    before: usize,
    after: usize,
}

impl Edited {
    fn between(old: &str, new: &str) -> Self {
        let (old, new) = (old.as_bytes(), new.as_bytes());
        let before = common(
            old.iter().zip(new),
            old.chunks(BLOCK).zip(new.chunks(BLOCK)),
        );
        let (old, new) = (&old[before..], &new[before..]);
        let bytes = old.iter().rev().zip(new.iter().rev());
        let after = common(bytes, old.rchunks(BLOCK).zip(new.rchunks(BLOCK)));
        Self { before, after }
    }

    /// Where a line of the old text begins in the new one, if it was not edited.
    fn moved(self, start: usize, end: usize, old: &str, new: &str) -> Option<usize> {
        if end <= self.before {
            return Some(start);
        }
        (start >= old.len() - self.after).then(|| new.len() - (old.len() - start))
    }

    /// The lines of the new text that were edited.
    fn lines(self, new: &str) -> Range<usize> {
        let start = new.as_bytes()[..self.before]
            .iter()
            .rposition(|b| *b == b'\n');
        let end = new.len() - self.after;
        let rest = new.as_bytes()[end..].iter().position(|b| *b == b'\n');
        start.map_or(0, |at| at + 1)..rest.map_or(new.len(), |at| end + at)
    }
}

/// Bytes compared at once.
const BLOCK: usize = 64;

/// How many bytes are the same from the beginning, told by blocks as long as these are the same.
fn common<'a>(
    bytes: impl Iterator<Item = (&'a u8, &'a u8)>,
    blocks: impl Iterator<Item = (&'a [u8], &'a [u8])>,
) -> usize {
    let same = blocks
        .take_while(|(a, b)| a.len() == BLOCK && a == b)
        .count()
        * BLOCK;
    same + bytes.skip(same).take_while(|(a, b)| a == b).count()
}

/// Where the same line begins in a part of the text, nearest to where it was.
fn nearest(text: &str, part: Range<usize>, line: &str, was: usize) -> Option<usize> {
    (text.get(part.clone())?.match_indices(line))
        .map(|(at, _)| part.start + at)
        .filter(|at| stands(text, line, *at))
        .min_by_key(|at| at.abs_diff(was))
}

/// Whether it is the whole line there.
fn stands(text: &str, line: &str, at: usize) -> bool {
    let before = at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n');
    let rest = text.as_bytes().get(at..);
    let rest = rest.and_then(|rest| rest.strip_prefix(line.as_bytes()));
    before && rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'\r' | b'\n')))
}

#[cfg(test)]
mod tests {
    use tileperf_analysis::rules::RULES;
    use tileperf_syntax::Span;

    use super::*;

    #[test]
    fn what_two_texts_share_is_found_at_either_end() {
        let text: String = (0..200).map(|n| format!("line {n}\n")).collect();
        for (start, end, new) in [
            (0, 0, "x"),
            (700, 703, ""),
            (64, 65, "é"),
            (text.len(), text.len(), "end"),
            (0, text.len(), ""),
        ] {
            let mut edited = text.clone();
            edited.replace_range(start..end, new);
            let shared = Edited::between(&text, &edited);
            let (old, now) = (text.as_bytes(), edited.as_bytes());
            assert_eq!(old[..shared.before], now[..shared.before]);
            assert_eq!(
                old[old.len() - shared.after..],
                now[now.len() - shared.after..]
            );
            // Nothing more is the same.
            assert!(shared.before >= start && shared.after >= text.len() - end);
            assert!(shared.before + shared.after <= old.len().min(now.len()));
        }
    }

    #[test]
    fn a_finding_stays_with_its_line() {
        let old = "a = 1\nspace = [1]\nb = 2\n";
        let finding = Finding {
            rule: RULES[0],
            span: Span::new(6, 11),
            message: "m".to_owned(),
            severity: RULES[0].severity,
            archs: Vec::new(),
            claims: Vec::new(),
            fixes: Vec::new(),
            related: Vec::new(),
        };
        let linked = Linked {
            text: Text::new(old.to_owned()),
            findings: vec![Arc::new(finding)].into(),
            generation: 0,
        };
        let at = |new: &str| {
            let mut out = Vec::new();
            over(&linked, &Text::new(new.to_owned()), &mut out);
            out.first().map(|f| f.span.start)
        };
        assert_eq!(at(old), Some(6));
        assert_eq!(at("a = 1\n\n\nspace = [1]\nb = 2\n"), Some(8));
        assert_eq!(at("space = [1]"), Some(0));
        assert_eq!(at("a = 1\nspace = [2]\nb = 2\n"), None);
        assert_eq!(at("a = 1\nspace = [1]x\nb = 2\n"), None);
        assert_eq!(at("a = 1space = [1]\nb = 2\n"), None);
        assert_eq!(at("a = 1\nspace = [1]"), Some(6));
        assert_eq!(at("é\na = 1\nspace = [1]\nb = 2\n"), Some(9));
        assert_eq!(at("b = 2\nspace = [1]\na = 1\n"), Some(6));
        assert_eq!(at(""), None);
    }
}
