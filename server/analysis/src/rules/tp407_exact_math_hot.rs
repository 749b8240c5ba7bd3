//! Exact functions in loops where cheaper ones may do.

use tileperf_syntax::ast::{Expr, ExprKind};

use crate::body::{ApiCall, Device, Dtype, Extent, Tile};
use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings, eight_bit};

rule! {
    /// `exp`, division or `tanh` is computed exactly in a loop.
    ///
    /// The hardware has approximations of each: `ct.exp2(x, flush_to_zero=True)` with log2(e) folded into
    /// a factor that is there anyway, `ct.truediv(x, y, rounding_mode=ct.RoundingMode.APPROX,
    /// flush_to_zero=True)`, `ct.tanh(x, rounding_mode=ct.RoundingMode.APPROX)`. In attention kernels
    /// they make the code 25 to 63 % smaller. Results differ in the last bits: the tests' tolerance
    /// decides. Not for the scales of 8-bit quantization.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def gate(x, y, n: int, TILE: ct.Constant[int]):
    ///     for i in range(ct.bid(0), n, ct.num_blocks(0)):
    ///         tile = ct.astype(ct.load(x, (i, 0), (1, TILE)), ct.float32)
    ///         ct.store(y, (i, 0), tile / (1.0 + ct.exp(-tile)))  # TP407
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def gate(x, y, n: int, TILE: ct.Constant[int]):
    ///     for i in range(ct.bid(0), n, ct.num_blocks(0)):
    ///         tile = ct.astype(ct.load(x, (i, 0), (1, TILE)), ct.float32)
    ///         power = ct.exp2(tile * -1.4426950408889634, flush_to_zero=True)
    ///         gated = ct.truediv(tile, 1.0 + power, rounding_mode=ct.RoundingMode.APPROX)
    ///         ct.store(y, (i, 0), gated)
    /// ```
    TP407 "exact-math-hot" Hint,
    Device(check)
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    let device = &at.device;
    let mut found = Vec::new();
    device.walk(&mut |expr, place| {
        if place.in_loop()
            && let Some(cheaper) = cheaper(device, expr)
        {
            found.push((expr, cheaper));
        }
    });
    if found.is_empty() || eight_bit::quantizes(device) {
        return;
    }
    for (expr, (what, cheaper)) in found {
        out.push(
            expr.span,
            format!("{what} is computed exactly in a loop; {cheaper} is cheaper if the tolerance allows it"),
        );
    }
}

fn cheaper(device: &Device<'_>, expr: &Expr) -> Option<(&'static str, &'static str)> {
    let divides = |divisor: &Expr| is_wide(device, divisor);
    const DIVISION: (&str, &str) = ("A division", "`truediv` with `RoundingMode.APPROX`");
    match &expr.kind {
        ExprKind::Binary { op, right, .. } if op == "/" && divides(right) => Some(DIVISION),
        ExprKind::Call { .. } => {
            let call = device.call(expr)?;
            let wide = |place: usize, name: &str| {
                is_exact(&call) && call.arg(place, name).is_some_and(|e| is_wide(device, e))
            };
            match call.name.as_str() {
                "exp" if wide(0, "x") => Some(("`exp`", "`exp2` with `flush_to_zero=True`")),
                "tanh" if wide(0, "x") => Some(("`tanh`", "`RoundingMode.APPROX`")),
                "truediv" if wide(1, "y") => Some(DIVISION),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Nothing says how it rounds.
fn is_exact(call: &ApiCall<'_>) -> bool {
    call.keyword("rounding_mode").is_none() && !call.is_open()
}

/// A tile of floats, of more than one element.
fn is_wide(device: &Device<'_>, expr: &Expr) -> bool {
    let one =
        |tile: &Tile| (tile.shape.as_ref()).is_some_and(|s| s.iter().all(|e| *e == Extent::Int(1)));
    device
        .tile(expr)
        .is_some_and(|t| !t.constant && !matches!(t.dtype, Dtype::Int | Dtype::Bool) && !one(t))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn kernel(body: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    for i in range(n):\n        t = ct.astype(ct.load(x, (i, 0), (1, T)), ct.float32)\n        {body}\n"
        )
    }

    #[test]
    fn every_function() {
        for body in [
            "ct.store(y, (i, 0), ct.exp(t))  # TP407",
            "ct.store(y, (i, 0), 1.0 / t)  # TP407",
            "ct.store(y, (i, 0), ct.tanh(t))  # TP407",
            "ct.store(y, (i, 0), ct.truediv(t, t))  # TP407",
        ] {
            bad(&RULE, &kernel(body));
        }
        bad(
            &RULE,
            "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    i = 0\n    while i < n:\n        ct.store(y, (i, 0), ct.exp(ct.load(x, (i, 0), (1, T))))  # TP407\n        i = i + 1\n",
        );
    }

    #[test]
    fn silent_on_cheap_or_rare_ones() {
        for body in [
            "ct.store(y, (i, 0), ct.exp2(t))",
            "ct.store(y, (i, 0), ct.exp(t, rounding_mode=ct.RoundingMode.APPROX))",
            "ct.store(y, (i, 0), ct.tanh(t, rounding_mode=ct.RoundingMode.APPROX))",
            "ct.store(y, (i, 0), ct.truediv(t, t, rounding_mode=ct.RoundingMode.FULL))",
            // By a number: a multiplication.
            "ct.store(y, (i, 0), t / n)",
            "ct.store(y, (i, 0), t / 3.0)",
            // One element.
            "ct.store(y, (i, 0), ct.exp(ct.max(t, axis=1, keepdims=True)))",
            "ct.store(y, (i, 0), t / ct.sum(t, axis=1, keepdims=True))",
            "ct.store(y, (i, 0), ct.load(x, (i, 0), (1, T)) // 2)",
        ] {
            good(&RULE, &kernel(body));
        }
        // Once a block.
        good(
            &RULE,
            "@ct.kernel\ndef k(x, y, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0), 0), (1, T))\n    ct.store(y, (0, 0), ct.exp(t) / t)\n",
        );
        // Quantization.
        good(
            &RULE,
            "@ct.kernel\ndef quantize_fp8(x, y, n: int, T: ct.Constant[int]):\n    for i in range(n):\n        t = ct.load(x, (i, 0), (1, T))\n        ct.store(y, (i, 0), ct.astype(448.0 / t, ct.float8_e4m3fn))\n",
        );
    }
}
