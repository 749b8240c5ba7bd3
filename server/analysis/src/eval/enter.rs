//! Getting to where an expression or a function stands: through the classes and functions around it.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{ClassDef, Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::env::{MUTATORS, Place, target_expr};
use super::interp::{Frame, Interp, R, Stop, Watch};
use super::seq::Seq;
use super::slice::Slice;
use super::value::{Args, Class, ClassBody, Code, Func, Obj, ObjId, Record, Scope as Names, Value};
use super::{Enclosing, Scope};

impl<'e> Interp<'e> {
    fn enter_module(&mut self, scope: &Scope<'e>) {
        let id = self.module_scope(scope.module);
        self.frames.push(Frame {
            scope: id,
            module: scope.module,
            item: scope.item,
            out: None,
            slice: None,
        });
    }

    pub(super) fn run_function(&mut self, def: &'e FunctionDef, scope: &Scope<'e>) -> R<()> {
        self.enter_module(scope);
        self.enter(&scope.around, None, &mut |i, receiver| {
            let func = i.closure(Code::Def(def))?;
            let func = Func {
                bound: receiver.map(Args::one).unwrap_or_default(),
                ..func
            };
            i.observe_call(&Value::Func(Rc::new(func)))
        })
    }

    pub(super) fn run_to(&mut self, expr: &'e Expr, scope: &Scope<'e>) -> R<()> {
        self.watch = Some(Watch {
            place: Place {
                module: scope.module,
                item: scope.item,
                span: expr.span,
            },
        });
        self.enter_module(scope);
        let innermost = scope.around.last();
        // The body of a function was run up to the expression, unless a lambda holds it back.
        let ran =
            matches!(innermost, Some(Enclosing::Function(def)) if !in_lambda(&def.body, expr.span));
        self.enter(&scope.around, Some(expr), &mut |i, _| {
            if !ran && i.observed.is_empty() {
                let value = i.eval(expr)?;
                if i.observed.is_empty() {
                    i.observe(&value)?;
                }
            }
            Ok(())
        })
    }

    /// Walks into the definitions around a place, running each function as far as it matters for
    /// `target`, and does `then` in the innermost scope, given `self` if that is a class.
    fn enter(
        &mut self,
        around: &[Enclosing<'e>],
        target: Option<&'e Expr>,
        then: &mut dyn FnMut(&mut Self, Option<Value<'e>>) -> R<()>,
    ) -> R<()> {
        let mut names: FxHashSet<&'e str> = FxHashSet::default();
        let mut slices: Vec<Option<Rc<Slice>>> = Vec::new();
        let mut inner: Option<Span> = target.map(|t| t.span);
        for level in around.iter().rev() {
            slices.push(match level {
                Enclosing::Function(def) => {
                    let wanted = inner.unwrap_or(Span {
                        start: def.def_span.end,
                        end: def.def_span.end,
                    });
                    let slice = Slice::new(def, wanted, &mut names);
                    inner = Some(def.def_span);
                    Some(Rc::new(slice))
                }
                Enclosing::Class(_) => None,
            });
        }
        slices.reverse();
        let mut receiver: Option<Value<'e>> = None;
        for (level, slice) in around.iter().zip(slices) {
            match level {
                Enclosing::Class(class) => receiver = Some(self.instance_of(class)?),
                Enclosing::Function(def) => {
                    let func = self.closure(Code::Def(def))?;
                    let is_static = def
                        .decorators
                        .iter()
                        .any(|d| d.name().is_some_and(|n| n == "staticmethod"));
                    let bound = receiver
                        .take()
                        .filter(|_| !is_static)
                        .map(Args::one)
                        .unwrap_or_default();
                    let func = Func { bound, ..func };
                    let args = self.unknown_args(&func);
                    let scope = self.bind_new(&func, args)?;
                    let out = self.alloc(Obj::List(Seq::empty()));
                    self.run_body(&func, scope, Some(out), slice)?;
                    // The function is over, but what stands in it sees its variables.
                    let frame = Frame {
                        scope,
                        module: func.module,
                        item: func.item,
                        out: None,
                        slice: None,
                    };
                    self.frames.push(frame);
                }
            }
        }
        then(self, receiver)
    }

    /// Some instance of a class: what `__init__` makes of unknown arguments, without the attributes
    /// that other methods change.
    fn instance_of(&mut self, class: &'e ClassDef) -> R<Value<'e>> {
        let here = self.place(Span::default());
        let made = Rc::new(Class {
            name: class.name.name.clone(),
            body: ClassBody::Def(class),
            module: here.module,
            item: here.item,
            scope: self.scope_id(),
        });
        let record = Record {
            class: Some(Rc::clone(&made)),
            maker: class.name.name.clone(),
            fields: Vec::new(),
            args: Vec::new(),
            open: true,
            place: here,
        };
        let id = self.alloc(Obj::Record(record));
        let init = self.class_attribute(&made, "__init__")?;
        if let Some(Value::Func(init)) = init {
            let bound = Func {
                code: init.code,
                scope: init.scope,
                module: init.module,
                item: init.item,
                defaults: init.defaults.clone(),
                bound: Args::one(Value::Ref(id)),
            };
            let args = self.unknown_args(&bound);
            match self.call_function(&Rc::new(bound), args) {
                Ok(_) | Err(Stop::Raise) => {}
                Err(stop) => return Err(stop),
            }
            let mut changed = FxHashSet::default();
            class
                .body
                .iter()
                .for_each(|s| changed_by_method(s, &mut changed));
            if let Some(Obj::Record(record)) = self.obj_mut(id) {
                record
                    .fields
                    .retain(|(name, _)| !changed.contains(name.as_str()));
            }
        }
        Ok(Value::Ref(id))
    }

    fn bind_new(&mut self, func: &Func<'e>, args: Args<'e>) -> R<ObjId> {
        let scope = self.alloc(Obj::Scope(Names::new(Some(func.scope), func.module)));
        self.bind(func, args, scope)?;
        Ok(scope)
    }
}

/// Attributes of `self` (whatever a method calls it) that methods other than `__init__` change.
fn changed_by_method<'e>(stmt: &'e Stmt, changed: &mut FxHashSet<&'e str>) {
    let StmtKind::FunctionDef(method) = &stmt.kind else {
        return;
    };
    let receiver = method.params.first().map(|p| &p.name.name);
    if method.name.name == "__init__" {
        return;
    }
    let attribute = |e: &'e Expr| match &e.kind {
        ExprKind::Attribute { value, attr } if value.name() == receiver => Some(attr.name.as_str()),
        _ => None,
    };
    fn visit<'e>(
        body: &'e [Stmt],
        attribute: &dyn Fn(&'e Expr) -> Option<&'e str>,
        changed: &mut FxHashSet<&'e str>,
    ) {
        for stmt in body {
            target_expr(stmt, &mut |target| {
                // `self.x[k] = v` changes `self.x`.
                target.walk(&mut |e| changed.extend(attribute(e)));
            });
            stmt.own_exprs(&mut |e| {
                e.walk(&mut |e| {
                    if let ExprKind::Call { func, .. } = &e.kind
                        && let ExprKind::Attribute { value, attr } = &func.kind
                        && MUTATORS.contains(&attr.name.as_str())
                    {
                        value.walk(&mut |e| changed.extend(attribute(e)));
                    }
                });
            });
            stmt.blocks()
                .into_iter()
                .for_each(|b| visit(b, attribute, changed));
        }
    }
    visit(&method.body, &attribute, changed);
}

/// Whether a lambda in these statements holds `span`.
fn in_lambda(body: &[Stmt], span: Span) -> bool {
    body.iter().filter(|s| s.span.contains(span)).any(|stmt| {
        let mut found = false;
        stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| {
                found |= matches!(e.kind, ExprKind::Lambda { .. }) && e.span.contains(span);
            });
        });
        found || stmt.blocks().into_iter().any(|b| in_lambda(b, span))
    })
}
