//! The suites of a compound statement: taken out, and put into a copy of it.
//!
//! An edit within a suite leaves the headers of the statements around it as they were. Such a
//! statement is copied without what it holds, which costs nothing, instead of parsed again.

use super::{ClassDef, FunctionDef, Handler, Stmt, StmtKind};

impl StmtKind {
    /// The suites of the statement's clauses, those that are there, in source order.
    pub(crate) fn suites_mut(&mut self) -> Vec<&mut Vec<Stmt>> {
        let mut suites = self.places();
        suites.retain(|suite| !suite.is_empty());
        suites
    }

    /// Where suites can be, as [`Stmt::blocks`] gives what is there.
    fn places(&mut self) -> Vec<&mut Vec<Stmt>> {
        use StmtKind as S;
        match self {
            S::FunctionDef(def) => vec![&mut def.body],
            S::ClassDef(class) => vec![&mut class.body],
            S::For { body, orelse, .. } | S::While { body, orelse, .. } => vec![body, orelse],
            S::If { branches, orelse } => (branches.iter_mut().map(|(_, body)| body))
                .chain([orelse])
                .collect(),
            S::With { body, .. } => vec![body],
            S::Try {
                body,
                handlers,
                orelse,
                finally,
            } => std::iter::once(body)
                .chain(handlers.iter_mut().map(|h| &mut h.body))
                .chain([orelse, finally])
                .collect(),
            _ => Vec::new(),
        }
    }
}

impl Stmt {
    /// A copy without what its suites hold. Nothing for a statement that has none, or of which too
    /// little is kept.
    pub(crate) fn hollow(&self) -> Option<Stmt> {
        use StmtKind as S;
        let kind = match &self.kind {
            S::FunctionDef(def) => S::FunctionDef(Box::new(FunctionDef {
                name: def.name.clone(),
                decorators: def.decorators.clone(),
                params: def.params.clone(),
                returns: def.returns.clone(),
                body: Vec::new(),
                def_span: def.def_span,
                is_async: def.is_async,
            })),
            S::ClassDef(class) => S::ClassDef(Box::new(ClassDef {
                name: class.name.clone(),
                decorators: class.decorators.clone(),
                bases: class.bases.clone(),
                body: Vec::new(),
            })),
            S::For { target, iter, .. } => S::For {
                target: target.clone(),
                iter: iter.clone(),
                body: Vec::new(),
                orelse: Vec::new(),
            },
            S::While { test, .. } => S::While {
                test: test.clone(),
                body: Vec::new(),
                orelse: Vec::new(),
            },
            S::If { branches, .. } => S::If {
                branches: (branches.iter())
                    .map(|(test, _)| (test.clone(), Vec::new()))
                    .collect(),
                orelse: Vec::new(),
            },
            S::With { items, .. } => S::With {
                items: items.clone(),
                body: Vec::new(),
            },
            S::Try { handlers, .. } => S::Try {
                body: Vec::new(),
                handlers: (handlers.iter())
                    .map(|handler| Handler {
                        types: handler.types.clone(),
                        name: handler.name.clone(),
                        body: Vec::new(),
                    })
                    .collect(),
                orelse: Vec::new(),
                finally: Vec::new(),
            },
            _ => return None,
        };
        Some(Stmt {
            span: self.span,
            kind,
        })
    }

    /// Puts suites where those of `like`, of which this is a hollow copy, are not empty: as many, in
    /// their order. Nothing if there are more or fewer.
    pub(crate) fn fill(&mut self, like: &Stmt, suites: Vec<Vec<Stmt>>) -> Option<()> {
        let held = like.blocks().into_iter().map(|suite| !suite.is_empty());
        let mut suites = suites.into_iter();
        for (place, held) in self.kind.places().into_iter().zip(held) {
            if held {
                *place = suites.next()?;
            }
        }
        suites.next().is_none().then_some(())
    }
}
