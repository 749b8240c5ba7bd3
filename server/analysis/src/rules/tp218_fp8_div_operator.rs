//! Scales of 8-bit quantization made with the division operator.

use tileperf_syntax::ast::{Expr, ExprKind, StmtKind};

use crate::body::{Const, Device, Dtype, Ty, walk};
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings};

rule! {
    /// The scale of an 8-bit quantization is made or applied with `/`, which may round differently.
    ///
    /// Values at the edge of a bucket fall into another one if the quotient is off by one unit in the
    /// last place: the result then differs from the reference by a whole step. Say which rounding is
    /// meant: `ct.truediv(x, y, rounding_mode=ct.RoundingMode.FULL)`.
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
    ///     scale = ct.truediv(ct.max(ct.abs(tile)), 448.0, rounding_mode=ct.RoundingMode.FULL)
    ///     ct.store(q, (i, 0), ct.astype(ct.truediv(tile, scale, rounding_mode=ct.RoundingMode.FULL), ct.float8_e4m3fn))
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
    walk(&device.def.body, &mut |expr, _| {
        if let ExprKind::Binary { op, left, right } = &expr.kind
            && op == "/"
            && (is_value(device, left) || is_value(device, right))
        {
            divisions.push((expr, &**left, &**right));
        }
    });
    if divisions.is_empty() || !quantizes(device) {
        return;
    }
    for (expr, left, right) in divisions {
        let (dividend, divisor) = (at.source(left.span), at.source(right.span));
        let described = out.push(
            expr.span,
            format!(
                "`{dividend} / {divisor}` in 8-bit quantization may round across a bucket's edge; use `truediv` with `RoundingMode.FULL`"
            ),
        );
        if let Some(module) = module(device) {
            let text = format!(
                "{module}.truediv({dividend}, {divisor}, rounding_mode={module}.RoundingMode.FULL)"
            );
            described.review_fix(
                "Divide with full rounding",
                Edits::new(at.text).replace(expr.span, text),
            );
        }
    }
}

fn module<'a>(device: &Device<'a>) -> Option<&'a str> {
    let mut names = device.module.imports.iter();
    names.find_map(|(name, path)| (path == "cuda.tile").then_some(name.as_str()))
}

/// A tile or a scalar made of one: not a compile-time constant, not an offset.
fn is_value(device: &Device<'_>, expr: &Expr) -> bool {
    match device.ty(expr) {
        Ty::Tile(tile) => !tile.constant && tile.dtype != Dtype::Int,
        _ => false,
    }
}

/// The function quantizes to 8 bits: it is called so, or casts to an 8-bit float, or scales with
/// the largest 8-bit number and casts to an array's dtype.
fn quantizes(device: &Device<'_>) -> bool {
    let name = device.def.name.name.to_ascii_lowercase();
    let undoes = name.contains("dequant");
    if undoes {
        return false;
    }
    if name.contains("quant") && names_eight_bits(device) {
        return true;
    }
    casts_to_fp8(device) && reduces_maximum(device)
        || scales_by_limit(device) && reduces_maximum(device)
}

fn names_eight_bits(device: &Device<'_>) -> bool {
    let name = device.def.name.name.to_ascii_lowercase();
    let says = |text: &str| {
        let text = text.to_ascii_lowercase();
        ["fp8", "float8", "int8", "8bit", "bit8", "e4m3", "e5m2"]
            .iter()
            .any(|part| text.contains(part))
    };
    says(&name)
        || device.def.params.iter().any(|p| says(&p.name.name))
        || casts_to_fp8(device)
        || scales_by_limit(device)
}

fn casts_to_fp8(device: &Device<'_>) -> bool {
    let mut found = false;
    walk(&device.def.body, &mut |expr, _| {
        found |= matches!(device.ty(expr), Ty::Dtype(Dtype::F8));
    });
    found
}

/// The largest numbers of float8_e4m3fn, float8_e5m2, float8_e4m3fnuz and int8.
fn is_limit(value: f64) -> bool {
    [448.0, 57344.0, 240.0, 127.0].contains(&value.abs())
}

fn scales_by_limit(device: &Device<'_>) -> bool {
    let mut found = false;
    walk(&device.def.body, &mut |expr, place| {
        let value = match device.ty(expr) {
            Ty::Const(Const::Float(value)) => *value,
            Ty::Const(Const::Int(value)) => *value as f64,
            _ => return,
        };
        let used = !matches!(place.stmt().map(|s| &s.kind), Some(StmtKind::For { .. }));
        found |= used && is_limit(value);
    });
    found
}

fn reduces_maximum(device: &Device<'_>) -> bool {
    let mut found = false;
    device.calls(&mut |call, _| found |= call.name == "max");
    found
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
    fn silent_elsewhere() {
        for code in [
            // Says how it rounds.
            "@ct.kernel\ndef quantize_fp8(x, q, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0),), (T,))\n    s = ct.truediv(ct.max(ct.abs(t)), 448.0, rounding_mode=ct.RoundingMode.FULL)\n    ct.store(q, (0,), ct.astype(t * s, ct.float8_e4m3fn))\n",
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
}
