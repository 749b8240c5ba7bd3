//! Walking the expressions of a function with the statements around them.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Clause, Expr, ExprKind, FunctionDef, Stmt, StmtKind};

/// Where an expression stands.
#[derive(Debug, Clone, Default)]
pub struct Place<'a> {
    /// The statements around it, outermost first, its own last.
    pub path: Vec<&'a Stmt>,
}

impl<'a> Place<'a> {
    /// The statement that holds it.
    pub fn stmt(&self) -> Option<&'a Stmt> {
        self.path.last().copied()
    }

    /// The loops around it, outermost first. A loop's own header counts as outside it.
    pub fn loops(&self) -> impl Iterator<Item = &'a Stmt> {
        let outer = self.path.split_last().map_or(&[][..], |(_, outer)| outer);
        (outer.iter().copied())
            .filter(|s| matches!(s.kind, StmtKind::For { .. } | StmtKind::While { .. }))
    }

    /// It runs more than once a call.
    pub fn in_loop(&self) -> bool {
        self.loops().next().is_some()
    }
}

/// Calls `visit` on every expression of statements, outermost first, in source order. Definitions
/// within are not entered.
pub fn walk<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a Expr, &Place<'a>)) {
    let mut place = Place::default();
    block(body, &mut place, visit);
}

fn block<'a>(body: &'a [Stmt], place: &mut Place<'a>, visit: &mut dyn FnMut(&'a Expr, &Place<'a>)) {
    for stmt in body {
        if matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            continue;
        }
        place.path.push(stmt);
        stmt.own_exprs(&mut |expr| expr.walk(&mut |e| visit(e, place)));
        for inner in stmt.blocks() {
            block(inner, place, visit);
        }
        place.path.pop();
    }
}

/// Where the values of names stand that a function gives one value only, by plain assignment.
pub(super) fn only_values(def: &FunctionDef) -> FxHashMap<SmolStr, Span> {
    let mut values: FxHashMap<SmolStr, Option<Span>> = FxHashMap::default();
    for param in &def.params {
        values.insert(param.name.name.clone(), None);
    }
    bindings(&def.body, &mut |name, value| {
        let value = value.map(|v| v.span).filter(|_| !values.contains_key(name));
        values.insert(name.clone(), value);
    });
    (values.into_iter())
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

/// The value of an assignment that stands at a place.
pub(super) fn value_at(body: &[Stmt], span: Span) -> Option<&Expr> {
    let stmt = body.iter().find(|s| s.span.contains(span))?;
    match &stmt.kind {
        StmtKind::Assign { value, .. } => Some(value),
        StmtKind::AnnAssign { value, .. } => value.as_ref(),
        _ => (stmt.blocks().into_iter()).find_map(|inner| value_at(inner, span)),
    }
    .filter(|v| v.span == span)
}

/// Calls `visit` for each place that binds a name, with the value where it is a plain assignment.
fn bindings<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a SmolStr, Option<&'a Expr>)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                for target in targets {
                    match target.name() {
                        Some(name) => visit(name, Some(value)),
                        None => bound(target, visit),
                    }
                }
            }
            StmtKind::AnnAssign { target, value, .. } => {
                if let Some(name) = target.name() {
                    visit(name, value.as_ref());
                }
            }
            StmtKind::AugAssign { target, .. } | StmtKind::For { target, .. } => {
                bound(target, visit);
            }
            StmtKind::With { items, .. } => {
                (items.iter().filter_map(|(_, t)| t.as_ref())).for_each(|t| bound(t, visit));
            }
            StmtKind::FunctionDef(def) => visit(&def.name.name, None),
            _ => {}
        }
        stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| match &e.kind {
                ExprKind::Named { target, .. } => visit(&target.name, None),
                ExprKind::Comprehension { clauses, .. } => {
                    for clause in clauses {
                        if let Clause::For { target, .. } = clause {
                            bound(target, visit);
                        }
                    }
                }
                _ => {}
            });
        });
        if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            for inner in stmt.blocks() {
                bindings(inner, visit);
            }
        }
    }
}

/// Calls `visit` with each name of a target of an assignment.
fn bound<'a>(target: &'a Expr, visit: &mut dyn FnMut(&'a SmolStr, Option<&'a Expr>)) {
    match &target.kind {
        ExprKind::Name(name) => visit(name, None),
        ExprKind::Tuple(items) | ExprKind::List(items) => {
            items.iter().for_each(|i| bound(i, visit));
        }
        ExprKind::Starred(inner) => bound(inner, visit),
        _ => {}
    }
}
