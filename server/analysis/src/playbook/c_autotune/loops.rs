//! Whether a kernel's loops run by a tile.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use crate::body::{Bound, argument, bound};

/// Whether how often a loop of the kernel runs follows from a parameter.
pub(super) fn loops_follow(def: &FunctionDef, param: &SmolStr) -> bool {
    let mut counts = Counts {
        def,
        names: FxHashSet::from_iter([param.clone()]),
    };
    loop {
        let before = counts.names.len();
        counts.derive(&def.body);
        if counts.names.len() == before {
            break;
        }
    }
    counts.any_loop(&def.body)
}

/// Numbers of a kernel that follow from a parameter. A tile's shape does not count: the loads of a
/// loop over the sum have the rows' tile in it as well.
struct Counts<'k> {
    def: &'k FunctionDef,
    names: FxHashSet<SmolStr>,
}

impl Counts<'_> {
    fn derive(&mut self, body: &[Stmt]) {
        for stmt in body {
            if let StmtKind::Assign { targets, value } = &stmt.kind
                && self.follows(value)
            {
                self.names
                    .extend(targets.iter().filter_map(|t| t.name().cloned()));
            }
            stmt.blocks().into_iter().for_each(|b| self.derive(b));
        }
    }

    fn any_loop(&self, body: &[Stmt]) -> bool {
        body.iter().any(|stmt| {
            let header = match &stmt.kind {
                StmtKind::For { iter, .. } => self.follows(iter),
                StmtKind::While { test, .. } => self.follows(test),
                _ => false,
            };
            header || (stmt.blocks().into_iter()).any(|b| self.any_loop(b))
        })
    }

    fn follows(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => self.names.contains(name),
            ExprKind::Unary { operand, .. } => self.follows(operand),
            ExprKind::Binary { left, right, .. } => self.follows(left) || self.follows(right),
            ExprKind::Compare { first, rest } => {
                self.follows(first) || rest.iter().any(|(_, e)| self.follows(e))
            }
            ExprKind::Conditional { body, orelse, .. } => {
                self.follows(body) || self.follows(orelse)
            }
            ExprKind::Call { func, args } => match func.last_ident() {
                Some(name) if name.name == "num_tiles" => self.in_tiles(func, args),
                Some(name) if ARITHMETIC.contains(&name.name.as_str()) => {
                    args.iter().any(|a| self.follows(&a.value))
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Of `ct.num_tiles(x, axis=1, shape=(tm, tk))` and `view.num_tiles(1)` the extent that is
    /// counted.
    fn in_tiles(&self, func: &Expr, args: &[Arg]) -> bool {
        let extent = |axis: Option<&Expr>, shape: Option<&Expr>| -> bool {
            let Some(ExprKind::Int(axis)) = axis.map(|a| &a.kind) else {
                return false;
            };
            let Some(ExprKind::Tuple(shape)) = shape.map(|s| &s.kind) else {
                return false;
            };
            let extent = usize::try_from(*axis).ok().and_then(|axis| shape.get(axis));
            extent.is_some_and(|e| self.follows(e))
        };
        if let Some(shape) = argument(args, Some(2), "shape") {
            return extent(argument(args, Some(1), "axis"), Some(shape));
        }
        let axis = argument(args, Some(0), "axis");
        let ExprKind::Attribute { value, .. } = &func.kind else {
            return false;
        };
        let view = value.name().map(|name| bound(&self.def.body, name));
        let Some(Bound::Once(view)) = view else {
            return false;
        };
        match &view.kind {
            ExprKind::Call { func, args }
                if func.last_ident().is_some_and(|i| i.name == "tiled_view") =>
            {
                let shape = argument(args, Some(0), "tile_shape");
                extent(axis, shape)
            }
            _ => false,
        }
    }
}

/// Functions of numbers.
const ARITHMETIC: [&str; 8] = [
    "range",
    "static_iter",
    "cdiv",
    "min",
    "max",
    "minimum",
    "maximum",
    "ceil",
];
