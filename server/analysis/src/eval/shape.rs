//! What a block of code does, by its looks alone.

use tileperf_syntax::ast::{ExprKind, Stmt, StmtKind};

/// Whether a block can add something to a space.
pub(super) fn produces(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| {
        if matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            return false;
        }
        let mut found = matches!(stmt.kind, StmtKind::Return(Some(_)));
        stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| {
                found |= match &e.kind {
                    ExprKind::Yield(_) | ExprKind::YieldFrom(_) => true,
                    ExprKind::Call { func, .. } => func.last_ident().is_some_and(|n| {
                        matches!(
                            n.name.as_str(),
                            "append" | "extend" | "add" | "update" | "insert"
                        )
                    }),
                    _ => false,
                }
            })
        });
        found || stmt.blocks().into_iter().any(produces)
    })
}

/// Whether a block surely ends the round or the function.
pub(super) fn leaves(body: &[Stmt]) -> bool {
    body.last().is_some_and(|s| {
        matches!(
            s.kind,
            StmtKind::Continue | StmtKind::Break | StmtKind::Return(_) | StmtKind::Raise(_)
        )
    })
}
