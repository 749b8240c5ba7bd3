//! Names that statements mention without binding them: what must be there when they run, or when
//! the functions that they define are compiled.
//!
//! A mention is a dotted path, `utils.scale`, so that of a module only what is used is needed. More
//! mentions than there are do no harm but a larger slice.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{ClassDef, Clause, Expr, ExprKind, FunctionDef, Param, Stmt, StmtKind};

use crate::eval::bare_bindings;

/// Free names of a statement and of all within it.
pub(super) fn of_stmt(stmt: &Stmt) -> Vec<SmolStr> {
    let mut out = Vec::new();
    stmt_mentions(stmt, &mut out);
    out
}

/// Free names of what a compound statement says itself: tests, iterables, the types of handlers.
pub(super) fn of_header(stmt: &Stmt) -> Vec<SmolStr> {
    let mut out = Vec::new();
    stmt.own_exprs(&mut |e| mentions(e, &mut out));
    out
}

fn stmt_mentions(stmt: &Stmt, out: &mut Vec<SmolStr>) {
    match &stmt.kind {
        StmtKind::FunctionDef(def) => function(def, out),
        StmtKind::ClassDef(class) => class_mentions(class, out),
        StmtKind::AnnAssign { annotation, .. } => {
            annotation_mentions(annotation, out);
            stmt.own_exprs(&mut |e| mentions(e, out));
        }
        _ => {
            stmt.own_exprs(&mut |e| mentions(e, out));
            for inner in stmt.blocks().into_iter().flatten() {
                stmt_mentions(inner, out);
            }
        }
    }
}

fn function(def: &FunctionDef, out: &mut Vec<SmolStr>) {
    def.decorators.iter().for_each(|e| mentions(e, out));
    parameters(&def.params, out);
    def.returns.iter().for_each(|e| annotation_mentions(e, out));
    let mut within = Vec::new();
    def.body.iter().for_each(|s| stmt_mentions(s, &mut within));
    let mut bound: FxHashSet<&str> = def.params.iter().map(|p| p.name.name.as_str()).collect();
    let mut global = FxHashSet::default();
    def.body
        .iter()
        .for_each(|s| locals(s, &mut bound, &mut global));
    out.extend(within.into_iter().filter(|path| {
        let root = root(path);
        global.contains(root) || !bound.contains(root)
    }));
}

fn parameters(params: &[Param], out: &mut Vec<SmolStr>) {
    for param in params {
        param
            .annotation
            .iter()
            .for_each(|e| annotation_mentions(e, out));
        param.default.iter().for_each(|e| mentions(e, out));
    }
}

fn class_mentions(class: &ClassDef, out: &mut Vec<SmolStr>) {
    class.decorators.iter().for_each(|e| mentions(e, out));
    class.bases.iter().for_each(|a| mentions(&a.value, out));
    class.body.iter().for_each(|s| stmt_mentions(s, out));
}

/// Names that a function's statements make local, those of functions within left out.
fn locals<'a>(stmt: &'a Stmt, bound: &mut FxHashSet<&'a str>, global: &mut FxHashSet<&'a str>) {
    if let StmtKind::Global(names) = &stmt.kind {
        global.extend(names.iter().map(|n| n.name.as_str()));
    }
    bare_bindings(stmt, &mut |name| {
        bound.insert(name);
    });
    if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
        for inner in stmt.blocks().into_iter().flatten() {
            locals(inner, bound, global);
        }
    }
}

/// The first part of a dotted path.
pub(super) fn root(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// Free names of an expression.
pub(super) fn mentions(expr: &Expr, out: &mut Vec<SmolStr>) {
    match &expr.kind {
        ExprKind::Name(name) => out.push(name.clone()),
        ExprKind::Attribute { value, .. } => match expr.dotted() {
            Some(path) => out.push(path.into()),
            None => mentions(value, out),
        },
        ExprKind::Lambda { params, body } => {
            parameters(params, out);
            let own: Vec<&str> = params.iter().map(|p| p.name.name.as_str()).collect();
            within(&own, &mut |out| mentions(body, out), out);
        }
        ExprKind::Comprehension { clauses, .. } => {
            let mut own = Vec::new();
            for clause in clauses {
                if let Clause::For { target, .. } = clause {
                    target.walk(&mut |e| own.extend(e.name().map(SmolStr::as_str)));
                }
            }
            let all = &mut |out: &mut Vec<SmolStr>| expr.children(&mut |e| mentions(e, out));
            within(&own, all, out);
        }
        _ => expr.children(&mut |e| mentions(e, out)),
    }
}

/// Mentions within something that binds names of its own.
fn within(own: &[&str], inside: &mut dyn FnMut(&mut Vec<SmolStr>), out: &mut Vec<SmolStr>) {
    let mut found = Vec::new();
    inside(&mut found);
    out.extend(found.into_iter().filter(|path| !own.contains(&root(path))));
}

/// Free names of an annotation, which may be written as a text.
fn annotation_mentions(expr: &Expr, out: &mut Vec<SmolStr>) {
    mentions(expr, out);
    expr.walk(&mut |e| {
        let ExprKind::Str(text) = &e.kind else { return };
        let parts = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
        let named = parts.filter(|p| p.starts_with(|c: char| c.is_alphabetic() || c == '_'));
        out.extend(named.map(SmolStr::from));
    });
}
