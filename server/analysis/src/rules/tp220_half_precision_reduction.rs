//! Sums of 16-bit floats in 16 bits.

use smol_str::SmolStr;
use tileperf_syntax::ast::ExprKind;

use crate::body::{Device, Dtype, Ty};
use crate::rewrite::Edits;
use crate::rules::reduction::{self, Reduction};
use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings};

rule! {
    /// A sum, product or prefix sum of a float16 or bfloat16 tile is made in 16 bits.
    ///
    /// `ct.sum` keeps the dtype of its tile, so every partial sum is rounded to 8 (bfloat16) or 11
    /// (float16) bits, and float16 overflows beyond 65504: a mean of squares does so early. Cast the
    /// tile to float32 first; the load stays 16 bits wide. A maximum loses nothing.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def mean_square(x, out, n: int, TILE: ct.Constant[int]):
    ///     tile = ct.astype(ct.load(x, (ct.bid(0), 0), (1, TILE)), ct.bfloat16)
    ///     ct.store(out, (ct.bid(0), 0), ct.sum(tile * tile, axis=1, keepdims=True) / n)  # TP220
    /// ```
    ///
    /// ```python fixed
    /// @ct.kernel
    /// def mean_square(x, out, n: int, TILE: ct.Constant[int]):
    ///     tile = ct.astype(ct.load(x, (ct.bid(0), 0), (1, TILE)), ct.bfloat16)
    ///     ct.store(out, (ct.bid(0), 0), ct.sum(ct.astype(tile * tile, ct.float32), axis=1, keepdims=True) / n)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def mean_square(x, out, n: int, TILE: ct.Constant[int]):
    ///     tile = ct.astype(ct.load(x, (ct.bid(0), 0), (1, TILE)), ct.float32)
    ///     ct.store(out, (ct.bid(0), 0), ct.sum(tile * tile, axis=1, keepdims=True) / n)
    /// ```
    TP220 "half-precision-reduction" Warning,
    Device(check)
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    reduction::reductions(&at.device, &mut |reduction, _| {
        if matches!(
            reduction.call.name.as_str(),
            "sum" | "prod" | "cumsum" | "cumprod"
        ) && !reduction.tile.mask
            && !picks(&at.device, reduction.arg)
            && let Some(whose) = half(&at.device, &reduction.tile.dtype)
        {
            report(at, reduction, &whose, out);
        }
    });
}

/// One element is picked by its place, `where(offsets == i, x, 0)`: nothing is added up.
fn picks<'a>(device: &Device<'a>, arg: &'a tileperf_syntax::ast::Expr) -> bool {
    let Some(call) = device
        .call(device.follow(arg))
        .filter(|c| c.name == "where")
    else {
        return false;
    };
    let Some(mask) = call.arg(0, "mask") else {
        return false;
    };
    let mut equal = false;
    device.follow(mask).walk(&mut |e| {
        equal |= match &e.kind {
            ExprKind::Compare { rest, .. } => rest.iter().any(|(op, _)| op == "=="),
            ExprKind::Call { .. } => device.call(e).is_some_and(|c| c.name == "equal"),
            _ => false,
        };
    });
    equal
}

/// Whose dtype makes it a sum in 16 bits.
enum Half {
    /// It is 16 bits wide, whatever is passed.
    Surely,
    /// It is the array's dtype.
    IfArray(SmolStr),
}

fn half(device: &Device<'_>, dtype: &Dtype) -> Option<Half> {
    match dtype {
        Dtype::F16 | Dtype::Bf16 => Some(Half::Surely),
        Dtype::Of(array) if is_float(device, array) => Some(Half::IfArray(array.clone())),
        _ => None,
    }
}

fn report(at: &DeviceContext<'_>, reduction: &Reduction<'_>, half: &Half, out: &mut Findings<'_>) {
    let call = &reduction.call;
    let arg = at.source(reduction.arg.span);
    let message = match half {
        Half::Surely => format!(
            "`{}` of a 16-bit tile adds up in 16 bits; cast `{arg}` to float32 first",
            call.name
        ),
        Half::IfArray(array) => format!(
            "`{}` adds up in the dtype of `{array}`, which may be 16 bits wide; cast `{arg}` to float32 first",
            call.name
        ),
    };
    let described = out.push(call.expr.span, message);
    if let Some(module) = reduction::module_of(call, at.text) {
        let edits = Edits::new(at.text).replace(
            reduction.arg.span,
            format!("{module}.astype({arg}, {module}.float32)"),
        );
        described.review_fix("Reduce in float32", edits);
    }
}

/// The function treats the elements of an array as floating: it takes their exponential or root,
/// divides them, casts them to floats or computes with floats.
fn is_float(device: &Device<'_>, array: &SmolStr) -> bool {
    let of =
        |ty: &Ty| matches!(ty, Ty::Tile(t) if t.dtype == Dtype::Of(array.clone()) && !t.constant);
    let mut found = false;
    device.walk(&mut |expr, _| {
        if found {
            return;
        }
        found = match &expr.kind {
            ExprKind::Binary { op, left, right } => {
                let (left, right) = (device.ty(left), device.ty(right));
                (of(left) && (op == "/" || floating(right))) || (of(right) && floating(left))
            }
            ExprKind::Call { .. } => {
                let Some(call) = device.call(expr) else {
                    return;
                };
                let first = call.arg(0, "x").map(|e| device.ty(e));
                first.is_some_and(&of)
                    && match call.name.as_str() {
                        "exp" | "exp2" | "log" | "log2" | "sqrt" | "rsqrt" | "tanh" | "sin"
                        | "cos" | "mma" | "truediv" => true,
                        "mul" | "add" | "sub" | "maximum" | "minimum" => {
                            call.arg(1, "y").is_some_and(|e| floating(device.ty(e)))
                        }
                        "astype" => matches!(
                            call.arg(1, "dtype").map(|e| device.ty(e)),
                            Some(Ty::Dtype(dtype)) if dtype.is_float()
                        ),
                        _ => false,
                    }
            }
            _ => false,
        };
    });
    found
}

fn floating(ty: &Ty) -> bool {
    match ty {
        Ty::Tile(tile) => tile.dtype.is_float(),
        Ty::Const(crate::body::Const::Float(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, fixes, good};

    fn kernel(body: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, w, y, T: ct.Constant[int]):\n    t = ct.load(x, (ct.bid(0),), (T,), padding_mode=ct.PaddingMode.ZERO)\n    {body}\n"
        )
    }

    #[test]
    fn in_the_dtype_of_an_array_of_floats() {
        for body in [
            "ct.store(y, (0,), ct.sum(ct.exp(t)))  # TP220",
            "ct.store(y, (0,), ct.cumsum(t * 0.5, axis=0))  # TP220",
            "ct.store(y, (0,), ct.sum(t))  # TP220\n    ct.store(y, (1,), ct.astype(t, ct.float32))",
            "ct.store(y, (0,), ct.prod(t / 3))  # TP220",
            "e = ct.mul(t, 0.5)\n    ct.store(y, (0,), ct.sum(e))  # TP220",
            "h = t.astype(ct.float16)\n    ct.store(y, (0,), ct.cumprod(h))  # TP220",
        ] {
            bad(&RULE, &kernel(body));
        }
    }

    #[test]
    fn in_a_helper() {
        bad(
            &RULE,
            "def norm(t):\n    h = ct.astype(ct.arange(8, dtype=ct.int32), ct.float16)\n    return ct.sum(h)  # TP220\n\n@ct.kernel\ndef k(y):\n    ct.store(y, (0,), norm(1))\n",
        );
    }

    #[test]
    fn the_argument_is_cast() {
        fixes(
            &RULE,
            &kernel("ct.store(y, (0,), ct.sum(ct.exp(t)))  # TP220"),
            &kernel("ct.store(y, (0,), ct.sum(ct.astype(ct.exp(t), ct.float32)))"),
        );
    }

    #[test]
    fn silent_on_other_dtypes_and_reductions() {
        for body in [
            // Nothing says that these are floats.
            "ct.store(y, (0,), ct.cumsum(t, axis=0))",
            "ct.store(y, (0,), ct.sum(t * 2))",
            // Exact.
            "ct.store(y, (0,), ct.max(ct.exp(t)))",
            "ct.store(y, (0,), ct.min(ct.astype(t, ct.float16)))",
            // Cast before.
            "f = ct.astype(t, ct.float32)\n    ct.store(y, (0,), ct.sum(f * f))",
            "ct.store(y, (0,), ct.sum(ct.exp(t.astype(ct.float32))))",
            // Promoted by a float32 operand.
            "ct.store(y, (0,), ct.sum(t * ct.full((T,), 0.5, ct.float32)))",
            // One element.
            "i = ct.arange(T, dtype=ct.int32)\n    ct.store(y, (0,), ct.sum(ct.where(i == 3, ct.exp(t), 0.0)))",
            "m = ct.equal(ct.arange(T, dtype=ct.int32), 3)\n    ct.store(y, (0,), ct.sum(ct.where(m, ct.exp(t), 0.0)))",
            // Counts.
            "ct.store(y, (0,), ct.sum(ct.astype(ct.exp(t) > 1.0, ct.int32)))",
            "ct.store(y, (0,), ct.sum(ct.exp(t) > 1.0))",
        ] {
            good(&RULE, &kernel(body));
        }
    }

    #[test]
    fn one_element_picked_by_its_place() {
        for mask in ["o == 3", "ct.equal(o, 3)"] {
            good(
                &RULE,
                &kernel(&format!(
                    "o = ct.arange(T, dtype=ct.int32)\n    ct.store(y, (0,), ct.sum(ct.where({mask}, ct.exp(t), 0)))"
                )),
            );
        }
        for mask in ["o < 3", "ct.less(o, 3)"] {
            bad(
                &RULE,
                &kernel(&format!(
                    "o = ct.arange(T, dtype=ct.int32)\n    ct.store(y, (0,), ct.sum(ct.where({mask}, ct.exp(t), 0)))  # TP220"
                )),
            );
        }
    }
}
