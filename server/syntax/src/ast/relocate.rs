//! Moves a statement: what was parsed by itself is put where it stands in its item.

use crate::Span;

use super::{Arg, Clause, Expr, ExprKind, Handler, Ident, ImportName, Param, Stmt, StmtKind};

impl Ident {
    fn relocate(&mut self, to: &impl Fn(Span) -> Span) {
        self.span = to(self.span);
    }
}

impl Param {
    fn relocate(&mut self, to: &impl Fn(Span) -> Span) {
        self.name.relocate(to);
        all(&mut self.annotation, to);
        all(&mut self.default, to);
    }
}

impl Arg {
    fn relocate(&mut self, to: &impl Fn(Span) -> Span) {
        if let Some(name) = &mut self.name {
            name.relocate(to);
        }
        self.value.relocate(to);
    }
}

impl ImportName {
    fn relocate(&mut self, to: &impl Fn(Span) -> Span) {
        self.name.relocate(to);
        if let Some(alias) = &mut self.alias {
            alias.relocate(to);
        }
    }
}

impl Handler {
    fn relocate(&mut self, to: &impl Fn(Span) -> Span) {
        all(&mut self.types, to);
        if let Some(name) = &mut self.name {
            name.relocate(to);
        }
        suite(&mut self.body, to);
    }
}

fn all<'a>(exprs: impl IntoIterator<Item = &'a mut Expr>, to: &impl Fn(Span) -> Span) {
    exprs.into_iter().for_each(|e| e.relocate(to));
}

fn suite(stmts: &mut [Stmt], to: &impl Fn(Span) -> Span) {
    stmts.iter_mut().for_each(|s| s.relocate(to));
}

impl Expr {
    /// Puts every place in the expression where `to` says.
    fn relocate(&mut self, to: &impl Fn(Span) -> Span) {
        use ExprKind as K;
        self.span = to(self.span);
        match &mut self.kind {
            K::Name(_)
            | K::Str(_)
            | K::Int(_)
            | K::Float(_)
            | K::Bool(_)
            | K::None
            | K::Ellipsis => {}
            K::Attribute { value, attr } => {
                value.relocate(to);
                attr.relocate(to);
            }
            K::Call { func, args } => {
                func.relocate(to);
                args.iter_mut().for_each(|a| a.relocate(to));
            }
            K::Subscript { value, index } => {
                value.relocate(to);
                all(index, to);
            }
            K::Slice { lower, upper, step } => {
                for part in [lower, upper, step].into_iter().flatten() {
                    part.relocate(to);
                }
            }
            K::Tuple(items)
            | K::List(items)
            | K::Set(items)
            | K::FString(items)
            | K::Unknown(items) => all(items, to),
            K::Dict(pairs) => {
                for (key, value) in pairs {
                    all(key, to);
                    value.relocate(to);
                }
            }
            K::Unary { operand, .. } => operand.relocate(to),
            K::Binary { left, right, .. } | K::Logical { left, right, .. } => {
                left.relocate(to);
                right.relocate(to);
            }
            K::Compare { first, rest } => {
                first.relocate(to);
                all(rest.iter_mut().map(|(_, e)| e), to);
            }
            K::Conditional { test, body, orelse } => {
                test.relocate(to);
                body.relocate(to);
                orelse.relocate(to);
            }
            K::Lambda { params, body } => {
                params.iter_mut().for_each(|p| p.relocate(to));
                body.relocate(to);
            }
            K::Comprehension {
                element,
                value,
                clauses,
                ..
            } => {
                element.relocate(to);
                if let Some(value) = value {
                    value.relocate(to);
                }
                for clause in clauses {
                    match clause {
                        Clause::For { target, iter } => {
                            target.relocate(to);
                            iter.relocate(to);
                        }
                        Clause::If(test) => test.relocate(to),
                    }
                }
            }
            K::Starred(e) | K::Await(e) | K::YieldFrom(e) => e.relocate(to),
            K::Yield(e) => {
                if let Some(e) = e {
                    e.relocate(to);
                }
            }
            K::Named { target, value } => {
                target.relocate(to);
                value.relocate(to);
            }
        }
    }
}

impl Stmt {
    /// Puts every place in the statement where `to` says.
    pub(crate) fn relocate(&mut self, to: &impl Fn(Span) -> Span) {
        use StmtKind as S;
        self.span = to(self.span);
        match &mut self.kind {
            S::FunctionDef(def) => {
                def.name.relocate(to);
                all(&mut def.decorators, to);
                def.params.iter_mut().for_each(|p| p.relocate(to));
                all(&mut def.returns, to);
                suite(&mut def.body, to);
                def.def_span = to(def.def_span);
            }
            S::ClassDef(class) => {
                class.name.relocate(to);
                all(&mut class.decorators, to);
                class.bases.iter_mut().for_each(|a| a.relocate(to));
                suite(&mut class.body, to);
            }
            S::Return(value) => all(value, to),
            S::Assign { targets, value } => {
                all(targets, to);
                value.relocate(to);
            }
            S::AnnAssign {
                target,
                annotation,
                value,
            } => {
                target.relocate(to);
                annotation.relocate(to);
                all(value, to);
            }
            S::AugAssign { target, value, .. } => {
                target.relocate(to);
                value.relocate(to);
            }
            S::For {
                target,
                iter,
                body,
                orelse,
            } => {
                target.relocate(to);
                iter.relocate(to);
                suite(body, to);
                suite(orelse, to);
            }
            S::While { test, body, orelse } => {
                test.relocate(to);
                suite(body, to);
                suite(orelse, to);
            }
            S::If { branches, orelse } => {
                for (test, body) in branches {
                    test.relocate(to);
                    suite(body, to);
                }
                suite(orelse, to);
            }
            S::With { items, body } => {
                for (value, target) in items {
                    value.relocate(to);
                    all(target, to);
                }
                suite(body, to);
            }
            S::Try {
                body,
                handlers,
                orelse,
                finally,
            } => {
                suite(body, to);
                handlers.iter_mut().for_each(|h| h.relocate(to));
                suite(orelse, to);
                suite(finally, to);
            }
            S::Match { subject, cases } => {
                subject.relocate(to);
                cases.iter_mut().for_each(|c| suite(c, to));
            }
            S::Raise(items) | S::Delete(items) | S::Unknown(items) => all(items, to),
            S::Assert { test, message } => {
                test.relocate(to);
                all(message, to);
            }
            S::Import(names) | S::ImportFrom { names, .. } => {
                names.iter_mut().for_each(|n| n.relocate(to));
            }
            S::Global(names) | S::Nonlocal(names) => names.iter_mut().for_each(|n| n.relocate(to)),
            S::Expr(value) => value.relocate(to),
            S::Pass | S::Break | S::Continue => {}
        }
    }
}
