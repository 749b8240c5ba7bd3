//! Calls of cuTile's: accesses, shapes, products.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::{One, Use};
use crate::body::{ApiCall, Const, Dtype, Ty};

impl<'w> One<'_, '_, 'w> {
    pub(super) fn api(&mut self, call: &ApiCall<'w>) {
        let name = call.name.as_str();
        let shape = match name {
            "load" | "extract" | "num_tiles" => call.arg(2, "shape"),
            "zeros" | "ones" | "full" => call.arg(0, "shape"),
            "reshape" | "broadcast_to" => call.arg(1, "shape"),
            "arange" => call.arg(0, "size"),
            _ => None,
        };
        if let Some(shape) = shape {
            self.extents(shape);
        }
        match name {
            "load" | "store" | "gather" | "scatter" | "num_tiles" => self.access(call),
            name if name.starts_with("atomic_") => self.access(call),
            "mma" | "mma_scaled" | "matmul" => {
                for (place, name) in [(0, "x"), (1, "y")] {
                    self.elements(call.arg(place, name), &|of| of.mma = true);
                }
            }
            "where" => self.elements(call.arg(0, "cond"), &|of| of.mask = true),
            _ => {}
        }
    }

    /// Something about the array whose elements an expression has, or about the parameter.
    fn elements(&mut self, expr: Option<&'w Expr>, note: &dyn Fn(&mut Use)) {
        let Some(expr) = expr else { return };
        if let Ty::Tile(tile) = self.function.body.ty(expr)
            && let Dtype::Of(array) = &tile.dtype
        {
            note(self.of(&array.clone()));
        }
        if let Some(param) = self.param(expr) {
            note(self.of(&param));
        }
    }

    fn access(&mut self, call: &ApiCall<'w>) {
        let name = call.name.as_str();
        let index = match name {
            "num_tiles" => None,
            _ => call.arg(1, "index").or_else(|| call.keyword("indices")),
        };
        let shape = match name {
            "load" | "num_tiles" => call.arg(2, "shape"),
            _ => None,
        };
        if let Some(index) = index {
            self.indices(index);
        }
        let Some(param) = call.arg(0, "array").and_then(|array| self.param(array)) else {
            return;
        };
        let ranks = [shape, index].map(|e| e.and_then(|e| self.rank(e)));
        let stored = match name {
            "store" => call.arg(2, "tile"),
            "scatter" => call.arg(2, "value"),
            _ => None,
        };
        let dtype = stored.and_then(|tile| match self.function.body.ty(tile) {
            Ty::Tile(tile) => Some(tile.dtype.clone()),
            _ => None,
        });
        let of = self.of(&param);
        of.array = true;
        // `x[0]` of a list of arrays.
        of.ndim = of.ndim.or(ranks[0]).or(ranks[1]);
        of.stored = of.stored.clone().or(dtype);
    }

    /// The rank that an index or a shape has.
    pub(super) fn rank(&self, expr: &'w Expr) -> Option<usize> {
        if let ExprKind::Tuple(items) | ExprKind::List(items) = &expr.kind {
            let starred = items.iter().any(|i| matches!(i.kind, ExprKind::Starred(_)));
            return (!starred).then_some(items.len());
        }
        match self.function.body.ty(expr) {
            Ty::Tuple(parts) => Some(parts.len()),
            Ty::Const(_) | Ty::Scalar { .. } | Ty::Tile(_) => Some(1),
            _ => match &expr.kind {
                ExprKind::Int(_) | ExprKind::Binary { .. } => Some(1),
                _ => None,
            },
        }
    }

    /// Parameters that are extents of a shape.
    fn extents(&mut self, shape: &'w Expr) {
        let mut names = Vec::new();
        let alone = match &shape.kind {
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                names.extend(items.iter().filter_map(Expr::name).cloned());
                let one = |i: &&Expr| matches!(i.kind, ExprKind::Int(1));
                items.len() - items.iter().filter(one).count() == 1
            }
            _ => {
                names.extend(shape.name().cloned());
                true
            }
        };
        if let Ty::Tuple(parts) = self.function.body.ty(shape) {
            names.extend(parts.iter().filter_map(|part| match part {
                Ty::Const(Const::Name(name)) => Some(name.clone()),
                _ => None,
            }));
        }
        for name in names {
            if let Some(param) = self.alias.get(&name).cloned() {
                let of = self.of(&param);
                of.extent = true;
                of.only_extent |= alone;
            }
        }
    }

    /// Elements that are used as indices.
    fn indices(&mut self, index: &'w Expr) {
        let parts: Vec<&'w Expr> = match &index.kind {
            ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().collect(),
            _ => vec![index],
        };
        for part in parts {
            self.whole_numbers(part);
            let mut within = Vec::new();
            part.walk(&mut |e| within.push(e));
            for expr in within {
                if let Some(array) = self.array_of(expr) {
                    self.of(&array).index = true;
                }
            }
        }
    }

    /// The array whose elements an expression has.
    fn array_of(&self, expr: &Expr) -> Option<SmolStr> {
        match self.function.body.ty(expr) {
            Ty::Tile(tile) => match &tile.dtype {
                Dtype::Of(array) => Some(array.clone()),
                _ => None,
            },
            _ => None,
        }
    }
}
