//! Moves a statement: what was parsed by itself is put where it stands in its item.

use super::{Arg, Clause, Expr, ExprKind, Handler, Ident, ImportName, Param, Stmt, StmtKind};

impl Ident {
    fn shift(&mut self, by: i64) {
        self.span = self.span.moved(by);
    }
}

impl Param {
    fn shift(&mut self, by: i64) {
        self.name.shift(by);
        all(&mut self.annotation, by);
        all(&mut self.default, by);
    }
}

impl Arg {
    fn shift(&mut self, by: i64) {
        if let Some(name) = &mut self.name {
            name.shift(by);
        }
        self.value.shift(by);
    }
}

impl ImportName {
    fn shift(&mut self, by: i64) {
        self.name.shift(by);
        if let Some(alias) = &mut self.alias {
            alias.shift(by);
        }
    }
}

impl Handler {
    fn shift(&mut self, by: i64) {
        all(&mut self.types, by);
        if let Some(name) = &mut self.name {
            name.shift(by);
        }
        suite(&mut self.body, by);
    }
}

fn all<'a>(exprs: impl IntoIterator<Item = &'a mut Expr>, by: i64) {
    exprs.into_iter().for_each(|e| e.shift(by));
}

fn suite(stmts: &mut [Stmt], by: i64) {
    stmts.iter_mut().for_each(|s| s.shift(by));
}

impl Expr {
    /// Adds `by` bytes to every place in the expression.
    fn shift(&mut self, by: i64) {
        use ExprKind as K;
        self.span = self.span.moved(by);
        match &mut self.kind {
            K::Name(_)
            | K::Str(_)
            | K::Int(_)
            | K::Float(_)
            | K::Bool(_)
            | K::None
            | K::Ellipsis => {}
            K::Attribute { value, attr } => {
                value.shift(by);
                attr.shift(by);
            }
            K::Call { func, args } => {
                func.shift(by);
                args.iter_mut().for_each(|a| a.shift(by));
            }
            K::Subscript { value, index } => {
                value.shift(by);
                all(index, by);
            }
            K::Slice { lower, upper, step } => {
                for part in [lower, upper, step].into_iter().flatten() {
                    part.shift(by);
                }
            }
            K::Tuple(items)
            | K::List(items)
            | K::Set(items)
            | K::FString(items)
            | K::Unknown(items) => all(items, by),
            K::Dict(pairs) => {
                for (key, value) in pairs {
                    all(key, by);
                    value.shift(by);
                }
            }
            K::Unary { operand, .. } => operand.shift(by),
            K::Binary { left, right, .. } | K::Logical { left, right, .. } => {
                left.shift(by);
                right.shift(by);
            }
            K::Compare { first, rest } => {
                first.shift(by);
                all(rest.iter_mut().map(|(_, e)| e), by);
            }
            K::Conditional { test, body, orelse } => {
                test.shift(by);
                body.shift(by);
                orelse.shift(by);
            }
            K::Lambda { params, body } => {
                params.iter_mut().for_each(|p| p.shift(by));
                body.shift(by);
            }
            K::Comprehension {
                element,
                value,
                clauses,
                ..
            } => {
                element.shift(by);
                if let Some(value) = value {
                    value.shift(by);
                }
                for clause in clauses {
                    match clause {
                        Clause::For { target, iter } => {
                            target.shift(by);
                            iter.shift(by);
                        }
                        Clause::If(test) => test.shift(by),
                    }
                }
            }
            K::Starred(e) | K::Await(e) | K::YieldFrom(e) => e.shift(by),
            K::Yield(e) => {
                if let Some(e) = e {
                    e.shift(by);
                }
            }
            K::Named { target, value } => {
                target.shift(by);
                value.shift(by);
            }
        }
    }
}

impl Stmt {
    /// Adds `by` bytes to every place in the statement.
    pub(crate) fn shift(&mut self, by: i64) {
        use StmtKind as S;
        self.span = self.span.moved(by);
        match &mut self.kind {
            S::FunctionDef(def) => {
                def.name.shift(by);
                all(&mut def.decorators, by);
                def.params.iter_mut().for_each(|p| p.shift(by));
                all(&mut def.returns, by);
                suite(&mut def.body, by);
                def.def_span = def.def_span.moved(by);
            }
            S::ClassDef(class) => {
                class.name.shift(by);
                all(&mut class.decorators, by);
                class.bases.iter_mut().for_each(|a| a.shift(by));
                suite(&mut class.body, by);
            }
            S::Return(value) => all(value, by),
            S::Assign { targets, value } => {
                all(targets, by);
                value.shift(by);
            }
            S::AnnAssign {
                target,
                annotation,
                value,
            } => {
                target.shift(by);
                annotation.shift(by);
                all(value, by);
            }
            S::AugAssign { target, value, .. } => {
                target.shift(by);
                value.shift(by);
            }
            S::For {
                target,
                iter,
                body,
                orelse,
            } => {
                target.shift(by);
                iter.shift(by);
                suite(body, by);
                suite(orelse, by);
            }
            S::While { test, body, orelse } => {
                test.shift(by);
                suite(body, by);
                suite(orelse, by);
            }
            S::If { branches, orelse } => {
                for (test, body) in branches {
                    test.shift(by);
                    suite(body, by);
                }
                suite(orelse, by);
            }
            S::With { items, body } => {
                for (value, target) in items {
                    value.shift(by);
                    all(target, by);
                }
                suite(body, by);
            }
            S::Try {
                body,
                handlers,
                orelse,
                finally,
            } => {
                suite(body, by);
                handlers.iter_mut().for_each(|h| h.shift(by));
                suite(orelse, by);
                suite(finally, by);
            }
            S::Match { subject, cases } => {
                subject.shift(by);
                cases.iter_mut().for_each(|c| suite(c, by));
            }
            S::Raise(items) | S::Delete(items) | S::Unknown(items) => all(items, by),
            S::Assert { test, message } => {
                test.shift(by);
                all(message, by);
            }
            S::Import(names) | S::ImportFrom { names, .. } => {
                names.iter_mut().for_each(|n| n.shift(by));
            }
            S::Global(names) | S::Nonlocal(names) => names.iter_mut().for_each(|n| n.shift(by)),
            S::Expr(value) => value.shift(by),
            S::Pass | S::Break | S::Continue => {}
        }
    }
}
