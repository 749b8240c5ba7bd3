//! What is known of the shapes of tiles.

use tileperf_syntax::ast::{Arg, Expr, ExprKind};

use super::infer::Infer;
use super::{Const, Extent, Tile, Ty, argument};

impl Infer<'_> {
    pub(super) fn shape_of(&self, args: &[Arg], place: usize, name: &str) -> Option<Vec<Extent>> {
        let written = argument(args, Some(place), name)?;
        match self.body.ty(written) {
            Ty::Tuple(parts) => {
                let items = match &written.kind {
                    ExprKind::Tuple(items) | ExprKind::List(items) => Some(items),
                    _ => None,
                };
                let extent = |(i, ty): (usize, &Ty)| match (ty, items.and_then(|t| t.get(i))) {
                    (Ty::Unknown, Some(item)) => self.extent_by_name(item),
                    _ => ty.extent(),
                };
                Some(parts.iter().enumerate().map(extent).collect())
            }
            // `shape=BLOCK` stands for `(BLOCK,)`.
            ty @ Ty::Const(Const::Int(_) | Const::Name(_)) => Some(vec![ty.extent()]),
            _ => None,
        }
    }

    /// A parameter of a helper that is an extent is a constant, whatever callers pass.
    fn extent_by_name(&self, item: &Expr) -> Extent {
        match item.name() {
            Some(name) if self.params.contains(name) => Extent::Name(name.clone()),
            _ => Extent::Other,
        }
    }

    /// The shape that a reduction leaves.
    pub(super) fn reduced(&self, args: &[Arg], tile: &Tile) -> Option<Vec<Extent>> {
        let mut shape = tile.shape.clone()?;
        let keeps = matches!(
            self.typed(args, usize::MAX, "keepdims"),
            Ty::Const(Const::Bool(true))
        );
        let axes: Vec<i64> = match self.typed(args, 1, "axis") {
            Ty::Unknown if argument(args, Some(1), "axis").is_none() => {
                (0..shape.len() as i64).collect()
            }
            Ty::None => (0..shape.len() as i64).collect(),
            Ty::Tuple(parts) => parts.iter().map(Ty::int).collect::<Option<_>>()?,
            ty => vec![ty.int()?],
        };
        let mut gone = Vec::new();
        for number in axes {
            let axis = axis(&Ty::Const(Const::Int(number)), &shape)?;
            shape[axis] = Extent::Int(1);
            gone.push(axis);
        }
        if !keeps {
            let mut axis = 0;
            shape.retain(|_| {
                axis += 1;
                !gone.contains(&(axis - 1))
            });
        }
        Some(shape)
    }
}

/// The shape with two axes swapped: those named, or the only two.
pub(super) fn transposed(tile: &Tile, first: &Ty, second: &Ty) -> Option<Vec<Extent>> {
    let mut shape = tile.shape.clone()?;
    match (first, second) {
        (Ty::Unknown, Ty::Unknown) if shape.len() == 2 => shape.swap(0, 1),
        _ => {
            let (first, second) = (axis(first, &shape)?, axis(second, &shape)?);
            shape.swap(first, second);
        }
    }
    Some(shape)
}

pub(super) fn permuted(tile: &Tile, axes: &Ty) -> Option<Vec<Extent>> {
    let shape = tile.shape.as_ref()?;
    let Ty::Tuple(axes) = axes else { return None };
    (axes.iter())
        .map(|a| shape.get(axis(a, shape)?).cloned())
        .collect()
}

/// An axis of a shape, counted from either end.
fn axis(ty: &Ty, shape: &[Extent]) -> Option<usize> {
    let axis = ty.int()?;
    let axis = if axis < 0 {
        axis + shape.len() as i64
    } else {
        axis
    };
    usize::try_from(axis).ok().filter(|a| *a < shape.len())
}
