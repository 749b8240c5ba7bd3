//! Python's built-in functions.

use std::cmp::Ordering;
use std::rc::Rc;

use smol_str::SmolStr;

use super::cond::Cond;
use super::env::Place;
use super::interp::{Interp, R, Stop};
use super::seq::{Len, Seq, Slot};
use super::sym::{Kind, Range};
use super::value::{Args, Dict, Iter, Obj, Value};

/// Ranges longer than this keep only their length.
const MAX_RANGE: u64 = 100_000;

const BUILTINS: [&str; 52] = [
    "len",
    "range",
    "list",
    "tuple",
    "set",
    "frozenset",
    "dict",
    "sorted",
    "reversed",
    "enumerate",
    "zip",
    "map",
    "filter",
    "sum",
    "any",
    "all",
    "min",
    "max",
    "abs",
    "int",
    "float",
    "bool",
    "str",
    "isinstance",
    "issubclass",
    "hasattr",
    "getattr",
    "setattr",
    "next",
    "iter",
    "print",
    "type",
    "id",
    "hash",
    "divmod",
    "pow",
    "round",
    "repr",
    "callable",
    "vars",
    "super",
    "open",
    "object",
    "bytes",
    "complex",
    "slice",
    "property",
    "staticmethod",
    "classmethod",
    "NotImplemented",
    "__import__",
    "format",
];

pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
        || name.ends_with("Error")
        || name.ends_with("Exception")
        || name.ends_with("Warning")
}

/// The order of two known values.
fn order(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Str(x), Value::Str(y)) => Some(x.cmp(y)),
        (Value::Tuple(x), Value::Tuple(y)) => {
            for (p, q) in x.iter().zip(y.iter()) {
                match order(p, q)? {
                    Ordering::Equal => {}
                    other => return Some(other),
                }
            }
            Some(x.len().cmp(&y.len()))
        }
        _ => match (a.int(), b.int()) {
            (Some(x), Some(y)) => Some(x.cmp(&y)),
            _ => a.number()?.partial_cmp(&b.number()?),
        },
    }
}

/// The sequence sorted, if its elements and its order are known; else in an unknown order.
pub(super) fn sorted<'e>(seq: Seq<'e>, args: &Args<'e>) -> Seq<'e> {
    let plain = matches!(args.named("key"), None | Some(Value::None));
    let down = match args.named("reverse") {
        None => Some(false),
        Some(Value::Bool(b)) => Some(*b),
        Some(_) => None,
    };
    let (Some(mut values), true, Some(down)) = (seq.values(), plain, down) else {
        return seq.shuffle();
    };
    let comparable = values
        .iter()
        .all(|v| values.first().is_none_or(|first| order(first, v).is_some()));
    if !comparable || !values.iter().all(Value::is_constant) {
        return seq.shuffle();
    }
    values.sort_by(|a, b| order(a, b).unwrap_or(Ordering::Equal));
    if down {
        values.reverse();
    }
    Seq::of(values)
}

impl<'e> Interp<'e> {
    /// `f` over every element, whatever is known of them.
    pub(super) fn map_seq(
        &mut self,
        seq: Seq<'e>,
        f: &mut dyn FnMut(&mut Self, Value<'e>) -> R<Value<'e>>,
    ) -> R<Seq<'e>> {
        let mut slots = Vec::with_capacity(seq.slots.len());
        for slot in seq.slots {
            self.burn(1)?;
            slots.push(Slot {
                value: f(self, slot.value)?,
                certain: slot.certain,
            });
        }
        let mut samples = Vec::new();
        for sample in seq.samples {
            samples.push(f(self, sample)?);
        }
        let mut open = seq.open;
        if open && seq.tail.max != Some(0) {
            let any = self.fresh();
            samples.push(f(self, any)?);
            open = false;
        }
        Ok(Seq {
            slots,
            samples,
            open,
            ..seq
        })
    }

    fn iter_of(&mut self, seq: Seq<'e>) -> Value<'e> {
        Value::Ref(self.alloc(Obj::Iter(Iter::Rest(seq))))
    }

    /// A call of a built-in function; `None` if it is not one that is understood.
    pub(super) fn call_builtin(
        &mut self,
        name: &str,
        args: &Args<'e>,
        place: Place,
    ) -> R<Option<Value<'e>>> {
        let first = args.pos.first().cloned();
        Ok(Some(match (name, first) {
            ("len", Some(x)) => self.len_of(&x)?,
            ("range", Some(_)) => {
                let seq = self.range_of(&args.pos);
                self.list(seq)
            }
            ("list" | "tuple" | "set" | "frozenset" | "sorted" | "reversed", first) => {
                let seq = match first {
                    Some(x) => self.iterate(&x)?,
                    None => Seq::empty(),
                };
                match name {
                    "list" => self.list(seq),
                    "tuple" => self.tuple_of(seq),
                    "sorted" => {
                        let seq = sorted(seq, args);
                        self.list(seq)
                    }
                    "reversed" => {
                        let seq = match seq.values() {
                            Some(mut values) => {
                                values.reverse();
                                Seq::of(values)
                            }
                            None => seq.shuffle(),
                        };
                        self.iter_of(seq)
                    }
                    _ => self.set_of(seq),
                }
            }
            ("dict", first) => self.make_dict(first, args)?,
            ("enumerate", Some(x)) => {
                let seq = self.iterate(&x)?;
                let start = args.get(1, "start").map_or(Some(0), Value::int);
                let mut at = start.filter(|_| seq.exact());
                let seq = self.map_seq(seq, &mut |i, v| {
                    let n = match at {
                        Some(n) => {
                            at = n.checked_add(1);
                            Value::Int(n)
                        }
                        None => i.fresh_of(Kind::Int, Range::ALL),
                    };
                    Ok(Value::tuple(vec![n, v]))
                })?;
                self.iter_of(seq)
            }
            ("zip", first) => {
                let seq = if args.open || first.is_none() {
                    Seq::unknown()
                } else {
                    self.zip(&args.pos)?
                };
                self.iter_of(seq)
            }
            ("map", Some(f)) if args.pos.len() >= 2 => {
                let seq = if args.pos.len() == 2 {
                    self.iterate(&args.pos[1])?
                } else {
                    self.zip(&args.pos[1..])?
                };
                let spread = args.pos.len() > 2;
                let seq = self.map_seq(seq, &mut |i, v| {
                    let given = match &v {
                        Value::Tuple(parts) if spread => Args {
                            pos: parts.to_vec(),
                            ..Args::default()
                        },
                        _ => Args {
                            open: spread,
                            ..Args::one(v)
                        },
                    };
                    i.call(&f, given, place)
                })?;
                self.iter_of(seq)
            }
            ("filter", Some(f)) if args.pos.len() == 2 => {
                let seq = self.iterate(&args.pos[1])?;
                let seq = self.filter(seq, &f, place)?;
                self.iter_of(seq)
            }
            ("sum", Some(x)) => {
                let seq = self.iterate(&x)?;
                match seq.values() {
                    Some(values) => {
                        let zero = args.get(1, "start").cloned().unwrap_or(Value::Int(0));
                        values
                            .into_iter()
                            .fold(zero, |acc, v| self.binary("+", &acc, &v))
                    }
                    None => self.fresh(),
                }
            }
            ("any" | "all", Some(x)) => {
                let seq = self.iterate(&x)?;
                let Some(values) = seq.values() else {
                    return Ok(Some(self.fresh_bool()));
                };
                let all = name == "all";
                let mut total = Cond::Known(all);
                for value in values {
                    let cond = self.truth(&value);
                    total = self.combine(all, total, cond);
                }
                self.cond_value(total)
            }
            ("min" | "max", Some(_)) => self.extreme(name, args)?,
            ("abs", Some(x)) => match (x.int().and_then(i64::checked_abs), x.number()) {
                (Some(v), _) => Value::Int(v),
                (None, Some(v)) => Value::Float(v.abs()),
                _ => self.pure("abs", &[x]),
            },
            ("int", first) => self.int_of(first.unwrap_or(Value::Int(0)))?,
            ("float", Some(x)) => match (&x, x.number()) {
                (_, Some(v)) => Value::Float(v),
                (Value::Str(s), _) if s.trim_start_matches(['+', '-']) == "inf" => {
                    Value::Float(if s.starts_with('-') {
                        f64::NEG_INFINITY
                    } else {
                        f64::INFINITY
                    })
                }
                _ => self.pure("float", &[x]),
            },
            ("bool", Some(x)) => {
                let cond = self.truth(&x);
                self.cond_value(cond)
            }
            ("str" | "repr" | "format", Some(x)) => match &x {
                Value::Str(_) if name == "str" => x,
                Value::Int(v) => Value::Str(v.to_string().into()),
                _ => self.pure("str", &[x]),
            },
            ("isinstance", Some(x)) if args.pos.len() == 2 => self.is_instance(&x, &args.pos[1]),
            ("hasattr", Some(x)) => self.has_attribute(&x, args.pos.get(1)),
            ("getattr", Some(x)) => self.get_attribute(&x, args)?,
            ("setattr", Some(x)) => {
                if let (Some(Value::Str(name)), Some(value)) = (args.pos.get(1), args.pos.get(2)) {
                    self.set_attribute(&x, name, value.clone());
                }
                Value::None
            }
            ("next", Some(Value::Ref(id))) if matches!(self.obj(id), Some(Obj::Iter(_))) => {
                match (self.next_of(id), args.pos.get(1)) {
                    (Err(Stop::Raise), Some(default)) => default.clone(),
                    (Ok(value), Some(default)) => self.join(&value, default),
                    (value, _) => value?,
                }
            }
            ("iter", Some(x)) => {
                let seq = self.iterate(&x)?;
                self.iter_of(seq)
            }
            ("print", _) => Value::None,
            ("divmod", Some(x)) if args.pos.len() == 2 => {
                let q = self.binary("//", &x, &args.pos[1]);
                let r = self.binary("%", &x, &args.pos[1]);
                Value::tuple(vec![q, r])
            }
            ("pow", Some(x)) if args.pos.len() == 2 => self.binary("**", &x, &args.pos[1]),
            ("round", Some(x)) if args.pos.len() == 1 => match (x.int(), x.number()) {
                (Some(v), _) => Value::Int(v),
                // Half to even, as Python rounds.
                (None, Some(v)) if v.abs() < 1e15 => Value::Int(v.round_ties_even() as i64),
                _ => self.fresh_of(Kind::Int, Range::ALL),
            },
            ("vars", Some(Value::Ref(id))) => self.vars_of(id),
            ("callable", Some(Value::Func(_) | Value::Class(_))) => Value::Bool(true),
            ("callable" | "issubclass", _) => self.fresh_bool(),
            ("type", Some(x)) if args.pos.len() == 1 => self.pure("type", &[x]),
            ("hash" | "id", Some(x)) => self.pure("hash", &[x]),
            _ => return Ok(None),
        }))
    }

    fn len_of(&mut self, x: &Value<'e>) -> R<Value<'e>> {
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

    fn make_dict(&mut self, first: Option<Value<'e>>, args: &Args<'e>) -> R<Value<'e>> {
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
                            super::methods::dict_set(&mut dict, &kv[0], &kv[1], slot.certain);
                        }
                        _ => dict.open = true,
                    }
                }
            }
        }
        for (name, value) in &args.named {
            super::methods::dict_set(&mut dict, &Value::Str(name.clone()), value, true);
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
            return Ok(Seq::of(
                (0..n)
                    .map(|at| Value::tuple(known.iter().map(|v| v[at].clone()).collect()))
                    .collect(),
            ));
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
        Ok(Seq::sized(len, vec![Value::tuple(parts)]))
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

    fn extreme(&mut self, name: &str, args: &Args<'e>) -> R<Value<'e>> {
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

    fn int_of(&mut self, x: Value<'e>) -> R<Value<'e>> {
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

    fn is_instance(&mut self, x: &Value<'e>, of: &Value<'e>) -> Value<'e> {
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

    fn has_attribute(&mut self, x: &Value<'e>, name: Option<&Value<'e>>) -> Value<'e> {
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

    fn get_attribute(&mut self, x: &Value<'e>, args: &Args<'e>) -> R<Value<'e>> {
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
