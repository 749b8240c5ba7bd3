//! Python's built-in functions.

use std::cmp::Ordering;

use super::cond::Cond;
use super::env::Place;
use super::interp::{Interp, R, Stop};
use super::seq::{Seq, Slot};
use super::sym::{Kind, Range};
use super::value::{Args, Iter, Obj, Value};

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
pub(super) fn order(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
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
                    Ok(i.tuple(vec![n, v]))
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
}
