//! Loops of kernels: over something that tiles have no part in, and over the tiles of a row.
//!
//! A loop over tiles sees each element once, whatever their size. What it computes of an element is the
//! element's own. What it adds up over them is the same sum in another order, if nothing looks at it
//! before the loop is over.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, Stmt, StmtKind};

use super::{Fold, Function, Part};
use crate::body::Extent;

impl<'c> Function<'c, '_> {
    pub(super) fn for_loop(
        &mut self,
        target: &'c Expr,
        iter: &'c Expr,
        body: &'c [Stmt],
    ) -> Option<()> {
        let var = target.name()?;
        match self.walked(iter)? {
            Part::Own => {
                self.bind(var, Part::Own)?;
                // What the first round leaves is what the second one finds.
                self.block(body)?;
                self.bind(var, Part::Own)?;
                self.block(body)?;
                self.forget(var);
                Some(())
            }
            part => self.over_tiles(var, part, body),
        }
    }

    /// What the variable of a loop is.
    fn walked(&mut self, iter: &'c Expr) -> Option<Part> {
        let ExprKind::Call { func, args } = &iter.kind else {
            return None;
        };
        let is_range = func.name().is_some_and(|n| n == "range")
            || func.last_ident().is_some_and(|i| i.name == "static_iter");
        let fits = is_range && args.iter().all(|a| a.stars == 0 && a.name.is_none());
        let parts: Vec<Part> = (args.iter().filter(|_| fits))
            .map(|arg| self.part(&arg.value))
            .collect::<Option<_>>()?;
        let begins = |arg: &Arg| matches!(arg.value.kind, ExprKind::Int(0));
        match (parts.as_slice(), args.as_slice()) {
            ([Part::Count], _) => Some(Part::Block),
            ([_, Part::Count], [first, _]) if begins(first) => Some(Part::Block),
            ([_, Part::Own, Part::Tile], [first, ..]) if begins(first) => Some(Part::Start),
            (parts @ [_, ..], _) if parts.iter().all(|p| *p == Part::Own) => Some(Part::Own),
            _ => None,
        }
    }

    /// A loop over tiles: once for all of them, as each round does the same.
    fn over_tiles(&mut self, var: &'c SmolStr, part: Part, body: &'c [Stmt]) -> Option<()> {
        // Within one another they would see tiles more than once.
        if std::mem::replace(&mut self.in_tiles, true) {
            return None;
        }
        let mut bound: Vec<(&'c SmolStr, bool)> = Vec::new();
        assignments(body, &mut |name, stmt| {
            bound.push((name, addition(name, stmt).is_some()));
        })?;
        let sums: FxHashSet<&SmolStr> = (bound.iter())
            .filter(|(name, _)| bound.iter().all(|(other, adds)| other != name || *adds))
            .filter(|(name, _)| self.is_known(name))
            .map(|(name, _)| *name)
            .collect();
        // The others are of this round.
        for (name, _) in bound.iter().filter(|(name, _)| !sums.contains(name)) {
            self.forget(name);
        }
        let before: Vec<(&SmolStr, Part)> = (sums.iter())
            .map(|name| Some((*name, self.name(name)?)))
            .collect::<Option<_>>()?;
        for name in &sums {
            self.known.insert((*name).clone(), Some(Part::Sum));
        }
        self.bind(var, part)?;
        self.block(body)?;
        for (name, before) in before {
            let after = self.sums.remove(name)?;
            let part = match (after, before) {
                // Added up number by number.
                (Part::Share(_), Part::Own) => Part::Own,
                // Lane by lane, from nothing: the rest is done when the lanes are.
                (Part::Total(Fold::Add), Part::Own) if !self.zeros.contains(name) => return None,
                (Part::Total(fold), Part::Own) => Part::Total(fold),
                (after, before) if after == before => after,
                _ => return None,
            };
            self.known.insert(name.clone(), Some(part));
            self.zeros.remove(name);
        }
        for (name, _) in bound.iter().filter(|(name, _)| !sums.contains(name)) {
            self.forget(name);
        }
        self.forget(var);
        self.in_tiles = false;
        self.reorders = true;
        Some(())
    }

    /// Takes a statement that adds to what a loop sums up.
    pub(super) fn sums_up(&mut self, name: &'c SmolStr, stmt: &'c Stmt) -> Option<()> {
        let (fold, value) = addition(name, stmt)?;
        let part = match self.part(value)? {
            Part::Share(of) if of == fold => Part::Share(fold),
            Part::Own => {
                // Something for each tile would follow from how many there are.
                let shape = self.device.tile(value)?.shape.as_ref()?;
                let is_lane = |e: &Extent| matches!(e, Extent::Name(n) if self.tile == Some(n));
                (shape.iter().filter(|e| is_lane(e)).count() == 1).then_some(())?;
                Part::Total(fold)
            }
            _ => return None,
        };
        match self.sums.insert(name.clone(), part) {
            Some(before) if before != part => None,
            _ => Some(()),
        }
    }

    /// A reduction: of rows that tiles do not cut, of a tile, or of the lanes of a sum.
    pub(super) fn reduction(&mut self, name: &str, args: &'c [Arg]) -> Option<Part> {
        let fold = match name {
            "sum" => Fold::Add,
            "max" => Fold::Max,
            "min" => Fold::Min,
            _ => return None,
        };
        let mut keywords = args.iter().filter_map(|arg| arg.name.as_ref());
        if !keywords.all(|name| matches!(name.name.as_str(), "x" | "axis" | "keepdims")) {
            return None;
        }
        let of = crate::body::argument(args, Some(0), "x")?;
        let part = self.part(of)?;
        let shape = self.device.tile(of)?.shape.as_ref()?;
        let mut gone = vec![true; shape.len()];
        if let Some(axis) = crate::body::argument(args, Some(1), "axis") {
            let axis = self.device.ty(axis).int()?;
            let axis = if axis < 0 {
                axis + shape.len() as i64
            } else {
                axis
            };
            gone = (0..shape.len() as i64).map(|a| a == axis).collect();
        }
        let is_lane = |e: &Extent| matches!(e, Extent::Name(n) if self.tile == Some(n));
        let lanes = shape.iter().filter(|e| is_lane(e)).count();
        let mut reduced = shape.iter().zip(&gone).filter(|(_, gone)| **gone);
        if lanes > 1 || shape.contains(&Extent::Other) || self.tile.is_none() {
            return None;
        }
        self.reorders = true;
        match (part, reduced.any(|(extent, _)| is_lane(extent))) {
            (Part::Own, false) => Some(Part::Own),
            (Part::Own, true) if self.in_tiles => Some(Part::Share(fold)),
            (Part::Total(of), true) if of == fold && !self.in_tiles => Some(Part::Own),
            _ => None,
        }
    }

    fn is_known(&self, name: &SmolStr) -> bool {
        self.known.get(name).is_some_and(Option::is_some)
    }
}

/// Names that a body gives values to, each with the statement; nothing where it is not seen which.
fn assignments<'c>(body: &'c [Stmt], visit: &mut dyn FnMut(&'c SmolStr, &'c Stmt)) -> Option<()> {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Assign { targets, .. } => {
                for target in targets {
                    match &target.kind {
                        ExprKind::Tuple(parts) => {
                            for part in parts {
                                visit(part.name()?, stmt);
                            }
                        }
                        _ => visit(target.name()?, stmt),
                    }
                }
            }
            StmtKind::AnnAssign { target, .. } | StmtKind::AugAssign { target, .. } => {
                visit(target.name()?, stmt);
            }
            StmtKind::Expr(_) | StmtKind::Pass => {}
            StmtKind::If { branches, orelse } => {
                for (_, body) in branches {
                    assignments(body, visit)?;
                }
                assignments(orelse, visit)?;
            }
            _ => return None,
        }
    }
    Some(())
}

/// What a statement adds to a name, and how: `s += x`, `s = s + x`, `m = ct.maximum(m, x)`.
pub(super) fn addition<'c>(name: &SmolStr, stmt: &'c Stmt) -> Option<(Fold, &'c Expr)> {
    match &stmt.kind {
        StmtKind::AugAssign { target, op, value } if target.name() == Some(name) => {
            (op.trim_end_matches('=') == "+").then_some((Fold::Add, value))
        }
        StmtKind::Assign { targets, value } => {
            let [target] = targets.as_slice() else {
                return None;
            };
            (target.name() == Some(name)).then_some(())?;
            match &value.kind {
                ExprKind::Binary { op, left, right } if op == "+" => {
                    (left.name() == Some(name)).then_some((Fold::Add, &**right))
                }
                ExprKind::Call { func, args } => {
                    let fold = match func.last_ident()?.name.as_str() {
                        "maximum" | "max" => Fold::Max,
                        "minimum" | "min" => Fold::Min,
                        "add" => Fold::Add,
                        _ => return None,
                    };
                    let [first, second] = args.as_slice() else {
                        return None;
                    };
                    let plain = first.name.is_none() && second.name.is_none();
                    (plain && first.value.name() == Some(name)).then_some((fold, &second.value))
                }
                _ => None,
            }
        }
        _ => None,
    }
}
