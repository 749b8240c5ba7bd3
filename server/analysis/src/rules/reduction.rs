//! Calls that take the elements of a tile together: which tile, and along which of its axes.

use tileperf_syntax::ast::{Expr, ExprKind};

use crate::body::{ApiCall, Device, Extent, Place, Tile};

/// A call that takes elements of a tile together.
pub(super) struct Reduction<'a> {
    /// The call.
    pub call: ApiCall<'a>,
    /// The argument.
    pub arg: &'a Expr,
    /// What the argument is.
    pub tile: &'a Tile,
    /// The extents that are taken together, if they are known.
    pub extents: Option<Vec<Extent>>,
    /// The axes of those.
    pub axes: Vec<usize>,
}

/// Names in `cuda.tile` that take the elements of a tile together.
const NAMES: [&str; 10] = [
    "sum", "max", "min", "prod", "argmax", "argmin", "cumsum", "cumprod", "reduce", "scan",
];

/// Every reduction and scan of a function, in source order.
pub(super) fn reductions<'a>(
    device: &Device<'a>,
    visit: &mut dyn FnMut(&Reduction<'a>, &Place<'a>),
) {
    device.calls(&mut |call, place| {
        if let Some(reduction) = reduction(device, call) {
            visit(&reduction, place);
        }
    });
}

/// A call as a reduction, if it is one of a tile.
pub(super) fn reduction<'a>(device: &Device<'a>, call: &ApiCall<'a>) -> Option<Reduction<'a>> {
    if !NAMES.contains(&call.name.as_str()) {
        return None;
    }
    let arg = call.arg(0, "x")?;
    let tile = device.tile(arg)?;
    let axes = tile.shape.as_ref().and_then(|shape| {
        let all = || (0..shape.len()).collect();
        match call.arg(1, "axis") {
            None if call.name.starts_with("cum") => Some(vec![0]),
            None => Some(all()),
            Some(axis) if matches!(axis.kind, ExprKind::None) => Some(all()),
            Some(axis) => axes(device, axis, shape.len()),
        }
    });
    let extents = (axes.as_ref())
        .zip(tile.shape.as_ref())
        .and_then(|(axes, shape)| axes.iter().map(|a| shape.get(*a).cloned()).collect());
    Some(Reduction {
        call: call.clone(),
        arg,
        tile,
        extents,
        axes: axes.unwrap_or_default(),
    })
}

fn axes(device: &Device<'_>, axis: &Expr, rank: usize) -> Option<Vec<usize>> {
    if let ExprKind::Tuple(items) | ExprKind::List(items) = &axis.kind {
        let parts: Option<Vec<Vec<usize>>> = items.iter().map(|a| axes(device, a, rank)).collect();
        return parts.map(|all| all.concat());
    }
    let axis = device.ty(axis).int()?;
    let axis = if axis < 0 { axis + rank as i64 } else { axis };
    let axis = usize::try_from(axis).ok().filter(|a| *a < rank)?;
    Some(vec![axis])
}

/// The call of the function that stands at a place.
pub(super) fn call_at<'a>(
    device: &Device<'a>,
    span: tileperf_syntax::Span,
) -> Option<(ApiCall<'a>, Place<'a>)> {
    let mut found = None;
    device.calls(&mut |call, place| {
        if call.expr.span == span {
            found = Some((call.clone(), place.clone()));
        }
    });
    found
}

/// The parts of a tuple, or the one thing that stands for a tuple of it.
pub(super) fn parts<'a>(device: &Device<'a>, expr: &'a Expr) -> Vec<&'a Expr> {
    match &device.follow(expr).kind {
        ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().collect(),
        _ => vec![expr],
    }
}

/// What stands before the name in a call of cuTile's: `ct` of `ct.load`.
pub(super) fn module_of<'t>(call: &ApiCall<'_>, text: &'t str) -> Option<&'t str> {
    let ExprKind::Call { func, .. } = &call.expr.kind else {
        return None;
    };
    match &func.kind {
        ExprKind::Attribute { value, .. } => text.get(value.span.range()),
        _ => None,
    }
}
