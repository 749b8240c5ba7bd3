//! `ct.load` with an index and a shape of different length.

use crate::body::{Const, Ty};
use crate::rules::rule::rule;
use crate::rules::{Claim, DeviceContext, Findings};

rule! {
    /// The index and the shape of a `ct.load` differ in length: the kernel does not compile.
    ///
    /// Both have one entry for each axis of the array. A number stands for a tuple of one. The empty
    /// shape is taken with any index and reads a single element. Seen with cuda-tile 1.7:
    /// `TileTypeError: Index size 1 does not match the array rank 2`.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def double(x, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(x, (i, 0), ct.load(x, (i,), (1, BLOCK)) * 2)  # TP206
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def double(x, n, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     scale = ct.load(n, (i, 0), ())
    ///     ct.store(x, (i, 0), ct.load(x, (i, 0), (1, BLOCK)) * scale)
    /// ```
    TP206 "index-shape-rank-mismatch" Error,
    Device(check)
}

fn check(device: &DeviceContext<'_>, out: &mut Findings<'_>) {
    device.calls(&mut |call, _| {
        if call.name != "load" || call.is_open() {
            return;
        }
        let (Some(index), Some(shape)) = (call.arg(1, "index"), call.arg(2, "shape")) else {
            return;
        };
        let (Some(indices), Some(extents)) = (length(device.ty(index)), length(device.ty(shape)))
        else {
            return;
        };
        if extents == 0 || indices == extents {
            return;
        }
        let message = format!(
            "the index has {indices} {}, the shape {extents}; both need one for each axis of the array",
            if indices == 1 { "entry" } else { "entries" },
        );
        out.push(call.expr.span, message)
            .related(shape.span, "the shape")
            .claim(Claim::Errors);
    });
}

/// How many axes an index or shape is for.
fn length(ty: &Ty) -> Option<usize> {
    match ty {
        Ty::Tuple(parts) => Some(parts.len()),
        Ty::Scalar { .. } | Ty::Const(Const::Int(_) | Const::Name(_)) => Some(1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn kernel(lines: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, s, B: ct.Constant[int], T: ct.Constant[bool]):\n    i = ct.bid(0)\n    {lines}\n"
        )
    }

    #[test]
    fn lengths_that_differ() {
        for lines in [
            "ct.load(x, (i,), (1, B))  # TP206",
            "ct.load(x, (i, 0, 0), (1, B))  # TP206",
            "ct.load(x, index=(i, 0), shape=(B,))  # TP206",
            "ct.load(x, i, (1, B))  # TP206",
            "ct.load(x, 0, shape=(1, B))  # TP206",
            "ct.load(x, (i, 0), B)  # TP206",
            "ct.load(x, (), (B,))  # TP206",
            "ct.load(x, [i], [1, B])  # TP206",
            "at = (i, 0)\n    ct.load(x, at, (B,))  # TP206",
            "at = (i, 0)\n    ct.load(x, (*at, 0), (1, B))  # TP206",
            "at = (i,) + (0,)\n    ct.load(x, at, (B,))  # TP206",
            "shape = (1, B)\n    for j in range(4):\n        ct.load(x, (j,), shape)  # TP206",
        ] {
            bad(&RULE, &kernel(lines));
        }
    }

    #[test]
    fn lengths_that_agree_or_are_not_known() {
        for lines in [
            "ct.load(x, (i,), (B,))",
            "ct.load(x, i, B)",
            "ct.load(x, (i,), B)",
            "ct.load(x, i, (B,))",
            "ct.load(x, i, shape=())",
            "ct.load(x, (i, 0), shape=())",
            "ct.load(x, (i, 0), (1, B))",
            "ct.load(x, (*s, 0), (1, B))",
            "ct.load(x, s, (1, B))",
            "ct.load(x, (i, 0), s)",
            "at = (i,) if T else (i, 0)\n    ct.load(x, at, (1, B))",
            "if T:\n        at = (i,)\n    else:\n        at = (i, 0)\n    ct.load(x, at, (1, B))",
            "ct.load(*s)",
            "ct.gather(x, (i,), padding_value=0)",
            "ct.store(x, (i, 0), ct.zeros((1, B), ct.float32))",
            "other.load(x, (i,), (1, B))",
            "torch.load(x, (i,), (1, B))",
        ] {
            good(&RULE, &kernel(lines));
        }
    }
}
