//! Rules tried on Python texts: those of their documentation, and further ones beside each rule.

mod files;

use tileperf_syntax::FileParser;

use self::files::Files;
use super::doc::{self, BlockKind, Doc};
use super::{Finding, Rule};
use crate::rewrite;
use crate::target::Target;

/// Put before a text that imports no cuTile itself.
const IMPORTS: &str = "import cuda.tile as ct\nimport torch\n";

/// A text with what it needs to be cuTile.
pub(crate) fn whole(code: &str) -> String {
    if code.contains("import cu") || code.contains("from cuda") {
        code.to_owned()
    } else {
        format!("{IMPORTS}{code}")
    }
}

/// Modules that a text imports: name and text.
pub(crate) type Others<'t> = [(&'t str, &'t str)];

/// Everything that all rules find in a text beside these modules.
fn all(text: &str, others: &Others<'_>, target: &Target) -> Vec<Finding> {
    let mut findings = Files::new(text, others, target).findings();
    findings.sort_by_key(|f| f.span.start);
    findings
}

/// What one rule finds in a text on its own.
pub(crate) fn found(rule: &'static Rule, text: &str, target: &Target) -> Vec<Finding> {
    found_beside(rule, &[], text, target)
}

fn found_beside(
    rule: &'static Rule,
    others: &Others<'_>,
    text: &str,
    target: &Target,
) -> Vec<Finding> {
    let mut findings = all(text, others, target);
    findings.retain(|f| f.rule == rule);
    findings
}

fn line_of(text: &str, at: u32) -> usize {
    text[..at as usize].matches('\n').count()
}

/// A text in which the rule finds something on exactly the lines that say so.
pub(crate) fn bad_for(rule: &'static Rule, code: &str, target: &Target) -> (String, Vec<Finding>) {
    bad_in(rule, &[], code, target)
}

/// The same, beside modules that it imports.
pub(crate) fn bad_beside(
    rule: &'static Rule,
    others: &Others<'_>,
    code: &str,
) -> (String, Vec<Finding>) {
    bad_in(rule, others, code, &Target::default())
}

fn bad_in(
    rule: &'static Rule,
    others: &Others<'_>,
    code: &str,
    target: &Target,
) -> (String, Vec<Finding>) {
    let marked = whole(code);
    let (text, lines) = doc::unmarked(&marked, rule);
    assert!(!lines.is_empty(), "{rule:?}: no line is marked in\n{code}");
    assert_parses(rule, &text);
    let findings = found_beside(rule, others, &text, target);
    let mut at: Vec<usize> = findings
        .iter()
        .map(|f| line_of(&text, f.span.start))
        .collect();
    at.dedup();
    let said: Vec<&str> = findings.iter().map(|f| f.message.as_str()).collect();
    assert_eq!(at, lines, "{rule:?} finds {said:#?} in\n{text}");
    for finding in &findings {
        assert!(!finding.message.is_empty() && !finding.message.ends_with('.'));
        for fix in &finding.fixes {
            let fixed = rewrite::apply(&text, &fix.edits);
            let fixed = fixed.unwrap_or_else(|e| panic!("{rule:?}: {}: {e}", fix.title));
            assert_parses(rule, &fixed);
        }
    }
    (text, findings)
}

/// As [`bad_for`] the default target.
pub(crate) fn bad(rule: &'static Rule, code: &str) -> (String, Vec<Finding>) {
    bad_for(rule, code, &Target::default())
}

/// A text in which the rule finds nothing.
pub(crate) fn good_for(rule: &'static Rule, code: &str, target: &Target) {
    good_in(rule, &[], code, target);
}

/// The same, beside modules that it imports.
pub(crate) fn good_beside(rule: &'static Rule, others: &Others<'_>, code: &str) {
    good_in(rule, others, code, &Target::default());
}

fn good_in(rule: &'static Rule, others: &Others<'_>, code: &str, target: &Target) {
    let text = whole(code);
    assert_parses(rule, &text);
    let findings = found_beside(rule, others, &text, target);
    let said: Vec<&str> = findings.iter().map(|f| f.message.as_str()).collect();
    assert!(said.is_empty(), "{rule:?} finds {said:#?} in\n{text}");
}

/// As [`good_for`] the default target.
pub(crate) fn good(rule: &'static Rule, code: &str) {
    good_for(rule, code, &Target::default());
}

/// The first fix of every finding, applied one after the other until none is left, makes `fixed` of
/// `code`; nothing is found in that.
pub(crate) fn fixes(rule: &'static Rule, code: &str, fixed: &str) {
    let (mut text, mut findings) = bad(rule, code);
    for _ in 0..50 {
        let Some(fix) = findings.iter().find_map(|f| f.fixes.first()) else {
            break;
        };
        text = rewrite::apply(&text, &fix.edits)
            .unwrap_or_else(|e| panic!("{rule:?}: {}: {e}", fix.title));
        findings = found(rule, &text, &Target::default());
    }
    let wanted = whole(fixed);
    assert_eq!(text, wanted, "{rule:?}: the fix of\n{code}");
    let left: Vec<&str> = findings.iter().map(|f| f.message.as_str()).collect();
    assert!(left.is_empty(), "{rule:?} still finds {left:?} in\n{text}");
}

fn assert_parses(rule: &Rule, text: &str) {
    let file = FileParser::default().parse(text);
    assert!(file.is_clean(), "{rule:?}: does not parse:\n{text}");
}

/// The blocks of a rule's documentation, as its tests.
pub(crate) fn documented(rule: &'static Rule) {
    let doc = Doc::parse(rule.doc);
    let target = Target {
        // A rule that holds no more is tried on the last version that it holds for.
        cuda_tile: rule
            .until
            .map(|v| crate::target::Version::new(v.major, v.minor - 1, 0)),
        ..Target::default()
    };
    let mut before: Option<&str> = None;
    let mut seen = [false; 2];
    for block in &doc.blocks {
        match block.kind {
            BlockKind::Bad => {
                seen[0] = true;
                bad_for(rule, &block.code, &target);
                before = Some(&block.code);
            }
            BlockKind::Fixed => {
                fixes(
                    rule,
                    before.expect("a bad block before a fixed one"),
                    &block.code,
                );
            }
            BlockKind::Good => {
                seen[1] = true;
                good_for(rule, &block.code, &target);
            }
            _ => {}
        }
    }
    assert!(seen[0], "{rule:?}: no block marked `bad`");
    assert!(seen[1], "{rule:?}: no block marked `good`");
}

/// What all rules find in a text.
pub(crate) fn findings(text: &str) -> Vec<Finding> {
    all(text, &[], &Target::default())
}
