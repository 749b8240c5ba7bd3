//! Comprehensions and generator expressions.

use rustc_hash::FxHashSet;
use tileperf_syntax::ast::{Clause, ComprehensionKind, Expr, ExprKind};

use super::env::Place;
use super::interp::{Frame, Interp, R};
use super::seq::Seq;
use super::space::Note;
use super::stmt::Exits;
use super::value::{Dict, Iter, Obj, ObjId, Scope, Value};

impl<'e> Interp<'e> {
    /// Evaluates a comprehension; `first` is its first iterable, if that is known already.
    pub(super) fn comprehension(
        &mut self,
        expr: &'e Expr,
        first: Option<Value<'e>>,
    ) -> R<Value<'e>> {
        let ExprKind::Comprehension {
            kind,
            element,
            value,
            clauses,
        } = &expr.kind
        else {
            return Ok(self.fresh());
        };
        let first = match (first, clauses.first()) {
            (Some(first), _) => first,
            (None, Some(Clause::For { iter, .. })) => self.eval(iter)?,
            _ => return Ok(self.fresh()),
        };
        let scope = self.scope_id();
        let module = self.module_here();
        if *kind == ComprehensionKind::Generator {
            let place = self.place(expr.span);
            return Ok(Value::Ref(self.alloc(Obj::Iter(Iter::Expr(
                expr,
                scope,
                Box::new(first),
                place,
            )))));
        }
        let out = self.alloc(match kind {
            ComprehensionKind::Set => Obj::Set(Seq::empty()),
            ComprehensionKind::Dict => Obj::Dict(Dict::default()),
            _ => Obj::List(Seq::empty()),
        });
        let inner = self.alloc(Obj::Scope(Scope::new(Some(scope), module)));
        let place = self.place(expr.span);
        self.in_scope(inner, place, |i| {
            i.clauses(clauses, Some(first), &mut |i| {
                let item = i.eval(element)?;
                match value {
                    Some(value) => {
                        let value = i.eval(value)?;
                        if let Some(Obj::Dict(dict)) = i.obj_mut(out) {
                            super::dicts::dict_set(dict, &item, &value, true);
                        }
                    }
                    None => i.add_to(out, item),
                }
                Ok(())
            })
        })?;
        Ok(Value::Ref(out))
    }

    /// Runs `f` with another innermost scope, for code at `place`.
    pub(super) fn in_scope<T>(
        &mut self,
        scope: ObjId,
        place: Place,
        f: impl FnOnce(&mut Self) -> R<T>,
    ) -> R<T> {
        let (module, item) = (place.module, place.item);
        self.frames.push(Frame {
            scope,
            module,
            item,
            out: None,
            slice: None,
        });
        let out = f(self);
        self.frames.pop();
        out
    }

    /// Appends to a list or adds to a set.
    pub(super) fn add_to(&mut self, id: ObjId, value: Value<'e>) {
        if matches!(self.obj(id), Some(Obj::Set(_))) {
            self.set_add(id, value);
        } else if let Some(Obj::List(seq)) = self.obj_mut(id) {
            seq.push(value, true);
        }
    }

    pub(super) fn clauses(
        &mut self,
        clauses: &'e [Clause],
        first: Option<Value<'e>>,
        emit: &mut dyn FnMut(&mut Self) -> R<()>,
    ) -> R<()> {
        let Some((clause, rest)) = clauses.split_first() else {
            return self.deeper(|i| emit(i));
        };
        match clause {
            Clause::If(test) => {
                let cond = self.cond(test)?;
                let place = self.place(test.span);
                match self.decide(cond) {
                    Some(true) => self.clauses(rest, None, emit),
                    Some(false) => {
                        self.cause(place, false);
                        Ok(())
                    }
                    None => {
                        self.note(Note::UnknownFilter(place));
                        let emit = std::cell::RefCell::new(emit);
                        self.both(
                            cond,
                            &mut |i| {
                                i.clauses(rest, None, &mut |i| (emit.borrow_mut())(i))?;
                                Ok(Exits::next())
                            },
                            &mut |_| Ok(Exits::next()),
                        )
                        .map(|_| ())
                    }
                }
            }
            Clause::For { target, iter } => {
                let source = match first {
                    Some(value) => value,
                    None => self.eval(iter)?,
                };
                let seq = self.iterate(&source)?;
                if seq.len.exact().is_none() {
                    let place = self.place(iter.span);
                    self.note(Note::UnknownLength(place));
                }
                let mut names = FxHashSet::default();
                super::env::target_names(target, &mut |n| {
                    names.insert(n);
                });
                self.run_loop(seq, &names, &mut |i, value| {
                    i.assign(target, value)?;
                    i.clauses(rest, None, emit)?;
                    Ok(Exits::next())
                })?;
                Ok(())
            }
        }
    }
}
