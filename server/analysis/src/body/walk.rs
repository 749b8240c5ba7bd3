//! Walking the expressions of a function with the statements around them.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Clause, Expr, ExprKind, FunctionDef, ImportName, Stmt, StmtKind};

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

/// Every name that a function binds, parameters left out, with the place of the value where it is a
/// plain assignment, in source order.
pub(super) fn all_bindings(def: &FunctionDef) -> Vec<(SmolStr, Option<Span>)> {
    let mut all = Vec::new();
    each_binding(&def.body, &mut |name, value| {
        all.push((name.clone(), value.map(|v| v.span)))
    });
    all
}

/// Where the values of names stand that a function gives one value only, by plain assignment.
pub(super) fn only_values(
    def: &FunctionDef,
    bindings: &[(SmolStr, Option<Span>)],
) -> FxHashMap<SmolStr, Span> {
    let mut values: FxHashMap<&SmolStr, Option<Span>> = FxHashMap::default();
    for param in &def.params {
        // What was passed is a value of its own.
        values.insert(&param.name.name, None);
    }
    for (name, value) in bindings {
        let value = value.filter(|_| !values.contains_key(name));
        values.insert(name, value);
    }
    (values.into_iter())
        .filter_map(|(name, value)| Some((name.clone(), value?)))
        .collect()
}

/// The value of an assignment, or a part of it, that stands at a place.
pub(super) fn value_at(body: &[Stmt], span: Span) -> Option<&Expr> {
    let stmt = body.iter().find(|s| s.span.contains(span))?;
    let value = match &stmt.kind {
        StmtKind::Assign { value, .. } => value,
        StmtKind::AnnAssign { value, .. } => value.as_ref()?,
        _ => {
            return (stmt.blocks().into_iter()).find_map(|inner| value_at(inner, span));
        }
    };
    part_at(value, span)
}

fn part_at(value: &Expr, span: Span) -> Option<&Expr> {
    if value.span == span {
        return Some(value);
    }
    match &value.kind {
        ExprKind::Tuple(parts) => parts.iter().find_map(|part| part_at(part, span)),
        _ => None,
    }
}

/// Calls `visit` for each place that binds a name, with the value where it is a plain assignment.
/// Definitions within are not entered.
pub(crate) fn bindings<'a>(body: &'a [Stmt], name: &str, visit: &mut dyn FnMut(Option<&'a Expr>)) {
    each_binding(body, &mut |bound, value| {
        if bound == name {
            visit(value);
        }
    });
}

/// As [`bindings`], for every name.
fn each_binding<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a SmolStr, Option<&'a Expr>)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                targets.iter().for_each(|t| assigned(t, Some(value), visit));
            }
            StmtKind::AnnAssign { target, value, .. } => assigned(target, value.as_ref(), visit),
            StmtKind::AugAssign { target, .. } | StmtKind::For { target, .. } => {
                assigned(target, None, visit);
            }
            StmtKind::With { items, .. } => {
                let targets = items.iter().filter_map(|(_, target)| target.as_ref());
                targets.for_each(|t| assigned(t, None, visit));
            }
            StmtKind::FunctionDef(def) => visit(&def.name.name, None),
            StmtKind::ClassDef(class) => visit(&class.name.name, None),
            StmtKind::Import(names) | StmtKind::ImportFrom { names, .. } => {
                for name in names {
                    visit(&name.alias.as_ref().unwrap_or(&name.name).name, None);
                }
            }
            _ => {}
        }
        stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| match &e.kind {
                ExprKind::Named { target, .. } => visit(&target.name, None),
                ExprKind::Comprehension { clauses, .. } => {
                    for clause in clauses {
                        if let Clause::For { target, .. } = clause {
                            assigned(target, None, visit);
                        }
                    }
                }
                _ => {}
            });
        });
        if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            for inner in stmt.blocks() {
                each_binding(inner, visit);
            }
        }
    }
}

/// What an assignment gives its names: of `a, b = x, y`, to each its own.
fn assigned<'a>(
    target: &'a Expr,
    value: Option<&'a Expr>,
    visit: &mut dyn FnMut(&'a SmolStr, Option<&'a Expr>),
) {
    match &target.kind {
        ExprKind::Name(name) => visit(name, value),
        ExprKind::Tuple(targets) | ExprKind::List(targets) => {
            let values = match value.map(|v| &v.kind) {
                Some(ExprKind::Tuple(values)) if values.len() == targets.len() => values.as_slice(),
                _ => &[],
            };
            for (i, target) in targets.iter().enumerate() {
                assigned(target, values.get(i), visit);
            }
        }
        ExprKind::Starred(inner) => assigned(inner, None, visit),
        _ => {}
    }
}
