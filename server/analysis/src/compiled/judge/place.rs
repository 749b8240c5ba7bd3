//! Whether two places are one, and whether code at a place is compiled whatever constants are.

use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};
use tileperf_syntax::{ParsedFile, Span};

use crate::rewrite::line_end;

/// Statements that have others within: an error in their head is given with all of them.
const COMPOUND: [&str; 8] = [
    "if ", "for ", "while ", "with ", "try", "def ", "class ", "match ",
];

/// Whether what the compiler points at is what a finding points at: the finding has it within, or
/// lies in it, but not in another call there, which came first and was found right.
pub(super) fn same_place(file: &ParsedFile, text: &str, compiler: Span, finding: Span) -> bool {
    let head = head(text, compiler);
    finding.contains(head) || head.contains(finding) && !has_call_between(file, head, finding)
}

fn has_call_between(file: &ParsedFile, outer: Span, inner: Span) -> bool {
    let item = file.items.iter().find(|item| item.span.contains(outer));
    let Some(item) = item.filter(|item| !item.is_stale()) else {
        return false;
    };
    let by = -i64::from(item.span.start);
    let (outer, inner) = (outer.moved(by), inner.moved(by));
    let mut found = false;
    exprs(&item.facts.body, inner, &mut |expr| {
        found |= matches!(expr.kind, ExprKind::Call { .. })
            && expr.span != outer
            && outer.contains(expr.span)
            && expr.span.contains(inner);
    });
    found
}

/// Every expression of the statements around a place.
fn exprs(body: &[Stmt], at: Span, visit: &mut dyn FnMut(&Expr)) {
    for stmt in body.iter().filter(|stmt| stmt.span.contains(at)) {
        stmt.own_exprs(&mut |expr| expr.walk(&mut |e| visit(e)));
        for block in stmt.blocks() {
            exprs(block, at, visit);
        }
    }
}

/// A place; the first line of one that is a compound statement.
pub(crate) fn head(text: &str, span: Span) -> Span {
    let written = text.get(span.range()).unwrap_or("");
    if !COMPOUND.iter().any(|word| written.starts_with(word)) {
        return span;
    }
    Span {
        start: span.start,
        end: span.end.min(line_end(text, span.start)),
    }
}

/// Whether code at a place of a function is compiled whatever constants are: up to there, nothing
/// depends on a condition. False where the text does not parse.
pub(super) fn is_straight(file: &ParsedFile, function: Span, at: Span) -> bool {
    let item = file.items.iter().find(|item| item.span.contains(function));
    let Some(item) = item.filter(|item| !item.is_stale()) else {
        return false;
    };
    let by = -i64::from(item.span.start);
    let body = body_of(&item.facts.body, function.moved(by));
    body.is_some_and(|body| is_unconditional(body, at.moved(by)))
}

fn body_of(body: &[Stmt], function: Span) -> Option<&[Stmt]> {
    body.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::FunctionDef(def) if def.def_span == function => Some(def.body.as_slice()),
        _ => (stmt.blocks().into_iter()).find_map(|block| body_of(block, function)),
    })
}

fn is_unconditional(body: &[Stmt], at: Span) -> bool {
    let before = body.iter().filter(|stmt| stmt.span.start <= at.end);
    before.into_iter().all(|stmt| {
        let branches = matches!(
            stmt.kind,
            StmtKind::If { .. }
                | StmtKind::While { .. }
                | StmtKind::Match { .. }
                | StmtKind::Try { .. }
                | StmtKind::Return(_)
        );
        let mut chooses = branches && !matches!(stmt.kind, StmtKind::Return(_));
        // What follows a return is never reached; its own expression is.
        chooses |= branches && stmt.span.end <= at.start;
        stmt.own_exprs(&mut |expr| {
            expr.walk(&mut |e| chooses |= matches!(e.kind, ExprKind::Conditional { .. }));
        });
        !chooses && (stmt.blocks().into_iter()).all(|block| is_unconditional(block, at))
    })
}

#[cfg(test)]
mod tests {
    use tileperf_syntax::FileParser;

    use super::*;

    const TEXT: &str = "\
def k(x, F):
    a = ct.load(
        x,
        (96,),
    )
    for i in range(4):
        b = ct.add(a, ct.load(x, (48,)))
    c = ct.load(x, (24,) if F else (8,))
    if F:
        d = ct.load(x, (12,))
    e = ct.load(x, (6,))
";

    fn span(part: &str) -> Span {
        let start = TEXT.find(part).unwrap();
        Span::new(start, start + part.len())
    }

    #[test]
    fn one_place_or_two() {
        let file = FileParser::default().parse(TEXT);
        let load = "ct.load(\n        x,\n        (96,),\n    )";
        let loop_ = "for i in range(4):\n        b = ct.add(a, ct.load(x, (48,)))";
        for (compiler, finding, same) in [
            (load, "96", true),
            ("96", "(96,)", true),
            ("a = ", "96", false),
            ("ct.load(x, (48,))", "48", true),
            ("ct.add(a, ct.load(x, (48,)))", "48", false),
            ("ct.add(a, ct.load(x, (48,)))", "ct.load(x, (48,))", false),
            (
                "ct.add(a, ct.load(x, (48,)))",
                "ct.add(a, ct.load(x, (48,)))",
                true,
            ),
            (loop_, "48", false),
            (loop_, "range(4)", false),
            (loop_, "for", true),
        ] {
            let said = same_place(&file, TEXT, span(compiler), span(finding));
            assert_eq!(said, same, "{compiler} {finding}");
        }
    }

    #[test]
    fn what_is_compiled_whatever_constants_are() {
        let file = FileParser::default().parse(TEXT);
        let function = Span::new(0, TEXT.trim_end().len());
        for (part, straight) in [
            ("96", true),
            ("48", true),
            ("24", false),
            ("12", false),
            ("(6,)", false),
        ] {
            assert_eq!(is_straight(&file, function, span(part)), straight, "{part}");
        }
        assert!(!is_straight(&file, span("a = "), span("96")));
    }
}
