//! `index=(bid * BLOCK,)`: an element's place where a tile's number is wanted.

use tileperf_syntax::ast::{Expr, ExprKind, StmtKind};

use crate::body::{ApiCall, Const, Extent, Place, Ty};
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings};

/// Below this a number that a block's index is multiplied with may well be a count of tiles.
const SMALLEST: i64 = 8;

rule! {
    /// The index of a load or store is multiplied with the tile's own extent: it counts tiles, not
    /// elements.
    ///
    /// `ct.load(x, (i,), (BLOCK,))` reads the i-th tile of `BLOCK` elements, which begins at element
    /// `i * BLOCK`. An index of `i * BLOCK` reads from `i * BLOCK * BLOCK`: beyond the array for all
    /// but the first few blocks, without an error. Element offsets are for `ct.gather`, `ct.scatter`
    /// and `Array.slice`.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def double(x, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     y = ct.load(x, (i * BLOCK,), (BLOCK,))  # TP205
    ///     ct.store(x, (i * BLOCK,), y * 2)  # TP205
    /// ```
    ///
    /// ```python fixed
    /// @ct.kernel
    /// def double(x, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     y = ct.load(x, (i,), (BLOCK,))
    ///     ct.store(x, (i,), y * 2)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def halves(x, HALF: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     first = ct.load(x, (i * 2,), (HALF,))
    ///     second = ct.load(x, (i * 2 + 1,), (HALF,))
    ///     ct.store(x, (i * 2,), first + second)
    /// ```
    TP205 "index-is-element-offset" Warning,
    Device(check)
}

fn check(device: &DeviceContext<'_>, out: &mut Findings<'_>) {
    device.calls(&mut |call, place| {
        let Some(extents) = extents(device, call) else {
            return;
        };
        let Some(index) = call.arg(1, "index") else {
            return;
        };
        let index = device.follow(index);
        let items = match &index.kind {
            ExprKind::Tuple(items) | ExprKind::List(items) => items.as_slice(),
            _ => std::slice::from_ref(index),
        };
        if items.len() != extents.len() {
            return;
        }
        for (item, extent) in items.iter().zip(&extents) {
            judge(device, item, extent, place, out);
        }
    });
}

/// The extents of the tile that is read or written.
fn extents(device: &DeviceContext<'_>, call: &ApiCall<'_>) -> Option<Vec<Extent>> {
    match call.name.as_str() {
        "load" => match device.ty(call.arg(2, "shape")?) {
            Ty::Tuple(parts) => Some(parts.iter().map(extent_of).collect()),
            ty => Some(vec![extent_of(ty)]),
        },
        "store" => device.tile(call.arg(2, "tile")?)?.shape.clone(),
        _ => None,
    }
}

fn extent_of(ty: &Ty) -> Extent {
    match ty {
        Ty::Const(Const::Int(value)) => Extent::Int(*value),
        Ty::Const(Const::Name(name)) => Extent::Name(name.clone()),
        _ => Extent::Other,
    }
}

fn judge<'a>(
    device: &DeviceContext<'a>,
    item: &'a Expr,
    extent: &Extent,
    place: &Place<'a>,
    out: &mut Findings<'_>,
) {
    let written = device.source(item.span);
    let tile = match extent {
        Extent::Int(value) if *value >= SMALLEST => value.to_string(),
        Extent::Name(name) => name.to_string(),
        _ => return,
    };
    if let Some(number) = number_of_tile(device, device.follow(item), extent) {
        let message = format!(
            "`{written}` is an element's place, but the index counts tiles of {tile} elements"
        );
        let number = device.source(number.span);
        let edits = Edits::new(device.text).replace(item.span, number);
        out.push(item.span, message)
            .review_fix(format!("Use the tile's number, `{number}`"), edits);
    } else if steps_by(device, item, extent, place) {
        let message = format!(
            "`{written}` steps by {tile} elements, but the index counts tiles of {tile} elements"
        );
        out.push(item.span, message);
    }
}

/// The other factor of a product of a block's index with the extent.
fn number_of_tile<'a>(
    device: &DeviceContext<'a>,
    item: &'a Expr,
    extent: &Extent,
) -> Option<&'a Expr> {
    let (left, right) = match &item.kind {
        ExprKind::Binary { op, left, right } if op == "*" => (left.as_ref(), right.as_ref()),
        ExprKind::Call { .. } => {
            let call = device.call(item).filter(|c| c.name == "mul")?;
            (call.arg(0, "x")?, call.arg(1, "y")?)
        }
        _ => return None,
    };
    let is_number = |e: &Expr| matches!(device.ty(e), Ty::Scalar { .. });
    let is_extent = |e: &Expr| extent_of(device.ty(e)) == *extent;
    if is_number(left) && is_extent(right) {
        Some(left)
    } else if is_extent(left) && is_number(right) {
        Some(right)
    } else {
        None
    }
}

/// Whether an index is the counter of a loop that steps by the extent: `range(0, n, BLOCK)`.
fn steps_by(device: &DeviceContext<'_>, item: &Expr, extent: &Extent, place: &Place<'_>) -> bool {
    let Some(name) = item.name() else {
        return false;
    };
    place.loops().any(|stmt| {
        let StmtKind::For { target, iter, .. } = &stmt.kind else {
            return false;
        };
        let ExprKind::Call { func, args } = &iter.kind else {
            return false;
        };
        let is_range = func.name().is_some_and(|n| n == "range") && args.len() == 3;
        let steps = |step: &Expr| extent_of(device.ty(step)) == *extent;
        is_range && target.name() == Some(name) && args.get(2).is_some_and(|a| steps(&a.value))
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, fixes, good};

    fn kernel(lines: &str) -> String {
        format!(
            "WIDE = 128\nFEW = 4\n\n@ct.kernel\ndef k(x, n, B: ct.Constant[int], H: ct.Constant[int]):\n    i = ct.bid(0)\n    {lines}\n"
        )
    }

    #[test]
    fn products_with_the_extent() {
        for (lines, fixed) in [
            ("ct.load(x, (i * B,), (B,))", "ct.load(x, (i,), (B,))"),
            ("ct.load(x, (B * i,), (B,))", "ct.load(x, (i,), (B,))"),
            ("ct.load(x, i * B, B)", "ct.load(x, i, B)"),
            (
                "ct.load(x, index=(0, i * B), shape=(1, B))",
                "ct.load(x, index=(0, i), shape=(1, B))",
            ),
            (
                "ct.load(x, (ct.bid(1) * B, 0), (B, 16))",
                "ct.load(x, (ct.bid(1), 0), (B, 16))",
            ),
            (
                "ct.load(x, ((i % 4) * B,), (B,))",
                "ct.load(x, (i % 4,), (B,))",
            ),
            ("ct.load(x, (i * 128,), (128,))", "ct.load(x, (i,), (128,))"),
            (
                "ct.load(x, (i * WIDE,), (WIDE,))",
                "ct.load(x, (i,), (WIDE,))",
            ),
            (
                "ct.load(x, (ct.mul(i, B),), (B,))",
                "ct.load(x, (i,), (B,))",
            ),
            (
                "ct.store(x, (i * B,), ct.zeros((B,), ct.float32))",
                "ct.store(x, (i,), ct.zeros((B,), ct.float32))",
            ),
            (
                "at = i * B\n    ct.load(x, (at,), (B,))",
                "at = i * B\n    ct.load(x, (i,), (B,))",
            ),
        ] {
            fixes(&RULE, &kernel(&format!("{lines}  # TP205")), &kernel(fixed));
        }
        bad(
            &RULE,
            &kernel("for j in range(0, n, B):\n        ct.load(x, (j,), (B,))  # TP205"),
        );
        bad(
            &RULE,
            &kernel("for j in range(8):\n        ct.load(x, (j * B,), (B,))  # TP205"),
        );
    }

    #[test]
    fn numbers_of_tiles() {
        for lines in [
            "ct.load(x, (i,), (B,))",
            "ct.load(x, (i * 2,), (B,))",
            "ct.load(x, (i * H,), (B,))",
            "ct.load(x, (i * B, 0), (1, B))",
            "ct.load(x, (i * FEW,), (FEW,))",
            "ct.load(x, (i * B + 1,), (B,))",
            "ct.load(x, (i * B // B,), (B,))",
            "ct.load(x, (H * B,), (B,))",
            "ct.gather(x, (i * B + ct.arange(B, dtype=ct.int32),))",
            "ct.load(x.slice(axis=0, start=i * B, stop=n), (0,), (B,))",
            "for j in range(0, n, H):\n        ct.load(x, (j,), (B,))",
            "for j in range(0, n, B):\n        ct.load(x, (j // B,), (B,))",
            "for j in range(i, n):\n        ct.load(x, (j,), (B,))",
            "for j in range(i, n, ct.num_blocks(0)):\n        ct.load(x, (j,), (B,))",
            "at = i\n    if n > 1:\n        at = i * B\n    ct.load(x, (at,), (B,))",
            "ct.num_tiles(x, 0, (B,))",
            "for j in steps(0, n, B):\n        ct.load(x, (j,), (B,))",
            "for j in n.range(0, n, B):\n        ct.load(x, (j,), (B,))",
            "for j in range(0, B):\n        ct.load(x, (j,), (B,))",
            "for j in n:\n        ct.load(x, (j,), (B,))",
            "j = 0\n    while j < n:\n        ct.load(x, (j,), (B,))\n        j += 1",
        ] {
            good(&RULE, &kernel(lines));
        }
    }
}
