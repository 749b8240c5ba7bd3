//! Methods of lists, sets, dictionaries and strings.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use super::compare::equal_constants;
use super::cond::Cond;
use super::interp::{Interp, R, Stop};
use super::seq::{Len, Seq, Slot};
use super::sym::{Kind, Range};
use super::value::{Args, Iter, Key, Obj, ObjId, Value};

/// `x | y` and the like on sets.
pub(super) fn set_operation<'e>(op: &str, x: &Seq<'e>, y: &Seq<'e>) -> Seq<'e> {
    let known = |s: &Seq<'e>| s.values().filter(|v| v.iter().all(Value::is_constant));
    if let (Some(a), Some(b)) = (known(x), known(y)) {
        let within =
            |v: &Value<'e>, s: &[Value<'e>]| s.iter().any(|o| equal_constants(o, v) == Some(true));
        let values = match op {
            "&" => a.into_iter().filter(|v| within(v, &b)).collect(),
            "-" => a.into_iter().filter(|v| !within(v, &b)).collect(),
            "^" => {
                let right: Vec<_> = b.iter().filter(|v| !within(v, &a)).cloned().collect();
                a.into_iter()
                    .filter(|v| !within(v, &b))
                    .chain(right)
                    .collect()
            }
            _ => {
                let right: Vec<_> = b.iter().filter(|v| !within(v, &a)).cloned().collect();
                a.into_iter().chain(right).collect()
            }
        };
        return Seq::of(values);
    }
    let (min, max) = match op {
        "&" => (0, x.len.shorter(y.len).max),
        "-" => (0, x.len.max),
        "|" => (x.len.min.max(y.len.min), x.len.plus(y.len).max),
        _ => (0, x.len.plus(y.len).max),
    };
    let mut all = x.clone();
    if matches!(op, "|" | "^") {
        all.extend(y);
    }
    all.any_of(Len { min, max })
}

impl<'e> Interp<'e> {
    /// Adds to a set what may be in it already.
    pub(super) fn set_add(&mut self, id: ObjId, value: Value<'e>) {
        let Some(Obj::Set(seq)) = self.obj(id) else {
            return;
        };
        let size = seq.slots.len();
        let mut maybe = seq.tail.max != Some(0);
        let certain = seq.len == Len::ZERO;
        self.charge(size / 4);
        for at in 0..size {
            let Some(Obj::Set(seq)) = self.obj(id) else {
                return;
            };
            let slot = &seq.slots[at];
            let there = slot.certain;
            let known = match equal_constants(&slot.value, &value) {
                Some(known) => Some(known),
                None => {
                    let other = slot.value.clone();
                    let equal = self.equal(&other, &value);
                    match self.truth(&equal) {
                        Cond::Known(known) => Some(known),
                        _ => None,
                    }
                }
            };
            match (known, there) {
                (Some(true), true) => return,
                (Some(true), false) => {
                    if let Some(Obj::Set(seq)) = self.obj_mut(id) {
                        seq.slots[at].certain = true;
                        seq.len.min = seq.len.min.max(1);
                        seq.rewritten = true;
                    }
                    return;
                }
                (Some(false), _) => {}
                (None, _) => maybe = true,
            }
        }
        if let Some(Obj::Set(seq)) = self.obj_mut(id) {
            seq.push(value, certain || !maybe);
        }
    }

    pub(super) fn set_extend(&mut self, id: ObjId, more: &Seq<'e>) {
        let empty = matches!(self.obj(id), Some(Obj::Set(seq)) if seq.len == Len::ZERO);
        let keys: Option<Vec<Key>> = match empty && more.slots.iter().all(|s| s.certain) {
            true => more.slots.iter().map(|s| s.value.key()).collect(),
            false => None,
        };
        if let Some(keys) = keys {
            let mut seen = FxHashSet::default();
            let first = keys.into_iter().map(|key| seen.insert(key));
            let kept: Vec<Value<'e>> = more
                .slots
                .iter()
                .zip(first)
                .filter(|(_, first)| *first)
                .map(|(slot, _)| slot.value.clone())
                .collect();
            if let Some(Obj::Set(seq)) = self.obj_mut(id) {
                kept.into_iter().for_each(|value| seq.push(value, true));
            }
        } else {
            for slot in &more.slots {
                if slot.certain {
                    self.set_add(id, slot.value.clone());
                } else if let Some(Obj::Set(seq)) = self.obj_mut(id) {
                    seq.push(slot.value.clone(), false);
                }
            }
        }
        if let Some(Obj::Set(seq)) = self.obj_mut(id) {
            seq.grow(more.tail.without_min(), more.samples.clone(), more.open);
            if more.len.min > 0 {
                seq.len.min = seq.len.min.max(1);
            }
        }
    }

    /// A set of a sequence's elements.
    pub(super) fn set_of(&mut self, seq: Seq<'e>) -> Value<'e> {
        let id = self.alloc(Obj::Set(Seq::empty()));
        self.set_extend(id, &seq);
        Value::Ref(id)
    }

    pub(super) fn call_method(
        &mut self,
        base: &Value<'e>,
        name: &str,
        args: Args<'e>,
    ) -> R<Value<'e>> {
        if let Value::OneOf(items) = base {
            // Which of them it changes is not known: what changes, changes maybe.
            let mut values = Vec::new();
            for item in items.iter() {
                let before = self.state.clone();
                let value = self.call_method(item, name, args.clone())?;
                let after = std::mem::take(&mut self.state);
                self.state = self.join_states(before, after)?;
                values.push(value);
            }
            return Ok(self.any_of(values));
        }
        match base {
            Value::Str(s) => Ok(self.str_method(s, name, &args)),
            Value::Tuple(items) => {
                let seq = Seq::of(items.to_vec());
                self.count_or_index(&seq, name, &args)
            }
            Value::Ref(id) => match self.obj(*id) {
                Some(Obj::List(_)) => self.list_method(*id, name, args),
                Some(Obj::Set(_)) => self.set_method(*id, name, args),
                Some(Obj::Dict(_)) => self.dict_method(*id, name, args),
                Some(Obj::Iter(_)) if name == "__next__" => self.next_of(*id),
                Some(Obj::Record(_)) if name == "_asdict" => Ok(self.vars_of(*id)),
                Some(Obj::Record(record)) if name == "_replace" => {
                    let mut copy = record.clone();
                    args.named.into_iter().for_each(|(n, v)| copy.set(&n, v));
                    Ok(Value::Ref(self.alloc(Obj::Record(copy))))
                }
                _ => Ok(self.fresh()),
            },
            _ => Ok(self.fresh()),
        }
    }

    /// `next(iterator)`.
    pub(super) fn next_of(&mut self, id: ObjId) -> R<Value<'e>> {
        let seq = self.drain(id)?;
        let (samples, open) = seq.all_values();
        let first = match seq.slots.first() {
            Some(slot) if slot.certain && !seq.shuffled => slot.value.clone(),
            _ if seq.len.max == Some(0) => return Err(Stop::Raise),
            _ if open => self.fresh(),
            _ => self.any_of(samples),
        };
        let rest = seq.slice(1, None);
        if let Some(Obj::Iter(it)) = self.obj_mut(id) {
            *it = Iter::Rest(rest);
        }
        self.risks += 1;
        Ok(first)
    }

    fn list_method(&mut self, id: ObjId, name: &str, mut args: Args<'e>) -> R<Value<'e>> {
        let first = args.pos.first().cloned();
        match (name, first) {
            ("append" | "appendleft", Some(value)) => {
                if let Some(Obj::List(seq)) = self.obj_mut(id) {
                    seq.push(value, true);
                    seq.shuffled |= name == "appendleft";
                }
            }
            ("extend", Some(more)) => {
                let more = self.iterate(&more)?;
                if let Some(Obj::List(seq)) = self.obj_mut(id) {
                    seq.extend(&more);
                }
            }
            ("insert", Some(at)) => {
                let value = args.pos.pop().unwrap_or(Value::None);
                if let Some(Obj::List(seq)) = self.obj_mut(id) {
                    let exact = seq.exact();
                    seq.push(value, true);
                    match at.int().and_then(|v| usize::try_from(v).ok()) {
                        Some(at) if exact && at < seq.slots.len() => {
                            seq.slots[at..].rotate_right(1)
                        }
                        _ => seq.shuffled = true,
                    }
                }
            }
            ("pop" | "popleft", at) => {
                let at = match at {
                    Some(v) => v.int(),
                    None if name == "popleft" => Some(0),
                    None => Some(-1),
                };
                return self.list_pop(id, at);
            }
            ("remove", Some(wanted)) => {
                self.risks += 1;
                if let Some(Obj::List(seq)) = self.obj_mut(id) {
                    let equal = |s: &Slot<'e>| equal_constants(&s.value, &wanted);
                    let with = if seq.exact() && seq.slots.iter().all(|s| equal(s).is_some()) {
                        let at = seq.slots.iter().position(|s| equal(s) == Some(true));
                        seq.without(at.ok_or(Stop::Raise)?)
                    } else {
                        seq.less_one()
                    };
                    seq.replace(with);
                }
            }
            ("clear", _) => {
                if let Some(Obj::List(seq)) = self.obj_mut(id) {
                    seq.replace(Seq::empty());
                }
            }
            ("sort", _) => {
                let seq = match self.obj(id) {
                    Some(Obj::List(seq)) => seq.clone(),
                    _ => return Ok(Value::None),
                };
                let sorted = super::builtins::sorted(seq, &args);
                if let Some(Obj::List(seq)) = self.obj_mut(id) {
                    // Order alone changes: still nothing but appends, as far as counts go.
                    *seq = Seq {
                        added: seq.added,
                        added_open: seq.added_open,
                        rewritten: seq.rewritten,
                        ..sorted
                    };
                }
            }
            ("reverse", _) => {
                if let Some(Obj::List(seq)) = self.obj_mut(id) {
                    if seq.exact() {
                        seq.slots.reverse()
                    } else {
                        seq.shuffled = true
                    }
                }
            }
            ("copy", _) => {
                if let Some(Obj::List(seq)) = self.obj(id) {
                    let seq = seq.clone();
                    return Ok(self.list(seq));
                }
            }
            ("count" | "index", _) => {
                if let Some(Obj::List(seq)) = self.obj(id) {
                    let seq = seq.clone();
                    return self.count_or_index(&seq, name, &args);
                }
            }
            _ => return Ok(self.fresh()),
        }
        Ok(Value::None)
    }

    fn list_pop(&mut self, id: ObjId, at: Option<i64>) -> R<Value<'e>> {
        self.risks += 1;
        let Some(Obj::List(seq)) = self.obj_mut(id) else {
            return Ok(Value::None);
        };
        if seq.len.max == Some(0) && !seq.cache {
            return Err(Stop::Raise);
        }
        if let (true, Some(at)) = (seq.exact(), at) {
            let at = if at < 0 {
                seq.slots.len() as i64 + at
            } else {
                at
            };
            return match usize::try_from(at).ok().filter(|at| *at < seq.slots.len()) {
                Some(at) => {
                    let value = seq.slots[at].value.clone();
                    seq.replace(seq.without(at));
                    Ok(value)
                }
                None => Err(Stop::Raise),
            };
        }
        seq.replace(seq.less_one());
        Ok(self.fresh())
    }

    fn count_or_index(&mut self, seq: &Seq<'e>, name: &str, args: &Args<'e>) -> R<Value<'e>> {
        if let (Some(values), Some(wanted)) = (seq.values(), args.pos.first()) {
            let equal: Vec<Option<bool>> =
                values.iter().map(|v| equal_constants(v, wanted)).collect();
            if equal.iter().all(Option::is_some) {
                match (name, equal.iter().position(|e| *e == Some(true))) {
                    ("count", _) => {
                        let hits = equal.iter().filter(|e| **e == Some(true)).count();
                        return Ok(Value::Int(hits as i64));
                    }
                    ("index", Some(at)) => return Ok(Value::Int(at as i64)),
                    _ => return Err(Stop::Raise),
                }
            }
        }
        self.risks += 1;
        Ok(self.fresh_of(Kind::Int, Range::from(0)))
    }

    fn set_method(&mut self, id: ObjId, name: &str, args: Args<'e>) -> R<Value<'e>> {
        let op = match name {
            "union" => Some("|"),
            "intersection" => Some("&"),
            "difference" => Some("-"),
            "symmetric_difference" => Some("^"),
            _ => None,
        };
        match (name, args.pos.first().cloned()) {
            ("add", Some(value)) => self.set_add(id, value),
            ("update", Some(more)) => {
                let more = self.iterate(&more)?;
                self.set_extend(id, &more);
            }
            ("discard" | "remove" | "pop" | "clear", wanted) => {
                if let Some(Obj::Set(seq)) = self.obj_mut(id) {
                    let with = match (name, wanted, seq.values()) {
                        ("clear", _, _) => Seq::empty(),
                        ("discard" | "remove", Some(w), Some(values))
                            if values.iter().all(|v| equal_constants(v, &w).is_some()) =>
                        {
                            Seq::of(
                                values
                                    .into_iter()
                                    .filter(|v| equal_constants(v, &w) != Some(true))
                                    .collect(),
                            )
                        }
                        _ => {
                            let len = Len {
                                min: seq.len.min.saturating_sub(1),
                                max: seq.len.max,
                            };
                            seq.clone().any_of(len)
                        }
                    };
                    seq.replace(with);
                }
                if name == "pop" {
                    return Ok(self.fresh());
                }
            }
            ("copy", _) => {
                if let Some(Obj::Set(seq)) = self.obj(id) {
                    let seq = seq.clone();
                    return Ok(Value::Ref(self.alloc(Obj::Set(seq))));
                }
            }
            (_, Some(other)) if op.is_some() => {
                let more = self.iterate(&other)?;
                let other = self.set_of(more);
                return Ok(self.binary(op.unwrap_or("|"), &Value::Ref(id), &other));
            }
            _ => return Ok(self.fresh()),
        }
        Ok(Value::None)
    }

    fn str_method(&mut self, s: &SmolStr, name: &str, args: &Args<'e>) -> Value<'e> {
        let one = match args.pos.first() {
            Some(Value::Str(x)) => Some(x.as_str()),
            _ => None,
        };
        let text = |t: String| Value::Str(t.into());
        match (name, one) {
            ("startswith", Some(x)) => Value::Bool(s.starts_with(x)),
            ("endswith", Some(x)) => Value::Bool(s.ends_with(x)),
            ("lower", _) => text(s.to_lowercase()),
            ("upper", _) => text(s.to_uppercase()),
            ("strip", None) if args.pos.is_empty() => text(s.trim().to_owned()),
            ("split", Some(sep)) if args.pos.len() == 1 && !sep.is_empty() => {
                let parts = s.split(sep).map(Value::str).collect();
                self.list(Seq::of(parts))
            }
            ("split", None) if args.pos.is_empty() && args.named.is_empty() => {
                let parts = s.split_whitespace().map(Value::str).collect();
                self.list(Seq::of(parts))
            }
            ("startswith" | "endswith" | "isdigit" | "isalpha" | "isidentifier", _) => {
                self.fresh_bool()
            }
            ("split" | "rsplit" | "splitlines", _) => self.list(Seq::unknown()),
            ("count" | "find" | "index", _) => self.fresh_of(Kind::Int, Range::from(-1)),
            _ => self.fresh_of(Kind::Str, Range::ALL),
        }
    }
}
