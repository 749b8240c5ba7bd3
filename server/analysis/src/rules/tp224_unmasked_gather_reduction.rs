//! Elements of the next row that end up in a reduction.

use rustc_hash::FxHashSet;
use tileperf_syntax::Span;

use crate::body::SourceKind;
use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings, offsets, reduction};

rule! {
    /// A gather of a block from a flat array feeds a reduction without a mask, and may reach into the
    /// next row.
    ///
    /// The bounds that `ct.gather` checks are those of the array. Offsets `row * stride + arange(BLOCK)`
    /// into a flat array stay within it where `BLOCK` is wider than the row, so elements of the next
    /// row are reduced, and `padding_value` does not apply to them. Pass `mask=`, or select with
    /// `ct.where` before the reduction. An array indexed by row and column needs neither: each axis
    /// has bounds of its own.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def largest(x, out, stride: int, BLOCK: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     values = ct.gather(x, row * stride + ct.arange(BLOCK, dtype=ct.int32))  # TP224
    ///     ct.scatter(out, row, ct.max(values))
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def largest(x, out, stride: int, n: int, BLOCK: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     columns = ct.arange(BLOCK, dtype=ct.int32)
    ///     values = ct.gather(x, row * stride + columns, mask=columns < n, padding_value=0)
    ///     ct.scatter(out, row, ct.max(values))
    /// ```
    TP224 "unmasked-gather-reduction" Warning,
    Device(check)
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    let mut seen: FxHashSet<Span> = FxHashSet::default();
    let mut found = Vec::new();
    reduction::reductions(&at.device, &mut |reduced, _| {
        for source in &reduced.tile.sources {
            let gathers = matches!(source.kind, SourceKind::Gather | SourceKind::Masked);
            if gathers && seen.insert(source.span) {
                found.push((source.span, reduced.call.name.clone()));
            }
        }
    });
    found.sort_by_key(|(span, _)| span.start);
    for (span, reduced) in found {
        let Some((gather, _)) = reduction::call_at(&at.device, span) else {
            continue;
        };
        if gather.is_open() || gather.keyword("mask").is_some() {
            continue;
        }
        let Some(index) = gather.arg(1, "indices") else {
            continue;
        };
        if let Some(overrun) = offsets::overrun(&at.device, index) {
            let array = gather.arg(0, "array").map_or("", |a| at.source(a.span));
            out.push(
                span,
                format!(
                    "`{reduced}` takes in elements of the next row of `{array}` where `{}` is wider than a row; give the gather a mask",
                    at.source(overrun.width.span)
                ),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn kernel(body: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, y, s: int, n: int, B: ct.Constant[int]):\n    i = ct.bid(0)\n    c = ct.arange(B, dtype=ct.int32)\n    {body}\n"
        )
    }

    #[test]
    fn every_form_of_base() {
        for body in [
            "v = ct.gather(x, i * s + c)  # TP224\n    ct.scatter(y, i, ct.sum(v))",
            "b = i * s\n    o = b + c\n    v = ct.gather(x, (o,), check_bounds=True, padding_value=0.0)  # TP224\n    ct.scatter(y, i, ct.max(ct.abs(v), axis=0))",
            "for j in range(n):\n        v = ct.gather(x, i * s + j * B + c)  # TP224\n        ct.scatter(y, i, ct.sum(ct.astype(v, ct.float32) * 2))",
            "b = ct.load(x, i, shape=())\n    v = ct.gather(x, c + b)  # TP224\n    ct.scatter(y, i, ct.sum(v))",
            "v = ct.gather(x, ct.add(ct.astype(c, ct.int64), i * s))  # TP224\n    ct.scatter(y, i, ct.cumsum(v))",
        ] {
            bad(&RULE, &kernel(body));
        }
    }

    #[test]
    fn silent_where_nothing_of_another_row_is_reduced() {
        for body in [
            // Masked, before or after.
            "v = ct.gather(x, i * s + c, mask=c < n)\n    ct.scatter(y, i, ct.sum(v))",
            "v = ct.where(c < n, ct.gather(x, i * s + c), 0.0)\n    ct.scatter(y, i, ct.sum(v))",
            // By row and column.
            "v = ct.gather(x, (i, c))\n    ct.scatter(y, i, ct.sum(v))",
            // Block after block of one row.
            "v = ct.gather(x, i * B + c)\n    ct.scatter(y, i, ct.sum(v))",
            "v = ct.gather(x, c)\n    ct.scatter(y, i, ct.sum(v))",
            "o = c + B * i\n    v = ct.gather(x, o)\n    ct.scatter(y, i, ct.sum(v))",
            // One element.
            "v = ct.gather(x, i * s + ct.arange(1, dtype=ct.int32))\n    ct.scatter(y, i, ct.sum(v))",
            // Not reduced.
            "v = ct.gather(x, i * s + c)\n    ct.scatter(y, i * s + c, v * 2, mask=c < n)",
            // Offsets that are masked themselves.
            "v = ct.gather(x, ct.where(c < n, i * s + c, n * s))\n    ct.scatter(y, i, ct.sum(v))",
        ] {
            good(&RULE, &kernel(body));
        }
    }
}
