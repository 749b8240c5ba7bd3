//! Walking the expressions of a function with the statements around them.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Clause, Expr, ExprKind, ImportName, Stmt, StmtKind};

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

/// The only value that a local name is ever given, if nothing else binds or changes it.
pub fn only_value<'a>(body: &'a [Stmt], name: &str) -> Option<&'a Expr> {
    match values(body, name).as_slice() {
        [one] => *one,
        _ => None,
    }
}

/// What statements bind a name to, once for each place that does: the value of a plain assignment,
/// nothing for any other form.
pub fn values<'a>(body: &'a [Stmt], name: &str) -> Vec<Option<&'a Expr>> {
    let mut found = Vec::new();
    bindings(body, name, &mut |value| found.push(value));
    found
}

/// Calls `visit` on every name that statements read, nested functions and lambdas included.
pub(super) fn reads<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a SmolStr)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                targets.iter().for_each(|t| read_by_target(t, visit));
                names(value, visit);
            }
            StmtKind::AnnAssign { target, value, .. } => {
                read_by_target(target, visit);
                value.iter().for_each(|v| names(v, visit));
            }
            StmtKind::For { target, iter, .. } => {
                read_by_target(target, visit);
                names(iter, visit);
            }
            _ => stmt.own_exprs(&mut |e| names(e, visit)),
        }
        stmt.blocks().into_iter().for_each(|b| reads(b, visit));
    }
}

fn names<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a SmolStr)) {
    expr.walk(&mut |e| e.name().into_iter().for_each(&mut *visit));
}

/// `a.b = ...` reads `a`, `a = ...` does not.
fn read_by_target<'a>(target: &'a Expr, visit: &mut dyn FnMut(&'a SmolStr)) {
    match &target.kind {
        ExprKind::Name(_) => {}
        ExprKind::Tuple(items) | ExprKind::List(items) => {
            items.iter().for_each(|i| read_by_target(i, visit));
        }
        ExprKind::Starred(inner) => read_by_target(inner, visit),
        _ => names(target, visit),
    }
}

/// How a name comes by its value in statements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bound<'a> {
    /// It does not.
    Nowhere,
    /// By one plain assignment of this.
    Once(&'a Expr),
    /// In several places, or by a loop, import or definition.
    Otherwise,
}

/// How statements bind a name.
pub(crate) fn bound<'a>(body: &'a [Stmt], name: &str) -> Bound<'a> {
    let mut found = Bound::Nowhere;
    bindings(body, name, &mut |value| {
        found = match (found, value) {
            (Bound::Nowhere, Some(value)) => Bound::Once(value),
            _ => Bound::Otherwise,
        };
    });
    found
}

/// Calls `visit` on every name that statements bind, those of nested functions left out.
pub(super) fn bound_names<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a SmolStr)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, .. } => targets.iter().for_each(|t| bound_by(t, visit)),
            StmtKind::AnnAssign { target, .. }
            | StmtKind::AugAssign { target, .. }
            | StmtKind::For { target, .. } => bound_by(target, visit),
            StmtKind::With { items, .. } => {
                let targets = items.iter().filter_map(|(_, target)| target.as_ref());
                targets.for_each(|t| bound_by(t, visit));
            }
            StmtKind::Import(names) | StmtKind::ImportFrom { names, .. } => {
                let bound = |n: &'a ImportName| &n.alias.as_ref().unwrap_or(&n.name).name;
                names.iter().map(bound).for_each(&mut *visit);
            }
            StmtKind::FunctionDef(def) => visit(&def.name.name),
            StmtKind::ClassDef(class) => visit(&class.name.name),
            _ => {}
        }
        if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            stmt.blocks()
                .into_iter()
                .for_each(|b| bound_names(b, visit));
        }
    }
}

fn bound_by<'a>(target: &'a Expr, visit: &mut dyn FnMut(&'a SmolStr)) {
    match &target.kind {
        ExprKind::Name(name) => visit(name),
        ExprKind::Tuple(items) | ExprKind::List(items) => {
            items.iter().for_each(|i| bound_by(i, visit));
        }
        ExprKind::Starred(inner) => bound_by(inner, visit),
        _ => {}
    }
}

/// Calls `visit` for each place that binds a name, with the value where it is a plain assignment.
/// Definitions within are not entered.
pub(crate) fn bindings<'a>(body: &'a [Stmt], name: &str, visit: &mut dyn FnMut(Option<&'a Expr>)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                for target in targets {
                    assigned(target, value, name, visit);
                }
            }
            StmtKind::AnnAssign { target, value, .. }
                if target.name().is_some_and(|n| n == name) =>
            {
                visit(value.as_ref());
            }
            StmtKind::AugAssign { target, .. } if target.name().is_some_and(|n| n == name) => {
                visit(None)
            }
            StmtKind::For { target, .. } if binds(target, name) => visit(None),
            StmtKind::With { items, .. } => {
                let bound = |(_, target): &(Expr, Option<Expr>)| {
                    target.as_ref().is_some_and(|t| binds(t, name))
                };
                if items.iter().any(bound) {
                    visit(None);
                }
            }
            StmtKind::FunctionDef(def) if def.name.name == name => visit(None),
            StmtKind::ClassDef(class) if class.name.name == name => visit(None),
            StmtKind::Import(names) | StmtKind::ImportFrom { names, .. } => {
                let bound = |n: &ImportName| n.alias.as_ref().unwrap_or(&n.name).name == name;
                if names.iter().any(bound) {
                    visit(None);
                }
            }
            _ => {}
        }
        let mut walrus = false;
        stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| match &e.kind {
                ExprKind::Named { target, .. } => walrus |= target.name == name,
                ExprKind::Comprehension { clauses, .. } => {
                    walrus |= clauses
                        .iter()
                        .any(|c| matches!(c, Clause::For { target, .. } if binds(target, name)));
                }
                _ => {}
            });
        });
        if walrus {
            visit(None);
        }
        if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            for inner in stmt.blocks() {
                bindings(inner, name, visit);
            }
        }
    }
}

/// What an assignment gives a name: of `a, b = x, y`, to each its own.
fn assigned<'a>(
    target: &Expr,
    value: &'a Expr,
    name: &str,
    visit: &mut dyn FnMut(Option<&'a Expr>),
) {
    if target.name().is_some_and(|n| n == name) {
        return visit(Some(value));
    }
    match (&target.kind, &value.kind) {
        (ExprKind::Tuple(targets), ExprKind::Tuple(values)) if targets.len() == values.len() => {
            for (target, value) in targets.iter().zip(values) {
                assigned(target, value, name, visit);
            }
        }
        _ if binds(target, name) => visit(None),
        _ => {}
    }
}

/// Whether a target of an assignment binds a name.
fn binds(target: &Expr, name: &str) -> bool {
    match &target.kind {
        ExprKind::Name(bound) => bound == name,
        ExprKind::Tuple(items) | ExprKind::List(items) => items.iter().any(|i| binds(i, name)),
        ExprKind::Starred(inner) => binds(inner, name),
        _ => false,
    }
}
