//! Findings of an earlier text, in the present one.
//!
//! Rules that rest on other files are asked when nothing is typed. Until then a finding stays with
//! its line: as long as the same line stands somewhere near, what was said of it is shown there.

use tileperf_analysis::rewrite;
use tileperf_analysis::rules::Finding;
use tileperf_syntax::Text;

use crate::document::Linked;

/// Adds the findings whose line still stands. Fixes are left out where the text is another one.
pub(super) fn over(linked: &Linked, now: &Text, out: &mut Vec<Finding>) {
    let (old, new) = (linked.text.as_str(), now.as_str());
    if old == new {
        out.extend(linked.findings.iter().cloned());
    } else {
        out.extend(linked.findings.iter().filter_map(|f| moved(f, old, new)));
    }
    out.sort_by_key(|f| (f.span.start, f.span.end, f.rule.code));
}

fn moved(finding: &Finding, old: &str, new: &str) -> Option<Finding> {
    let start = rewrite::line_start(old, finding.span.start) as usize;
    let end = rewrite::line_end(old, finding.span.start) as usize;
    let line = old.get(start..end)?.trim_end_matches(['\r', '\n']);
    let place = nearest(new, line, start)?;
    let delta = place as i64 - start as i64;
    let span = finding.span.moved(delta);
    new.get(span.range())?;
    Some(Finding {
        span,
        related: Vec::new(),
        fixes: Vec::new(),
        claims: Vec::new(),
        ..finding.clone()
    })
}

/// Where the same line begins, nearest to where it was.
fn nearest(text: &str, line: &str, was: usize) -> Option<usize> {
    let whole = |at: usize| {
        let before = at == 0 || text.as_bytes()[at - 1] == b'\n';
        let rest = &text.as_bytes()[at + line.len()..];
        before && matches!(rest.first(), None | Some(b'\r' | b'\n'))
    };
    (text.match_indices(line).map(|(at, _)| at))
        .filter(|at| whole(*at))
        .min_by_key(|at| at.abs_diff(was))
}

#[cfg(test)]
mod tests {
    use tileperf_analysis::rules::RULES;
    use tileperf_syntax::Span;

    use super::*;

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
            findings: vec![finding].into(),
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
        assert_eq!(at(""), None);
    }
}
