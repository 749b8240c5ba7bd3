//! Kernels that are defined within something: a factory, a class, a branch.
//!
//! What stands around the kernel is not executed. Of a function the statements are kept that give
//! the kernel's free names values that can be computed without an argument's attributes; any other
//! name is captured: whoever compiles gives it a value.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::module::{Module, Placed, is_definition};
use super::names;
use crate::eval::bare_bindings;

/// The statements around a definition, outermost first, the definition last.
pub(super) fn chain<'w>(module: &Module<'w>, def: Span) -> Option<Vec<Placed<'w>>> {
    let top = module.tops.iter().find(|top| top.span().contains(def))?;
    let mut steps = vec![*top];
    loop {
        let last = *steps.last()?;
        if let StmtKind::FunctionDef(found) = &last.stmt.kind
            && last.place(found.def_span) == def
        {
            return Some(steps);
        }
        let mut inner = last.stmt.blocks().into_iter().flatten();
        let next = inner.find(|stmt| last.place(stmt.span).contains(def))?;
        steps.push(Placed {
            stmt: next,
            base: last.base,
        });
    }
}

/// A function around the kernel.
pub(super) struct Scope<'w> {
    pub(super) def: &'w FunctionDef,
    /// Its names whose statements are kept.
    pub(super) kept: FxHashSet<SmolStr>,
}

/// The functions around the last of these statements, outermost first.
pub(super) fn scopes<'w>(chain: &[Placed<'w>]) -> Vec<Scope<'w>> {
    let around = chain.split_last().map_or(&[][..], |(_, around)| around);
    let functions = around.iter().filter_map(|step| match &step.stmt.kind {
        StmtKind::FunctionDef(def) => Some(Scope {
            def,
            kept: FxHashSet::default(),
        }),
        _ => None,
    });
    functions.collect()
}

/// How a function around the kernel comes by a name.
pub(super) enum Origin<'w> {
    /// It does not.
    Elsewhere,
    /// As an argument, or from one.
    Argument,
    /// By these statements, which can be executed without it.
    Statements(Vec<&'w Stmt>),
}

impl<'w> Scope<'w> {
    /// How the function comes by a name. `is_local` tells which names the functions around bind.
    pub(super) fn origin(&self, name: &str, is_local: &dyn Fn(&str) -> bool) -> Origin<'w> {
        if self.has_parameter(name) {
            return Origin::Argument;
        }
        let mut found = Vec::new();
        let computable = binders(&self.def.body, name, is_local, &mut found);
        match (found.is_empty(), computable) {
            (true, _) => Origin::Elsewhere,
            (false, false) => Origin::Argument,
            (false, true) => Origin::Statements(found),
        }
    }

    fn has_parameter(&self, name: &str) -> bool {
        self.def.params.iter().any(|p| p.name.name == name)
    }

    /// Whether the function binds a name in any way.
    pub(super) fn binds(&self, name: &str) -> bool {
        self.has_parameter(name) || binds_any(&self.def.body, name)
    }
}

fn binds_any(body: &[Stmt], name: &str) -> bool {
    body.iter().any(|stmt| {
        binds(stmt, name)
            || !is_definition(stmt) && stmt.blocks().into_iter().any(|b| binds_any(b, name))
    })
}

fn binds(stmt: &Stmt, name: &str) -> bool {
    let mut found = false;
    bare_bindings(stmt, &mut |bound| found |= bound == name);
    found
}

/// Collects the statements that bind a name; says whether all of them can be executed alone.
fn binders<'w>(
    body: &'w [Stmt],
    name: &str,
    is_local: &dyn Fn(&str) -> bool,
    found: &mut Vec<&'w Stmt>,
) -> bool {
    let mut computable = true;
    for stmt in body {
        if binds(stmt, name) {
            found.push(stmt);
            computable &= match &stmt.kind {
                StmtKind::FunctionDef(_) | StmtKind::ClassDef(_) => true,
                StmtKind::Import(_) | StmtKind::ImportFrom { .. } => true,
                StmtKind::Assign { value, .. } => computes(value, is_local),
                StmtKind::AnnAssign { value, .. } => {
                    value.as_ref().is_some_and(|v| computes(v, is_local))
                }
                _ => false,
            };
        }
        if is_definition(stmt) {
            continue;
        }
        let before = found.len();
        for inner in stmt.blocks() {
            computable &= binders(inner, name, is_local, found);
        }
        if found.len() > before {
            stmt.own_exprs(&mut |e| computable &= computes(e, is_local));
            computable &= matches!(stmt.kind, StmtKind::If { .. } | StmtKind::Try { .. });
        }
    }
    computable
}

/// Whether an expression asks nothing of a local object but its value: `block * 2` can be computed
/// for any block, `x.shape[0]` and `x[0]` need the very object.
fn computes(expr: &Expr, is_local: &dyn Fn(&str) -> bool) -> bool {
    let mut paths = Vec::new();
    names::mentions(expr, &mut paths);
    let bare = |path: &SmolStr| !path.contains('.') || !is_local(names::root(path));
    let mut plain = paths.iter().all(bare);
    expr.walk(&mut |e| {
        let used = match &e.kind {
            ExprKind::Call { func, .. } => func.name(),
            ExprKind::Subscript { value, .. } => value.name(),
            ExprKind::Await(_) | ExprKind::Yield(_) | ExprKind::YieldFrom(_) => {
                plain = false;
                None
            }
            _ => None,
        };
        plain &= used.is_none_or(|name| !is_local(name));
    });
    plain
}
