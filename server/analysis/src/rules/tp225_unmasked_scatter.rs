//! Blocks that are written over the next row.

use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings, offsets};

rule! {
    /// A scatter writes a block to a flat array that may be wider than its row.
    ///
    /// The bounds that `ct.scatter` checks are those of the array: offsets `row * stride +
    /// arange(BLOCK)` that reach beyond the row overwrite the next one, which another block writes at
    /// the same time. Pass `mask=`, send what must not be written out of bounds with `ct.where`, or
    /// index by row and column.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def double(x, stride: int, BLOCK: ct.Constant[int]):
    ///     at = ct.bid(0) * stride + ct.arange(BLOCK, dtype=ct.int32)
    ///     ct.scatter(x, at, ct.gather(x, at) * 2)  # TP225
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def double(x, stride: int, n: int, BLOCK: ct.Constant[int]):
    ///     columns = ct.arange(BLOCK, dtype=ct.int32)
    ///     at = ct.bid(0) * stride + columns
    ///     ct.scatter(x, at, ct.gather(x, at) * 2, mask=columns < n)
    /// ```
    TP225 "unmasked-scatter" Warning,
    Device(check)
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    at.device.calls(&mut |call, _| {
        if call.name != "scatter" || call.is_open() || call.keyword("mask").is_some() {
            return;
        }
        let Some(index) = call.arg(1, "indices") else {
            return;
        };
        if let Some(overrun) = offsets::overrun(&at.device, index)
            && !overrun.blocked
         {
            let array = call.arg(0, "array").map_or("", |a| at.source(a.span));
            out.push(
                call.expr.span,
                format!(
                    "The scatter overwrites the next row of `{array}` where `{}` is wider than a row; give it a mask",
                    at.source(overrun.width.span)
                ),
            );
        }
    });
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn kernel(body: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, y, s: int, n: int, B: ct.Constant[int], C: ct.Constant[int]):\n    i = ct.bid(0)\n    c = ct.arange(B, dtype=ct.int32)\n    v = ct.gather(x, (i, c))\n    {body}\n"
        )
    }

    #[test]
    fn every_form_of_base() {
        for body in [
            "ct.scatter(y, i * s + c, v)  # TP225",
            "ct.scatter(y, (c + i * s,), v)  # TP225",
            "b = i * s\n    o = b + c\n    ct.scatter(y, o, v, check_bounds=True)  # TP225",
            "for j in range(n):\n        ct.scatter(y, i * s + j * B + c, v)  # TP225",
            "r = i * C + ct.arange(C, dtype=ct.int32)\n    o = r[:, None] * s + c[None, :]\n    ct.scatter(y, o, v)  # TP225",
            "ct.scatter(y, i * C + c, v)  # TP225",
            "ct.scatter(y, i * 48 + ct.arange(64, dtype=ct.int32), v)  # TP225",
            "ct.scatter(y, ct.expand_dims(i * s + c, 0), v)  # TP225",
            "ct.scatter(y, ct.add(i * s, ct.astype(c, ct.int64)), v)  # TP225",
            "for j in range(0, n):\n        ct.scatter(y, i * s + j * B + c, v)  # TP225",
        ] {
            bad(&RULE, &kernel(body));
        }
    }

    #[test]
    fn silent_where_no_other_row_is_written() {
        for body in [
            "ct.scatter(y, i * s + c, v, mask=c < n)",
            "ct.scatter(y, ct.where(c < n, i * s + c, n * s), v)",
            "ct.scatter(y, (i, c), v)",
            "ct.scatter(y, i * B + c, v)",
            "ct.scatter(y, c, v)",
            "ct.scatter(y, n + c, v)",
            "ct.scatter(y, i * 64 + ct.arange(64, dtype=ct.int32), v)",
            "for j in range(i, n, ct.num_blocks(0)):\n        ct.scatter(y, i * s + j * B + c, v)",
            "ct.scatter(y, i, 1)",
            "ct.scatter(y, i * s + ct.arange(1, dtype=ct.int32), 1)",
            // Several blocks a row: the host pads the rows.
            "ct.scatter(y, i * s + ct.bid(1) * B + c, v)",
            "j = ct.bid(1)\n    r = j * B + c\n    ct.scatter(y, i * s + r, v)",
            "o = ct.load(x, (i,), (B,))\n    ct.scatter(y, o, v)",
        ] {
            good(&RULE, &kernel(body));
        }
    }
}
