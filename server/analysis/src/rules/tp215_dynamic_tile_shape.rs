//! Tiles whose shape is known only when the kernel runs.

use tileperf_syntax::ast::{Expr, ExprKind};

use crate::body::{ApiCall, Device, Ty};
use crate::rules::flow::is_plain_parameter;
use crate::rules::reduction::parts;
use crate::rules::rule::rule;
use crate::rules::{Claim, DeviceContext, Findings};

rule! {
    /// A tile is made with a shape that is known only when the kernel runs.
    ///
    /// The shape of every tile is part of the compiled code: `zeros`, `ones`, `full` and `arange` take
    /// compile-time constants only, and the kernel does not compile otherwise. Pass the extent as
    /// `ct.Constant[int]`. An array's shape is fine in arithmetic, loop bounds and comparisons.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def fill(x, TILE: ct.Constant[int]):
    ///     tile = ct.full(x.shape, 0.0, dtype=ct.float32)  # TP215
    ///     ct.store(x, (ct.bid(0),), tile)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def fill(x, TILE: ct.Constant[int]):
    ///     tile = ct.full((TILE,), 0.0, dtype=ct.float32)
    ///     mask = ct.arange(TILE, dtype=ct.int32) < x.shape[0]
    ///     ct.store(x, (ct.bid(0),), ct.where(mask, tile, 1.0))
    /// ```
    TP215 "dynamic-tile-shape" Error,
    Device(check)
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    // What a helper is passed may be constant.
    if !at.device.is_kernel {
        return;
    }
    at.device.calls(&mut |call, _| {
        let Some(shape) = shape(call) else { return };
        let device = &at.device;
        let whole = runtime(device, shape);
        let part = || parts(device, shape).into_iter().find(|p| runtime(device, p));
        let Some(extent) = whole.then_some(shape).or_else(part) else {
            return;
        };
        out.push(
            call.expr.span,
            format!(
                "`{}` needs a compile-time constant shape, `{}` is known only when the kernel runs; the kernel does not compile",
                call.name,
                at.source(extent.span)
            ),
        )
        .claim(Claim::Errors);
    });
}

fn shape<'a>(call: &ApiCall<'a>) -> Option<&'a Expr> {
    match call.name.as_str() {
        "zeros" | "ones" | "full" => call.arg(0, "shape"),
        "arange" => call.arg(0, "size"),
        _ => None,
    }
}

/// Surely known only when the kernel runs: made of a block index, of something read from memory, of
/// an array's shape or of a parameter that is a plain number.
fn runtime<'a>(device: &Device<'a>, expr: &'a Expr) -> bool {
    if matches!(device.ty(expr), Ty::Tile(tile) if !tile.sources.is_empty()) {
        return true;
    }
    let followed = device.follow(expr);
    match &followed.kind {
        ExprKind::Name(name) => is_number(device, name),
        ExprKind::Attribute { attr, .. } if attr.name == "shape" => is_shape(device, followed),
        ExprKind::Subscript { value, .. } => is_shape(device, device.follow(value)),
        ExprKind::Binary { left, right, .. } => runtime(device, left) || runtime(device, right),
        ExprKind::Call { args, .. } => match device.call(followed) {
            Some(call) => match call.name.as_str() {
                "bid" | "num_blocks" => true,
                "cdiv" => args.iter().any(|a| runtime(device, &a.value)),
                _ => false,
            },
            None => false,
        },
        _ => false,
    }
}

/// The shape of an array, nothing of which is fixed by an annotation.
fn is_shape<'a>(device: &Device<'a>, expr: &'a Expr) -> bool {
    let ExprKind::Attribute { value, attr } = &expr.kind else {
        return false;
    };
    attr.name == "shape"
        && value
            .name()
            .and_then(|n| device.param(n))
            .is_some_and(|p| p.annotation.is_none() && matches!(device.ty(value), Ty::Array(_)))
}

/// A parameter that says that it is a number.
fn is_number(device: &Device<'_>, name: &str) -> bool {
    (device.param(name)).is_some_and(|p| p.annotation.is_some()) && is_plain_parameter(device, name)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn kernel(body: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, n: int, u, T: ct.Constant[int]):\n    t = ct.load(x, (0,), (T,))\n    {body}\n    ct.store(x, (0,), t)\n"
        )
    }

    #[test]
    fn every_source_and_constructor() {
        for body in [
            "z = ct.zeros(x.shape, dtype=ct.float32)  # TP215",
            "z = ct.zeros((x.shape[0],), ct.float32)  # TP215",
            "z = ct.ones((T, n), dtype=ct.float32)  # TP215",
            "z = ct.full(shape=(n * 2,), fill_value=0, dtype=ct.float32)  # TP215",
            "z = ct.arange(n, dtype=ct.int32)  # TP215",
            "z = ct.zeros((ct.bid(0),), dtype=ct.float32)  # TP215",
            "m = x.shape[0]\n    z = ct.zeros((m,), dtype=ct.float32)  # TP215",
            "s = (T, n)\n    z = ct.zeros(s, dtype=ct.float32)  # TP215",
            "z = ct.zeros((ct.cdiv(n, T),), dtype=ct.float32)  # TP215",
            "z = ct.zeros((ct.load(x, 0, shape=()),), dtype=ct.float32)  # TP215",
        ] {
            bad(&RULE, &kernel(body));
        }
    }

    #[test]
    fn silent_where_it_may_be_constant() {
        for body in [
            "z = ct.zeros((T, T * 2), dtype=ct.float32)",
            "z = ct.zeros(t.shape, dtype=ct.float32)",
            "z = ct.zeros((t.shape[0],), dtype=ct.float32)",
            "z = ct.zeros((), dtype=ct.float32)",
            "z = ct.zeros((WIDTH, 8), dtype=ct.float32)",
            // Perhaps annotated elsewhere, or a constant under another name.
            "z = ct.zeros((u,), dtype=ct.float32)",
            // The value, not the shape.
            "z = ct.full((T,), n, dtype=ct.int32)",
            "z = ct.arange(T, dtype=ct.int32) < x.shape[0]",
            "n = 8\n    z = ct.zeros((n,), dtype=ct.float32)",
            "for i in range(n):\n        z = ct.zeros((T,), dtype=ct.float32)",
        ] {
            good(&RULE, &kernel(body));
        }
        // An array with a static shape; a constant by an alias; a helper.
        for code in [
            "from typing import Annotated\nimport cuda.tile as ct\n@ct.kernel\ndef k(x: Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(0,))]):\n    ct.store(x, (0,), ct.zeros((x.shape[0],), dtype=ct.float32))\n",
            "import cuda.tile as ct\nConstInt = ct.Constant[int]\n@ct.kernel\ndef k(x, n: ConstInt):\n    ct.store(x, (0,), ct.zeros((n,), dtype=ct.float32))\n",
            "import cuda.tile as ct\ndef helper(x, n: int):\n    return ct.zeros((n,), dtype=ct.float32)\n@ct.kernel\ndef k(x):\n    ct.store(x, (0,), helper(x, 8))\n",
        ] {
            good(&RULE, code);
        }
    }

    #[test]
    fn divisions_of_constants() {
        good(
            &RULE,
            &kernel("z = ct.zeros((ct.cdiv(T, 2),), dtype=ct.float32)"),
        );
        bad(
            &RULE,
            &kernel("z = ct.zeros((ct.cdiv(T, n),), dtype=ct.float32)  # TP215"),
        );
        bad(
            &RULE,
            &kernel("z = ct.zeros((ct.cdiv(n, u),), dtype=ct.float32)  # TP215"),
        );
    }
}
