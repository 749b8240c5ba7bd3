//! What statements bind names to: branches are joined, loop bodies walked until nothing changes, twice
//! at most.

use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::infer::Infer;
use super::locals::Locals;
use super::{Const, Ty, operators};

impl Infer<'_> {
    pub(super) fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                let ty = self.expr(value);
                targets.iter().for_each(|t| self.bind(t, &ty));
            }
            StmtKind::AnnAssign {
                target,
                value: Some(value),
                ..
            } => {
                let ty = self.expr(value);
                self.bind(target, &ty);
            }
            StmtKind::AugAssign { target, op, value } => {
                let right = self.expr(value);
                let left = self.expr(target);
                let op = op.trim_end_matches('=');
                let ty = operators::binary(op, &left, &right);
                self.bind(target, &ty);
            }
            StmtKind::For {
                target,
                iter,
                body,
                orelse,
            } => {
                let ty = self.counter(iter);
                self.twice(|s| {
                    s.bind(target, &ty);
                    s.block(body);
                });
                self.block(orelse);
            }
            StmtKind::While { test, body, orelse } => {
                self.twice(|s| {
                    s.expr(test);
                    s.block(body);
                });
                self.block(orelse);
            }
            StmtKind::If { branches, orelse } => {
                let before = self.locals.clone();
                let mut after: Option<Locals> = None;
                for (test, body) in branches {
                    self.expr(test);
                    let here = self.locals.clone();
                    self.block(body);
                    let ended = std::mem::replace(&mut self.locals, here);
                    if !leaves(body) {
                        after = Some(joined(after, ended));
                    }
                }
                self.block(orelse);
                let ended = std::mem::replace(&mut self.locals, before);
                if orelse.is_empty() || !leaves(orelse) {
                    after = Some(joined(after, ended));
                }
                if let Some(after) = after {
                    self.locals = after;
                }
            }
            StmtKind::With { items, body } => {
                for (value, target) in items {
                    let ty = self.expr(value);
                    if let Some(target) = target {
                        self.bind(target, &ty);
                    }
                }
                self.block(body);
            }
            StmtKind::FunctionDef(def) => {
                self.set(&def.name.name, Ty::Unknown);
            }
            StmtKind::ClassDef(_) => {}
            _ => {
                let mut own: Vec<&Expr> = Vec::new();
                stmt.own_exprs(&mut |e| own.push(e));
                own.into_iter().for_each(|e| drop(self.expr(e)));
                for inner in stmt.blocks() {
                    self.block(inner);
                }
            }
        }
    }

    /// A loop's body, once to learn what it changes and, if it reads something of that, once with that
    /// known. Most bodies read nothing that they change to another type: in nested loops, each of which
    /// would double the work, that tells.
    fn twice(&mut self, mut body: impl FnMut(&mut Self)) {
        for _ in 0..2 {
            let before = self.locals.clone();
            let missed = self.missed.len();
            body(self);
            let ended = std::mem::replace(&mut self.locals, before);
            let changed = self.locals.join(ended);
            let read_before_bound = (self.missed[missed..].iter())
                .any(|name| self.locals.get(&self.slots, name).is_some());
            if !changed && !read_before_bound {
                return;
            }
        }
    }

    /// What a loop counts with.
    pub(super) fn counter(&mut self, iter: &Expr) -> Ty {
        let ty = self.expr(iter);
        let ExprKind::Call { func, args } = &iter.kind else {
            return match ty {
                Ty::Tuple(parts) => parts
                    .iter()
                    .cloned()
                    .reduce(|a, b| a.join(&b))
                    .unwrap_or_default(),
                _ => Ty::Unknown,
            };
        };
        if self.module.api(func).is_some_and(|n| n == "static_iter") {
            return Ty::Const(Const::Other);
        }
        if func.name().is_some_and(|n| n == "range") {
            // A counter that starts at a block's index walks over blocks.
            let from_block = |e: &Expr| matches!(self.body.ty(e), Ty::Scalar { block: true });
            let block = args.len() < 2 || args.iter().any(|a| from_block(&a.value));
            return Ty::Scalar { block };
        }
        Ty::Unknown
    }

    pub(super) fn bind(&mut self, target: &Expr, ty: &Ty) {
        match &target.kind {
            ExprKind::Name(name) => {
                self.set(name, ty.clone());
                self.record(target, ty.clone());
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    let part = match ty {
                        Ty::Tuple(parts) if parts.len() == items.len() => parts[i].clone(),
                        _ => Ty::Unknown,
                    };
                    self.bind(item, &part);
                }
            }
            ExprKind::Starred(inner) => self.bind(inner, &Ty::Unknown),
            _ => drop(self.expr(target)),
        }
    }

    pub(super) fn record(&mut self, expr: &Expr, ty: Ty) {
        self.body.types.insert(expr.span, ty);
    }
}

/// Whether control never reaches the end of statements.
fn leaves(body: &[Stmt]) -> bool {
    (body.last()).is_some_and(|s| {
        matches!(
            s.kind,
            StmtKind::Return(_) | StmtKind::Raise(_) | StmtKind::Break | StmtKind::Continue
        )
    })
}

/// Names of both ways, if there are two.
fn joined(first: Option<Locals>, second: Locals) -> Locals {
    let Some(mut first) = first else {
        return second;
    };
    first.join(second);
    first
}
