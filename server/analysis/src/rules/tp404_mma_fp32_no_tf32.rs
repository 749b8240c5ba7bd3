//! Matrix products of float32 operands.

use smol_str::SmolStr;
use tileperf_syntax::ast::Expr;

use crate::body::{ApiCall, Device, Dtype, Ty};
use crate::rules::rule::rule;
use crate::rules::{Claim, DeviceContext, Findings, Lowering};

rule! {
    /// The operands of a matrix product may be float32, which tensor cores do not take.
    ///
    /// `ct.mma` of float32 tiles is compiled to fused multiply-adds, several times slower, with kilobytes
    /// of stack and ten times the time to compile (tileiras 13.4, sm_80 to sm_120). Tensor cores take
    /// `tfloat32`, float32 with a mantissa of 10 bits: cast both operands where the dtype is float32,
    /// if the tolerance of the tests allows it. Playbook D makes the change.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def product(a, b, c, T: ct.Constant[int]):
    ///     x = ct.load(a, (0, 0), (T, T))
    ///     y = ct.load(b, (0, 0), (T, T))
    ///     ct.store(c, (0, 0), ct.mma(x, y, ct.zeros((T, T), dtype=ct.float32)))  # TP404
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def product(a, b, c, T: ct.Constant[int]):
    ///     dtype = ct.tfloat32 if a.dtype == ct.float32 else a.dtype
    ///     x = ct.astype(ct.load(a, (0, 0), (T, T)), dtype)
    ///     y = ct.astype(ct.load(b, (0, 0), (T, T)), dtype)
    ///     ct.store(c, (0, 0), ct.mma(x, y, ct.zeros((T, T), dtype=ct.float32)))
    /// ```
    TP404 "mma-fp32-no-tf32" Warning,
    Device(check)
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    let mut found = Vec::new();
    at.device.calls(&mut |call, _| {
        if matches!(call.name.as_str(), "mma" | "matmul") {
            found.push(call.clone());
        }
    });
    if found.is_empty() {
        return;
    }
    for call in found {
        if let Some((message, stated)) = messages(at, &call) {
            out.push(call.expr.span, message).claim(Claim::stated(
                call.expr.span,
                Lowering::Fma,
                stated,
            ));
        }
    }
}

/// Operands of a product that tensor cores do not take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Float32 {
    /// Both are float32.
    Surely,
    /// They are if this array is.
    If(SmolStr),
}

/// Whether the operands of a product are float32, or may be.
pub(crate) fn float32_operands<'a>(device: &Device<'a>, call: &ApiCall<'a>) -> Option<Float32> {
    let (left, right) = (call.arg(0, "x")?, call.arg(1, "y")?);
    match (dtype(device, left)?, dtype(device, right)?) {
        (Dtype::F32, Dtype::F32) => Some(Float32::Surely),
        (a @ (Dtype::F32 | Dtype::Of(_)), b @ (Dtype::F32 | Dtype::Of(_))) => {
            let array = [a, b].into_iter().find_map(|d| match d {
                Dtype::Of(name) => Some(name),
                _ => None,
            })?;
            let other = device.body.is_tf32_known || narrow(device) || whole_numbers(device, call);
            (!other).then(|| Float32::If(array.clone()))
        }
        _ => None,
    }
}

/// What to say of a product as long as it is not compiled, and once compiled code shows it.
fn messages<'a>(at: &DeviceContext<'a>, call: &ApiCall<'a>) -> Option<(String, String)> {
    let (left, right) = (call.arg(0, "x")?, call.arg(1, "y")?);
    let name = &call.name;
    let (x, y) = (at.source(left.span), at.source(right.span));
    Some(match float32_operands(&at.device, call)? {
        Float32::Surely => {
            let said = |uses: &str| {
                format!(
                    "`{name}` of float32 operands `{x}` and `{y}` {uses} tensor cores; cast both to tfloat32"
                )
            };
            (said("may not use"), said("does not use"))
        }
        Float32::If(array) => (
            format!(
                "`{name}` may not use tensor cores: not if `{array}` is float32; cast both operands to tfloat32 then"
            ),
            format!(
                "`{name}` does not use tensor cores; cast both operands to tfloat32 where `{array}` is float32"
            ),
        ),
    })
}

/// The dtype of an operand, if it is a tile's.
fn dtype<'a>(device: &Device<'a>, operand: &'a Expr) -> Option<&'a Dtype> {
    match device.ty(operand) {
        Ty::Tile(tile) => Some(&tile.dtype),
        _ => None,
    }
}

/// The function says that its operands are narrow: `fp8_matmul`, `block_scaled_gemm`.
fn narrow(device: &Device<'_>) -> bool {
    let name = device.def.name.name.to_ascii_lowercase();
    const NARROW: [&str; 14] = [
        "fp8",
        "float8",
        "w8a8",
        "int8",
        "8bit",
        "fp4",
        "mxfp",
        "block_scale",
        "blockscale",
        "bf16",
        "bfloat16",
        "fp16",
        "float16",
        "half",
    ];
    NARROW.iter().any(|part| name.contains(part))
}

/// The accumulator holds whole numbers.
fn whole_numbers(device: &Device<'_>, call: &ApiCall<'_>) -> bool {
    let acc = call.arg(2, "acc").map(|e| device.ty(e));
    matches!(acc, Some(Ty::Tile(tile)) if tile.dtype == Dtype::Int)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn kernel(body: &str) -> String {
        format!(
            "@ct.kernel\ndef k(a, b, c, T: ct.Constant[int]):\n    x = ct.load(a, (0, 0), (T, T))\n    y = ct.load(b, (0, 0), (T, T))\n    acc = ct.zeros((T, T), dtype=ct.float32)\n    {body}\n    ct.store(c, (0, 0), acc)\n"
        )
    }

    #[test]
    fn float32_surely_or_perhaps() {
        for body in [
            "acc = ct.mma(x, y, acc)  # TP404",
            "acc = ct.mma(x, ct.transpose(y), acc=acc)  # TP404",
            "x = ct.astype(x, ct.float32)\n    acc = ct.mma(x, y.astype(ct.float32), acc)  # TP404",
            "for i in range(4):\n        acc = ct.mma(ct.load(a, (i, 0), (T, T)), y, acc)  # TP404",
            "acc = ct.matmul(x, y)  # TP404",
            "p = ct.exp(ct.astype(x, ct.float32)).astype(x.dtype)\n    acc = ct.mma(p, y, acc)  # TP404",
        ] {
            bad(&RULE, &kernel(body));
        }
    }

    #[test]
    fn silent_where_tensor_cores_take_them() {
        for body in [
            "d = ct.tfloat32 if a.dtype == ct.float32 else a.dtype\n    acc = ct.mma(ct.astype(x, d), ct.astype(y, d), acc)",
            "if a.dtype == ct.float32:\n        x = ct.astype(x, ct.tfloat32)\n        y = ct.astype(y, ct.tfloat32)\n    acc = ct.mma(x, y, acc)",
            "acc = ct.mma(ct.astype(x, ct.float16), ct.astype(y, ct.float16), acc)",
            "acc = ct.mma(x, ct.astype(y, ct.bfloat16), acc)",
            "n = ct.zeros((T, T), dtype=ct.int32)\n    acc = ct.mma(x, y, n)",
            "acc = ct.mma_scaled(x, a, y, b, acc)",
        ] {
            good(&RULE, &kernel(body));
        }
        let named = kernel("acc = ct.mma(x, y, acc)").replace("def k", "def fp8_gemm");
        good(&RULE, &named);
    }
}
