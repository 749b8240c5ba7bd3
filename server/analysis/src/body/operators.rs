//! What operators, attributes and subscripts give, by the types of what they are applied to.

use tileperf_syntax::ast::{Expr, ExprKind};

use super::{Const, Dtype, Tile, Ty};

/// What an operator on two values gives.
pub(super) fn binary(op: &str, left: &Ty, right: &Ty) -> Ty {
    match (left, right) {
        (Ty::Tile(a), Ty::Tile(b)) => {
            let mut tile = a.combine(b);
            tile.offsets = (a.offsets || b.offsets) && matches!(op, "+" | "-" | "*");
            tile.mask &= keeps_mask(op);
            divided(op, &mut tile);
            tile.ty()
        }
        (Ty::Tile(tile), other) | (other, Ty::Tile(tile)) => {
            let mut tile = (**tile).clone();
            match other {
                Ty::Const(Const::Float(_)) if tile.dtype == Dtype::Int => {
                    tile.dtype = Dtype::F32;
                }
                Ty::Const(_) => {}
                Ty::Scalar { .. } => tile.constant = false,
                _ => {
                    tile.constant = false;
                    tile.dtype = match tile.dtype {
                        Dtype::F32 | Dtype::F64 => tile.dtype,
                        _ => Dtype::Unknown,
                    };
                }
            }
            tile.offsets &= matches!(op, "+" | "-" | "*");
            tile.mask &= keeps_mask(op);
            divided(op, &mut tile);
            tile.ty()
        }
        (Ty::Const(Const::Int(a)), Ty::Const(Const::Int(b))) => Ty::Const(folded(op, *a, *b)),
        (Ty::Const(_), Ty::Const(_)) => Ty::Const(Const::Other),
        (Ty::Scalar { block: a }, Ty::Scalar { block: b }) => Ty::Scalar { block: *a || *b },
        (Ty::Scalar { block }, Ty::Const(_)) | (Ty::Const(_), Ty::Scalar { block }) => {
            Ty::Scalar { block: *block }
        }
        (Ty::Scalar { block: true }, Ty::Unknown) | (Ty::Unknown, Ty::Scalar { block: true }) => {
            Ty::Scalar { block: true }
        }
        (Ty::Tuple(a), Ty::Tuple(b)) if op == "+" => {
            Ty::Tuple(a.iter().chain(b.iter()).cloned().collect())
        }
        _ => Ty::Unknown,
    }
}

/// Whether an operator makes a mask of masks.
fn keeps_mask(op: &str) -> bool {
    matches!(op, "&" | "|" | "^") || op.starts_with("bitwise_")
}

/// True division of whole numbers gives floats.
fn divided(op: &str, tile: &mut Tile) {
    if op == "/" && matches!(tile.dtype, Dtype::Int | Dtype::Bool) {
        tile.dtype = Dtype::F32;
    }
}

fn folded(op: &str, a: i64, b: i64) -> Const {
    let value = match op {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "//" if b > 0 => Some(a.div_euclid(b)),
        "%" if b > 0 => Some(a.rem_euclid(b)),
        "**" => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        "<<" => u32::try_from(b)
            .ok()
            .filter(|b| *b < 62)
            .and_then(|b| a.checked_mul(1 << b)),
        ">>" => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
        _ => None,
    };
    value.map_or(Const::Other, Const::Int)
}

pub(super) fn comparison(parts: &[Ty]) -> Ty {
    let mut tile: Option<Tile> = None;
    for part in parts {
        if let Ty::Tile(part) = part {
            tile = Some(tile.map_or_else(|| (**part).clone(), |t| t.combine(part)));
        }
    }
    match tile {
        Some(tile) => Tile {
            dtype: Dtype::Bool,
            offsets: false,
            mask: true,
            ..tile
        }
        .ty(),
        None if parts.iter().all(Ty::is_const) => Ty::Const(Const::Other),
        None => Ty::Scalar { block: false },
    }
}

pub(super) fn attribute(base: &Ty, name: &str) -> Ty {
    match (base, name) {
        (Ty::Array(array), "dtype") => Ty::Dtype(Dtype::Of(array.clone())),
        (Ty::Tile(tile), "dtype") => Ty::Dtype(tile.dtype.clone()),
        (Ty::Tile(tile), "shape") => match &tile.shape {
            Some(shape) => Ty::Tuple(shape.iter().map(shown).collect()),
            None => Ty::Unknown,
        },
        (Ty::Tile(_) | Ty::Array(_), "ndim") => Ty::Const(Const::Other),
        _ => Ty::Unknown,
    }
}

fn shown(extent: &super::Extent) -> Ty {
    Ty::Const(match extent {
        super::Extent::Int(value) => Const::Int(*value),
        super::Extent::Name(name) => Const::Name(name.clone()),
        super::Extent::Other => Const::Other,
    })
}

pub(super) fn subscript(base: &Ty, index: &[Expr], indices: &[Ty]) -> Ty {
    match base {
        // `x[:, None]`: an axis more, the same values.
        Ty::Tile(tile) => {
            let mut tile = (**tile).clone();
            let mut old = tile.shape.take().map(Vec::into_iter);
            let mut shape = old.as_ref().map(|_| Vec::new());
            for (part, ty) in index.iter().zip(indices) {
                let extent = match (&part.kind, ty) {
                    (ExprKind::None, _) => Some(super::Extent::Int(1)),
                    (ExprKind::Slice { .. }, _) => old.as_mut().and_then(Iterator::next),
                    _ => None,
                };
                match (extent, &mut shape) {
                    (Some(extent), Some(shape)) => shape.push(extent),
                    _ => shape = None,
                }
            }
            if let (Some(shape), Some(old)) = (&mut shape, old) {
                shape.extend(old);
            }
            tile.shape = shape;
            tile.ty()
        }
        Ty::Tuple(parts) => match indices {
            [Ty::Const(Const::Int(i))] => {
                let at = if *i < 0 { *i + parts.len() as i64 } else { *i };
                usize::try_from(at)
                    .ok()
                    .and_then(|at| parts.get(at).cloned())
                    .unwrap_or_default()
            }
            _ => Ty::Unknown,
        },
        _ => Ty::Unknown,
    }
}
