//! Matrix multiplications whose blocks walk over the result row by row.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, StmtKind};

use super::host;
use crate::body::{Device, Place, Ty};
use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings};

rule! {
    /// The blocks of a matrix multiplication take the tiles of the result in plain order, so that
    /// blocks running at the same time share few operands in L2. Playbook I groups them.
    ///
    /// Blocks that run together should work on a compact patch of the result: their rows of the one
    /// operand and columns of the other are then read from memory once. Grouping 4 to 16 rows of
    /// tiles gained 5 to 15 % on large products (TileGym); products whose operands fit in L2 gain
    /// nothing.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def matmul(a, b, c, T: ct.Constant[int]):  # TP408
    ///     acc = ct.zeros((T, T), ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(T, T))):
    ///         x = ct.load(a, (ct.bid(0), k), (T, T))
    ///         y = ct.load(b, (k, ct.bid(1)), (T, T))
    ///         acc = ct.mma(x, y, acc)
    ///     ct.store(c, (ct.bid(0), ct.bid(1)), acc.astype(c.dtype))
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def matmul(a, b, c, T: ct.Constant[int], GROUP: ct.Constant[int]):
    ///     n_tiles = ct.cdiv(b.shape[1], T)
    ///     group = ct.bid(0) // (GROUP * n_tiles)
    ///     m = group * GROUP + ct.bid(0) % GROUP
    ///     n = ct.bid(0) % (GROUP * n_tiles) // GROUP
    ///     acc = ct.zeros((T, T), ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(T, T))):
    ///         x = ct.load(a, (m, k), (T, T))
    ///         y = ct.load(b, (k, n), (T, T))
    ///         acc = ct.mma(x, y, acc)
    ///     ct.store(c, (m, n), acc.astype(c.dtype))
    /// ```
    TP408 "no-swizzle" Hint,
    Device(check)
}

/// What of an index comes straight from the block's: the index along an axis, or quotient and rest
/// of one index by the same number.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Axis(i64),
    Quotient(String),
    Rest(String),
}

/// One load in the loop over the common dimension: of what, and by which parts.
struct Operand {
    array: SmolStr,
    parts: Vec<Part>,
}

fn check(device: &DeviceContext<'_>, out: &mut Findings<'_>) {
    if device.is_kernel && in_plain_order(device) {
        out.push(
            device.def.name.span,
            format!(
                "`{}` takes the tiles of its result in plain order; grouping the blocks shares operands \
                 in L2 (playbook I)",
                device.def.name.name
            ),
        );
    }
}

/// Whether the blocks of a matrix product take the tiles of its result one row after the other.
pub(crate) fn in_plain_order(device: &DeviceContext<'_>) -> bool {
    let mut multiplies = false;
    let mut operands: Vec<Operand> = Vec::new();
    device.walk(&mut |expr, place| {
        let ExprKind::Call { .. } = &expr.kind else {
            return;
        };
        if let Some(call) = device.call(expr) {
            let multiply = matches!(call.name.as_str(), "mma" | "mma_scaled" | "matmul");
            multiplies |= multiply && place.in_loop();
        }
        operands.extend(operand(device, expr, place));
    });
    let crossing = |a| operands.iter().any(|b| crosses(a, b));
    multiplies && operands.iter().any(crossing)
}

/// A load that moves with the loop around it, and the blocks' indices in it.
fn operand<'a>(device: &DeviceContext<'a>, expr: &'a Expr, place: &Place<'a>) -> Option<Operand> {
    let (array, index) = match device.call(expr) {
        Some(call) if call.name == "load" => (call.arg(0, "array")?, call.arg(1, "index")?),
        Some(_) => return None,
        // `view.load((i, k))`
        None => match host::method(expr)? {
            (view, "load", [index, ..]) => (view, &index.value),
            _ => return None,
        },
    };
    let ExprKind::Tuple(items) = &device.follow(index).kind else {
        return None;
    };
    let counts = |name: &SmolStr| {
        place.loops().any(|stmt| match &stmt.kind {
            StmtKind::For { target, .. } => target.name() == Some(name),
            _ => false,
        })
    };
    let moves = items.iter().any(|item| item.name().is_some_and(counts));
    let parts: Vec<Part> = (items.iter())
        .filter_map(|item| part(device, item))
        .collect();
    (moves && !parts.is_empty()).then(|| Operand {
        array: device.source(array.span).into(),
        parts,
    })
}

/// Whether one operand has a block's index that the other has not, and the other way round: the
/// rows of the result, and its columns.
fn crosses(a: &Operand, b: &Operand) -> bool {
    let lone = |of: &Operand, other: &Operand| -> Vec<Part> {
        (of.parts.iter().filter(|p| !other.parts.contains(p)))
            .cloned()
            .collect()
    };
    let (mine, others) = (lone(a, b), lone(b, a));
    a.array != b.array
        && mine.iter().any(|x| {
            others.iter().any(|y| match (x, y) {
                (Part::Axis(_), Part::Axis(_)) => true,
                (Part::Quotient(n), Part::Rest(m)) => n == m,
                _ => false,
            })
        })
}

fn part<'a>(device: &DeviceContext<'a>, expr: &'a Expr) -> Option<Part> {
    let expr = device.follow(expr);
    if let Some(axis) = axis(device, expr) {
        return Some(Part::Axis(axis));
    }
    let ExprKind::Binary { op, left, right } = &expr.kind else {
        return None;
    };
    let by_block = matches!(device.ty(left), Ty::Scalar { block: true })
        && !matches!(device.follow(left).kind, ExprKind::Binary { .. });
    let of = format!(
        "{} by {}",
        device.source(left.span),
        device.source(right.span)
    );
    match op.as_str() {
        "//" if by_block => Some(Part::Quotient(of)),
        "%" if by_block => Some(Part::Rest(of)),
        _ => None,
    }
}

/// The axis whose block index an expression is.
fn axis<'a>(device: &Device<'a>, expr: &'a Expr) -> Option<i64> {
    let call = device.call(expr).filter(|call| call.name == "bid")?;
    device.ty(call.arg(0, "axis")?).int()
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn code(before: &str, a: &str, b: &str) -> String {
        format!(
            "@ct.kernel\ndef k(A, B, N, T: ct.Constant[int]):\n{before}    acc = ct.zeros((T, T), ct.float32)\n    for k in range(N):\n        x = ct.load(A, {a}, (T, T)).astype(ct.float16)\n        y = ct.load(B, index={b}, shape=(T, T))\n        y = ct.transpose(y)\n        acc = ct.mma(x, y, acc=acc)\n"
        )
    }

    const TWO: &str = "    i, j = ct.bid(0), ct.bid(1)\n";

    #[test]
    fn plain_orders() {
        let marked =
            |code: String| code.replace("T: ct.Constant[int]):", "T: ct.Constant[int]):  # TP408");
        for (before, a, b) in [
            ("    i = ct.bid(0)\n    j = ct.bid(1)\n", "(i, k)", "(k, j)"),
            ("", "(ct.bid(1), k)", "(ct.bid(0), k)"),
            (
                "    b = ct.bid(2)\n",
                "(b, ct.bid(0), k)",
                "(b, k, ct.bid(1))",
            ),
            (
                "    p = ct.bid(0)\n    i = p // N\n    j = p % N\n",
                "(i, k)",
                "(k, j)",
            ),
        ] {
            bad(&RULE, &marked(code(before, a, b)));
        }
        bad(
            &RULE,
            "@ct.kernel\ndef k(A, B, N, T: ct.Constant[int]):  # TP408\n    v = A.tiled_view((T, T))\n    w = B.tiled_view((T, T))\n    acc = ct.zeros((T, T), ct.float32)\n    for k in range(N):\n        acc = ct.mma(v.load((ct.bid(0), k)), w.load((k, ct.bid(1))), acc)\n",
        );
    }

    #[test]
    fn grouped_orders_and_other_kernels() {
        for (before, a, b) in [
            ("    i, j = swizzle(N, T)\n", "(i, k)", "(k, j)"),
            // Attention: both operands of the loop are the same head's.
            ("    h = ct.bid(1)\n", "(h, k)", "(h, k)"),
            (
                "    p = ct.bid(1)\n    b = p // N\n    h = p % N\n",
                "(b, h, k)",
                "(b, h, k)",
            ),
            // Only one operand moves.
            (TWO, "(ct.bid(0), 0)", "(k, ct.bid(1))"),
            // Quotient and rest by different numbers: a grouped order.
            (
                "    p = ct.bid(0)\n    i = p // N\n    j = p % T\n",
                "(i, k)",
                "(k, j)",
            ),
        ] {
            good(&RULE, &code(before, a, b));
        }
        let sum = code("", "(ct.bid(0), k)", "(k, ct.bid(1))")
            .replace("ct.mma(x, y, acc=acc)", "acc + x + y");
        good(&RULE, &sum);
        // A helper's caller decides.
        let helper = code("", "(ct.bid(0), k)", "(k, ct.bid(1))").replace("@ct.kernel\n", "");
        good(&RULE, &helper);
    }
}
