//! What executing a statement of a slice runs: definitions and constants, or more.
//!
//! Modules from outside the workspace are stand-ins when a slice is executed, or compute only, so
//! calling them is nothing. What remains is the workspace's own host code: a function of it is
//! followed, and is plain if it neither loops without a bound nor calls what is not.

use rustc_hash::FxHashSet;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::Runs;
use super::collect::Collected;
use super::module::{Placed, is_definition};
use super::names;
use crate::eval::ModuleId;

/// Builtins that reach out of the process, or run a text.
const REFUSED: [&str; 10] = [
    "__import__",
    "breakpoint",
    "compile",
    "eval",
    "exec",
    "exit",
    "help",
    "input",
    "open",
    "quit",
];

/// Calls followed from one statement.
const MAX_DEPTH: u32 = 6;

pub(super) struct Purity<'c, 'w> {
    collected: &'c mut Collected<'w>,
    /// Functions on the way, or done.
    seen: FxHashSet<(ModuleId, u32, u32)>,
}

impl<'c, 'w> Purity<'c, 'w> {
    pub(super) fn new(collected: &'c mut Collected<'w>) -> Self {
        Self {
            collected,
            seen: FxHashSet::default(),
        }
    }

    /// What a statement runs that is not known to be harmless, that within its branches left out.
    pub(super) fn runs(&mut self, module: ModuleId, placed: Placed<'w>) -> Vec<Runs> {
        let mut found = Vec::new();
        let what = match &placed.stmt.kind {
            StmtKind::For { .. } | StmtKind::While { .. } => Some("loops"),
            StmtKind::With { .. } => Some("enters a context"),
            StmtKind::Match { .. } | StmtKind::Unknown(_) => Some("is not understood"),
            _ => None,
        };
        if let Some(what) = what {
            found.push((placed.stmt.span, what.to_owned()));
        }
        for expr in executed(placed.stmt) {
            self.calls(module, expr, MAX_DEPTH, &mut |expr, what| {
                found.push((expr.span, what));
            });
        }
        let place = |(span, what)| Runs {
            module,
            span: placed.place(span),
            what,
        };
        found.into_iter().map(place).collect()
    }

    /// Reports the calls in an expression that are not known to be harmless.
    fn calls(
        &mut self,
        module: ModuleId,
        expr: &'w Expr,
        depth: u32,
        report: &mut dyn FnMut(&'w Expr, String),
    ) {
        if let ExprKind::Lambda { params, .. } = &expr.kind {
            let defaults = params.iter().filter_map(|p| p.default.as_ref());
            defaults.for_each(|e| self.calls(module, e, depth, report));
            return;
        }
        if let ExprKind::Call { func, .. } = &expr.kind
            && let Some(path) = func.dotted()
            && !self.is_harmless(module, &path, depth)
        {
            report(expr, format!("calls `{path}`"));
        }
        let mut parts = Vec::new();
        expr.children(&mut |e| parts.push(e));
        for part in parts {
            self.calls(module, part, depth, report);
        }
    }

    /// Whether a call of something named so in a module does nothing but compute.
    fn is_harmless(&mut self, module: ModuleId, path: &str, depth: u32) -> bool {
        let (root, rest) = path.split_once('.').unwrap_or((path, ""));
        let index = self.collected.module(module);
        if !index.binds(root) {
            return !REFUSED.contains(&root);
        }
        // Deeper than anybody looks.
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let deciding: Vec<Placed<'w>> = index.deciding(root).collect();
        deciding.into_iter().all(|placed| {
            let mut bound = Vec::new();
            binders(placed, root, &mut bound);
            bound
                .into_iter()
                .all(|binder| self.harmless_binder(module, binder, root, rest, depth))
        })
    }

    fn harmless_binder(
        &mut self,
        module: ModuleId,
        binder: Placed<'w>,
        root: &str,
        rest: &str,
        depth: u32,
    ) -> bool {
        match &binder.stmt.kind {
            // Of objects only methods of the workspace's classes could do anything.
            StmtKind::ClassDef(_) => true,
            StmtKind::FunctionDef(def) => self.harmless_function(module, binder.base, def, depth),
            StmtKind::Import(names) => names.iter().all(|n| {
                let path = super::imports::joined(&n.name.name, rest);
                self.harmless_path(module, 0, &path, depth)
            }),
            StmtKind::ImportFrom {
                module: from,
                level,
                names,
                ..
            } => (names.iter())
                .filter(|n| super::module::imported_as(n, true) == root)
                .all(|n| {
                    let name = super::imports::joined(&n.name.name, rest);
                    let path = super::imports::joined(from, &name);
                    self.harmless_path(module, *level, &path, depth)
                }),
            // A method of a value, or a value that is called: only the former is of a known kind.
            _ => !rest.is_empty(),
        }
    }

    /// Whether something imported is harmless: all from outside the workspace is.
    fn harmless_path(&mut self, module: ModuleId, level: u32, path: &str, depth: u32) -> bool {
        let mut end = path.len();
        loop {
            let (dotted, rest) = path.split_at(end);
            if let Some(found) = self.collected.workspace.import(module, level, dotted) {
                let rest = rest.trim_start_matches('.');
                return rest.is_empty() || self.is_harmless(found, rest, depth);
            }
            match dotted.rfind('.') {
                Some(dot) => end = dot,
                None => return true,
            }
        }
    }

    fn harmless_function(
        &mut self,
        module: ModuleId,
        base: u32,
        def: &'w FunctionDef,
        depth: u32,
    ) -> bool {
        if !self.seen.insert((module, base, def.def_span.start)) {
            return true;
        }
        let params: Vec<&str> = def.params.iter().map(|p| p.name.name.as_str()).collect();
        let mut harmless = true;
        each_stmt(&def.body, &mut |stmt| {
            harmless &= !matches!(stmt.kind, StmtKind::While { .. });
            stmt.own_exprs(&mut |e| {
                self.calls(module, e, depth, &mut |call, _| {
                    // A parameter that is called is what was decorated, or a method of its own.
                    let called = match &call.kind {
                        ExprKind::Call { func, .. } => func.dotted(),
                        _ => None,
                    };
                    harmless &= called.is_some_and(|c| params.contains(&names::root(&c)));
                });
            });
        });
        harmless
    }
}

/// The statements within one that bind a name.
fn binders<'w>(placed: Placed<'w>, name: &str, found: &mut Vec<Placed<'w>>) {
    let mut binds = false;
    crate::eval::bare_bindings(placed.stmt, &mut |bound| binds |= bound == name);
    if binds {
        found.push(placed);
    }
    if !is_definition(placed.stmt) {
        for block in placed.stmt.blocks() {
            placed
                .block(block)
                .into_iter()
                .for_each(|s| binders(s, name, found));
        }
    }
}

fn each_stmt<'w>(body: &'w [Stmt], visit: &mut dyn FnMut(&'w Stmt)) {
    for stmt in body {
        visit(stmt);
        stmt.blocks()
            .into_iter()
            .for_each(|block| each_stmt(block, visit));
    }
}

/// The expressions that are evaluated when a statement is executed, those of statements within a
/// branch left out.
fn executed(stmt: &Stmt) -> Vec<&Expr> {
    let mut found = Vec::new();
    stmt.own_exprs(&mut |e| found.push(e));
    match &stmt.kind {
        StmtKind::FunctionDef(def) => {
            found.extend(def.params.iter().filter_map(|p| p.annotation.as_ref()));
            found.extend(&def.returns);
        }
        StmtKind::ClassDef(class) => {
            each_executed(&class.body, &mut |e| found.push(e));
        }
        StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::With { .. } => {
            stmt.blocks()
                .into_iter()
                .for_each(|b| each_executed(b, &mut |e| found.push(e)));
        }
        _ => {}
    }
    found
}

fn each_executed<'w>(body: &'w [Stmt], visit: &mut dyn FnMut(&'w Expr)) {
    for stmt in body {
        executed(stmt).into_iter().for_each(&mut *visit);
        if matches!(stmt.kind, StmtKind::If { .. } | StmtKind::Try { .. }) {
            stmt.blocks()
                .into_iter()
                .for_each(|b| each_executed(b, visit));
        }
    }
}
