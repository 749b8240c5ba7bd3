//! Element-wise access to what lies side by side.

use std::cell::RefCell;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Param};

use crate::body::{ApiCall, Device, Extent, Ty};
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
    let tiles = Tiles {
        device: &device.device,
        counting: RefCell::default(),
    };
    device.calls(&mut |call, _| {
        let (instead, verb) = match call.name.as_str() {
            "gather" => ("load", "reads"),
            "scatter" => ("store", "writes"),
            _ => return,
        };
        let Some(indices) = call.arg(1, "indices") else {
            return;
        };
        if !tiles.is_block(indices) {
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
        let found = found.claim(Claim::access(call.expr.span, Lowering::NoTma));
        if !all {
            found.archs(archs.clone());
        }
    });
}

/// Which tiles of a function count up one by one, and which are the same everywhere.
struct Tiles<'d, 'a> {
    device: &'d Device<'a>,
    /// Of names already asked for: a kernel uses the same indices again and again.
    counting: RefCell<FxHashMap<SmolStr, bool>>,
}

impl<'a> Tiles<'_, 'a> {
    /// Whether indices are those of a block: the last counts up one by one, the others stand still or
    /// count as well.
    fn is_block(&self, indices: &'a Expr) -> bool {
        let indices = self.device.follow(indices);
        match &indices.kind {
            ExprKind::Tuple(parts) => parts.split_last().is_some_and(|(last, rest)| {
                self.is_counting(last, 6)
                    && (rest.iter())
                        .all(|part| self.is_uniform(part, 6) || self.is_counting(part, 6))
            }),
            _ => self.is_counting(indices, 6),
        }
    }

    /// Whether a tile is `arange` plus something that is the same for all its elements.
    fn is_counting(&self, expr: &'a Expr, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let either = |a, b| {
            self.is_counting(a, depth) && self.is_uniform(b, depth)
                || self.is_uniform(a, depth) && self.is_counting(b, depth)
        };
        match &expr.kind {
            // Each loop of a kernel makes its own `columns`.
            ExprKind::Name(name) => {
                if let Some(known) = self.counting.borrow().get(name) {
                    return *known;
                }
                let given = self.device.values(name);
                let counts = !given.is_empty()
                    && (given.into_iter())
                        .all(|value| value.is_some_and(|value| self.is_counting(value, depth)));
                self.counting.borrow_mut().insert(name.clone(), counts);
                counts
            }
            ExprKind::Binary { op, left, right } => match op.as_str() {
                "+" => either(left, right),
                "-" => self.is_counting(left, depth) && self.is_uniform(right, depth),
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
                index.iter().all(axis) && self.is_counting(value, depth)
            }
            ExprKind::Call { func, args } => {
                if let Some(call) = self.device.call(expr) {
                    return self.counts(&call, depth);
                }
                // `offsets.astype(ct.int64)`
                match &func.kind {
                    ExprKind::Attribute { value, attr } => {
                        attr.name == "astype" && args.len() == 1 && self.is_counting(value, depth)
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// The same of a call.
    fn counts(&self, call: &ApiCall<'a>, depth: u32) -> bool {
        let counting = |e| self.is_counting(e, depth);
        let uniform = |e| self.is_uniform(e, depth);
        match call.name.as_str() {
            "arange" => {
                let size = call.arg(0, "size").map(|e| self.device.ty(e));
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

    /// Whether an expression is one number for all elements: a scalar, a constant, a tile of one or of
    /// one number.
    fn is_uniform(&self, expr: &'a Expr, depth: u32) -> bool {
        let ty = self.device.ty(expr);
        if matches!(ty, Ty::Scalar { .. } | Ty::Const(_)) {
            return true;
        }
        if let Ty::Tile(tile) = ty
            && let Some(shape) = &tile.shape
            && !tile.offsets
            && shape.iter().all(|extent| *extent == Extent::Int(1))
        {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let followed = self.device.follow(expr);
        let of = |e: &'a Expr| self.is_uniform(e, depth);
        match &followed.kind {
            ExprKind::Name(name) => match self.device.param(name) {
                Some(param) => self.is_number(param),
                None => followed.span != expr.span && of(followed),
            },
            ExprKind::Binary { left, right, .. } => of(left) && of(right),
            ExprKind::Subscript { value, .. } => match &value.kind {
                ExprKind::Attribute { attr, .. } => {
                    matches!(attr.name.as_str(), "shape" | "strides" | "stride")
                }
                _ => false,
            },
            ExprKind::Call { func, args } => match self.device.call(followed) {
                Some(call) => match call.name.as_str() {
                    "full" => call.arg(1, "fill_value").is_some_and(of),
                    "cdiv" => args.iter().all(|a| of(&a.value)),
                    _ => false,
                },
                None => {
                    let number = func
                        .name()
                        .is_some_and(|n| matches!(n.as_str(), "min" | "max"));
                    number && !args.is_empty() && args.iter().all(|a| of(&a.value))
                }
            },
            _ => false,
        }
    }

    /// Whether a parameter is a number given to the kernel. What a helper is given may be a tile, unless
    /// it says that it is a number.
    fn is_number(&self, param: &Param) -> bool {
        let says_so = (param.annotation.as_ref())
            .and_then(Expr::name)
            .is_some_and(|name| name == "int");
        (self.device.is_kernel || says_so) && !self.device.body.arrays.contains(&param.name.name)
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::arch::Arch;
    use crate::rules::testing::{bad, bad_for, good, good_for};
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
            "(ct.load(idx, (row,), (1,)), cols)",
            "(ct.full((B,), row, ct.int32), cols)",
            "(min(row, n - 1), cols + ct.cdiv(n, B) * B)",
        ] {
            let code = code(indices);
            bad(&RULE, &format!("{}  # TP401\n", code.trim_end()));
        }
        // Made anew in each loop, through another name, in a helper that says what it is given.
        bad(
            &RULE,
            "@ct.kernel\ndef k(x, y, n, B: ct.Constant[int]):\n    for j in range(n):\n        o = j * B + ct.arange(B, dtype=ct.int32)\n        t = ct.gather(x, o)  # TP401\n    for j in range(n):\n        o = j * B + ct.arange(B, dtype=ct.int32)\n        p = o\n        ct.scatter(y, p, t)  # TP401\n",
        );
        bad(
            &RULE,
            "def f(x, start: int, B):\n    return ct.gather(x, start + ct.arange(8, dtype=ct.int32))  # TP401\n",
        );
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
            "(row, cols[1:])",
            "(row, cols[:n])",
            "(row, cols[::2])",
            "unknown(cols)",
            "(lookup(n), cols)",
            "(ct.load(idx, (row,), (B,)), cols)",
            "(max(cols, 1), cols * 2)",
            "(ct.full((B,), cols, ct.int32), row)",
        ] {
            good(&RULE, &code(indices));
        }
        // Given by something else, at least sometimes; what a helper is given may be anything.
        good(
            &RULE,
            "@ct.kernel\ndef k(x, y):\n    i, o = indices(y)\n    ct.gather(x, o)\n",
        );
        good(
            &RULE,
            "@ct.kernel\ndef k(x, y, B: ct.Constant[int]):\n    o = ct.arange(B, dtype=ct.int32)\n    if B > 8:\n        o = ct.load(y, (0,), (B,))\n    ct.gather(x, o)\n",
        );
        good(
            &RULE,
            "def f(x, start, B):\n    return ct.gather(x, start + ct.arange(8, dtype=ct.int32))\n",
        );
    }

    #[test]
    fn where_there_is_no_tma() {
        let target = Target {
            archs: vec![Arch::Sm80],
            ..Target::default()
        };
        good_for(
            &RULE,
            &format!("import cuda.tile as ct\n{}", code("cols")),
            &target,
        );
    }

    #[test]
    fn architectures_without_tma_are_left_out() {
        let code = format!(
            "import cuda.tile as ct\n{}  # TP401\n",
            code("cols").trim_end()
        );
        for (archs, named) in [
            (vec![Arch::Sm90, Arch::Sm100], vec![]),
            (vec![Arch::Sm80, Arch::Sm90], vec![Arch::Sm90]),
        ] {
            let target = Target {
                archs,
                ..Target::default()
            };
            let (_, found) = bad_for(&RULE, &code, &target);
            assert_eq!(found[0].archs, named);
        }
    }
}
