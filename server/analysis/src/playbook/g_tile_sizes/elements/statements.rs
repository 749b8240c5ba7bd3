//! Statements of kernels: what names are after them.

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::{Function, Part};

impl<'c> Function<'c, '_> {
    /// Walks statements; nothing if one may do something else in other blocks.
    pub(super) fn block(&mut self, body: &'c [Stmt]) -> Option<()> {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &'c Stmt) -> Option<()> {
        match &stmt.kind {
            StmtKind::Pass => Some(()),
            StmtKind::Expr(expr) => match &expr.kind {
                ExprKind::Str(_) => Some(()),
                _ => self.own(expr),
            },
            StmtKind::For {
                target,
                iter,
                body,
                orelse,
            } if orelse.is_empty() => self.for_loop(target, iter, body),
            StmtKind::Assign { targets, .. }
                if let [target] = targets.as_slice()
                    && let Some(name) = target.name()
                    && self.is_sum(name) =>
            {
                self.sums_up(name, stmt)
            }
            StmtKind::AugAssign { target, .. }
                if let Some(name) = target.name()
                    && self.is_sum(name) =>
            {
                self.sums_up(name, stmt)
            }
            StmtKind::Assign { targets, value } => {
                (targets.iter()).try_for_each(|target| self.assign(target, value))
            }
            StmtKind::AnnAssign {
                target,
                value: Some(value),
                ..
            } => self.assign(target, value),
            StmtKind::AugAssign { target, value, .. } => {
                self.own(target)?;
                self.own(value)?;
                self.zeros.remove(target.name()?);
                Some(())
            }
            StmtKind::If { branches, orelse } => {
                let before = self.known.clone();
                let zeros = self.zeros.clone();
                let mut changed: FxHashSet<SmolStr> = FxHashSet::default();
                let mut after: Option<FxHashMap<SmolStr, Option<Part>>> = None;
                let bodies = branches.iter().map(|(test, body)| (Some(test), body));
                for (test, body) in bodies.chain([(None, orelse)]) {
                    self.known.clone_from(&before);
                    self.zeros.clone_from(&zeros);
                    if let Some(test) = test {
                        self.own(test)?;
                    }
                    self.block(body)?;
                    changed.extend(zeros.symmetric_difference(&self.zeros).cloned());
                    let one = std::mem::take(&mut self.known);
                    after = Some(match after {
                        Some(other) => joined(other, one),
                        None => one,
                    });
                }
                self.known = after.unwrap_or(before);
                // Nothing here and something there is something.
                self.zeros = zeros;
                self.zeros.retain(|name| !changed.contains(name));
                Some(())
            }
            // In a kernel what is left out would follow from where blocks begin.
            StmtKind::Return(Some(value)) if self.tile.is_none() => self.own(value),
            _ => None,
        }
    }

    fn assign(&mut self, target: &'c Expr, value: &'c Expr) -> Option<()> {
        match (&target.kind, &value.kind) {
            (ExprKind::Tuple(targets), ExprKind::Tuple(values))
                if targets.len() == values.len() =>
            {
                let mut pairs = targets.iter().zip(values);
                pairs.try_for_each(|(target, value)| self.assign(target, value))
            }
            (ExprKind::Name(name), _) if !self.is_sum(name) => {
                let part = self.part(value)?;
                self.bind(name, part)?;
                if self.is_zero(value) {
                    self.zeros.insert(name.clone());
                }
                Some(())
            }
            _ => None,
        }
    }

    pub(super) fn bind(&mut self, name: &SmolStr, part: Part) -> Option<()> {
        self.zeros.remove(name);
        self.known.insert(name.clone(), Some(part));
        (part != Part::Sum).then_some(())
    }

    /// It is nothing any more that is known.
    pub(super) fn forget(&mut self, name: &SmolStr) {
        self.known.insert(name.clone(), None);
    }

    fn is_sum(&self, name: &SmolStr) -> bool {
        self.known.get(name) == Some(&Some(Part::Sum))
    }

    /// `ct.zeros(...)`, `ct.full(..., 0.0, ...)`.
    fn is_zero(&self, value: &'c Expr) -> bool {
        let Some(call) = self.device.call(value) else {
            return false;
        };
        let filled = || call.arg(1, "fill_value").map(|e| &e.kind);
        match call.name.as_str() {
            "zeros" => true,
            "full" => match filled() {
                Some(ExprKind::Int(number)) => *number == 0,
                Some(ExprKind::Float(number)) => *number == 0.0,
                _ => false,
            },
            _ => false,
        }
    }
}

/// What names are after one of two branches.
fn joined(
    mut one: FxHashMap<SmolStr, Option<Part>>,
    other: FxHashMap<SmolStr, Option<Part>>,
) -> FxHashMap<SmolStr, Option<Part>> {
    for (name, part) in &mut one {
        if other.get(name) != Some(part) {
            *part = None;
        }
    }
    for name in other.into_keys() {
        one.entry(name).or_insert(None);
    }
    one
}
