//! Matrix products of float32 on tensor cores.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, StmtKind};

use super::optimization::optimization;
use super::{Actions, Effect, KernelContext};
use crate::body::{ApiCall, Dtype, Ty};
use crate::rewrite::autotune::fresh;
use crate::rules::float32_operands;

optimization! {
    /// Cast float32 operands of matrix products to tfloat32.
    ///
    /// Tensor cores do not take float32; they take `tfloat32`, which has its range and a mantissa of 10
    /// bits. Without the cast `ct.mma` becomes fused multiply-adds, with kilobytes of stack, and takes
    /// ten times as long to compile (8 s against 0.7 s, tileiras 13.4). Products lose precision: the
    /// tolerance of the tests decides.
    ///
    /// ```python before
    /// @ct.kernel
    /// def product(a, b, c, T: ct.Constant[int]):
    ///     x = ct.load(a, (ct.bid(0), 0), (T, T))
    ///     y = ct.load(b, (0, ct.bid(1)), (T, T))
    ///     acc = ct.mma(x, y, ct.zeros((T, T), dtype=ct.float32))
    ///     ct.store(c, (ct.bid(0), ct.bid(1)), acc)
    /// ```
    ///
    /// ```python after
    /// @ct.kernel
    /// def product(a, b, c, T: ct.Constant[int]):
    ///     a_dtype = ct.tfloat32 if a.dtype == ct.float32 else a.dtype
    ///     b_dtype = ct.tfloat32 if b.dtype == ct.float32 else b.dtype
    ///     x = ct.load(a, (ct.bid(0), 0), (T, T))
    ///     y = ct.load(b, (0, ct.bid(1)), (T, T))
    ///     acc = ct.mma(ct.astype(x, a_dtype), ct.astype(y, b_dtype), ct.zeros((T, T), dtype=ct.float32))
    ///     ct.store(c, (ct.bid(0), ct.bid(1)), acc)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def product(a, b, c, T: ct.Constant[int]):
    ///     x = ct.astype(ct.load(a, (ct.bid(0), 0), (T, T)), ct.float16)
    ///     y = ct.astype(ct.load(b, (0, ct.bid(1)), (T, T)), ct.float16)
    ///     acc = ct.mma(x, y, ct.zeros((T, T), dtype=ct.float32))
    ///     ct.store(c, (ct.bid(0), ct.bid(1)), acc)
    /// ```
    D "tfloat32-operands" Precision Different offer,
    gain "tensor cores instead of FMA" "float32 products, sm_80 to sm_120" "compiled code, tileiras 13.4",
}

fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    let Some(ct) = at.ct() else { return };
    let mut products: Vec<ApiCall<'_>> = Vec::new();
    for called in at.calls(&["mma", "matmul"]) {
        if float32_operands(&at.device, &called.call).is_some() {
            products.push(called.call);
        }
    }
    if products.is_empty() {
        return;
    }
    let mut edits = at.edits();
    // One name for the operands' dtype of each array.
    let mut dtypes: Vec<(SmolStr, String)> = Vec::new();
    for product in &products {
        for (place, name) in [(0, "x"), (1, "y")] {
            let Some(operand) = product.arg(place, name) else {
                return;
            };
            let Some(dtype) = dtype(at, ct, operand, &mut dtypes) else {
                return;
            };
            edits = edits
                .insert(operand.span.start, format!("{ct}.astype("))
                .insert(operand.span.end, format!(", {dtype})"));
        }
    }
    let lines: Vec<String> = (dtypes.iter())
        .map(|(array, name)| {
            format!("{name} = {ct}.tfloat32 if {array}.dtype == {ct}.float32 else {array}.dtype")
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    if !lines.is_empty() {
        let Some(first) = first_statement(at) else {
            return;
        };
        edits = edits.lines_before(first, &lines);
    }
    let title = match products.len() {
        1 => "Multiply float32 by tensor cores, as tfloat32".to_owned(),
        n => format!("Make {n} float32 products by tensor cores, as tfloat32"),
    };
    out.push("", title, edits).shows(Effect::TensorCores);
}

/// What an operand is cast to: tfloat32 if it is float32, else nothing changes.
fn dtype(
    at: &KernelContext<'_>,
    ct: &str,
    operand: &Expr,
    known: &mut Vec<(SmolStr, String)>,
) -> Option<String> {
    let Ty::Tile(tile) = at.device.ty(operand) else {
        return None;
    };
    match &tile.dtype {
        Dtype::F32 => Some(format!("{ct}.tfloat32")),
        Dtype::Of(array) => {
            if let Some((_, name)) = known.iter().find(|(of, _)| of == array) {
                return Some(name.clone());
            }
            let name = fresh(at.text(), &format!("{}_dtype", array.to_lowercase()));
            known.push((array.clone(), name.clone()));
            Some(name)
        }
        _ => None,
    }
}

/// Where the first statement of the body begins that is no documentation, if it has its line to itself.
fn first_statement(at: &KernelContext<'_>) -> Option<u32> {
    let is_doc = |kind: &StmtKind| match kind {
        StmtKind::Expr(value) => matches!(value.kind, tileperf_syntax::ast::ExprKind::Str(_)),
        _ => false,
    };
    let body = &at.def.node.body;
    let first = body.iter().find(|stmt| !is_doc(&stmt.kind))?;
    at.edits().own_line(first.span.start)?;
    Some(first.span.start)
}

#[cfg(test)]
mod tests {
    use super::OPTIMIZATION;
    use crate::playbook::testing::{after, none};

    #[test]
    fn surely_float32() {
        let code = |operands: &str| {
            format!(
                "@ct.kernel\ndef k(a, c, T: ct.Constant[int]):\n    \"\"\"Squares.\"\"\"\n    x = ct.astype(ct.load(a, (0, 0), (T, T)), ct.float32)\n    acc = ct.full((T, T), 0.0, ct.float32)\n    for i in range(4):\n        acc = ct.mma({operands}, acc=acc)\n    ct.store(c, (0, 0), acc)\n"
            )
        };
        after(
            &OPTIMIZATION,
            &code("x, x"),
            "",
            &code("ct.astype(x, ct.tfloat32), ct.astype(x, ct.tfloat32)"),
        );
    }

    #[test]
    fn one_name_for_an_array() {
        after(
            &OPTIMIZATION,
            "@ct.kernel\ndef k(Q, c, q_dtype: ct.Constant[int]):\n    \"\"\"Squares.\"\"\"\n    # First.\n    x = ct.load(Q, (0, 0), (16, 16))\n    ct.store(c, (0, 0), ct.mma(x, x, ct.mma(x, x, ct.zeros((16, 16), ct.float32))))\n",
            "",
            "@ct.kernel\ndef k(Q, c, q_dtype: ct.Constant[int]):\n    \"\"\"Squares.\"\"\"\n    # First.\n    q_dtype_2 = ct.tfloat32 if Q.dtype == ct.float32 else Q.dtype\n    x = ct.load(Q, (0, 0), (16, 16))\n    ct.store(c, (0, 0), ct.mma(ct.astype(x, q_dtype_2), ct.astype(x, q_dtype_2), ct.mma(ct.astype(x, q_dtype_2), ct.astype(x, q_dtype_2), ct.zeros((16, 16), ct.float32))))\n",
        );
    }

    #[test]
    fn nothing_where_the_operand_is_not_known() {
        none(
            &OPTIMIZATION,
            "@ct.kernel\ndef k(a, c):\n    ct.store(c, (0, 0), ct.mma(a, a, ct.zeros((16, 16), ct.float32)))\n",
        );
    }
}
