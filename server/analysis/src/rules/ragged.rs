//! Whether what a load reads may reach beyond the array where elements are taken together.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, StmtKind};

use crate::body::{ApiCall, Const, Device, Extent, Place, SourceKind, Tile, Ty};
use crate::rules::reduction::{self, Reduction};

/// A load whose tiles may reach beyond the array.
pub(super) struct Ragged<'a> {
    /// The call.
    pub load: ApiCall<'a>,
    /// What takes its elements together: `sum`, `mma`.
    pub by: SmolStr,
    /// The extent along which the tile may be wider.
    pub extent: &'a Expr,
}

/// An extent of the load's shape that is reduced and that the array may not fill.
pub(super) fn reduced<'a>(
    device: &Device<'a>,
    reduction: &Reduction<'a>,
    load: &ApiCall<'a>,
    place: &Place<'a>,
) -> Option<&'a Expr> {
    if checks_no_bounds(load) {
        return None;
    }
    let shape = reduction::parts(device, load.arg(2, "shape")?);
    let index = reduction::parts(device, load.arg(1, "index")?);
    if shape.len() != index.len() {
        return None;
    }
    // Where no axis was added or dropped, the axes are the same.
    let same_rank = (reduction.tile.shape.as_ref()).is_some_and(|s| s.len() == shape.len());
    let reduced = |axis: usize, extent: &Extent| {
        !matches!(extent, Extent::Int(1) | Extent::Other)
            && (!same_rank || reduction.axes.contains(&axis))
            && (reduction.extents.as_ref()).is_none_or(|all| all.contains(extent))
    };
    let mut axes = shape.into_iter().zip(index).enumerate();
    axes.find_map(|(axis, (extent, index))| {
        let known = extent_of(device, extent);
        let full = is_whole_dimension(extent);
        (reduced(axis, &known) && !full && may_be_ragged(device, &known, index, place))
            .then_some(extent)
    })
}

fn checks_no_bounds(load: &ApiCall<'_>) -> bool {
    (load.keyword("check_bounds")).is_some_and(|e| matches!(e.kind, ExprKind::Bool(false)))
}

fn extent_of(device: &Device<'_>, expr: &Expr) -> Extent {
    match device.ty(expr) {
        Ty::Const(Const::Int(value)) => Extent::Int(*value),
        Ty::Const(Const::Name(name)) => Extent::Name(name.clone()),
        Ty::Unknown => match expr.name().filter(|n| device.param(n).is_some()) {
            Some(name) => Extent::Name(name.clone()),
            None => Extent::Other,
        },
        _ => Extent::Other,
    }
}

fn may_be_ragged<'a>(
    device: &Device<'a>,
    extent: &Extent,
    index: &'a Expr,
    place: &Place<'a>,
) -> bool {
    match device.ty(index) {
        // The only tile along this axis: as wide as the array, unless the kernel says otherwise.
        Ty::Const(_) => masked_elsewhere(device, extent) || averaged(device, extent),
        Ty::Scalar { .. } => !counts_full_tiles(device, index, place),
        // Read from memory, or from a caller: page tables and the like, laid out in whole tiles.
        _ => false,
    }
}

/// The extent is called after a dimension of the data, not after a tile: `HEAD_DIM`, `D`.
fn is_whole_dimension(extent: &Expr) -> bool {
    let Some(name) = extent.name() else {
        return false;
    };
    let name = name.to_ascii_lowercase();
    name == "d" || name.ends_with("_d") || name.contains("dim")
}

/// The index is, or is made of, the counter of a loop that rounds the number of tiles down.
fn counts_full_tiles<'a>(device: &Device<'a>, index: &'a Expr, place: &Place<'a>) -> bool {
    let mut names: Vec<&SmolStr> = Vec::new();
    device.follow(index).walk(&mut |e| names.extend(e.name()));
    place.loops().any(|stmt| {
        let StmtKind::For { target, iter, .. } = &stmt.kind else {
            return false;
        };
        let ExprKind::Call { args, .. } = &iter.kind else {
            return false;
        };
        let bound = match &args[..] {
            [end] | [_, end, ..] => device.follow(&end.value),
            [] => return false,
        };
        target.name().is_some_and(|n| names.contains(&n)) && divides_down(device, bound)
    })
}

/// `n // TILE`, not `(n + TILE - 1) // TILE`. A number of tiles that the host passes is taken to be
/// that of whole ones.
fn divides_down<'a>(device: &Device<'a>, bound: &'a Expr) -> bool {
    match &bound.kind {
        ExprKind::Name(_) => true,
        ExprKind::Binary { op, left, .. } if op == "//" => {
            !matches!(&device.follow(left).kind, ExprKind::Binary { op, .. } if op == "+" || op == "-")
        }
        ExprKind::Int(_) => true,
        _ => false,
    }
}

/// The kernel compares offsets of this extent with a bound, or pads another tile of it: it knows
/// that the array may be narrower.
fn masked_elsewhere(device: &Device<'_>, extent: &Extent) -> bool {
    let Extent::Name(_) = extent else {
        return false;
    };
    let mut found = false;
    device.walk(&mut |expr, _| {
        if found {
            return;
        }
        let Some(tile) = device.tile(expr) else {
            return;
        };
        let has_extent = || tile.shape.as_ref().is_some_and(|s| s.contains(extent));
        found = match &expr.kind {
            ExprKind::Compare { first, rest } => {
                let sides = std::iter::once(first.as_ref()).chain(rest.iter().map(|(_, e)| e));
                sides
                    .filter_map(|e| device.tile(e))
                    .any(|side| side.offsets && side.constant)
                    && has_extent()
            }
            ExprKind::Call { .. } => {
                tile.sources
                    .iter()
                    .any(|s| s.span == expr.span && s.kind == SourceKind::Padded)
                    && has_extent()
            }
            _ => false,
        };
    });
    found
}

/// A sum over this extent is divided by another number: that many elements count.
fn averaged(device: &Device<'_>, extent: &Extent) -> bool {
    let Extent::Name(name) = extent else {
        return false;
    };
    let mut found = false;
    device.walk(&mut |expr, _| {
        let ExprKind::Binary { op, left, right } = &expr.kind else {
            return;
        };
        if op != "/"
            || found
            || right
                .name()
                .is_none_or(|n| n == name || device.param(n).is_none())
        {
            return;
        }
        let total = device.call(device.follow(left));
        found = (total.filter(|c| c.name == "sum"))
            .and_then(|call| reduction::reduction(device, &call))
            .and_then(|r| r.extents)
            .is_some_and(|all| all.contains(extent));
    });
    found
}

/// Loads whose tiles a loop multiplies along the axis that it walks: what is beyond the array is
/// summed. Both operands must be what the loop reads, so that probabilities that a mask has made zero
/// are left alone.
pub(super) fn multiplied<'a>(
    device: &Device<'a>,
    seen: &mut FxHashSet<Span>,
    found: &mut Vec<Ragged<'a>>,
) {
    let mut products = Vec::new();
    device.calls(&mut |call, _| {
        if matches!(call.name.as_str(), "mma" | "matmul")
            && let (Some(left), Some(right)) = (call.arg(0, "x"), call.arg(1, "y"))
            && let (Some(left), Some(right)) = (device.tile(left), device.tile(right))
        {
            products.push((call.name.clone(), left, right));
        }
    });
    for (name, left, right) in products {
        let along = |tile: &Tile, from_end: usize| {
            let shape = tile.shape.as_ref()?;
            shape.get(shape.len().checked_sub(from_end)?).cloned()
        };
        let sides = [
            (left, right, along(left, 1)),
            (right, left, along(right, 2)),
        ];
        for (tile, other, extent) in sides {
            let known = |e: &Extent| !matches!(e, Extent::Int(1) | Extent::Other);
            let Some(extent) = extent.filter(known) else {
                continue;
            };
            for source in tile
                .sources
                .iter()
                .filter(|s| s.kind == SourceKind::Unpadded)
            {
                if seen.contains(&source.span) {
                    continue;
                }
                let Some((load, place)) = reduction::call_at(device, source.span) else {
                    continue;
                };
                if read_in(device, other, &place)
                    && let Some(written) = walked(device, &load, &extent, &place)
                {
                    seen.insert(source.span);
                    found.push(Ragged {
                        load,
                        by: name.clone(),
                        extent: written,
                    });
                }
            }
        }
    }
}

/// A tile is one read of rows and columns that the same loop makes.
fn read_in(device: &Device<'_>, tile: &Tile, place: &Place<'_>) -> bool {
    let [source] = &tile.sources[..] else {
        return false;
    };
    let loop_of = |place: &Place<'_>| place.loops().last().map(|s| s.span);
    let is_wide = |call: &ApiCall<'_>| {
        let shape = device.tile(call.expr).and_then(|t| t.shape.as_ref());
        shape.is_some_and(|s| s.iter().filter(|e| **e != Extent::Int(1)).count() > 1)
    };
    reduction::call_at(device, source.span)
        .is_some_and(|(call, there)| is_wide(&call) && loop_of(&there) == loop_of(place))
}

/// The extent of a load's shape along which the innermost loop walks, if it may end in a part.
fn walked<'a>(
    device: &Device<'a>,
    load: &ApiCall<'a>,
    extent: &Extent,
    place: &Place<'a>,
) -> Option<&'a Expr> {
    if checks_no_bounds(load) {
        return None;
    }
    let shape = reduction::parts(device, load.arg(2, "shape")?);
    let index = reduction::parts(device, load.arg(1, "index")?);
    let StmtKind::For { target, .. } = &place.loops().last()?.kind else {
        return None;
    };
    let counter = target.name()?;
    (shape.into_iter().zip(index)).find_map(|(written, index)| {
        let walks = index.name() == Some(counter)
            && matches!(device.ty(index), Ty::Scalar { .. })
            && extent_of(device, written) == *extent;
        (walks && !counts_full_tiles(device, index, place)).then_some(written)
    })
}
