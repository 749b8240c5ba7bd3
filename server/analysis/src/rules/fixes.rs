//! Several fixes at once.

use std::borrow::Borrow;

use super::{Finding, Safety};
use crate::rewrite::TextEdit;

/// The edits of as many fixes as do not touch each other, none less safe than `most`, and of how
/// many findings they are.
pub fn compatible<'f, F: Borrow<Finding> + 'f>(
    findings: impl IntoIterator<Item = &'f F>,
    most: Safety,
) -> (Vec<TextEdit>, usize) {
    let mut edits: Vec<TextEdit> = Vec::new();
    let mut fixed = 0;
    for finding in findings {
        let Some(fix) = finding.borrow().fixes.iter().find(|f| f.safety <= most) else {
            continue;
        };
        let touches =
            |a: &TextEdit, b: &TextEdit| a.span.start <= b.span.end && b.span.start <= a.span.end;
        let free = |edit: &TextEdit| !edits.iter().any(|taken| touches(edit, taken));
        if fix.edits.iter().all(free) {
            edits.extend(fix.edits.iter().cloned());
            fixed += 1;
        }
    }
    (edits, fixed)
}
