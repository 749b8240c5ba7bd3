//! Arguments of calls: adding one where its neighbours would have been written.

use tileperf_syntax::ast::{Expr, ExprKind};

use super::Edits;

/// Adds an argument at the end of a call's arguments, on a line of its own where each has one.
#[must_use]
pub fn add_argument<'t>(edits: Edits<'t>, call: &Expr, argument: &str) -> Edits<'t> {
    let ExprKind::Call { args, .. } = &call.kind else {
        return edits;
    };
    let close = call.span.end.saturating_sub(1);
    let Some(last) = args.last() else {
        return edits.insert(close, argument);
    };
    let end = last.value.span.end;
    let between = edits.source(tileperf_syntax::Span {
        start: end,
        end: close,
    });
    let comma = between.trim_start().starts_with(',');
    let begin = last
        .name
        .as_ref()
        .map_or(last.value.span.start, |n| n.span.start);
    let Some(line) = edits.own_line(begin).filter(|_| between.contains('\n')) else {
        let after_comma = end + between.find(',').map_or(0, |i| i as u32 + 1);
        return if comma {
            edits.insert(after_comma, format!(" {argument}"))
        } else {
            edits.insert(end, format!(", {argument}"))
        };
    };
    let indent = line.to_owned();
    if comma {
        let after_comma = end + between.find(',').map_or(0, |i| i as u32 + 1);
        edits.insert(after_comma, format!("\n{indent}{argument},"))
    } else {
        edits.insert(end, format!(",\n{indent}{argument}"))
    }
}

#[cfg(test)]
mod tests {
    use tileperf_syntax::FileParser;
    use tileperf_syntax::ast::StmtKind;

    use super::add_argument;
    use crate::rewrite::{self, Edits};

    fn added(text: &str) -> String {
        let file = FileParser::default().parse(text);
        let body = &file.items[0].facts.body;
        let StmtKind::Expr(call) = &body[0].kind else {
            panic!("no call in {text}");
        };
        let edits = add_argument(Edits::new(text), call, "z=1").finish();
        rewrite::apply(text, &edits).unwrap()
    }

    #[test]
    fn goes_behind_the_last_argument() {
        for (before, after) in [
            ("f()", "f(z=1)"),
            ("f(x)", "f(x, z=1)"),
            ("f(x, y=2)", "f(x, y=2, z=1)"),
            ("f(x, (y,))", "f(x, (y,), z=1)"),
            ("f(x,)", "f(x, z=1)"),
            ("f(\n    x, y\n)", "f(\n    x, y, z=1\n)"),
            ("f(\n    x,\n    y\n)", "f(\n    x,\n    y,\n    z=1\n)"),
            (
                "f(\n    x,\n    y=2,\n)",
                "f(\n    x,\n    y=2,\n    z=1,\n)",
            ),
            ("f(\n    x,  # why\n)", "f(\n    x,\n    z=1,  # why\n)"),
            ("f(\r\n  x,\r\n)", "f(\r\n  x,\r\n  z=1,\r\n)"),
        ] {
            assert_eq!(added(before), after);
        }
    }
}
