//! Loops that hand out tiles to blocks.

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::facts::Flag;
use super::walk::Walk;

impl<'a> Walk<'_, 'a> {
    /// `range(ct.bid(0), tiles, ct.num_blocks(0))`: where it ends is the same for all blocks.
    pub(super) fn hands_out(&mut self, iter: &'a Expr) -> bool {
        let ExprKind::Call { func, args } = &iter.kind else {
            return false;
        };
        let is_range = func.name().is_some_and(|n| n == "range");
        let ([start, end, step], true) = (args.as_slice(), is_range) else {
            return false;
        };
        let [start, end, step] = [start, end, step].map(|a| self.expr(&a.value));
        start.blocks != 0 && !end.is_of_block() && !step.is_of_block()
    }

    /// `while tile < tiles:` with `tile += ct.num_blocks(0)`, where the tile was the block's index.
    pub(super) fn advances(&mut self, test: &'a Expr, body: &'a [Stmt]) -> bool {
        let mut sides: Vec<&'a Expr> = Vec::new();
        test.walk(&mut |e| {
            if let ExprKind::Compare { first, rest } = &e.kind {
                sides.push(first);
                sides.extend(rest.iter().map(|(_, side)| side));
            }
        });
        let mut counters: Vec<(&SmolStr, &'a Expr)> = Vec::new();
        for stmt in body {
            if let StmtKind::AugAssign { target, op, value } = &stmt.kind
                && op.starts_with('+')
            {
                counters.extend(target.name().map(|name| (name, value)));
            }
        }
        for (name, step) in counters {
            let is_counter = |e: &&&Expr| e.name() == Some(name);
            let starts = (self.names.get(name)).is_some_and(|facts| facts.is_of_block());
            let compared = sides.iter().any(|e| is_counter(&e));
            let mut others = vec![step];
            others.extend(sides.iter().filter(|e| !is_counter(e)));
            let alike = others.into_iter().all(|e| !self.expr(e).is_of_block());
            if starts && compared && alike {
                if let Some(facts) = self.names.get_mut(name) {
                    *facts = facts.and(Flag::Handed);
                }
                return true;
            }
        }
        false
    }
}
