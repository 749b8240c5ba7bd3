//! What code outside the workspace returns: the standard library's tools for building spaces, and
//! what torch says of the device.

use std::rc::Rc;

use smol_str::SmolStr;

use super::env::Place;
use super::interp::{Interp, R, Stop};
use super::seq::{Len, Seq};
use super::sym::{Kind, Range};
use super::triton;
use super::value::{Args, Class, ClassBody, Func, Iter, Obj, Record, Value};

/// Where torch describes the device.
pub(super) const DEVICE_PROPERTIES: &str = "torch.cuda.get_device_properties";

impl<'e> Interp<'e> {
    pub(super) fn call_external(
        &mut self,
        path: &SmolStr,
        args: Args<'e>,
        place: Place,
    ) -> R<Value<'e>> {
        if !path.contains('.')
            && let Some(value) = self.call_builtin(path, &args, place)?
        {
            return Ok(value);
        }
        let last = path.rsplit('.').next().unwrap_or(path);
        if let Some(value) = self.device(path, last) {
            return Ok(value);
        }
        if let Some(value) = self.vendor(path, place) {
            return Ok(value);
        }
        let (module, name) = path.rsplit_once('.').unwrap_or(("", path));
        let known = match module {
            "itertools" => self.itertools(name, &args)?,
            "itertools.chain" if name == "from_iterable" => Some(self.chain_from(&args)?),
            "math" | "numpy" => self.math(name, &args),
            "random" | "numpy.random" => self.random(name, &args)?,
            "dataclasses" | "copy" | "types" | "collections" | "typing" | "functools" => {
                self.structures(name, &args, place)?
            }
            "os.environ" | "os" if matches!(name, "get" | "getenv") => {
                let key = match args.pos.first() {
                    Some(Value::Str(key)) => key.clone(),
                    _ => return Ok(self.fresh()),
                };
                let kind = if matches!(args.pos.get(1), Some(Value::Str(_))) {
                    Kind::Str
                } else {
                    Kind::Any
                };
                Some(Value::Sym(self.syms.root(
                    format!("environment {key}"),
                    kind,
                    Range::ALL,
                )))
            }
            "dict" if name == "fromkeys" => Some(self.dict_from_keys(&args)?),
            _ => None,
        };
        if let Some(value) = known {
            return Ok(value);
        }
        self.risks += 1;
        match last {
            "cdiv" | "ceil_div" | "ceildiv" if args.pos.len() == 2 => {
                // -(-a // b)
                let minus = self.unary("-", &args.pos[0]);
                let down = self.binary("//", &minus, &args.pos[1]);
                Ok(self.unary("-", &down))
            }
            "next_power_of_2" if args.pos.len() == 1 => Ok(match args.pos[0].int() {
                Some(v) if (1..=1 << 62).contains(&v) => {
                    Value::Int((v as u64).next_power_of_two() as i64)
                }
                _ => self.pure("next_power_of_2", &args.pos),
            }),
            _ if triton::is_config(path) && !args.open => Ok(self.triton_config(path, args, place)),
            // What a capital letter makes is an object; its keywords become attributes.
            _ if last.starts_with(|c: char| c.is_ascii_uppercase()) => {
                Ok(self.record(path, args, place))
            }
            _ => Ok(self.fresh()),
        }
    }

    fn device(&mut self, path: &str, last: &str) -> Option<Value<'e>> {
        let found = self.of_device(path, last);
        self.asked |= found.is_some();
        found
    }

    fn of_device(&mut self, path: &str, last: &str) -> Option<Value<'e>> {
        let (major, minor) = self.arch.capability();
        let (major, minor) = (i64::from(major), i64::from(minor));
        Some(match (path, last) {
            (_, "get_device_capability") => {
                Value::tuple(vec![Value::Int(major), Value::Int(minor)])
            }
            (_, "is_hopper" | "is_sm90") => Value::Bool(major == 9),
            (DEVICE_PROPERTIES, _) => {
                self.pure("call", &[Value::External(SmolStr::new(DEVICE_PROPERTIES))])
            }
            ("torch.cuda.is_available", _) => Value::Bool(true),
            ("torch.cuda.device_count", _) => {
                Value::Sym(self.syms.root("device count", Kind::Int, Range::from(1)))
            }
            ("torch.cuda.current_device", _) => {
                Value::Sym(self.syms.root("current device", Kind::Int, Range::from(0)))
            }
            ("torch.cuda.get_device_name", _) => {
                Value::Sym(self.syms.root("device name", Kind::Str, Range::ALL))
            }
            _ => return None,
        })
    }

    /// An object whose keywords are its attributes.
    fn record(&mut self, path: &SmolStr, args: Args<'e>, place: Place) -> Value<'e> {
        let record = Record {
            class: None,
            maker: path.clone(),
            fields: args.named,
            args: args.pos,
            open: true,
            place,
        };
        Value::Ref(self.alloc(Obj::Record(record)))
    }

    pub(super) fn rest(&mut self, seq: Seq<'e>) -> Value<'e> {
        Value::Ref(self.alloc(Obj::Iter(Iter::Rest(seq))))
    }

    fn math(&mut self, name: &str, args: &Args<'e>) -> Option<Value<'e>> {
        let first = args.pos.first()?.clone();
        let number = first.number();
        let whole = |v: f64| (v.is_finite() && v.abs() < 1e15).then_some(Value::Int(v as i64));
        Some(match (name, number) {
            ("ceil" | "floor", Some(v)) => {
                let v = if name == "ceil" { v.ceil() } else { v.floor() };
                whole(v).unwrap_or_else(|| self.fresh_of(Kind::Int, Range::ALL))
            }
            ("log2", Some(v)) if v > 0.0 => Value::Float(v.log2()),
            ("sqrt", Some(v)) if v >= 0.0 => Value::Float(v.sqrt()),
            ("isqrt", Some(v)) if (0.0..1e15).contains(&v) => Value::Int(v.sqrt().floor() as i64),
            ("gcd", _) => match args.pos.iter().map(Value::int).collect::<Option<Vec<_>>>() {
                Some(all) => {
                    let gcd = all.iter().fold(0u64, |a, b| gcd(a, b.unsigned_abs()));
                    i64::try_from(gcd).map_or_else(|_| self.fresh(), Value::Int)
                }
                None => self.fresh_of(Kind::Int, Range::from(0)),
            },
            ("pow", _) if args.pos.len() == 2 => {
                let v = self.binary("**", &first, &args.pos[1]);
                match v.number() {
                    Some(v) => Value::Float(v),
                    None => self.fresh_of(Kind::Number, Range::ALL),
                }
            }
            ("prod", _) => {
                let seq = self.iterate(&first).ok()?;
                match seq.values() {
                    Some(values) => values
                        .into_iter()
                        .fold(Value::Int(1), |acc, v| self.binary("*", &acc, &v)),
                    None => self.fresh(),
                }
            }
            ("arange", _) if args.pos.iter().all(|v| v.int().is_some()) => {
                let seq = self.range_of(&args.pos);
                self.list(seq)
            }
            ("array" | "asarray", _) => return None,
            ("ceil" | "floor" | "log2" | "sqrt" | "isqrt" | "log" | "exp", None) => {
                self.risks += 1;
                self.pure(name, &args.pos)
            }
            _ => return None,
        })
    }

    fn random(&mut self, name: &str, args: &Args<'e>) -> R<Option<Value<'e>>> {
        let Some(first) = args.pos.first().cloned() else {
            return Ok(None);
        };
        let count = args.get(1, "k").cloned();
        Ok(Some(match (name, count) {
            ("sample" | "choices", Some(k)) => {
                let seq = self.iterate(&first)?;
                let range = self.range(&k);
                let most = range.hi.and_then(|h| u64::try_from(h).ok());
                let least = range.lo.and_then(|l| u64::try_from(l).ok()).unwrap_or(0);
                let mut len = Len {
                    min: least,
                    max: most,
                };
                if name == "sample" {
                    if seq.len.max.is_some_and(|m| m < least) {
                        return Err(Stop::Raise);
                    }
                    len.max = len.max.into_iter().chain(seq.len.max).min();
                }
                let seq = seq.any_of(len);
                self.list(seq)
            }
            ("shuffle", _) => {
                if let Value::Ref(id) = first
                    && let Some(Obj::List(seq)) = self.obj_mut(id)
                {
                    seq.shuffled = true;
                }
                Value::None
            }
            ("choice", _) => {
                let seq = self.iterate(&first)?;
                let (values, open) = seq.all_values();
                if open {
                    self.fresh()
                } else {
                    self.any_of(values)
                }
            }
            _ => return Ok(None),
        }))
    }

    fn structures(&mut self, name: &str, args: &Args<'e>, place: Place) -> R<Option<Value<'e>>> {
        let first = args.pos.first().cloned();
        Ok(Some(match (name, first) {
            ("SimpleNamespace", first) => {
                let mut fields = Vec::new();
                let mut open = args.open;
                if let Some(given) = first {
                    match self.object_of(&given) {
                        Some(Obj::Dict(dict)) if !dict.open => {
                            for (key, value, _) in &dict.entries {
                                if let Value::Str(key) = key {
                                    fields.push((key.clone(), value.clone()));
                                }
                            }
                        }
                        _ => open = true,
                    }
                }
                fields.extend(args.named.iter().cloned());
                let record = Record {
                    class: None,
                    maker: "types.SimpleNamespace".into(),
                    fields,
                    args: Vec::new(),
                    open,
                    place,
                };
                Value::Ref(self.alloc(Obj::Record(record)))
            }
            ("namedtuple" | "NamedTuple", Some(Value::Str(class))) => {
                let Some(fields) = args.pos.get(1).cloned() else {
                    return Ok(None);
                };
                let fields = match &fields {
                    Value::Str(s) => s
                        .replace(',', " ")
                        .split_whitespace()
                        .map(SmolStr::new)
                        .collect(),
                    other => {
                        let seq = self.iterate(other)?;
                        let names = seq.values().unwrap_or_default();
                        names
                            .iter()
                            .filter_map(|v| match v {
                                Value::Str(s) => Some(s.clone()),
                                Value::Tuple(kv) => match kv.first() {
                                    Some(Value::Str(s)) => Some(s.clone()),
                                    _ => None,
                                },
                                _ => None,
                            })
                            .collect()
                    }
                };
                Value::Class(Rc::new(Class {
                    name: class,
                    body: ClassBody::Fields(fields),
                    module: place.module,
                    item: place.item,
                    scope: self.scope_id(),
                }))
            }
            ("replace", Some(Value::Ref(id))) => match self.obj(id) {
                Some(Obj::Record(record)) => {
                    let mut copy = record.clone();
                    args.named.iter().for_each(|(n, v)| copy.set(n, v.clone()));
                    copy.open |= args.open;
                    Value::Ref(self.alloc(Obj::Record(copy)))
                }
                _ => return Ok(None),
            },
            ("asdict", Some(Value::Ref(id))) => self.vars_of(id),
            ("copy" | "deepcopy", Some(value)) => match self.object_of(&value) {
                Some(Obj::Scope(_)) | None => value,
                Some(Obj::Iter(_)) => return Ok(None),
                Some(obj) => {
                    let copy = obj.clone();
                    Value::Ref(self.alloc(copy))
                }
            },
            ("partial", Some(Value::Func(func))) => {
                let mut bound = func.bound.clone();
                bound.pos.extend(args.pos[1..].iter().cloned());
                bound.named.extend(args.named.iter().cloned());
                Value::Func(Rc::new(Func {
                    code: func.code,
                    scope: func.scope,
                    module: func.module,
                    item: func.item,
                    defaults: func.defaults.clone(),
                    bound,
                }))
            }
            ("lru_cache" | "cache" | "wraps", Some(func @ Value::Func(_))) => func,
            ("OrderedDict", _) => return self.call_builtin("dict", args, place),
            ("deque", Some(source)) => {
                let seq = self.iterate(&source)?;
                let seq = match args.get(1, "maxlen") {
                    None | Some(Value::None) => seq,
                    Some(_) => {
                        let len = seq.len.without_min();
                        seq.any_of(len)
                    }
                };
                self.list(seq)
            }
            ("deque", None) => self.list(Seq::empty()),
            ("cast", Some(_)) if args.pos.len() == 2 => args.pos[1].clone(),
            _ => return Ok(None),
        }))
    }

    fn dict_from_keys(&mut self, args: &Args<'e>) -> R<Value<'e>> {
        let Some(source) = args.pos.first().cloned() else {
            return Ok(self.fresh());
        };
        let seq = self.iterate(&source)?;
        let keys = self.set_of(seq);
        let keys = self.iterate(&keys)?;
        let value = args.pos.get(1).cloned().unwrap_or(Value::None);
        if keys.tail.max != Some(0) || keys.len.exact().is_none() {
            // As a sequence of its keys, which is all that anybody makes of it.
            return Ok(Value::Ref(self.alloc(Obj::Set(keys))));
        }
        let entries = keys
            .slots
            .into_iter()
            .map(|s| (s.value, value.clone(), s.certain))
            .collect();
        Ok(Value::Ref(self.alloc(Obj::Dict(super::value::Dict {
            entries,
            open: false,
            cache: false,
        }))))
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
