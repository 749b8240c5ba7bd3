//! What the evaluator asks of the workspace, and how it finds names in a module.
//!
//! The workspace answers two questions only: which statements stand at the top of a module, and
//! which module an import means. Everything else, scoping, slices of a module's top level, names
//! that functions change behind its back, is decided here, so that it is the same for an open
//! document, an indexed file and a test's string.

use rustc_hash::{FxHashMap, FxHashSet};
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

/// A Python file of the workspace, numbered by whoever implements [`Env`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub u32);

/// Some source: spans are relative to a top-level item, so the item is part of the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// The file.
    pub module: ModuleId,
    /// The item's number in the file, as [`Env::items`] gave it.
    pub item: u32,
    /// Bytes, relative to the item.
    pub span: Span,
}

/// The statements of one top-level item.
#[derive(Debug, Clone, Copy)]
pub struct EnvItem<'e> {
    /// The item's number: comes back in every [`Place`].
    pub item: u32,
    /// Its statements; more than one only after a fault in the text.
    pub body: &'e [Stmt],
}

/// The workspace as the evaluator sees it. Implementations are pure lookups in a snapshot.
pub trait Env {
    /// The top-level items of a module in source order; empty for a module that is not known.
    fn items(&self, module: ModuleId) -> Vec<EnvItem<'_>>;

    /// The workspace module meant by `import dotted` (`level` 0) or `from ..dotted import`
    /// (`level` dots) written in `from`. An empty `dotted` with a level is the package itself.
    /// `None` for anything outside the workspace.
    fn import(&self, from: ModuleId, level: u32, dotted: &str) -> Option<ModuleId>;
}

/// A statement at the top of a module and the item it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Top<'e> {
    pub(super) item: u32,
    pub(super) stmt: &'e Stmt,
}

/// The top level of one module, indexed by name.
pub(super) struct Module<'e> {
    tops: Vec<Top<'e>>,
    /// Which of `tops` bind or change a name.
    touching: FxHashMap<&'e str, Vec<usize>>,
    /// Modules of `from x import *`.
    pub(super) stars: Vec<(u32, &'e str)>,
    /// Names that functions of the module rebind or mutate, with whether some function does so
    /// without otherwise looking at them.
    volatile: FxHashMap<&'e str, bool>,
}

/// How functions of a module treat one of its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// None changes it.
    Constant,
    /// Whoever changes it looks at it too: a cache or a value made on first use.
    Cache,
    /// Somebody sets it from outside.
    Variable,
}

impl<'e> Module<'e> {
    pub(super) fn new(items: Vec<EnvItem<'e>>) -> Self {
        let tops: Vec<Top<'e>> = items
            .iter()
            .flat_map(|i| i.body.iter().map(|stmt| Top { item: i.item, stmt }))
            .collect();
        let mut touching: FxHashMap<&'e str, Vec<usize>> = FxHashMap::default();
        let mut stars = Vec::new();
        for (at, top) in tops.iter().enumerate() {
            let mut names = FxHashSet::default();
            touched(top.stmt, &mut names);
            for name in names {
                touching.entry(name).or_default().push(at);
            }
            collect_stars(top.stmt, &mut stars);
        }
        let mut volatile = FxHashMap::default();
        for top in &tops {
            changed_by_functions(top.stmt, &mut volatile);
        }
        Self {
            tops,
            touching,
            stars,
            volatile,
        }
    }

    pub(super) fn binds(&self, name: &str) -> bool {
        self.touching.contains_key(name)
    }

    /// How the module's functions treat a name: if they change it, what the top level says is only
    /// how it starts.
    pub(super) fn use_of(&self, name: &str) -> Use {
        match self.volatile.get(name) {
            None => Use::Constant,
            Some(false) => Use::Cache,
            Some(true) => Use::Variable,
        }
    }

    /// The statements that decide what `name` is, in order, with every name they decide together:
    /// a loop that fills two tables must run once for both.
    pub(super) fn group(&self, name: &str) -> (Vec<Top<'e>>, Vec<&'e str>) {
        let mut picked: FxHashSet<usize> = FxHashSet::default();
        let mut names: Vec<&'e str> = Vec::new();
        let mut todo: Vec<&'e str> = self
            .touching
            .get_key_value(name)
            .map(|(k, _)| *k)
            .into_iter()
            .collect();
        while let Some(name) = todo.pop() {
            if names.contains(&name) {
                continue;
            }
            names.push(name);
            for &at in self.touching.get(name).into_iter().flatten() {
                // Names of one import have nothing to do with each other.
                let import = matches!(
                    self.tops[at].stmt.kind,
                    StmtKind::Import(_) | StmtKind::ImportFrom { .. }
                );
                if picked.insert(at) && !import {
                    let mut more = FxHashSet::default();
                    touched(self.tops[at].stmt, &mut more);
                    todo.extend(more);
                }
            }
        }
        let mut order: Vec<usize> = picked.into_iter().collect();
        order.sort_unstable();
        (order.into_iter().map(|at| self.tops[at]).collect(), names)
    }
}

/// Methods that change the container they are called on.
pub(crate) const MUTATORS: [&str; 14] = [
    "append",
    "extend",
    "insert",
    "remove",
    "pop",
    "clear",
    "update",
    "setdefault",
    "add",
    "sort",
    "reverse",
    "discard",
    "popitem",
    "appendleft",
];

/// The name at the root of `a.b[c].d`.
pub(crate) fn root_name(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Attribute { value, .. } | ExprKind::Subscript { value, .. } => root_name(value),
        ExprKind::Starred(inner) => root_name(inner),
        _ => None,
    }
}

/// Every name that an assignment target binds or changes.
pub(super) fn target_names<'a>(target: &'a Expr, visit: &mut dyn FnMut(&'a str)) {
    match &target.kind {
        ExprKind::Tuple(items) | ExprKind::List(items) => {
            items.iter().for_each(|t| target_names(t, visit));
        }
        _ => root_name(target).into_iter().for_each(visit),
    }
}

/// Calls `visit` with every target that a statement itself assigns or deletes.
pub(super) fn target_expr<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a Expr)) {
    match &stmt.kind {
        StmtKind::Assign { targets, .. } | StmtKind::Delete(targets) => {
            targets.iter().for_each(visit);
        }
        StmtKind::AnnAssign { target, .. }
        | StmtKind::AugAssign { target, .. }
        | StmtKind::For { target, .. } => visit(target),
        _ => {}
    }
}

/// Names that an expression changes by itself: walrus targets and containers whose mutating method
/// it calls.
pub(super) fn changed_in_expr<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a str)) {
    expr.walk(&mut |e| match &e.kind {
        ExprKind::Named { target, .. } => visit(&target.name),
        ExprKind::Call { func, .. } => {
            if let ExprKind::Attribute { value, attr } = &func.kind
                && MUTATORS.contains(&attr.name.as_str())
            {
                root_name(value).into_iter().for_each(&mut *visit);
            }
        }
        _ => {}
    });
}

/// Names that a statement binds or changes, its blocks included, nested functions' bodies not.
pub(super) fn touched<'a>(stmt: &'a Stmt, names: &mut FxHashSet<&'a str>) {
    bound_here(stmt, &mut |name| {
        names.insert(name);
    });
    stmt.own_exprs(&mut |e| {
        changed_in_expr(e, &mut |name| {
            names.insert(name);
        })
    });
    if let StmtKind::Expr(expr) = &stmt.kind
        && let ExprKind::Call { func, args } = &expr.kind
    {
        // `fill(TABLE)` as a statement is there for its effect on `TABLE`.
        args.iter().filter_map(|a| a.value.name()).for_each(|n| {
            names.insert(n);
        });
        if let ExprKind::Attribute { value, .. } = &func.kind
            && let Some(name) = value.name()
        {
            names.insert(name);
        }
    }
    if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
        for block in stmt.blocks() {
            block.iter().for_each(|s| touched(s, names));
        }
    }
}

/// Names that a statement itself binds, not those of the statements within it.
pub(crate) fn bound_here<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a str)) {
    match &stmt.kind {
        StmtKind::FunctionDef(def) => visit(&def.name.name),
        StmtKind::ClassDef(class) => visit(&class.name.name),
        StmtKind::Assign { targets, .. } => targets.iter().for_each(|t| target_names(t, visit)),
        StmtKind::AnnAssign {
            target,
            value: Some(_),
            ..
        }
        | StmtKind::AugAssign { target, .. }
        | StmtKind::For { target, .. } => target_names(target, visit),
        StmtKind::With { items, .. } => {
            items
                .iter()
                .filter_map(|(_, t)| t.as_ref())
                .for_each(|t| target_names(t, visit));
        }
        StmtKind::Delete(targets) => targets.iter().for_each(|t| target_names(t, visit)),
        StmtKind::Try { handlers, .. } => {
            handlers
                .iter()
                .filter_map(|h| h.name.as_ref())
                .for_each(|n| visit(&n.name));
        }
        StmtKind::Import(names) => {
            for n in names {
                let bound = match &n.alias {
                    Some(alias) => alias.name.as_str(),
                    None => n.name.name.split('.').next().unwrap_or_default(),
                };
                visit(bound);
            }
        }
        StmtKind::ImportFrom { names, .. } => {
            names
                .iter()
                .for_each(|n| visit(&n.alias.as_ref().unwrap_or(&n.name).name));
        }
        _ => {}
    }
}

fn collect_stars<'e>(stmt: &'e Stmt, stars: &mut Vec<(u32, &'e str)>) {
    if let StmtKind::ImportFrom {
        module,
        level,
        star: true,
        ..
    } = &stmt.kind
    {
        stars.push((*level, module));
    }
    if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
        stmt.blocks()
            .into_iter()
            .flatten()
            .for_each(|s| collect_stars(s, stars));
    }
}

/// Module names that the functions below a statement change.
fn changed_by_functions<'e>(stmt: &'e Stmt, out: &mut FxHashMap<&'e str, bool>) {
    if let StmtKind::FunctionDef(def) = &stmt.kind {
        changed_by(def, out);
        return;
    }
    stmt.blocks()
        .into_iter()
        .flatten()
        .for_each(|s| changed_by_functions(s, out));
}

/// What one function does with names.
#[derive(Default)]
struct Names<'e> {
    changes: FxHashMap<&'e str, usize>,
    mentions: FxHashMap<&'e str, usize>,
    local: FxHashSet<&'e str>,
    global: FxHashSet<&'e str>,
}

fn changed_by<'e>(def: &'e FunctionDef, out: &mut FxHashMap<&'e str, bool>) {
    let mut names = Names::default();
    names
        .local
        .extend(def.params.iter().map(|p| p.name.name.as_str()));
    scan(&def.body, &mut names, out);
    for (name, changes) in &names.changes {
        if !names.local.contains(name) || names.global.contains(name) {
            let blind = names.mentions.get(name).is_none_or(|m| m <= changes);
            *out.entry(name).or_default() |= blind;
        }
    }
}

fn scan<'e>(body: &'e [Stmt], names: &mut Names<'e>, out: &mut FxHashMap<&'e str, bool>) {
    for stmt in body {
        if let StmtKind::Global(declared) = &stmt.kind {
            names
                .global
                .extend(declared.iter().map(|n| n.name.as_str()));
        }
        bound_here(stmt, &mut |n| *names.changes.entry(n).or_default() += 1);
        stmt.own_exprs(&mut |e| {
            changed_in_expr(e, &mut |n| *names.changes.entry(n).or_default() += 1);
            e.walk(&mut |e| {
                if let ExprKind::Name(n) = &e.kind {
                    *names.mentions.entry(n).or_default() += 1;
                }
            });
        });
        bare_bindings(stmt, &mut |n| {
            names.local.insert(n);
        });
        match &stmt.kind {
            StmtKind::FunctionDef(def) => changed_by(def, out),
            _ => stmt.blocks().into_iter().for_each(|b| scan(b, names, out)),
        }
    }
}

/// Names that a statement makes local: bound as a bare name, not through `x[...]` or `x.y`.
pub(crate) fn bare_bindings<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a str)) {
    fn bare<'a>(target: &'a Expr, visit: &mut dyn FnMut(&'a str)) {
        match &target.kind {
            ExprKind::Name(name) => visit(name),
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|t| bare(t, visit))
            }
            ExprKind::Starred(inner) => bare(inner, visit),
            _ => {}
        }
    }
    match &stmt.kind {
        StmtKind::Assign { targets, .. } => targets.iter().for_each(|t| bare(t, visit)),
        StmtKind::AnnAssign {
            target,
            value: Some(_),
            ..
        }
        | StmtKind::AugAssign { target, .. }
        | StmtKind::For { target, .. } => bare(target, visit),
        StmtKind::With { items, .. } => {
            items
                .iter()
                .filter_map(|(_, t)| t.as_ref())
                .for_each(|t| bare(t, visit));
        }
        StmtKind::Delete(_) => {}
        _ => bound_here(stmt, visit),
    }
    stmt.own_exprs(&mut |e| {
        e.walk(&mut |e| {
            if let ExprKind::Named { target, .. } = &e.kind {
                visit(&target.name);
            }
        })
    });
}
