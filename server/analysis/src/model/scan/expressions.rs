//! Expressions: the calls in them, and the names that they bind.

use tileperf_syntax::ast::{Clause, Expr, ExprKind};

use super::{Scanner, Value};

impl Scanner {
    pub(super) fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Call { func, args } => self.call(expr.span, func, args),
            ExprKind::Lambda { params, body } => return self.lambda(params, body),
            ExprKind::Comprehension { clauses, .. } => {
                for clause in clauses {
                    if let Clause::For { target, iter } = clause {
                        self.assign_each(target, iter);
                    }
                }
            }
            ExprKind::Yield(Some(value)) => {
                let value = Value::of(value);
                self.here().yields.push(value);
            }
            ExprKind::Named { target, value } => self.assign_name(&target.name, Value::of(value)),
            _ => {}
        }
        expr.children(&mut |child| self.expr(child));
    }
}
