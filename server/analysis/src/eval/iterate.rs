//! What iterating over a value gives.

use smol_str::SmolStr;
use tileperf_syntax::ast::ExprKind;

use super::cond::Cond;
use super::interp::{Interp, R, Stop};
use super::seq::Seq;
use super::value::{Args, Iter, Obj, Value};

impl<'e> Interp<'e> {
    /// What iterating over a value gives; consumes iterators.
    pub(super) fn iterate(&mut self, value: &Value<'e>) -> R<Seq<'e>> {
        match value {
            Value::Tuple(items) => Ok(Seq::of(items.to_vec())),
            Value::Str(s) => Ok(Seq::of(
                s.chars()
                    .map(|c| Value::Str(SmolStr::new(c.to_string())))
                    .collect(),
            )),
            Value::OneOf(items) => {
                let mut joined: Option<Seq<'e>> = None;
                for item in items.iter() {
                    let seq = self.iterate(item)?;
                    let syms = &mut self.syms;
                    joined = Some(match joined {
                        Some(j) => j.join(&seq, &mut |a, b| Self::join_values(syms, a, b)),
                        None => seq,
                    });
                }
                Ok(joined.unwrap_or_else(Seq::unknown))
            }
            Value::Ref(id) => match self.obj(*id) {
                Some(Obj::List(seq) | Obj::Set(seq)) if seq.cache => Ok(Seq::unknown()),
                Some(Obj::List(seq) | Obj::Set(seq)) => {
                    self.burn(seq.slots.len() / 8)?;
                    match self.obj(*id) {
                        Some(Obj::List(seq) | Obj::Set(seq)) => Ok(seq.clone()),
                        _ => Ok(Seq::unknown()),
                    }
                }
                Some(Obj::Dict(dict)) => {
                    let mut keys = Seq::empty();
                    dict.entries
                        .iter()
                        .for_each(|(k, _, certain)| keys.push(k.clone(), *certain));
                    if dict.open {
                        keys.extend(&Seq::unknown());
                    }
                    Ok(keys)
                }
                Some(Obj::Iter(_)) => self.drain(*id),
                Some(Obj::Record(_)) => {
                    let iter = self.attribute(value, "__iter__")?;
                    if let Value::Func(_) = iter {
                        let place = self.at_test;
                        let result = self.call(&iter, Args::default(), place)?;
                        return self.deeper(|i| i.iterate(&result));
                    }
                    self.record_values(*id)
                }
                _ => Ok(Seq::unknown()),
            },
            Value::Sym(_) => {
                self.risks += 1;
                let falsy = matches!(self.truth(value), Cond::Known(false));
                Ok(if falsy { Seq::empty() } else { Seq::unknown() })
            }
            Value::None | Value::Int(_) | Value::Bool(_) | Value::Float(_) | Value::Func(_) => {
                Err(Stop::Raise)
            }
            _ => {
                self.risks += 1;
                Ok(Seq::unknown())
            }
        }
    }

    /// What is left of an iterator; afterwards nothing is.
    pub(super) fn drain(&mut self, id: u32) -> R<Seq<'e>> {
        self.deeper(|i| i.drain_here(id))
    }

    fn drain_here(&mut self, id: u32) -> R<Seq<'e>> {
        let iter = match self.obj_mut(id) {
            Some(Obj::Iter(iter)) => std::mem::replace(iter, Iter::Rest(Seq::empty())),
            _ => return Ok(Seq::unknown()),
        };
        match iter {
            Iter::Rest(seq) => Ok(seq),
            Iter::Call(func, scope) => self.run_generator(&func, scope),
            Iter::Expr(expr, scope, first, place) => {
                let ExprKind::Comprehension {
                    element, clauses, ..
                } = &expr.kind
                else {
                    return Ok(Seq::unknown());
                };
                let out = self.alloc(Obj::List(Seq::empty()));
                let inner = self.alloc(Obj::Scope(super::value::Scope::new(
                    Some(scope),
                    place.module,
                )));
                self.in_scope(inner, place, |i| {
                    i.clauses(clauses, Some(*first), &mut |i| {
                        let item = i.eval(element)?;
                        i.add_to(out, item);
                        Ok(())
                    })
                })?;
                match self.obj(out) {
                    Some(Obj::List(seq)) => Ok(seq.clone()),
                    _ => Ok(Seq::unknown()),
                }
            }
        }
    }
}
