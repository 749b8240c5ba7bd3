//! Arguments of calls: adding one where its neighbours would have been written.

use tileperf_syntax::Span;
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
    let begin = last
        .name
        .as_ref()
        .map_or(last.value.span.start, |n| n.span.start);
    let last = Span {
        start: begin,
        end: last.value.span.end,
    };
    add_element(edits, last, close, argument)
}

/// Adds an element behind the last one of a list in brackets that close at a byte: of arguments, of
/// parameters, of a tuple. A comment beside the last one stays with it.
#[must_use]
pub fn add_element<'t>(edits: Edits<'t>, last: Span, close: u32, element: &str) -> Edits<'t> {
    let behind = |end: u32| {
        edits.source(Span {
            start: end,
            end: close,
        })
    };
    let end = last.end
        + code(behind(last.end))
            .rfind(')')
            .map_or(0, |i| i as u32 + 1);
    let between = behind(end);
    let comma = code(between).find(',').map(|i| end + i as u32 + 1);
    let Some(line) = edits
        .own_line(last.start)
        .filter(|_| between.contains('\n'))
    else {
        return match comma {
            Some(after) => edits.insert(after, format!(" {element}")),
            None => edits.insert(end, format!(", {element}")),
        };
    };
    let indent = line.to_owned();
    let line = between.split('\n').next().unwrap_or("");
    let line_end = end + line.trim_end_matches('\r').len() as u32;
    match comma {
        // A comma below a comment begins another line.
        Some(after) => edits.insert(line_end.max(after), format!("\n{indent}{element},")),
        None => edits
            .insert(end, ",")
            .insert(line_end, format!("\n{indent}{element}")),
    }
}

/// Where the brackets close whose last element ends at a byte.
pub fn close_after(text: &str, end: u32) -> Option<u32> {
    let rest = code(text.get(end as usize..)?);
    Some(end + rest.find([')', ']', '}'])? as u32)
}

/// A text with its comments blanked: every byte stays where it is.
fn code(text: &str) -> String {
    let mut in_comment = false;
    let blanked = text.bytes().map(|b| {
        in_comment = b != b'\n' && (in_comment || b == b'#');
        if in_comment || !b.is_ascii() {
            ' '
        } else {
            char::from(b)
        }
    });
    blanked.collect()
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
            ("f(\n    x,  # why\n)", "f(\n    x,  # why\n    z=1,\n)"),
            ("f(\n    x  # (why)\n)", "f(\n    x,  # (why)\n    z=1\n)"),
            ("f((x))", "f((x), z=1)"),
            (
                "f(\n    x  # why\n    ,\n)",
                "f(\n    x  # why\n    ,\n    z=1,\n)",
            ),
            ("f(\r\n  x,\r\n)", "f(\r\n  x,\r\n  z=1,\r\n)"),
        ] {
            assert_eq!(added(before), after);
        }
    }
}
