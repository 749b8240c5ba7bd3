//! A tile whose extent is no power of two.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind};

use crate::body::Ty;
use crate::rules::rule::rule;
use crate::rules::{Claim, DeviceContext, Findings};

rule! {
    /// A tile's extent is written out and is no power of two: the kernel does not compile.
    ///
    /// Every extent of a tile is a power of two. Take the next larger one and mask or pad what lies
    /// outside, or split the axis into several tiles. Seen with cuda-tile 1.7: `TileTypeError:
    /// Dimension #0 of shape (96,) is not a power of two`.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def double(x):
    ///     i = ct.bid(0)
    ///     ct.store(x, (i, 0), ct.load(x, (i, 0), (1, 96)) * 2)  # TP204
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def double(x):
    ///     i = ct.bid(0)
    ///     ct.store(x, (i, 0), ct.load(x, (i, 0), (1, 128)) * 2)
    /// ```
    TP204 "non-pow2-tile" Error,
    Device(check)
}

fn check(device: &DeviceContext<'_>, out: &mut Findings<'_>) {
    device.calls(&mut |call, _| {
        if let Some((place, name)) = shape_argument(&call.name)
            && let Some(shape) = call.arg(place, name)
        {
            judge(device, shape, call.name == "reshape", out);
        }
    });
    device.walk(&mut |expr, _| {
        let ExprKind::Call { func, args } = &expr.kind else {
            return;
        };
        let ExprKind::Attribute { value, attr } = &func.kind else {
            return;
        };
        let (place, name) = match (device.ty(value), attr.name.as_str()) {
            (Ty::Tile(_), "reshape") => (0, "shape"),
            (Ty::Tile(_), "extract") => (1, "shape"),
            (Ty::Array(_), "tiled_view") => (0, "tile_shape"),
            _ => return,
        };
        if let Some(shape) = crate::body::argument(args, Some(place), name) {
            judge(device, shape, attr.name == "reshape", out);
        }
    });
}

/// Where a function of cuTile's takes the extents of a tile.
fn shape_argument(name: &str) -> Option<(usize, &'static str)> {
    Some(match name {
        "load" | "num_tiles" | "extract" => (2, "shape"),
        "zeros" | "ones" | "full" => (0, "shape"),
        "broadcast_to" | "reshape" => (1, "shape"),
        "arange" => (0, "size"),
        _ => return None,
    })
}

/// Reports each extent that is surely wrong. `infers`: -1 stands for what is left.
fn judge(device: &DeviceContext<'_>, shape: &Expr, infers: bool, out: &mut Findings<'_>) {
    let mut report = |span: Span, extent: i64| {
        let fine = extent.count_ones() == 1 && extent > 0 || infers && extent == -1;
        if !fine {
            let message = format!("a tile's extent is {extent}, which is no power of two");
            out.push(span, message).claim(Claim::Errors);
        }
    };
    match (&shape.kind, device.ty(shape)) {
        (ExprKind::Tuple(items) | ExprKind::List(items), _) => {
            for item in items {
                if let Some(extent) = device.ty(item).int() {
                    report(item.span, extent);
                }
            }
        }
        (_, Ty::Tuple(parts)) => {
            (parts.iter().filter_map(Ty::int)).for_each(|extent| report(shape.span, extent));
        }
        (_, ty) => ty
            .int()
            .into_iter()
            .for_each(|extent| report(shape.span, extent)),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn kernel(line: &str) -> String {
        format!(
            "WIDE = 96\nBLOCK = 64\n\n@ct.kernel\ndef k(x, N: ct.Constant[int]):\n    i = ct.bid(0)\n    t = ct.load(x, (i, 0), (8, 16))\n    {line}\n"
        )
    }

    #[test]
    fn every_place_of_an_extent() {
        for line in [
            "ct.load(x, (i, 0), (1, 96))",
            "ct.load(x, (i, 0), shape=(96, N))",
            "ct.load(x, index=(i,), shape=96)",
            "ct.load(x, (i, 0), [1, 96])",
            "ct.load(x, (i, 0), (1, WIDE))",
            "ct.load(x, (i, 0), (1, BLOCK + 32))",
            "ct.load(x, (i, 0), (1, 0))",
            "ct.load(x, (i, 0), (1, -8))",
            "ct.load(x, (i, 0), (1, -1))",
            "ct.reshape(t, (-2, 16))",
            "t.extract((0, 0), (-1, 16))",
            "ct.zeros((3, 8), dtype=ct.float32)",
            "ct.ones(3, ct.float32)",
            "ct.full((8, 12), 0.0, ct.float32)",
            "ct.full(shape=(8, 12), fill_value=0.0, dtype=ct.float32)",
            "ct.arange(100, dtype=ct.int32)",
            "ct.arange(size=100, dtype=ct.int32)",
            "ct.broadcast_to(t, (8, 24))",
            "ct.reshape(t, (3, -1))",
            "ct.extract(t, (0, 0), (3, 16))",
            "ct.num_tiles(x, 0, (96, 1))",
            "t.reshape((3, -1))",
            "t.extract((0, 0), shape=(3, 16))",
            "x.tiled_view((96, 1))",
        ] {
            bad(&RULE, &kernel(&format!("{line}  # TP204")));
        }
        let (text, found) = bad(&RULE, &kernel("ct.load(x, (i, 0), (1, 96))  # TP204"));
        assert_eq!(&text[found[0].span.range()], "96");
        bad(
            &RULE,
            &kernel("shape = (1, 96)\n    ct.load(x, (i, 0), shape)  # TP204"),
        );
    }

    #[test]
    fn what_is_no_extent_of_a_tile() {
        for line in [
            "ct.load(x, (i, 96), (1, 128))",
            "ct.load(x, (i, 0), (1, N))",
            "ct.load(x, (i, 0), ())",
            "ct.load(x, (3, 0), (1, 1))",
            "ct.zeros((BLOCK, 1024), dtype=ct.float32)",
            "ct.full((8,), 96, ct.float32)",
            "ct.arange(128, dtype=ct.int32, start=96, step=3)",
            "ct.reshape(t, (2, -1))",
            "t.reshape((-1,))",
            "x.slice(axis=0, start=0, stop=96)",
            "x.tiled_view((64, 1), traversal_steps=(96, 1))",
            "range(96)",
            "t.permute((1, 0))",
            "ct.where(t > 96, t, 3)",
            "x.shape[0] * 96",
            "other.load(x, (i, 0), (1, 96))",
        ] {
            good(&RULE, &kernel(line));
        }
        good(
            &RULE,
            "def host(x):\n    return torch.zeros((3, 96)), x.reshape(3, 96)\n",
        );
    }

    #[test]
    fn one_of_several_values_is_not_judged() {
        good(
            &RULE,
            "@ct.kernel\ndef k(x, W: ct.Constant[bool]):\n    if W:\n        n = 96\n    else:\n        n = 64\n    ct.store(x, (0,), ct.load(x, (0,), (n,)))\n",
        );
    }
}
