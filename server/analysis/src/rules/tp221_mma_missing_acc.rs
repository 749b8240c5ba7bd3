//! Matrix products without an accumulator.

use tileperf_syntax::ast::{Expr, StmtKind};

use crate::body::{ApiCall, Device, Extent, Place};
use crate::rewrite::Edits;
use crate::rewrite::arguments::add_argument;
use crate::rules::reduction::module_of;
use crate::rules::rule::rule;
use crate::rules::{Claim, DeviceContext, Findings};

rule! {
    /// `ct.mma` is called without an accumulator.
    ///
    /// `ct.mma(x, y, acc)` gives `x @ y + acc` in the accumulator's dtype; there is no default, and the
    /// kernel does not compile (cuda-tile 1.7: missing a required argument). Pass the accumulator that
    /// the loop carries, or zeros. `ct.matmul(x, y)` needs none.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def product(a, b, c, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    ///     acc = ct.zeros((M, N), dtype=ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(M, K))):
    ///         x = ct.load(a, (ct.bid(0), k), (M, K), padding_mode=ct.PaddingMode.ZERO)
    ///         y = ct.load(b, (k, ct.bid(1)), (K, N), padding_mode=ct.PaddingMode.ZERO)
    ///         acc += ct.mma(x, y)  # TP221
    ///     ct.store(c, (ct.bid(0), ct.bid(1)), acc)
    /// ```
    ///
    /// ```python fixed
    /// @ct.kernel
    /// def product(a, b, c, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    ///     acc = ct.zeros((M, N), dtype=ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(M, K))):
    ///         x = ct.load(a, (ct.bid(0), k), (M, K), padding_mode=ct.PaddingMode.ZERO)
    ///         y = ct.load(b, (k, ct.bid(1)), (K, N), padding_mode=ct.PaddingMode.ZERO)
    ///         acc = ct.mma(x, y, acc)
    ///     ct.store(c, (ct.bid(0), ct.bid(1)), acc)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def product(a, b, c, M: ct.Constant[int], K: ct.Constant[int]):
    ///     x = ct.load(a, (0, 0), (M, K))
    ///     y = ct.load(b, (0, 0), (K, M))
    ///     ct.store(c, (0, 0), ct.mma(x, y, acc=ct.zeros((M, M), dtype=ct.float32)))
    /// ```
    TP221 "mma-missing-acc" Error,
    Device(check)
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    at.device.calls(&mut |call, place| {
        let plain = call.args.iter().filter(|a| a.name.is_none()).count();
        if call.name != "mma" || call.is_open() || plain != 2 || call.keyword("acc").is_some() {
            return;
        }
        let described = out
            .push(
                call.expr.span,
                "`mma` needs an accumulator as its third argument; the kernel does not compile",
            )
            .claim(Claim::Errors);
        if let Some((title, edits)) = fix(at, call, place) {
            described.review_fix(title, edits);
        }
    });
}

fn fix<'a>(
    at: &DeviceContext<'a>,
    call: &ApiCall<'a>,
    place: &Place<'a>,
) -> Option<(String, Edits<'a>)> {
    let edits = Edits::new(at.text);
    if let Some(StmtKind::AugAssign { target, op, value }) = place.stmt().map(|s| &s.kind)
        && op.starts_with('+')
        && value.span == call.expr.span
    {
        let acc = target.name()?;
        let between = tileperf_syntax::Span {
            start: target.span.end,
            end: value.span.start,
        };
        let edits = add_argument(edits.replace(between, " = "), call.expr, acc);
        return Some((format!("Accumulate in `{acc}`"), edits));
    }
    let module = module_of(call, at.text)?;
    let (rows, columns) = extents(&at.device, call)?;
    let zeros = format!("{module}.zeros(({rows}, {columns}), dtype={module}.float32)");
    let edits = add_argument(edits, call.expr, &zeros);
    Some(("Start from zeros".to_owned(), edits))
}

/// Rows of the left and columns of the right operand.
fn extents<'a>(device: &Device<'a>, call: &ApiCall<'a>) -> Option<(String, String)> {
    let shape = |expr: &Expr| device.tile(expr).and_then(|t| t.shape.as_deref());
    let (left, right) = (call.arg(0, "x")?, call.arg(1, "y")?);
    match (shape(left)?, shape(right)?) {
        ([rows, _], [_, columns]) => Some((written(rows)?, written(columns)?)),
        _ => None,
    }
}

fn written(extent: &Extent) -> Option<String> {
    match extent {
        Extent::Int(value) => Some(value.to_string()),
        Extent::Name(name) => Some(name.to_string()),
        Extent::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, fixes, good};

    fn kernel(body: &str) -> String {
        format!(
            "@ct.kernel\ndef k(a, b, c, M: ct.Constant[int]):\n    x = ct.load(a, (0, 0), (M, 16))\n    y = ct.load(b, (0, 0), (16, 32))\n    {body}\n"
        )
    }

    #[test]
    fn every_form() {
        fixes(
            &RULE,
            &kernel("ct.store(c, (0, 0), ct.mma(x, y))  # TP221"),
            &kernel("ct.store(c, (0, 0), ct.mma(x, y, ct.zeros((M, 32), dtype=ct.float32)))"),
        );
        bad(
            &RULE,
            &kernel("r = ct.mma(x, y, use_fast_acc=True)  # TP221\n    ct.store(c, (0, 0), r)"),
        );
        bad(
            &RULE,
            "from cuda.tile import mma\nimport cuda.tile as ct\n@ct.kernel\ndef k(c, x, y):\n    ct.store(c, (0, 0), mma(x, y))  # TP221\n",
        );
    }

    #[test]
    fn silent_with_an_accumulator_or_other_products() {
        for body in [
            "ct.store(c, (0, 0), ct.mma(x, y, acc=ct.zeros((M, 32), dtype=ct.float32)))",
            "ct.store(c, (0, 0), ct.mma(x, y, ct.zeros((M, 32), dtype=ct.float32)))",
            "ct.store(c, (0, 0), ct.matmul(x, y))",
            "ct.store(c, (0, 0), x @ y)",
            "both = (x, y)\n    ct.store(c, (0, 0), ct.mma(*both, ct.zeros((M, 32), dtype=ct.float32)))",
            "args = (y, x)\n    ct.store(c, (0, 0), ct.mma(x, *args))",
            "kw = dict(acc=x)\n    ct.store(c, (0, 0), ct.mma(x, y, **kw))",
        ] {
            good(&RULE, &kernel(body));
        }
        // Somebody else's.
        good(
            &RULE,
            "from triton.language import mma\nimport cuda.tile as ct\n@ct.kernel\ndef k(c, x, y):\n    ct.store(c, (0, 0), mma(x, y))\n",
        );
    }
}
