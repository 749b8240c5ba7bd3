//! Statements: what each binds or returns, and the guard under which its blocks run.

use smol_str::SmolStr;
use tileperf_syntax::ast::{ImportName, Stmt, StmtKind};

use super::{Scanner, Value};

impl Scanner {
    pub(super) fn block(&mut self, body: &[Stmt]) {
        let mark = self.guard.mark();
        for stmt in body {
            self.stmt(stmt);
            self.guard.after(stmt);
        }
        self.guard.release(mark);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::FunctionDef(def) => return self.function(def),
            StmtKind::ClassDef(class) => return self.class(class, stmt.span),
            StmtKind::Import(names) => names.iter().for_each(|n| self.import(n)),
            StmtKind::ImportFrom {
                module,
                level,
                names,
                star,
            } => {
                // Relative levels stay visible as leading dots; the file knows its package.
                let base = format!("{}{module}", ".".repeat(*level as usize));
                if *star {
                    self.out.stars.push(base.as_str().into());
                }
                let separator = if module.is_empty() { "" } else { "." };
                for name in names {
                    let bound = name.alias.as_ref().unwrap_or(&name.name);
                    let path = format!("{base}{separator}{}", name.name.name);
                    self.bind(&bound.name, Value::Import(path.into()));
                }
            }
            StmtKind::Global(names) => {
                let names = names.iter().map(|n| n.name.clone());
                self.here().globals.extend(names);
            }
            StmtKind::Nonlocal(names) => {
                let names = names.iter().map(|n| n.name.clone());
                self.here().nonlocals.extend(names);
            }
            StmtKind::Assign { targets, value } => {
                for target in targets {
                    self.assign(target, &Value::of(value));
                }
            }
            StmtKind::AnnAssign {
                target,
                value: Some(value),
                ..
            } => self.assign(target, &Value::of(value)),
            StmtKind::AugAssign { target, value, .. } => {
                if let Some(name) = target.last_ident() {
                    self.store(name.name, Value::Item(Box::new(Value::of(value)), None));
                }
            }
            StmtKind::For { target, iter, .. } => self.assign_each(target, iter),
            StmtKind::With { items, .. } => {
                for (value, target) in items {
                    if let Some(target) = target {
                        self.assign(target, &Value::of(value));
                    }
                }
            }
            StmtKind::Return(Some(value)) => {
                let value = Value::of(value);
                self.here().returns.push(value);
            }
            _ => {}
        }
        stmt.own_exprs(&mut |e| self.expr(e));
        self.blocks(stmt);
    }

    fn import(&mut self, import: &ImportName) {
        let path = &import.name.name;
        match &import.alias {
            Some(alias) => self.bind(&alias.name, Value::Import(path.clone())),
            // `import a.b` binds `a`, whose attribute is the module `a.b`.
            None => {
                let root = SmolStr::new(path.split('.').next().unwrap_or_default());
                self.bind(&root, Value::Import(root.clone()));
            }
        }
    }

    /// The blocks of a statement, each under the guard that its branch implies.
    fn blocks(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::If { branches, orelse } => {
                let mark = self.guard.mark();
                for (test, body) in branches {
                    let inner = self.guard.mark();
                    self.guard.enter_if(test, true);
                    self.block(body);
                    self.guard.release(inner);
                    // Later branches run when this test was false.
                    self.guard.enter_if(test, false);
                }
                self.block(orelse);
                self.guard.release(mark);
            }
            StmtKind::Try {
                body,
                handlers,
                orelse,
                finally,
            } => {
                self.block(body);
                for handler in handlers {
                    let mark = self.guard.mark();
                    self.guard.enter_handler(handler.types.as_ref(), body);
                    self.block(&handler.body);
                    self.guard.release(mark);
                }
                self.block(orelse);
                self.block(finally);
            }
            _ => stmt.blocks().into_iter().for_each(|b| self.block(b)),
        }
    }
}
