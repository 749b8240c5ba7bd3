//! Means over tiles that are wider than the data.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind};

use crate::body::{Const, Device, Extent, SourceKind, Ty};
use crate::rules::reduction::{self, Reduction};
use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings};

rule! {
    /// A sum over a padded tile is divided by the width of the tile, not by the number of elements.
    ///
    /// A tile's extents are powers of two, so a tile over a whole row is often wider than the row. The
    /// padding adds nothing to the sum but counts in the divisor: the mean is too small. Pass the
    /// number of elements to the kernel and divide by it.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def mean(x, out, TILE: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     tile = ct.load(x, (row, 0), (1, TILE), padding_mode=ct.PaddingMode.ZERO)
    ///     total = ct.sum(ct.astype(tile, ct.float32), axis=1, keepdims=True)
    ///     ct.store(out, (row, 0), total / TILE)  # TP216
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def mean(x, out, n: int, TILE: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     tile = ct.load(x, (row, 0), (1, TILE), padding_mode=ct.PaddingMode.ZERO)
    ///     total = ct.sum(ct.astype(tile, ct.float32), axis=1, keepdims=True)
    ///     ct.store(out, (row, 0), total / n)
    /// ```
    TP216 "padded-divisor" Warning,
    Device(check)
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    let device = &at.device;
    device.walk(&mut |expr, _| {
        let Some((total, divisor)) = quotient(device, expr) else {
            return;
        };
        let (Some(reduction), Some(name)) = (sum(device, total), constant(device, divisor)) else {
            return;
        };
        if counts(&reduction, &name) && (padded(device, &reduction, &name)) {
            out.push(
                expr.span,
                format!(
                    "The mean is taken over `{name}`, the width of the tile, which may exceed the number of elements that were summed"
                ),
            );
        }
    });
}

/// What is divided by what: `a / b`, `ct.truediv(a, b)`, `a * (1.0 / b)`.
fn quotient<'a>(device: &Device<'a>, expr: &'a Expr) -> Option<(&'a Expr, &'a Expr)> {
    match &expr.kind {
        ExprKind::Binary { op, left, right } if op == "/" => Some((left, right)),
        ExprKind::Binary { op, left, right } if op == "*" => (reciprocal(device, right))
            .map(|of| (&**left, of))
            .or_else(|| reciprocal(device, left).map(|of| (&**right, of))),
        ExprKind::Call { .. } => {
            let call = device.call(expr).filter(|c| c.name == "truediv")?;
            Some((call.arg(0, "x")?, call.arg(1, "y")?))
        }
        _ => None,
    }
}

fn reciprocal<'a>(device: &Device<'a>, expr: &'a Expr) -> Option<&'a Expr> {
    match &device.follow(expr).kind {
        ExprKind::Binary { op, left, right } if op == "/" => {
            matches!(left.kind, ExprKind::Int(1) | ExprKind::Float(_)).then_some(&**right)
        }
        _ => None,
    }
}

/// The sum that an expression is, through casts.
fn sum<'a>(device: &Device<'a>, expr: &'a Expr) -> Option<Reduction<'a>> {
    let expr = device.follow(expr);
    let call = device.call(expr);
    match call.as_ref().map(|c| c.name.as_str()) {
        Some("sum") => reduction::reduction(device, call.as_ref()?),
        Some("astype" | "reshape" | "expand_dims") => sum(device, call.as_ref()?.arg(0, "x")?),
        _ => None,
    }
}

/// The name of the constant that a divisor is, through a cast.
fn constant(device: &Device<'_>, expr: &Expr) -> Option<SmolStr> {
    match device.ty(expr) {
        Ty::Const(Const::Name(name)) => Some(name.clone()),
        _ => match &expr.kind {
            // `float(TILE)`, `ct.float32(TILE)`.
            ExprKind::Call { args, .. } => match &args[..] {
                [only] if matches!(only.value.kind, ExprKind::Name(_)) => {
                    constant(device, &only.value)
                }
                _ => None,
            },
            _ => None,
        },
    }
}

/// The constant is how many elements of the tile are summed.
fn counts(reduction: &Reduction<'_>, name: &SmolStr) -> bool {
    let name = Extent::Name(name.clone());
    (reduction.extents.as_deref()).is_some_and(|all| {
        let mut wide = all.iter().filter(|e| **e != Extent::Int(1));
        wide.next() == Some(&name) && wide.next().is_none()
    })
}

/// What was summed may be padding in part: it was read with padding into a tile called so, or
/// offsets of the same width are compared with a bound.
fn padded(device: &Device<'_>, reduction: &Reduction<'_>, name: &SmolStr) -> bool {
    let fills = (reduction.tile.sources.iter())
        .any(|s| matches!(s.kind, SourceKind::Padded | SourceKind::Masked));
    (fills && is_called_tile(name)) || compared(device, name)
}

fn is_called_tile(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["tile", "block", "blk", "pad", "pow2"]
        .iter()
        .any(|part| name.contains(part))
}

fn compared(device: &Device<'_>, name: &SmolStr) -> bool {
    let extent = Extent::Name(name.clone());
    let mut found = false;
    device.walk(&mut |expr, _| {
        let ExprKind::Compare { first, rest } = &expr.kind else {
            return;
        };
        let offsets = |e: &Expr| device.tile(e).is_some_and(|t| t.offsets && t.constant);
        if offsets(first) || rest.iter().any(|(_, e)| offsets(e)) {
            found |= (device.tile(expr))
                .and_then(|t| t.shape.as_ref())
                .is_some_and(|shape| shape.contains(&extent));
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn kernel(body: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, y, n: int, BLOCK: ct.Constant[int], D: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0), 0), (1, BLOCK), padding_mode=ct.PaddingMode.ZERO)\n    f = ct.astype(t, ct.float32)\n    {body}\n"
        )
    }

    #[test]
    fn every_way_to_divide() {
        for body in [
            "ct.store(y, (0, 0), ct.sum(f, axis=1) / BLOCK)  # TP216",
            "ct.store(y, (0, 0), ct.truediv(ct.sum(f * f), BLOCK))  # TP216",
            "ct.store(y, (0, 0), ct.sum(f, 1) * (1.0 / BLOCK))  # TP216",
            "inv = 1 / BLOCK\n    ct.store(y, (0, 0), inv * ct.sum(f, 1))  # TP216",
            "s = ct.sum(f, axis=-1)\n    m = s / BLOCK  # TP216\n    ct.store(y, (0, 0), m)",
            "s = ct.astype(ct.sum(f, axis=-1), ct.float32)\n    m = s / float(BLOCK)  # TP216\n    ct.store(y, (0, 0), m)",
            "v = ct.gather(x, (0, ct.arange(BLOCK, dtype=ct.int32)), padding_value=0)\n    ct.store(y, (0, 0), ct.sum(v) / BLOCK)  # TP216",
        ] {
            bad(&RULE, &kernel(body));
        }
    }

    #[test]
    fn a_bound_on_offsets_says_that_the_tile_is_wider() {
        bad(
            &RULE,
            "@ct.kernel\ndef k(x, y, n: int, D: ct.Constant[int]):\n    t = ct.load(x, (0,), (D,))\n    t = ct.where(ct.arange(D, dtype=ct.int32) < n, t, 0.0)\n    ct.store(y, (0,), ct.sum(t) / D)  # TP216\n",
        );
    }

    #[test]
    fn silent_where_the_divisor_counts_elements() {
        for body in [
            "ct.store(y, (0, 0), ct.sum(f, axis=1) / n)",
            // Another constant is the number of elements.
            "ct.store(y, (0, 0), ct.sum(f, axis=1) / D)",
            // Not a sum.
            "ct.store(y, (0, 0), ct.max(f, axis=1) / BLOCK)",
            "ct.store(y, (0, 0), f / BLOCK)",
            // The other axis.
            "ct.store(y, (0, 0), ct.sum(f, axis=0) / BLOCK)",
            "ct.store(y, (0, 0), ct.sum(f, axis=1) // BLOCK)",
        ] {
            good(&RULE, &kernel(body));
        }
        // A row that the tile covers exactly: nothing is padded or masked.
        good(
            &RULE,
            "@ct.kernel\ndef k(x, y, BLOCK: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0), 0), (1, BLOCK))\n    ct.store(y, (0,), ct.sum(t) / BLOCK)\n",
        );
        // The width of a head: a padded load of rows.
        good(
            &RULE,
            "@ct.kernel\ndef k(x, y, D: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0), 0), (8, D), padding_mode=ct.PaddingMode.ZERO)\n    ct.store(y, (0,), ct.sum(t, axis=1) / D)\n",
        );
    }

    #[test]
    fn a_bound_written_the_other_way_round() {
        let code = |test: &str, mark: &str| {
            format!(
                "@ct.kernel\ndef k(x, y, n: int, D: ct.Constant[int]):\n    t = ct.load(x, (0,), (D,))\n    t = ct.where({test}, t, 0.0)\n    ct.store(y, (0,), ct.sum(t) / D){mark}\n"
            )
        };
        bad(
            &RULE,
            &code("n > ct.arange(D, dtype=ct.int32)", "  # TP216"),
        );
        good(&RULE, &code("t > 0", ""));
        good(&RULE, &code("0 < t", ""));
    }
}
