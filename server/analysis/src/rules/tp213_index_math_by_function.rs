//! `ct.add(ct.mul(bid, BLOCK), offset)`: arithmetic on indices by functions.

use tileperf_syntax::ast::{Expr, ExprKind, Stmt};

use crate::body::{ApiCall, Const, Dtype, Ty};
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings};

rule! {
    /// An index (of a block, or offsets made of it) is added or multiplied by `ct.add` or `ct.mul`
    /// rather than by `+` or `*`.
    ///
    /// The functions are there for a rounding mode, which indices do not have; operators say the same
    /// more clearly. TileGym's guide (rule 3) warns that the functions promote indices to floats.
    /// That was not seen: in cuda-tile 1.0 and 1.7 both have one implementation, and with 1.7 they
    /// compile to identical code, which is why the fix is safe.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def double(x, BLOCK: ct.Constant[int]):
    ///     start = ct.mul(ct.bid(0), BLOCK)  # TP213
    ///     at = ct.add(start, ct.arange(BLOCK, dtype=ct.int32))  # TP213
    ///     ct.scatter(x, at, ct.gather(x, at) * 2)
    /// ```
    ///
    /// ```python fixed
    /// @ct.kernel
    /// def double(x, BLOCK: ct.Constant[int]):
    ///     start = ct.bid(0) * BLOCK
    ///     at = start + ct.arange(BLOCK, dtype=ct.int32)
    ///     ct.scatter(x, at, ct.gather(x, at) * 2)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def double(x, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(x, (i,), ct.mul(ct.load(x, (i,), (BLOCK,)), 2.0))
    /// ```
    TP213 "index-math-by-function" Hint,
    Device(check)
}

fn check(device: &DeviceContext<'_>, out: &mut Findings<'_>) {
    device.calls(&mut |call, place| {
        let op = match call.name.as_str() {
            "add" => "+",
            "sub" => "-",
            "mul" => "*",
            _ => return,
        };
        // More than two: a rounding mode, which an operator cannot say.
        let (Some(x), Some(y), 2) = (call.arg(0, "x"), call.arg(1, "y"), call.args.len()) else {
            return;
        };
        let about_numbers = is_number(device, x) && is_number(device, y);
        if !about_numbers || !(is_index(device, x) || is_index(device, y)) {
            return;
        }
        let message = format!("`ct.{}` on an index; write it with `{op}`", call.name);
        let text = format!(
            "{} {op} {}",
            operand(device, x, op, false),
            operand(device, y, op, true)
        );
        let text = match place.stmt().is_some_and(|s| is_operand(s, call)) {
            true => format!("({text})"),
            false => text,
        };
        let edits = Edits::new(device.text).replace(call.expr.span, text);
        out.push(call.expr.span, message)
            .safe_fix(format!("Write it with `{op}`"), edits);
    });
}

/// A block's index, a loop's counter, or offsets made of `ct.arange`.
fn is_index(device: &DeviceContext<'_>, expr: &Expr) -> bool {
    match device.ty(expr) {
        Ty::Scalar { block } => *block,
        Ty::Tile(tile) => tile.offsets && tile.dtype == Dtype::Int,
        _ => false,
    }
}

/// A whole number, or a tile of them.
fn is_number(device: &DeviceContext<'_>, expr: &Expr) -> bool {
    match device.ty(expr) {
        Ty::Scalar { .. } | Ty::Const(Const::Int(_) | Const::Name(_) | Const::Other) => true,
        Ty::Tile(tile) => tile.dtype == Dtype::Int,
        // A number that the launch passes.
        Ty::Unknown => expr.name().is_some_and(|n| device.param(n).is_some()),
        _ => false,
    }
}

/// An operand as it is written beside an operator.
fn operand<'a>(
    device: &DeviceContext<'a>,
    expr: &Expr,
    op: &str,
    right: bool,
) -> std::borrow::Cow<'a, str> {
    let source = device.source(expr.span);
    let bare = match &expr.kind {
        ExprKind::Name(_)
        | ExprKind::Int(_)
        | ExprKind::Call { .. }
        | ExprKind::Attribute { .. }
        | ExprKind::Subscript { .. } => true,
        ExprKind::Binary { op: inner, .. } => match (op, inner.as_str()) {
            ("+" | "-", "*" | "//" | "%") => true,
            ("+" | "-", "+" | "-") | ("*", "*") => !right,
            _ => false,
        },
        _ => false,
    };
    if bare {
        source.into()
    } else {
        format!("({source})").into()
    }
}

/// Whether a call stands where an operation needs parentheses.
fn is_operand(stmt: &Stmt, call: &ApiCall<'_>) -> bool {
    let span = call.expr.span;
    let mut found = false;
    stmt.own_exprs(&mut |e| {
        e.walk(&mut |parent| {
            found |= match &parent.kind {
                ExprKind::Binary { .. } | ExprKind::Unary { .. } => {
                    let mut is_child = false;
                    parent.children(&mut |c| is_child |= c.span == span);
                    is_child
                }
                ExprKind::Attribute { value, .. } | ExprKind::Subscript { value, .. } => {
                    value.span == span
                }
                _ => false,
            };
        });
    });
    found
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{fixes, good};

    fn kernel(line: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, n, B: ct.Constant[int]):\n    i = ct.bid(0)\n    t = ct.load(x, (i,), (B,))\n    {line}\n"
        )
    }

    #[test]
    fn functions_become_operators() {
        for (line, fixed) in [
            ("a = ct.mul(i, B)", "a = i * B"),
            ("a = ct.add(B, i)", "a = B + i"),
            ("a = ct.sub(i, 1)", "a = i - 1"),
            ("a = ct.add(x=i, y=1)", "a = i + 1"),
            ("a = ct.add(ct.mul(i, B), n)", "a = (i * B) + n"),
            ("a = ct.mul(i + 1, B)", "a = (i + 1) * B"),
            ("a = ct.mul(B, i + 1)", "a = B * (i + 1)"),
            ("a = ct.sub(n, i - 1)", "a = n - (i - 1)"),
            ("a = ct.add(i * 2, 1)", "a = i * 2 + 1"),
            ("a = ct.add(i, 1) * 2", "a = (i + 1) * 2"),
            ("a = -ct.add(i, 1)", "a = -(i + 1)"),
            ("a = ct.add(i, 1).dtype", "a = (i + 1).dtype"),
            ("a = ct.add(i if n else 0, 1)", "a = (i if n else 0) + 1"),
            (
                "ct.load(x, (ct.add(i, 1),), (B,))",
                "ct.load(x, (i + 1,), (B,))",
            ),
            (
                "a = ct.add(i, ct.arange(B, dtype=ct.int32))",
                "a = i + ct.arange(B, dtype=ct.int32)",
            ),
            (
                "a = ct.mul(ct.num_blocks(0), 2)",
                "a = ct.num_blocks(0) * 2",
            ),
            (
                "a = ct.add(ct.arange(B, dtype=ct.int32), B)",
                "a = ct.arange(B, dtype=ct.int32) + B",
            ),
            (
                "a = ct.mul(i * B + ct.arange(B, dtype=ct.int32), n)",
                "a = (i * B + ct.arange(B, dtype=ct.int32)) * n",
            ),
            (
                "a = ct.add(ct.arange(B, dtype=ct.int32), t.astype(ct.int32))",
                "a = ct.arange(B, dtype=ct.int32) + t.astype(ct.int32)",
            ),
        ] {
            let marked = kernel(&format!("{line}  # TP213"));
            fixes(&RULE, &marked, &kernel(fixed));
        }
    }

    #[test]
    fn tiles_of_floats_and_other_numbers() {
        for line in [
            "a = ct.add(t, i)",
            "a = ct.mul(i, t)",
            "a = ct.mul(t, 2.0)",
            "a = ct.add(t, t)",
            "a = ct.mul(n, B)",
            "a = ct.mul(ct.arange(B, dtype=ct.float32), 2)",
            "a = ct.mul(ct.arange(B, dtype=ct.int32), t)",
            "a = ct.mul(ct.arange(B, dtype=ct.int32).astype(ct.float32), n)",
            "a = ct.add(t.astype(ct.int32), 1)",
            "a = ct.mul(i, 0.5)",
            "a = ct.mul(i, B, rounding_mode=ct.RoundingMode.RN)",
            "a = ct.truediv(i, B)",
            "a = ct.add(i, helper(t))",
            "a = other.add(i, B)",
            "a = i * B + 1",
        ] {
            good(&RULE, &kernel(line));
        }
    }
}
