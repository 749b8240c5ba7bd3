//! Assignment and deletion.

use tileperf_syntax::ast::{Expr, ExprKind};

use super::interp::{Interp, R, Stop};
use super::seq::Seq;
use super::value::{Obj, Value};

impl<'e> Interp<'e> {
    pub(super) fn assign(&mut self, target: &'e Expr, value: Value<'e>) -> R<()> {
        match &target.kind {
            ExprKind::Name(name) => self.assign_name(name, value),
            ExprKind::Tuple(targets) | ExprKind::List(targets) => self.unpack(targets, &value)?,
            ExprKind::Starred(inner) => self.assign(inner, value)?,
            ExprKind::Attribute { value: base, attr } => {
                let base = self.eval(base)?;
                self.set_attribute(&base, &attr.name, value);
            }
            ExprKind::Subscript { value: base, index } => {
                let base = self.eval(base)?;
                let key = match index.as_slice() {
                    [one] if !matches!(one.kind, ExprKind::Slice { .. }) => Some(self.eval(one)?),
                    [_] => None,
                    many => {
                        let seq = self.items(many)?;
                        Some(self.tuple_of(seq))
                    }
                };
                self.set_item(&base, key, value);
            }
            _ => {}
        }
        Ok(())
    }

    fn unpack(&mut self, targets: &'e [Expr], value: &Value<'e>) -> R<()> {
        // Of several tuples, the parts of one belong together only as alternatives of each part.
        let seq = self.iterate(value)?;
        let star = targets
            .iter()
            .position(|t| matches!(t.kind, ExprKind::Starred(_)));
        let values = match seq.values() {
            Some(values) => values,
            None => {
                let (samples, open) = seq.all_values();
                let one = if open {
                    self.fresh()
                } else {
                    self.any_of(samples)
                };
                for (at, target) in targets.iter().enumerate() {
                    let part = if star == Some(at) {
                        self.list(Seq::unknown())
                    } else if matches!(value, Value::Sym(_)) {
                        self.pure("[]", &[value.clone(), Value::Int(at as i64)])
                    } else {
                        one.clone()
                    };
                    self.assign(target, part)?;
                }
                return Ok(());
            }
        };
        match star {
            None if values.len() == targets.len() => {
                for (target, value) in targets.iter().zip(values) {
                    self.assign(target, value)?;
                }
            }
            Some(at) if values.len() + 1 >= targets.len() => {
                let tail = targets.len() - at - 1;
                let middle = values[at..values.len() - tail].to_vec();
                for (target, value) in targets[..at].iter().zip(&values) {
                    self.assign(target, value.clone())?;
                }
                let middle = self.list(Seq::of(middle));
                self.assign(&targets[at], middle)?;
                for (target, value) in targets[at + 1..].iter().zip(&values[values.len() - tail..])
                {
                    self.assign(target, value.clone())?;
                }
            }
            _ => return Err(Stop::Raise),
        }
        Ok(())
    }

    fn set_item(&mut self, base: &Value<'e>, key: Option<Value<'e>>, value: Value<'e>) {
        for base in base.alternatives() {
            let certain = matches!(base, Value::Ref(_));
            let Value::Ref(id) = base else { continue };
            match (self.obj_mut(*id), &key) {
                (Some(Obj::Dict(dict)), Some(key)) => {
                    super::dicts::dict_set(dict, key, &value, certain)
                }
                (Some(Obj::List(seq)), Some(Value::Int(at))) => {
                    let at = if *at < 0 {
                        seq.slots.len() as i64 + at
                    } else {
                        *at
                    };
                    match usize::try_from(at).ok().filter(|_| seq.exact()) {
                        Some(at) if at < seq.slots.len() => {
                            seq.slots[at].value = value.clone();
                            seq.rewritten = true;
                        }
                        _ => seq.open = true,
                    }
                }
                // A slice assignment may change the length.
                (Some(Obj::List(seq)), None) => seq.replace(Seq::unknown()),
                (Some(Obj::List(seq)), Some(_)) => {
                    let with = seq.clone().any_of(seq.len);
                    seq.replace(Seq { open: true, ..with });
                }
                _ => {}
            }
        }
    }

    pub(super) fn augment(&mut self, target: &'e Expr, op: &str, value: &'e Expr) -> R<()> {
        let old = self.eval(target)?;
        let new = self.eval(value)?;
        if let Value::Ref(id) = old {
            match (self.obj(id), op) {
                (Some(Obj::List(_)), "+") => {
                    let more = self.iterate(&new)?;
                    if let Some(Obj::List(seq)) = self.obj_mut(id) {
                        seq.extend(&more);
                    }
                    return Ok(());
                }
                (Some(Obj::Set(_)), "|") => {
                    let more = self.iterate(&new)?;
                    self.set_extend(id, &more);
                    return Ok(());
                }
                (Some(Obj::Dict(dict)), "|") => {
                    let mut dict = dict.clone();
                    self.merge_into(&mut dict, &new);
                    if let Some(Obj::Dict(d)) = self.obj_mut(id) {
                        *d = dict;
                    }
                    return Ok(());
                }
                _ => {}
            }
        }
        let result = self.binary(op, &old, &new);
        self.assign(target, result)
    }

    pub(super) fn delete(&mut self, target: &'e Expr) -> R<()> {
        let ExprKind::Subscript { value, index } = &target.kind else {
            return Ok(());
        };
        let base = self.eval(value)?;
        let key = match index.as_slice() {
            [one] if !matches!(one.kind, ExprKind::Slice { .. }) => Some(self.eval(one)?),
            _ => None,
        };
        let Value::Ref(id) = base else { return Ok(()) };
        self.risks += 1;
        match (self.obj_mut(id), key) {
            (Some(Obj::List(seq)), Some(key)) => {
                let size = seq.slots.len() as i64;
                let at = key.int().map(|v| if v < 0 { size + v } else { v });
                let with = match at.filter(|_| seq.exact()) {
                    Some(at) => match usize::try_from(at).ok().filter(|_| at < size) {
                        Some(at) => seq.without(at),
                        None => return Err(Stop::Raise),
                    },
                    None => seq.less_one(),
                };
                seq.replace(with);
            }
            (Some(Obj::List(seq)), None) => {
                let some = seq.clone().any_of(seq.len.without_min());
                seq.replace(some);
            }
            (Some(Obj::Dict(dict)), _) => {
                dict.entries.iter_mut().for_each(|entry| entry.2 = false);
            }
            _ => {}
        }
        Ok(())
    }
}
