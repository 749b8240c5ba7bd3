//! Element-wise access to what lies side by side.

use tileperf_syntax::ast::{Expr, ExprKind};

use crate::body::{ApiCall, Device, Extent, Ty, argument};
use crate::rules::rule::rule;
use crate::rules::{Claim, DeviceContext, Findings, Lowering};

rule! {
    /// A gather or scatter reads or writes a contiguous range, element by element: `ct.load` and
    /// `ct.store` can use the tensor memory accelerator. Playbook A makes the change.
    ///
    /// `ct.gather` and `ct.scatter` take any indices, so the compiler makes plain loads and stores of
    /// them, on every architecture. A block access by tile index may become a TMA copy from sm_90
    /// on, which pays where a tile is read again: 2 to 78 times were reported. What is read once and
    /// streamed is often as fast or faster by gather, which is why this is a hint; a compile result
    /// and a measurement tell.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def scale(x, y, BLOCK: ct.Constant[int]):
    ///     offsets = ct.bid(0) * BLOCK + ct.arange(BLOCK, dtype=ct.int32)
    ///     ct.scatter(y, offsets, ct.gather(x, offsets) * 2)  # TP401
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def permute(x, y, order, BLOCK: ct.Constant[int]):
    ///     offsets = ct.load(order, (ct.bid(0),), (BLOCK,))
    ///     ct.store(y, (ct.bid(0),), ct.gather(x, offsets))
    /// ```
    TP401 "gather-contiguous" Hint,
    Device(check)
}

fn check(device: &DeviceContext<'_>, out: &mut Findings<'_>) {
    let archs: Vec<_> = (device.target.archs.iter().copied())
        .filter(|arch| arch.has_tma())
        .collect();
    if archs.is_empty() {
        return;
    }
    let all = archs.len() == device.target.archs.len();
    device.calls(&mut |call, _| {
        let (instead, verb) = match call.name.as_str() {
            "gather" => ("load", "reads"),
            "scatter" => ("store", "writes"),
            _ => return,
        };
        let Some(indices) = call.arg(1, "indices") else {
            return;
        };
        if !is_block(&device.device, indices) {
            return;
        }
        let array = call.arg(0, "array").map_or("", |e| device.source(e.span));
        let found = out.push(
            call.expr.span,
            format!(
                "`{}` {verb} a contiguous range of `{array}` element by element; `ct.{instead}` by tile \
                 index may use TMA (playbook A)",
                call.name
            ),
        );
        let found = found.claim(Claim::AccessIs(call.expr.span, Lowering::NoTma));
        if !all {
            found.archs(archs.clone());
        }
    });
}

/// Whether indices are those of a block: the last counts up one by one, the others stand still or
/// count as well.
fn is_block<'a>(device: &Device<'a>, indices: &'a Expr) -> bool {
    let indices = device.follow(indices);
    match &indices.kind {
        ExprKind::Tuple(parts) => parts.split_last().is_some_and(|(last, rest)| {
            is_counting(device, last, 6)
                && (rest.iter())
                    .all(|part| is_uniform(device, part, 6) || is_counting(device, part, 6))
        }),
        _ => is_counting(device, indices, 6),
    }
}

/// Whether a tile is `arange` plus something that is the same for all its elements.
fn is_counting<'a>(device: &Device<'a>, expr: &'a Expr, depth: u32) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let expr = device.follow(expr);
    let either = |a, b| {
        is_counting(device, a, depth) && is_uniform(device, b, depth)
            || is_uniform(device, a, depth) && is_counting(device, b, depth)
    };
    match &expr.kind {
        ExprKind::Binary { op, left, right } => match op.as_str() {
            "+" => either(left, right),
            "-" => is_counting(device, left, depth) && is_uniform(device, right, depth),
            _ => false,
        },
        // `offsets[:, None]`
        ExprKind::Subscript { value, index } => {
            let axis = |e: &Expr| match &e.kind {
                ExprKind::None => true,
                ExprKind::Slice { lower, upper, step } => {
                    lower.is_none() && upper.is_none() && step.is_none()
                }
                _ => false,
            };
            index.iter().all(axis) && is_counting(device, value, depth)
        }
        ExprKind::Call { func, args } => {
            if let Some(call) = device.call(expr) {
                return counts(device, &call, depth);
            }
            // `offsets.astype(ct.int64)`
            match &func.kind {
                ExprKind::Attribute { value, attr } => {
                    attr.name == "astype" && args.len() == 1 && is_counting(device, value, depth)
                }
                _ => false,
            }
        }
        _ => false,
    }
}

/// The same of a call.
fn counts<'a>(device: &Device<'a>, call: &ApiCall<'a>, depth: u32) -> bool {
    let counting = |e| is_counting(device, e, depth);
    let uniform = |e| is_uniform(device, e, depth);
    match call.name.as_str() {
        "arange" => {
            let size = call.arg(0, "size").map(|e| device.ty(e));
            let one = |e: &Expr| matches!(e.kind, ExprKind::Int(1));
            size.is_some_and(|ty| ty.int() != Some(1)) && call.keyword("step").is_none_or(one)
        }
        "astype" => call.arg(0, "x").is_some_and(counting),
        "add" => match (call.arg(0, "x"), call.arg(1, "y")) {
            (Some(a), Some(b)) => counting(a) && uniform(b) || uniform(a) && counting(b),
            _ => false,
        },
        _ => false,
    }
}

/// Whether an expression is one number for all elements: a scalar, a constant, a tile of one.
fn is_uniform<'a>(device: &Device<'a>, expr: &'a Expr, depth: u32) -> bool {
    match device.ty(expr) {
        Ty::Scalar { .. } | Ty::Const(_) => return true,
        Ty::Tile(tile) => {
            let one = |e: &Extent| *e == Extent::Int(1);
            return !tile.offsets && tile.shape.as_ref().is_some_and(|s| s.iter().all(one));
        }
        Ty::Unknown => {}
        _ => return false,
    }
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let followed = device.follow(expr);
    let of = |e: &'a Expr| is_uniform(device, e, depth);
    match &followed.kind {
        // A number given to the kernel. What a helper is given may be a tile.
        ExprKind::Name(name) => {
            device.is_kernel && device.param(name).is_some() && !device.body.arrays.contains(name)
        }
        ExprKind::Binary { left, right, .. } => of(left) && of(right),
        ExprKind::Subscript { value, .. } => match &value.kind {
            ExprKind::Attribute { attr, .. } => {
                matches!(attr.name.as_str(), "shape" | "strides" | "stride")
            }
            _ => false,
        },
        ExprKind::Call { func, args } => {
            let number = func.name().is_some_and(|n| matches!(n.as_str(), "min" | "max"))
                || device.call(followed).is_some_and(|c| c.name == "cdiv");
            number && args.iter().all(|a| of(&a.value)) && argument(args, Some(0), "x").is_some()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::arch::Arch;
    use crate::rules::testing::{bad, good, good_for};
    use crate::target::Target;

    fn code(indices: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, idx, n, B: ct.Constant[int]):\n    row = ct.bid(0)\n    cols = ct.arange(B, dtype=ct.int32)\n    a = ct.gather(x, {indices})\n"
        )
    }

    #[test]
    fn blocks() {
        for indices in [
            "cols",
            "(cols,)",
            "row * B + cols",
            "cols + n",
            "(row, cols)",
            "(row, 3, cols + row * B)",
            "(row, cols - n)",
            "(row * 8 + cols[:, None], cols[None, :])",
            "ct.add(cols, row * B)",
            "(row, cols.astype(ct.int64))",
            "ct.astype(cols, ct.int64) + x.shape[1] * row",
            "ct.arange(B, dtype=ct.int32, start=row, step=1)",
            "(ct.load(idx, (row,), (1,)).item(), cols)",
        ] {
            bad(&RULE, &code(indices).replace(")\n    a", ")\n    a").replace(
                &format!("{indices})\n"),
                &format!("{indices})  # TP401\n"),
            ));
        }
        bad(
            &RULE,
            "@ct.kernel\ndef k(x, B: ct.Constant[int]):\n    for j in range(4):\n        o = j * B + ct.arange(B, dtype=ct.int32)\n        ct.scatter(x, (ct.bid(0), o), 0, check_bounds=True)  # TP401\n",
        );
    }

    #[test]
    fn other_indices() {
        for indices in [
            "row",
            "(row, 0)",
            "cols * 2",
            "cols % n",
            "(cols, 0)",
            "(cols, row)",
            "ct.gather(idx, cols * 2)",
            "ct.load(idx, (row,), (B,))",
            "(ct.load(idx, (row,), (B,))[:, None], cols[None, :])",
            "ct.where(cols < n, cols, 0)",
            "cols[:, None] * n + cols[None, :]",
            "ct.arange(B, dtype=ct.int32, step=2)",
            "ct.arange(1, dtype=ct.int32)",
            "n - cols",
            "unknown(cols)",
        ] {
            good(&RULE, &code(indices));
        }
    }

    #[test]
    fn where_there_is_no_tma() {
        let target = Target {
            archs: vec![Arch::Sm80],
            ..Target::default()
        };
        good_for(&RULE, &format!("import cuda.tile as ct\n{}", code("cols")), &target);
    }
}
