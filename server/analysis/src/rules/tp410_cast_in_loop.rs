//! Values that a loop carries in another dtype than it computes in.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use crate::body::{Device, Dtype, Ty};
use crate::rules::bindings;
use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings};

rule! {
    /// A loop casts a tile, or what it carries from one iteration to the next, there and back.
    ///
    /// Each iteration pays two conversions, and rounds to the narrower dtype once more than needed.
    /// Carry the wider dtype and cast once, after the loop. A cast of something that the loop only reads
    /// is no fault: it is moved out of the loop (tileiras 13.4 compiles both forms to the same code).
    ///
    /// ```python bad
    /// @ct.kernel
    /// def total(x, y, n: int, TILE: ct.Constant[int]):
    ///     acc = ct.zeros((TILE,), dtype=ct.float16)
    ///     for i in range(n):
    ///         wide = ct.astype(acc, ct.float32)
    ///         wide = wide + ct.astype(ct.load(x, (i,), (TILE,)), ct.float32)
    ///         acc = ct.astype(wide, ct.float16)  # TP410
    ///     ct.store(y, (0,), acc)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def total(x, y, n: int, TILE: ct.Constant[int]):
    ///     acc = ct.zeros((TILE,), dtype=ct.float32)
    ///     for i in range(n):
    ///         acc = acc + ct.astype(ct.load(x, (i,), (TILE,)), ct.float32)
    ///     ct.store(y, (0,), ct.astype(acc, ct.float16))
    /// ```
    TP410 "cast-in-loop" Hint,
    Device(check)
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    let device = &at.device;
    let mut back = Vec::new();
    device.walk(&mut |expr, place| {
        if place.in_loop()
            && let Some(tile) = there_and_back(device, expr)
        {
            out.push(
                expr.span,
                format!(
                    "`{}` is cast there and back in every iteration",
                    at.source(tile.span)
                ),
            );
            return;
        }
        if let Some(around) = place.loops().last()
            && let Some(StmtKind::Assign { targets, value }) = place.stmt().map(|s| &s.kind)
            && value.span == expr.span
            && let [target] = &targets[..]
            && let Some(name) = target.name()
            && let Some((inner, dtype)) = cast(device, expr)
        {
            back.push((around, name, expr, inner, dtype));
        }
    });
    for (around, name, expr, inner, dtype) in back {
        if is_carried(&device.def.body, around, name)
            && round_trip(device, around, name, inner, dtype)
        {
            out.push(
                expr.span,
                format!("`{name}` is cast there and back in every iteration; carry the wider dtype and cast after the loop"),
            );
        }
    }
}

/// What a cast casts, and to which dtype.
fn cast<'a>(device: &Device<'a>, expr: &'a Expr) -> Option<(&'a Expr, &'a Dtype)> {
    let ExprKind::Call { func, args } = &expr.kind else {
        return None;
    };
    // Whatever its module is called.
    if matches!(&func.kind, ExprKind::Attribute { attr, .. } if attr.name != "astype") {
        return None;
    }
    let (inner, to) = match (device.call(expr), &func.kind) {
        (Some(call), _) if call.name == "astype" => (call.arg(0, "x")?, call.arg(1, "dtype")?),
        (None, ExprKind::Attribute { value, attr }) if attr.name == "astype" => {
            (&**value, &args.first()?.value)
        }
        _ => return None,
    };
    match device.ty(to) {
        Ty::Dtype(dtype) => Some((inner, dtype)),
        _ => None,
    }
}

/// The tile of a cast of a cast, if it has the dtype at the end from the beginning.
fn there_and_back<'a>(device: &Device<'a>, expr: &'a Expr) -> Option<&'a Expr> {
    let (inner, end) = cast(device, expr)?;
    let (tile, between) = cast(device, device.follow(inner))?;
    let begin = &device.tile(tile)?.dtype;
    (begin == end && between != end && *end != Dtype::Unknown).then_some(tile)
}

/// The name is bound before the loop and so holds what the iteration before left.
fn is_carried(body: &[Stmt], around: &Stmt, name: &SmolStr) -> bool {
    for stmt in body {
        if stmt.span == around.span {
            return false;
        }
        if stmt.span.contains(around.span) {
            return stmt
                .blocks()
                .into_iter()
                .any(|inner| is_carried(inner, around, name));
        }
        if bindings::bound(std::slice::from_ref(stmt)).contains(name) {
            return true;
        }
    }
    false
}

/// The loop casts the name to another dtype as well, and that goes into what is cast back.
fn round_trip<'a>(
    device: &Device<'a>,
    around: &'a Stmt,
    name: &SmolStr,
    inner: &'a Expr,
    dtype: &Dtype,
) -> bool {
    let is_there = |e: &'a Expr| {
        cast(device, e).is_some_and(|(of, to)| of.name() == Some(name) && to != dtype)
    };
    let mut direct = false;
    inner.walk(&mut |e| direct |= is_there(e));
    if direct {
        return true;
    }
    // Through one other name.
    let mut through = false;
    let mut names: Vec<SmolStr> = Vec::new();
    inner.walk(&mut |e| names.extend(e.name().cloned()));
    for body in around.blocks() {
        for stmt in body {
            let StmtKind::Assign { targets, value } = &stmt.kind else {
                continue;
            };
            let feeds = targets
                .iter()
                .any(|t| t.name().is_some_and(|n| names.contains(n)));
            value.walk(&mut |e| through |= feeds && is_there(e));
        }
    }
    through
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn kernel(body: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    a = ct.zeros((T,), dtype=ct.bfloat16)\n    w = ct.load(x, (0,), (T,))\n    for i in range(n):\n        t = ct.load(x, (i,), (T,))\n        {}\n    ct.store(y, (0,), a)\n",
            body.replace('\n', "\n        ")
        )
    }

    #[test]
    fn directly_or_through_a_name() {
        for body in [
            "b = ct.astype(ct.astype(t, ct.float32), x.dtype)  # TP410\na = a + b",
            "h = ct.astype(t, ct.float16)\nb = h.astype(t.dtype)  # TP410\na = a + b",
            "a = ct.astype(ct.astype(a, ct.float32) * 2 + t, ct.bfloat16)  # TP410",
            "a = (a.astype(ct.float32) + t).astype(ct.bfloat16)  # TP410",
            "f = ct.astype(a, ct.float32) + t\na = f.astype(y.dtype)  # TP410",
        ] {
            bad(&RULE, &kernel(body));
        }
    }

    #[test]
    fn carried_by_a_loop_within_others() {
        bad(
            &RULE,
            "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    for r in range(n):\n        a = ct.zeros((T,), dtype=ct.float16)\n        for i in range(n):\n            a = ct.astype(ct.astype(a, ct.float32) + r, ct.float16)  # TP410\n        ct.store(y, (r,), a)\n",
        );
    }

    #[test]
    fn made_anew_by_a_loop_within_others() {
        good(
            &RULE,
            "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    for r in range(n):\n        for i in range(n):\n            p = ct.astype(ct.load(x, (i,), (T,)), ct.float32)\n            p = ct.astype(ct.astype(p, ct.float16) + r, ct.float32)\n            ct.store(y, (r,), p)\n",
        );
    }

    #[test]
    fn silent_on_single_casts() {
        for body in [
            // One way.
            "a = a + ct.astype(t, ct.bfloat16)",
            "a = ct.astype(t, ct.bfloat16)",
            // Not carried.
            "p = ct.astype(t, ct.float32)\np = ct.astype(p * 2, ct.bfloat16)\na = a + p",
            // Only read.
            "a = a + ct.astype(w, ct.bfloat16)",
            "b = ct.astype(ct.astype(t, ct.float16), ct.float32)\na = a + b",
            // The same dtype.
            "a = ct.astype(ct.astype(a, ct.bfloat16) + t, ct.bfloat16)",
        ] {
            good(&RULE, &kernel(body));
        }
        // After the loop.
        good(
            &RULE,
            "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    a = ct.zeros((T,), dtype=ct.float32)\n    for i in range(n):\n        a = a + ct.load(x, (i,), (T,))\n    a = ct.astype(ct.astype(a, ct.float32), ct.float16)\n    ct.store(y, (0,), a)\n",
        );
    }

    #[test]
    fn carried_from_before_an_if() {
        let code = |first: &str, mark: &str| {
            format!(
                "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    {first}\n    if n > 2:\n        for i in range(n):\n            t = ct.load(x, (i,), (T,))\n            a = ct.astype(ct.astype(a, ct.float32) + t, ct.bfloat16){mark}\n        ct.store(y, (0,), a)\n"
            )
        };
        bad(
            &RULE,
            &code("a = ct.zeros((T,), dtype=ct.bfloat16)", "  # TP410"),
        );
        bad(
            &RULE,
            &code(
                "if n:\n        a = ct.zeros((T,), dtype=ct.bfloat16)\n    else:\n        a = ct.ones((T,), dtype=ct.bfloat16)",
                "  # TP410",
            ),
        );
    }
}
