//! Which names statements bind, and to what.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

/// Names that statements bind, those within them included; not those of nested definitions.
pub(super) fn bound(body: &[Stmt]) -> FxHashSet<SmolStr> {
    let mut out = FxHashSet::default();
    bind_all(body, &mut |name| {
        out.insert(name.clone());
    });
    out
}

/// Every value that plain assignments give a name.
pub(super) fn values<'a>(body: &'a [Stmt], name: &SmolStr) -> Vec<&'a Expr> {
    let mut out = Vec::new();
    for stmt in body {
        if let StmtKind::Assign { targets, value } = &stmt.kind
            && targets.iter().any(|t| t.name() == Some(name))
        {
            out.push(value);
        }
        for inner in stmt.blocks() {
            out.extend(values(inner, name));
        }
    }
    out
}

/// Calls `bind` with every name that statements bind.
fn bind_all(body: &[Stmt], bind: &mut dyn FnMut(&SmolStr)) {
    for stmt in body {
        own_bindings(stmt, bind);
        if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            for inner in stmt.blocks() {
                bind_all(inner, bind);
            }
        }
    }
}

/// Calls `bind` with the names that a statement binds itself, not by the statements within it.
pub(super) fn own_bindings(stmt: &Stmt, bind: &mut dyn FnMut(&SmolStr)) {
    match &stmt.kind {
        StmtKind::Assign { targets, .. } => targets.iter().for_each(|t| target_names(t, bind)),
        StmtKind::AnnAssign {
            target,
            value: Some(_),
            ..
        }
        | StmtKind::AugAssign { target, .. }
        | StmtKind::For { target, .. } => target_names(target, bind),
        StmtKind::With { items, .. } => {
            (items.iter().filter_map(|(_, t)| t.as_ref())).for_each(|t| target_names(t, bind));
        }
        StmtKind::FunctionDef(def) => bind(&def.name.name),
        StmtKind::Import(names) | StmtKind::ImportFrom { names, .. } => {
            for name in names {
                bind(&name.alias.as_ref().unwrap_or(&name.name).name);
            }
        }
        _ => {}
    }
    stmt.own_exprs(&mut |e| {
        e.walk(&mut |e| {
            if let ExprKind::Named { target, .. } = &e.kind {
                bind(&target.name);
            }
        });
    });
}

/// Calls `bind` with the names of an assignment's target.
pub(super) fn target_names(target: &Expr, bind: &mut dyn FnMut(&SmolStr)) {
    match &target.kind {
        ExprKind::Name(name) => bind(name),
        ExprKind::Tuple(items) | ExprKind::List(items) => {
            items.iter().for_each(|i| target_names(i, bind));
        }
        ExprKind::Starred(inner) => target_names(inner, bind),
        _ => {}
    }
}
