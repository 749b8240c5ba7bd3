//! Masks applied by multiplication.

use tileperf_syntax::ast::{Expr, ExprKind};

use crate::body::{Device, Dtype, Tile};
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings};

rule! {
    /// A tile of floats is masked by multiplying it with a mask.
    ///
    /// Zero times infinity or NaN is NaN, so what should be masked away comes through where it matters
    /// most: padding is undetermined, and scores are masked with minus infinity. `ct.where` selects,
    /// and needs no cast of the mask.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def head(x, y, n: int, TILE: ct.Constant[int]):
    ///     mask = ct.arange(TILE, dtype=ct.int32) < n
    ///     tile = ct.astype(ct.load(x, (0,), (TILE,)), ct.float32)
    ///     ct.store(y, (0,), tile * mask)  # TP217
    /// ```
    ///
    /// ```python fixed
    /// @ct.kernel
    /// def head(x, y, n: int, TILE: ct.Constant[int]):
    ///     mask = ct.arange(TILE, dtype=ct.int32) < n
    ///     tile = ct.astype(ct.load(x, (0,), (TILE,)), ct.float32)
    ///     ct.store(y, (0,), ct.where(mask, tile, 0.0))
    /// ```
    ///
    /// A mask that is counted is a number:
    ///
    /// ```python good
    /// @ct.kernel
    /// def count(x, y, n: int, TILE: ct.Constant[int]):
    ///     mask = ct.arange(TILE, dtype=ct.int32) < n
    ///     weight = ct.astype(mask, ct.int32) * 2
    ///     ct.store(y, (0,), ct.sum(weight))
    /// ```
    TP217 "mask-by-multiply" Warning,
    Device(check)
}

fn check(at: &DeviceContext<'_>, out: &mut Findings<'_>) {
    let device = &at.device;
    device.walk(&mut |expr, _| {
        let Some((left, right)) = product(device, expr) else {
            return;
        };
        let (Some(a), Some(b)) = (device.tile(left), device.tile(right)) else {
            return;
        };
        let (mask, value) = match (is_masked(a, b), is_masked(b, a)) {
            (true, _) => (right, left),
            (_, true) => (left, right),
            _ => return,
        };
        report(at, expr, mask, value, out);
    });
}

fn product<'a>(device: &Device<'a>, expr: &'a Expr) -> Option<(&'a Expr, &'a Expr)> {
    match &expr.kind {
        ExprKind::Binary { op, left, right } if op == "*" => Some((left, right)),
        ExprKind::Call { .. } => {
            let call = device.call(expr).filter(|c| c.name == "mul")?;
            Some((call.arg(0, "x")?, call.arg(1, "y")?))
        }
        _ => None,
    }
}

/// A tile of what may be floats times a mask.
fn is_masked(value: &Tile, mask: &Tile) -> bool {
    let number = value.mask || value.constant || matches!(value.dtype, Dtype::Int | Dtype::Bool);
    // Cast to whole numbers the mask is meant as one.
    mask.mask && mask.dtype != Dtype::Int && !number
}

fn report(
    at: &DeviceContext<'_>,
    product: &Expr,
    mask: &Expr,
    value: &Expr,
    out: &mut Findings<'_>,
) {
    let text = at.source(value.span);
    let described = out.push(
        product.span,
        format!(
            "`{text}` is masked by multiplication with `{}`, which keeps NaN and makes NaN of infinity; use `where`",
            at.source(mask.span)
        ),
    );
    let Some(selector) = selector(at, mask) else {
        return;
    };
    let Some(module) = at
        .device
        .module
        .imports
        .iter()
        .find_map(|(name, path)| (path == "cuda.tile").then_some(name.as_str()))
    else {
        return;
    };
    let edits = Edits::new(at.text).replace(
        product.span,
        format!("{module}.where({}, {text}, 0.0)", at.source(selector.span)),
    );
    described.review_fix("Select with `where`", edits);
}

/// The mask itself: without the cast to floats.
fn selector<'a>(at: &DeviceContext<'a>, mask: &'a Expr) -> Option<&'a Expr> {
    let device = &at.device;
    let is_bool = |e: &Expr| device.tile(e).is_some_and(|t| t.dtype == Dtype::Bool);
    if is_bool(mask) {
        return Some(mask);
    }
    let ExprKind::Call { func, .. } = &mask.kind else {
        return None;
    };
    let inner = match (device.call(mask), &func.kind) {
        (Some(call), _) if call.name == "astype" => call.arg(0, "x")?,
        (None, ExprKind::Attribute { value, attr }) if attr.name == "astype" => value,
        _ => return None,
    };
    is_bool(inner).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, fixes, good};

    fn kernel(body: &str) -> String {
        format!(
            "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    m = ct.arange(T, dtype=ct.int32) < n\n    t = ct.astype(ct.load(x, (0,), (T,)), ct.float32)\n    {body}\n"
        )
    }

    #[test]
    fn every_form_of_mask_and_product() {
        for body in [
            "ct.store(y, (0,), m * t)  # TP217",
            "ct.store(y, (0,), ct.mul(t, m))  # TP217",
            "ct.store(y, (0,), t * ct.astype(m, ct.float32))  # TP217",
            "ct.store(y, (0,), ct.exp(t) * m.astype(t.dtype))  # TP217",
            "f = ct.astype(m, ct.float32)\n    ct.store(y, (0,), t * f)  # TP217",
            "ct.store(y, (0,), t * (t > 0))  # TP217",
            "ct.store(y, (0,), t * (m & (t > 0)))  # TP217",
            "ct.store(y, (0,), t * ct.less(t, 0))  # TP217",
            "u = ct.load(x, (0,), (T,))\n    ct.store(y, (0,), u * ct.astype(m, u.dtype))  # TP217",
        ] {
            bad(&RULE, &kernel(body));
        }
    }

    #[test]
    fn the_cast_goes_with_the_product() {
        fixes(
            &RULE,
            &kernel("ct.store(y, (0,), t * ct.astype(m, ct.float32))  # TP217"),
            &kernel("ct.store(y, (0,), ct.where(m, t, 0.0))"),
        );
        fixes(
            &RULE,
            &kernel("ct.store(y, (0,), (t > 0).astype(ct.float32) * t)  # TP217"),
            &kernel("ct.store(y, (0,), ct.where(t > 0, t, 0.0))"),
        );
    }

    #[test]
    fn silent_where_the_mask_is_a_number() {
        for body in [
            "ct.store(y, (0,), t * ct.astype(m, ct.int32))",
            "ct.store(y, (0,), ct.astype(m, ct.int32) * ct.arange(T, dtype=ct.int32))",
            "ct.store(y, (0,), m * 2)",
            "ct.store(y, (0,), 0.5 * ct.astype(m, ct.float32))",
            "ct.store(y, (0,), m * (t > 0))",
            "ct.store(y, (0,), t * ct.where(m, 1.0, 2.0))",
            "ct.store(y, (0,), t * ct.where(m, t, 0.0))",
            "ct.store(y, (0,), ct.where(m, t, 0.0) + t)",
            "ct.store(y, (0,), t * t)",
        ] {
            good(&RULE, &kernel(body));
        }
    }
}
