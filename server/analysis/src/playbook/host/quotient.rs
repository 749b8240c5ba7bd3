//! Quotients that are rounded up: how many tiles there are.

use tileperf_syntax::ast::{Expr, ExprKind};

use super::super::site::{Meaning, Site};

/// What a name was given once.
pub(in crate::playbook) fn followed<'a>(site: &Site<'a>, expr: &'a Expr) -> &'a Expr {
    match expr.name().map(|name| site.meaning(name)) {
        Some(Meaning::Value(value)) => value,
        _ => expr,
    }
}

/// Count and divisor of a quotient that is rounded up: `cdiv(n, t)`, `math.ceil(n / t)`,
/// `(n + t - 1) // t`, `-(-n // t)`.
pub(in crate::playbook) fn quotient<'a>(
    site: &Site<'a>,
    expr: &'a Expr,
) -> Option<(&'a Expr, &'a Expr)> {
    let expr = followed(site, expr);
    let same = |a: &Expr, b: &Expr| site.source(a.span) == site.source(b.span);
    match &expr.kind {
        ExprKind::Call { func, args } => {
            let name = func.last_ident()?.name;
            match (name.as_str(), args.as_slice()) {
                ("cdiv" | "ceil_div", [count, by]) => Some((&count.value, &by.value)),
                ("int", [inner]) => quotient(site, &inner.value),
                ("ceil", [inner]) => match &inner.value.kind {
                    ExprKind::Binary { op, left, right } if op == "/" => Some((left, right)),
                    _ => None,
                },
                _ => None,
            }
        }
        ExprKind::Binary { op, left, right } if op == "//" => {
            let ExprKind::Binary {
                op: minus,
                left: sum,
                right: one,
            } = &left.kind
            else {
                return None;
            };
            let ExprKind::Binary {
                op: plus,
                left: count,
                right: by,
            } = &sum.kind
            else {
                return None;
            };
            let fits = minus == "-" && plus == "+" && matches!(one.kind, ExprKind::Int(1));
            // A divisor that is a number would have to change at two places.
            let named = by.name().is_some() && same(by, right);
            (fits && named).then_some((&**count, &**right))
        }
        ExprKind::Unary { op, operand } if op == "-" => match &operand.kind {
            ExprKind::Binary { op, left, right } if op == "//" => match &left.kind {
                ExprKind::Unary { op, operand } if op == "-" => Some((operand, right)),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
