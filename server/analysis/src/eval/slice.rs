//! Which statements of a function matter for the value of one expression in it.
//!
//! The function around a search prepares tensors, checks shapes and launches kernels. Running all of
//! it abstractly would split the run on tests that have nothing to do with the space. So only
//! statements that can reach the wanted expression's names are kept, and of a branch only the side
//! on which the expression stands.

use rustc_hash::{FxHashMap, FxHashSet};
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::env::{bound_here, changed_in_expr};

/// What to keep of one function's body.
#[derive(Debug, Default)]
pub(super) struct Slice {
    keep: FxHashSet<Span>,
    /// For an `if` of which only one branch matters, that branch; `None` is its `else`.
    forced: FxHashMap<Span, Option<usize>>,
}

impl Slice {
    pub(super) fn keeps(&self, stmt: Span) -> bool {
        self.keep.contains(&stmt)
    }

    pub(super) fn only_branch(&self, stmt: Span) -> Option<Option<usize>> {
        self.forced.get(&stmt).copied()
    }

    /// The slice of `def` for the expression at `target`, which mentions `names`. `names` grows to
    /// everything that the slice mentions.
    pub(super) fn new<'e>(
        def: &'e FunctionDef,
        target: Span,
        names: &mut FxHashSet<&'e str>,
    ) -> Self {
        let mut slice = Self::default();
        loop {
            let before = (slice.keep.len(), names.len());
            slice.scan(&def.body, target, names);
            if (slice.keep.len(), names.len()) == before {
                break;
            }
        }
        let exits = def.body.iter().filter(|s| is_exit(s));
        slice.keep.extend(exits.map(|s| s.span));
        slice.force(&def.body, target);
        slice
    }

    /// Adds what matters in a block; says whether anything does.
    fn scan<'e>(&mut self, body: &'e [Stmt], target: Span, names: &mut FxHashSet<&'e str>) -> bool {
        let mut any = false;
        for stmt in body {
            let holds = stmt.span.contains(target);
            let mut keep = holds || changes_any(stmt, names) || is_guard(stmt, names);
            if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
                for block in stmt.blocks() {
                    keep |= self.scan(block, target, names);
                }
            }
            if !keep {
                continue;
            }
            any = true;
            if self.keep.insert(stmt.span) && leaves_somewhere(stmt) {
                self.keep_exits(stmt);
            }
            self.keep_control(stmt, target, names);
            match &stmt.kind {
                // Only the parts that hold the target are evaluated for their own sake.
                _ if holds && !changes_any(stmt, names) => {
                    stmt.own_exprs(&mut |e| {
                        if e.span.contains(target) {
                            narrow_names(e, target, names);
                        } else if !matches!(
                            stmt.kind,
                            StmtKind::Assign { .. } | StmtKind::If { .. }
                        ) {
                            mention(e, names);
                        }
                    });
                }
                StmtKind::FunctionDef(def) => {
                    def.body.iter().for_each(|s| mention_all(s, names));
                    stmt.own_exprs(&mut |e| mention(e, names));
                }
                _ => stmt.own_exprs(&mut |e| mention(e, names)),
            }
        }
        any
    }

    /// Keeps what decides how often a kept statement within `stmt` runs, beyond the tests around it:
    /// the jumps of a loop, and whatever may raise in a `try`.
    fn keep_control<'e>(&mut self, stmt: &'e Stmt, target: Span, names: &mut FxHashSet<&'e str>) {
        match &stmt.kind {
            StmtKind::For { body, .. } | StmtKind::While { body, .. }
                if self.has_effects(body, target) =>
            {
                self.keep_jumps(body, names);
            }
            StmtKind::Try {
                body,
                handlers,
                orelse,
                ..
            } => {
                let holds = |b: &[Stmt]| b.iter().any(|s| s.span.contains(target));
                let handled = handlers
                    .iter()
                    .any(|h| holds(&h.body) || self.has_effects(&h.body, target));
                if handled || !(holds(body) || holds(orelse)) {
                    self.keep_all(body, names);
                }
            }
            StmtKind::With { items, body } if items.iter().any(|(e, _)| suppresses(e)) => {
                self.keep_all(body, names);
            }
            _ => {}
        }
    }

    /// Whether anything kept in a block does more than hold the target or leave.
    fn has_effects(&self, body: &[Stmt], target: Span) -> bool {
        body.iter().any(|s| {
            self.keep.contains(&s.span)
                && !is_exit(s)
                && (!s.span.contains(target)
                    || s.blocks().into_iter().any(|b| self.has_effects(b, target)))
        })
    }

    /// Keeps the `continue` and `break` of one loop with the tests around them.
    fn keep_jumps<'e>(&mut self, body: &'e [Stmt], names: &mut FxHashSet<&'e str>) -> bool {
        let mut any = false;
        for stmt in body {
            let jumps = match &stmt.kind {
                StmtKind::Continue | StmtKind::Break => true,
                StmtKind::For { .. } | StmtKind::While { .. } => false,
                StmtKind::FunctionDef(_) | StmtKind::ClassDef(_) => false,
                _ => {
                    let mut found = false;
                    for block in stmt.blocks() {
                        found |= self.keep_jumps(block, names);
                    }
                    found
                }
            };
            if jumps {
                any = true;
                self.keep.insert(stmt.span);
                stmt.own_exprs(&mut |e| mention(e, names));
            }
        }
        any
    }

    fn keep_all<'e>(&mut self, body: &'e [Stmt], names: &mut FxHashSet<&'e str>) {
        for stmt in body {
            self.keep.insert(stmt.span);
            stmt.own_exprs(&mut |e| mention(e, names));
            if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
                stmt.blocks()
                    .into_iter()
                    .for_each(|b| self.keep_all(b, names));
            }
        }
    }

    /// Keeps the `return`, `raise`, `continue` and `break` right below a kept statement: they decide
    /// whether what follows runs.
    fn keep_exits(&mut self, stmt: &Stmt) {
        for block in stmt.blocks() {
            for inner in block {
                if is_exit(inner) {
                    self.keep.insert(inner.span);
                }
            }
        }
    }

    fn force(&mut self, body: &[Stmt], target: Span) {
        for stmt in body.iter().filter(|s| s.span.contains(target)) {
            if let StmtKind::If { branches, orelse } = &stmt.kind {
                let holds = |b: &[Stmt]| b.iter().any(|s| s.span.contains(target));
                let matters =
                    |b: &[Stmt]| b.iter().any(|s| self.keep.contains(&s.span) && !is_exit(s));
                let at = branches.iter().position(|(_, b)| holds(b));
                let others = branches
                    .iter()
                    .map(|(_, b)| b.as_slice())
                    .chain([orelse.as_slice()]);
                if (at.is_some() || holds(orelse)) && others.filter(|b| matters(b)).count() == 1 {
                    self.forced.insert(stmt.span, at);
                }
            }
            // In a loop another round may take the other branch.
            if !matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. }) {
                for block in stmt.blocks() {
                    self.force(block, target);
                }
            }
        }
    }
}

fn is_exit(stmt: &Stmt) -> bool {
    matches!(
        stmt.kind,
        StmtKind::Return(_) | StmtKind::Raise(_) | StmtKind::Continue | StmtKind::Break
    )
}

/// `contextlib.suppress(...)`: what may raise in it decides where it goes on.
pub(super) fn suppresses(item: &Expr) -> bool {
    matches!(&item.kind, ExprKind::Call { func, .. }
        if func.last_ident().is_some_and(|n| n.name == "suppress"))
}

fn leaves_somewhere(stmt: &Stmt) -> bool {
    stmt.blocks().into_iter().flatten().any(is_exit)
}

/// Whether the statement binds or changes one of the names.
fn changes_any(stmt: &Stmt, names: &FxHashSet<&str>) -> bool {
    let mut found = false;
    bound_here(stmt, &mut |n| found |= names.contains(n));
    stmt.own_exprs(&mut |e| changed_in_expr(e, &mut |n| found |= names.contains(n)));
    found
}

/// A test on one of the names that leaves: what comes after knows the answer.
fn is_guard(stmt: &Stmt, names: &FxHashSet<&str>) -> bool {
    let mentions = |e: &Expr| {
        let mut found = false;
        e.walk(&mut |e| found |= e.name().is_some_and(|n| names.contains(n.as_str())));
        found
    };
    match &stmt.kind {
        StmtKind::Assert { test, .. } => mentions(test),
        StmtKind::If { branches, .. } => {
            leaves_somewhere(stmt) && branches.iter().any(|(test, _)| mentions(test))
        }
        _ => false,
    }
}

fn mention<'e>(expr: &'e Expr, names: &mut FxHashSet<&'e str>) {
    expr.walk(&mut |e| {
        if let ExprKind::Name(n) = &e.kind {
            names.insert(n);
        }
    });
}

fn mention_all<'e>(stmt: &'e Stmt, names: &mut FxHashSet<&'e str>) {
    stmt.own_exprs(&mut |e| mention(e, names));
    stmt.blocks()
        .into_iter()
        .flatten()
        .for_each(|s| mention_all(s, names));
}

/// Names of the target alone, not of what stands around it in the same statement.
fn narrow_names<'e>(expr: &'e Expr, target: Span, names: &mut FxHashSet<&'e str>) {
    if expr.span == target {
        mention(expr, names);
        return;
    }
    if let ExprKind::Lambda { .. } | ExprKind::Comprehension { .. } = &expr.kind {
        mention(expr, names);
        return;
    }
    expr.children(&mut |child| {
        if child.span.contains(target) {
            narrow_names(child, target, names);
        }
    });
}
