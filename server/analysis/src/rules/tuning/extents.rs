//! Names that hold an extent of a tensor.

use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::search_call::all_functions;
use crate::body::{argument, walk};
use crate::rules::FileContext;

/// How many callers up a parameter is followed.
const CALLERS: u32 = 3;

/// Whether a name of a function holds an extent of a tensor: taken from its shape here, or by a
/// caller of this file that passes it on.
pub(in crate::rules) fn is_dimension(
    file: &FileContext<'_>,
    def: &FunctionDef,
    name: &str,
) -> bool {
    followed(file, def, name, CALLERS)
}

fn followed(file: &FileContext<'_>, def: &FunctionDef, name: &str, hops: u32) -> bool {
    if takes(&def.body, name) {
        return true;
    }
    let Some(place) = def.params.iter().position(|p| p.name.name == name) else {
        return false;
    };
    let Some(hops) = hops.checked_sub(1) else {
        return false;
    };
    let mut found = false;
    for (_, caller) in all_functions(file) {
        walk(&caller.body, &mut |expr, _| {
            if let ExprKind::Call { func, args } = &expr.kind
                && func.name().is_some_and(|n| *n == def.name.name)
                && let Some(given) = argument(args, Some(place), name)
            {
                found |= is_extent(given)
                    || (given.name()).is_some_and(|n| followed(file, caller, n, hops));
            }
        });
    }
    found
}

/// `x.shape[0]`, `x.size(0)`.
fn is_extent(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Subscript { value, .. } => is_shape(value),
        ExprKind::Call { func, args } => {
            !args.is_empty() && func.last_ident().is_some_and(|i| i.name == "size")
        }
        _ => false,
    }
}

fn is_shape(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Attribute { attr, .. } => attr.name == "shape",
        ExprKind::Call { func, args } => {
            args.is_empty() && func.last_ident().is_some_and(|i| i.name == "size")
        }
        // `x.shape[-2:]`
        ExprKind::Subscript { value, index } => {
            is_shape(value)
                && matches!(index.first().map(|i| &i.kind), Some(ExprKind::Slice { .. }))
        }
        _ => false,
    }
}

/// Whether statements take a name from a shape.
fn takes(body: &[Stmt], name: &str) -> bool {
    body.iter().any(|stmt| {
        let here = match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                targets.iter().any(|target| match &target.kind {
                    ExprKind::Name(bound) => bound == name && is_extent(value),
                    ExprKind::Tuple(parts) => {
                        let part = parts
                            .iter()
                            .position(|p| p.name().is_some_and(|n| n == name));
                        part.is_some_and(|place| match &value.kind {
                            ExprKind::Tuple(values) => values.get(place).is_some_and(is_extent),
                            _ => is_shape(value),
                        })
                    }
                    _ => false,
                })
            }
            _ => false,
        };
        let nested = matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_));
        here || !nested && stmt.blocks().into_iter().any(|b| takes(b, name))
    })
}
