//! The top of one file, indexed by name.

use rustc_hash::{FxHashMap, FxHashSet};
use tileperf_syntax::ast::{Expr, ExprKind, ImportName, Stmt, StmtKind};
use tileperf_syntax::{ParsedFile, Span};

use crate::eval::{MUTATORS, bare_bindings, bound_here, root_name};

/// A statement and where its item begins in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed<'w> {
    pub(super) stmt: &'w Stmt,
    pub(super) base: u32,
}

impl<'w> Placed<'w> {
    /// Its place in the file.
    pub(super) fn span(&self) -> Span {
        self.place(self.stmt.span)
    }

    /// A place of its item in the file.
    pub(super) fn place(&self, span: Span) -> Span {
        span.shift(self.base)
    }

    /// A block within it.
    pub(super) fn block(&self, stmts: &'w [Stmt]) -> Vec<Placed<'w>> {
        let base = self.base;
        stmts.iter().map(|stmt| Placed { stmt, base }).collect()
    }
}

/// `from x import *`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Star<'w> {
    pub(super) level: u32,
    pub(super) module: &'w str,
    /// The statement's place in the file.
    pub(super) span: Span,
}

/// The top level of a file.
#[derive(Debug, Default)]
pub(super) struct Module<'w> {
    /// Its statements in order.
    pub(super) tops: Vec<Placed<'w>>,
    /// Items that do not parse.
    broken: Vec<Span>,
    /// Which of `tops` bind a name, in whatever depth of branches.
    binding: FxHashMap<&'w str, Vec<usize>>,
    /// Which of `tops` change what a name is bound to.
    changing: FxHashMap<&'w str, Vec<usize>>,
    /// Names bound by something that is no import.
    own: FxHashSet<&'w str>,
    pub(super) stars: Vec<Star<'w>>,
}

impl<'w> Module<'w> {
    pub(super) fn new(file: &'w ParsedFile) -> Self {
        let mut module = Self::default();
        for item in &file.items {
            if item.is_stale() {
                module.broken.push(item.span);
            }
            for stmt in &item.facts.body {
                let placed = Placed {
                    stmt,
                    base: item.span.start,
                };
                module.tops.push(placed);
                module.enter(placed, module.tops.len() - 1);
            }
        }
        module
    }

    fn enter(&mut self, placed: Placed<'w>, top: usize) {
        let stmt = placed.stmt;
        let import = is_import(stmt);
        bare_bindings(stmt, &mut |name| {
            let tops = self.binding.entry(name).or_default();
            if tops.last() != Some(&top) {
                tops.push(top);
            }
            if !import {
                self.own.insert(name);
            }
        });
        changed(stmt, &mut |name| {
            self.changing.entry(name).or_default().push(top)
        });
        if let StmtKind::ImportFrom {
            module,
            level,
            star: true,
            ..
        } = &stmt.kind
        {
            self.stars.push(Star {
                level: *level,
                module,
                span: placed.span(),
            });
        }
        if !is_definition(stmt) {
            for inner in stmt.blocks().into_iter().flatten() {
                let base = placed.base;
                self.enter(Placed { stmt: inner, base }, top);
            }
        }
    }

    /// Whether a statement at the top binds a name.
    pub(super) fn binds(&self, name: &str) -> bool {
        self.binding.contains_key(name)
    }

    /// Whether what a name is bound to is made here, not imported.
    pub(super) fn owns(&self, name: &str) -> bool {
        self.own.contains(name)
    }

    /// The statements that decide what a name is.
    pub(super) fn deciding(&self, name: &str) -> impl Iterator<Item = Placed<'w>> + '_ {
        let binding = self.binding.get(name).into_iter().flatten();
        let changing = self.changing.get(name).filter(|_| self.owns(name));
        let mut tops: Vec<usize> = binding
            .chain(changing.into_iter().flatten())
            .copied()
            .collect();
        tops.sort_unstable();
        tops.dedup();
        tops.into_iter()
            .filter_map(|top| self.tops.get(top).copied())
    }

    /// The item around a place, if it does not parse.
    pub(super) fn broken_at(&self, span: Span) -> Option<Span> {
        self.broken.iter().find(|b| b.contains(span)).copied()
    }
}

/// The name that an entry of an import statement binds.
pub(super) fn imported_as(name: &ImportName, from: bool) -> &str {
    match &name.alias {
        Some(alias) => &alias.name,
        None if from => &name.name.name,
        None => super::names::root(&name.name.name),
    }
}

pub(super) fn is_import(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Import(_) | StmtKind::ImportFrom { .. })
}

pub(super) fn is_definition(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_))
}

/// Names whose objects a statement itself changes: `TABLE["a"] = 1`, `TABLE.append(1)`. Any other
/// call that stands alone is there for an effect that is none of a slice's business.
pub(super) fn changed<'w>(stmt: &'w Stmt, visit: &mut dyn FnMut(&'w str)) {
    match &stmt.kind {
        StmtKind::Expr(expr) => visit_mutated(expr, visit),
        StmtKind::Assign { .. } | StmtKind::AugAssign { .. } | StmtKind::AnnAssign { .. } => {
            let mut bare = FxHashSet::default();
            bare_bindings(stmt, &mut |name| {
                bare.insert(name);
            });
            bound_here(stmt, &mut |name| {
                if !bare.contains(name) {
                    visit(name);
                }
            });
        }
        _ => {}
    }
}

fn visit_mutated<'w>(expr: &'w Expr, visit: &mut dyn FnMut(&'w str)) {
    if let ExprKind::Call { func, .. } = &expr.kind
        && let ExprKind::Attribute { value, attr } = &func.kind
        && MUTATORS.contains(&attr.name.as_str())
    {
        root_name(value).into_iter().for_each(visit);
    }
}
