//! Scales of 8-bit quantization made with the division operator.

use tileperf_syntax::ast::{Expr, ExprKind};

use crate::body::{Device, Dtype, Ty};
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings, bindings, eight_bit};

rule! {
    /// The scale of an 8-bit quantization is made or applied with `/`, which leaves its rounding unsaid.
    ///
    /// Values at the edge of a bucket fall into another one if the quotient is off by one unit in the
    /// last place: the result then differs from the reference by a whole step. Name the rounding that
    /// the reference has. With cuda-tile 1.7 `/` compiles to the same code as
    /// `ct.truediv(x, y, rounding_mode=ct.RoundingMode.RN)`, which is what PyTorch computes;
    /// `RoundingMode.FULL`, which guides recommend, is the approximation within two units that Triton's
    /// `/` gives (seen on sm_80, sm_90 and sm_100).
    ///
    /// ```python bad
    /// @ct.kernel
    /// def quantize_fp8(x, q, s, TILE: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     tile = ct.astype(ct.load(x, (i, 0), (1, TILE)), ct.float32)
    ///     scale = ct.max(ct.abs(tile)) / 448.0  # TP218
    ///     ct.store(q, (i, 0), ct.astype(tile / scale, ct.float8_e4m3fn))  # TP218
    ///     ct.store(s, (i,), scale)
    /// ```
    ///
    /// ```python fixed
    /// @ct.kernel
    /// def quantize_fp8(x, q, s, TILE: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     tile = ct.astype(ct.load(x, (i, 0), (1, TILE)), ct.float32)
    ///     scale = ct.truediv(ct.max(ct.abs(tile)), 448.0, rounding_mode=ct.RoundingMode.RN)
    ///     ct.store(q, (i, 0), ct.astype(ct.truediv(tile, scale, rounding_mode=ct.RoundingMode.RN), ct.float8_e4m3fn))
    ///     ct.store(s, (i,), scale)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def normalize(x, y, TILE: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     tile = ct.astype(ct.load(x, (i, 0), (1, TILE)), ct.float32)
    ///     ct.store(y, (i, 0), tile / ct.max(ct.abs(tile)))
    /// ```
    TP218 "fp8-div-operator" Warning,
    Device(check)
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    let device = &at.device;
    let mut divisions = Vec::new();
    device.walk(&mut |expr, _| {
        if let ExprKind::Binary { op, left, right } = &expr.kind
            && op == "/"
            && (is_value(device, left) || is_value(device, right))
        {
            divisions.push((expr, &**left, &**right));
        }
    });
    if divisions.is_empty() || !eight_bit::quantizes(device) {
        return;
    }
    for (expr, left, right) in divisions {
        if !is_scale(device, left, HOPS) && !is_scale(device, right, HOPS) {
            continue;
        }
        let (dividend, divisor) = (at.source(left.span), at.source(right.span));
        let mut described = out.push(
            expr.span,
            format!(
                "`{dividend} / {divisor}` in 8-bit quantization leaves its rounding unsaid, and a quotient one unit off falls into another bucket; name it with `truediv`"
            ),
        );
        let Some(module) = module(device) else {
            continue;
        };
        let named = |mode: &str| {
            let text = format!(
                "{module}.truediv({dividend}, {divisor}, rounding_mode={module}.RoundingMode.{mode})"
            );
            Edits::new(at.text).replace(expr.span, text)
        };
        described = described.safe_fix("Name the rounding: to nearest, as it is", named("RN"));
        described.review_fix("Divide as Triton does: `RoundingMode.FULL`", named("FULL"));
    }
}

fn module<'a>(device: &Device<'a>) -> Option<&'a str> {
    let mut names = device.module.imports.iter();
    names.find_map(|(name, path)| (path == "cuda.tile").then_some(name.as_str()))
}

/// How many names are followed.
const HOPS: u32 = 8;

/// Made of the largest magnitude, of the largest 8-bit number, or called a scale.
fn is_scale<'a>(device: &Device<'a>, expr: &'a Expr, hops: u32) -> bool {
    let mut found = false;
    expr.walk(&mut |e| {
        if found {
            return;
        }
        found = match &e.kind {
            ExprKind::Int(value) => eight_bit::is_limit(*value as f64),
            ExprKind::Float(value) => eight_bit::is_limit(*value),
            ExprKind::Call { .. } => device.call(e).is_some_and(|c| c.name == "max"),
            ExprKind::Name(name) => {
                let lower = name.to_ascii_lowercase();
                let values = if hops > 0 {
                    bindings::values(&device.def.body, name)
                } else {
                    Vec::new()
                };
                // What is bound in several ways says less and less of where it comes from.
                let left = if values.len() > 1 { 1 } else { hops };
                lower.contains("scale")
                    || lower.contains("max")
                    || values
                        .iter()
                        .any(|v| is_scale(device, v, left.min(hops.saturating_sub(1))))
            }
            _ => false,
        };
    });
    found
}

/// A tile or a scalar made of one: not a compile-time constant, not an offset.
fn is_value(device: &Device<'_>, expr: &Expr) -> bool {
    match device.ty(expr) {
        Ty::Tile(tile) => !tile.constant && tile.dtype != Dtype::Int,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    #[test]
    fn int8_and_limits_by_name() {
        bad(
            &RULE,
            "LIMIT = 127.0\n\n@ct.kernel\ndef k(x, q, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0),), (T,))\n    s = LIMIT / ct.max(ct.abs(t))  # TP218\n    ct.store(q, (0,), ct.astype(t * s, ct.int8))\n",
        );
        bad(
            &RULE,
            "@ct.kernel\ndef per_token_quant_8bit(x, q, bit8_max, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0),), (T,))\n    s = ct.max(ct.abs(t)) / bit8_max  # TP218\n    inv = 1.0 / s  # TP218\n    ct.store(q, (0,), t * inv)\n",
        );
    }

    #[test]
    fn eight_bits_in_the_name_of_a_parameter() {
        bad(
            &RULE,
            "@ct.kernel\ndef quantize(x, q, fp8_limit, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0),), (T,))\n    scale = ct.max(t)\n    ct.store(q, (0,), t / scale)  # TP218\n",
        );
        good(
            &RULE,
            "@ct.kernel\ndef quantize(x, q, limit, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0),), (T,))\n    scale = ct.max(t)\n    ct.store(q, (0,), t / scale)\n",
        );
    }

    #[test]
    fn a_scale_that_is_rounded_on_the_way() {
        bad(
            &RULE,
            "@ct.kernel\ndef quant_8bit(x, q, limit, R: ct.Constant[bool], T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0),), (T,))\n    s = ct.max(ct.abs(t)) * (1 / 127.0)\n    if R:\n        s = ct.exp2(ct.ceil(ct.log2(s)))\n    ct.store(q, (0,), ct.astype(t / s, ct.int8))  # TP218\n",
        );
    }

    #[test]
    fn silent_elsewhere() {
        for code in [
            // Says how it rounds.
            "@ct.kernel\ndef quantize_fp8(x, q, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0),), (T,))\n    s = ct.truediv(ct.max(ct.abs(t)), 448.0, rounding_mode=ct.RoundingMode.FULL)\n    ct.store(q, (0,), ct.astype(t * s, ct.float8_e4m3fn))\n",
            // Not by a scale.
            "@ct.kernel\ndef attend_quant_fp8(x, q, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0),), (T,))\n    total = ct.sum(t)\n    b = ct.astype(t * 448.0, ct.float8_e4m3fn)\n    ct.store(q, (0,), t / total)\n",
            "@ct.kernel\ndef attend_fp8(x, q, n: int, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0),), (T,))\n    m = ct.max(t)\n    l = ct.zeros((1,), ct.float32)\n    for i in range(n):\n        largest = ct.maximum(m, ct.max(t))\n        old = ct.exp2(m - largest)\n        l = old * l + ct.sum(t)\n    b = ct.astype(t, ct.float8_e4m3fn)\n    ct.store(q, (0,), t / l)\n",
            // Offsets and compile-time constants.
            "@ct.kernel\ndef quantize_fp8(x, q, N: ct.Constant[int], T: ct.Constant[int]):\n    i = ct.bid(0) // N\n    c = N / 448.0\n    t = ct.load(x, (i,), (T,))\n    ct.store(q, (0,), ct.astype(t * c, ct.float8_e4m3fn))\n",
            // The way back.
            "@ct.kernel\ndef dequantize_fp8(x, q, s, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0),), (T,))\n    ct.store(q, (0,), t / ct.load(s, (0,), (1,)))\n",
            // A matrix product of 8-bit operands: nothing is quantized.
            "@ct.kernel\ndef attention(q, k, o, T: ct.Constant[int]):\n    a = ct.astype(ct.load(q, (0, 0), (T, T)), ct.float8_e4m3fn)\n    acc = ct.mma(a, a, ct.zeros((T, T), dtype=ct.float32))\n    ct.store(o, (0, 0), acc / ct.sum(acc))\n",
            "@ct.kernel\ndef softmax(x, y, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0),), (T,))\n    e = ct.exp(t - ct.max(t))\n    ct.store(y, (0,), e / ct.sum(e))\n",
        ] {
            good(&RULE, code);
        }
    }

    #[test]
    fn two_ways_to_name_the_rounding() {
        let code = "@ct.kernel\ndef k(x, q, s):\n    t = ct.load(x, (0,), (8,))\n    scale = ct.max(ct.abs(t), 0) / 448.0  # TP218\n    ct.store(q, (0,), ct.astype(t, ct.float8_e4m3fn))\n    ct.store(s, (0,), scale)\n";
        let (_, found) = bad(&RULE, code);
        let titles: Vec<&str> = found[0].fixes.iter().map(|f| f.title.as_str()).collect();
        assert_eq!(titles.len(), 2, "{titles:?}");
        assert!(
            titles[0].contains("to nearest") && titles[1].contains("FULL"),
            "{titles:?}"
        );
    }
}
