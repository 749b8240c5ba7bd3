//! Built-in functions that ask or convert one value.
use std::cmp::Ordering;
use std::rc::Rc;

use smol_str::SmolStr;

use super::builtins::order;
use super::env::Place;
use super::interp::{Interp, R, Stop};
use super::seq::{Len, Seq};
use super::sym::{Kind, Range};
use super::value::{Args, Dict, Obj, Value};

/// Ranges longer than this keep only their length.
const MAX_RANGE: u64 = 100_000;

impl<'e> Interp<'e> {
    pub(super) fn len_of(&mut self, x: &Value<'e>) -> R<Value<'e>> {
        Ok(match x {
            Value::Tuple(items) => Value::Int(items.len() as i64),
            Value::Str(s) => Value::Int(s.chars().count() as i64),
            Value::Sym(_) => {
                self.risks += 1;
                self.pure("len", std::slice::from_ref(x))
            }
            Value::Ref(id) => match self.obj(*id) {
                Some(Obj::List(seq) | Obj::Set(seq)) if !seq.cache => {
                    let len = seq.len;
                    self.length_value(len)
                }
                Some(Obj::Dict(dict)) => {
                    let sure = dict.entries.iter().filter(|e| e.2).count() as u64;
                    let most = (!dict.open).then_some(dict.entries.len() as u64);
                    self.length_value(Len {
                        min: sure,
                        max: most,
                    })
                }
                Some(Obj::Iter(_)) => return Err(Stop::Raise),
                _ => self.fresh_of(Kind::Int, Range::from(0)),
            },
            _ => self.fresh_of(Kind::Int, Range::from(0)),
        })
    }

    pub(super) fn range_of(&mut self, args: &[Value<'e>]) -> Seq<'e> {
        let zero = Value::Int(0);
        let (start, stop) = match args {
            [stop] => (&zero, stop),
            [start, stop, ..] => (start, stop),
            [] => return Seq::unknown(),
        };
        let step = match args.get(2).map_or(Some(1), Value::int) {
            Some(step) if step != 0 => step,
            _ => return Seq::sized(Len::ANY, vec![self.fresh_of(Kind::Int, Range::ALL)]),
        };
        let (a, b) = (self.range(start), self.range(stop));
        let count = |from: i64, to: i64| -> Option<u64> {
            let gap = if step > 0 {
                to.checked_sub(from)?
            } else {
                from.checked_sub(to)?
            };
            let size = step.unsigned_abs();
            Some(u64::try_from(gap).ok().map_or(0, |g| g.div_ceil(size)))
        };
        let (near, far) = if step > 0 {
            ((a.hi, b.lo), (a.lo, b.hi))
        } else {
            ((a.lo, b.hi), (a.hi, b.lo))
        };
        let len = Len {
            min: near
                .0
                .zip(near.1)
                .and_then(|(x, y)| count(x, y))
                .unwrap_or(0),
            max: far.0.zip(far.1).and_then(|(x, y)| count(x, y)),
        };
        if let (Some(from), Some(n)) = (start.int(), len.exact())
            && n <= MAX_RANGE
        {
            return Seq::of((0..n as i64).map(|k| Value::Int(from + k * step)).collect());
        }
        let span = if step > 0 {
            Range {
                lo: a.lo,
                hi: b.hi.and_then(|h| h.checked_sub(1)),
            }
        } else {
            Range {
                lo: b.lo.and_then(|l| l.checked_add(1)),
                hi: a.hi,
            }
        };
        let element = self.fresh_of(Kind::Int, span);
        Seq::sized(len, vec![element])
    }

    pub(super) fn make_dict(&mut self, first: Option<Value<'e>>, args: &Args<'e>) -> R<Value<'e>> {
        let mut dict = Dict {
            open: args.open,
            ..Dict::default()
        };
        match first {
            None => {}
            Some(x) if matches!(self.object_of(&x), Some(Obj::Dict(_))) => {
                self.merge_into(&mut dict, &x)
            }
            Some(x) => {
                let seq = self.iterate(&x)?;
                dict.open |= seq.tail.max != Some(0);
                for slot in &seq.slots {
                    match &slot.value {
                        Value::Tuple(kv) if kv.len() == 2 => {
                            super::dicts::dict_set(&mut dict, &kv[0], &kv[1], slot.certain);
                        }
                        _ => dict.open = true,
                    }
                }
            }
        }
        for (name, value) in &args.named {
            super::dicts::dict_set(&mut dict, &Value::Str(name.clone()), value, true);
        }
        Ok(Value::Ref(self.alloc(Obj::Dict(dict))))
    }

    pub(super) fn zip(&mut self, sources: &[Value<'e>]) -> R<Seq<'e>> {
        let mut seqs = Vec::new();
        for source in sources {
            seqs.push(self.iterate(source)?);
        }
        let len = seqs
            .iter()
            .map(|s| s.len)
            .reduce(Len::shorter)
            .unwrap_or(Len::ZERO);
        let known: Option<Vec<Vec<Value<'e>>>> = seqs.iter().map(Seq::values).collect();
        if let Some(known) = known {
            let n = known.iter().map(Vec::len).min().unwrap_or(0);
            self.burn(n)?;
            let rows = (0..n).map(|at| known.iter().map(|v| v[at].clone()).collect());
            return Ok(Seq::of(rows.map(|row| self.tuple(row)).collect()));
        }
        let mut parts = Vec::new();
        for seq in seqs {
            let (values, open) = seq.all_values();
            parts.push(if open {
                self.fresh()
            } else {
                self.any_of(values)
            });
        }
        Ok(Seq::sized(len, vec![self.tuple(parts)]))
    }

    pub(super) fn filter(&mut self, seq: Seq<'e>, f: &Value<'e>, place: Place) -> R<Seq<'e>> {
        let mut out = Seq::empty();
        for slot in &seq.slots {
            let kept = match f {
                Value::None => slot.value.clone(),
                _ => self.call(f, Args::one(slot.value.clone()), place)?,
            };
            let cond = self.truth(&kept);
            match self.decide(cond) {
                Some(true) => out.push(slot.value.clone(), slot.certain),
                Some(false) => self.cause(place, false),
                None => {
                    self.note(super::space::Note::UnknownFilter(place));
                    out.push(slot.value.clone(), false);
                }
            }
        }
        out.grow(seq.tail.without_min(), seq.samples, seq.open);
        Ok(out)
    }

    pub(super) fn extreme(&mut self, name: &str, args: &Args<'e>) -> R<Value<'e>> {
        let values = if args.pos.len() == 1 {
            let seq = self.iterate(&args.pos[0])?;
            match seq.values() {
                Some(values) => values,
                None => return Ok(self.fresh()),
            }
        } else {
            args.pos.clone()
        };
        if values.is_empty() {
            return args.named("default").cloned().ok_or(Stop::Raise);
        }
        if args.named("key").is_some() || args.open {
            return Ok(self.any_of(values));
        }
        let wanted = if name == "min" {
            Ordering::Less
        } else {
            Ordering::Greater
        };
        let mut best = values[0].clone();
        for value in &values[1..] {
            match order(value, &best) {
                Some(found) if found == wanted => best = value.clone(),
                Some(_) => {}
                None => return Ok(self.pure(name, &values)),
            }
        }
        Ok(best)
    }

    pub(super) fn int_of(&mut self, x: Value<'e>) -> R<Value<'e>> {
        Ok(match &x {
            Value::Float(v) if v.is_finite() && v.abs() < 1e15 => Value::Int(v.trunc() as i64),
            Value::Float(_) | Value::None => return Err(Stop::Raise),
            Value::Str(s) => match s.trim().parse() {
                Ok(v) => Value::Int(v),
                Err(_) => return Err(Stop::Raise),
            },
            Value::Sym(sym) if self.syms.kind(*sym) == Kind::Int => x,
            _ => match x.int() {
                Some(v) => Value::Int(v),
                None => {
                    self.risks += 1;
                    self.pure("int", &[x])
                }
            },
        })
    }

    pub(super) fn is_instance(&mut self, x: &Value<'e>, of: &Value<'e>) -> Value<'e> {
        let types: Vec<Value<'e>> = match of {
            Value::Tuple(items) => items.to_vec(),
            other => vec![other.clone()],
        };
        let mut total = Some(false);
        for ty in &types {
            let one = match (x, ty) {
                (Value::Sym(_) | Value::OneOf(_) | Value::External(_), _) => None,
                (_, Value::External(name)) => self.is_builtin_instance(x, name),
                (Value::Ref(id), Value::Class(class)) => match self.obj(*id) {
                    Some(Obj::Record(r)) => match &r.class {
                        Some(own) if Rc::ptr_eq(own, class) || own.name == class.name => Some(true),
                        _ => None,
                    },
                    _ => Some(false),
                },
                (_, Value::Class(_)) => Some(false),
                _ => None,
            };
            total = match (total, one) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            };
        }
        match total {
            Some(b) => Value::Bool(b),
            None => {
                let ty = Value::tuple(types);
                self.pure("isinstance", &[x.clone(), ty])
            }
        }
    }

    fn is_builtin_instance(&self, x: &Value<'e>, name: &SmolStr) -> Option<bool> {
        let own: &[&str] = match x {
            Value::None => &["NoneType"],
            Value::Bool(_) => &["bool", "int"],
            Value::Int(_) => &["int"],
            Value::Float(_) => &["float"],
            Value::Str(_) => &["str"],
            Value::Tuple(_) => &["tuple", "Sequence", "Iterable"],
            Value::Func(_) => &["Callable", "FunctionType"],
            Value::Ref(id) => match self.obj(*id) {
                Some(Obj::List(_)) => {
                    return if name == "list" || name == "tuple" {
                        None
                    } else {
                        Some(false)
                    };
                }
                Some(Obj::Dict(_)) => &["dict", "Mapping"],
                Some(Obj::Set(_)) => &["set", "frozenset"],
                Some(Obj::Record(r)) if r.maker == *name => return Some(true),
                _ => return None,
            },
            _ => return None,
        };
        let last = name.rsplit('.').next().unwrap_or(name);
        if own.contains(&last) {
            return Some(true);
        }
        matches!(
            last,
            "bool" | "int" | "float" | "str" | "tuple" | "list" | "dict" | "set"
        )
        .then_some(false)
    }

    pub(super) fn has_attribute(&mut self, x: &Value<'e>, name: Option<&Value<'e>>) -> Value<'e> {
        if let (Some(Obj::Record(r)), Some(Value::Str(name))) = (self.object_of(x), name) {
            if r.get(name).is_some() {
                return Value::Bool(true);
            }
            if !r.open && r.class.is_none() {
                return Value::Bool(false);
            }
        }
        match name {
            Some(name) => self.pure("in", &[name.clone(), x.clone()]),
            None => self.fresh_bool(),
        }
    }

    pub(super) fn get_attribute(&mut self, x: &Value<'e>, args: &Args<'e>) -> R<Value<'e>> {
        let Some(Value::Str(name)) = args.pos.get(1).cloned() else {
            return Ok(self.fresh());
        };
        let default = args.pos.get(2).cloned();
        if let (Some(Obj::Record(r)), Some(default)) = (self.object_of(x), &default)
            && r.get(&name).is_none()
            && r.class.is_none()
        {
            if !r.open {
                return Ok(default.clone());
            }
            let unknown = self.fresh();
            return Ok(self.join(default, &unknown));
        }
        match (x, default) {
            (Value::Sym(_), Some(default)) => {
                let value = self.attribute(x, &name)?;
                let _ = default;
                // The default is one more value that an unknown may have.
                Ok(value)
            }
            _ => self.attribute(x, &name),
        }
    }
}
