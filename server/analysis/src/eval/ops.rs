//! Operators on abstract values. Overflow, division by zero and types that do not fit give an
//! unknown, never a wrong number.

use super::interp::Interp;
use super::seq::Seq;
use super::sym::{Kind, Range};
use super::value::{Obj, Value};

/// Texts longer than this are not built. Bytes.
const MAX_TEXT: usize = 4096;

/// Pairs of alternatives looked at before giving up.
const MAX_PAIRS: usize = 64;

impl<'e> Interp<'e> {
    /// Applies `f` to every pair of alternatives.
    pub(super) fn pairwise(
        &mut self,
        a: &Value<'e>,
        b: &Value<'e>,
        f: &mut dyn FnMut(&mut Self, &Value<'e>, &Value<'e>) -> Value<'e>,
    ) -> Value<'e> {
        let (xs, ys) = (a.alternatives(), b.alternatives());
        if xs.len() * ys.len() > MAX_PAIRS {
            return self.fresh();
        }
        let mut out: Option<Value<'e>> = None;
        for x in xs {
            for y in ys {
                let v = f(self, x, y);
                out = Some(match out {
                    Some(o) => self.join(&o, &v),
                    None => v,
                });
            }
        }
        out.unwrap_or_else(|| self.fresh())
    }

    pub(super) fn binary(&mut self, op: &str, a: &Value<'e>, b: &Value<'e>) -> Value<'e> {
        self.pairwise(a, b, &mut |i, a, b| i.binary_one(op, a, b))
    }

    fn binary_one(&mut self, op: &str, a: &Value<'e>, b: &Value<'e>) -> Value<'e> {
        if let (Some(x), Some(y)) = (a.int(), b.int()) {
            if let Some(v) = whole(op, x, y) {
                return v;
            }
        } else if let (Some(x), Some(y)) = (a.number(), b.number())
            && let Some(v) = fraction(op, x, y)
        {
            return Value::Float(v);
        }
        match (op, a, b) {
            ("+", Value::Str(x), Value::Str(y)) => {
                if x.len() + y.len() > MAX_TEXT {
                    return self.fresh_of(Kind::Str, Range::ALL);
                }
                Value::Str(format!("{x}{y}").into())
            }
            ("+", Value::Tuple(x), Value::Tuple(y)) => {
                self.charge(x.len() + y.len());
                let mut all = Seq::of(x.to_vec());
                all.extend(&Seq::of(y.to_vec()));
                self.tuple_of(all)
            }
            ("+" | "*" | "|" | "&" | "-" | "^", _, _)
                if self.is_container(a) || self.is_container(b) =>
            {
                self.containers(op, a, b)
            }
            ("*", Value::Str(_), _) | ("%", Value::Str(_), _) => {
                self.fresh_of(Kind::Str, Range::ALL)
            }
            _ => self.symbolic(op, a, b),
        }
    }

    /// Whether an operator on the value surely finds a number.
    pub(super) fn is_number(&self, value: &Value<'e>) -> bool {
        match value {
            Value::Sym(sym) => {
                matches!(self.syms.kind(*sym), Kind::Int | Kind::Number | Kind::Bool)
            }
            other => other.number().is_some(),
        }
    }

    fn symbolic(&mut self, op: &str, a: &Value<'e>, b: &Value<'e>) -> Value<'e> {
        let divides = matches!(op, "//" | "%" | "/") && self.range(b).has(0);
        if divides || !self.is_number(a) || !self.is_number(b) {
            self.risks += 1;
        }
        match (op, a, b) {
            ("+" | "-" | "|" | "<<" | ">>", Value::Sym(_), Value::Int(0))
            | ("*" | "//" | "**", Value::Sym(_), Value::Int(1)) => return a.clone(),
            ("+", Value::Int(0), Value::Sym(_)) | ("*", Value::Int(1), Value::Sym(_)) => {
                return b.clone();
            }
            _ => {}
        }
        // `a + b` and `b + a` are one symbol.
        if matches!(op, "+" | "*" | "&" | "|" | "^")
            && matches!((a, b), (Value::Int(_), Value::Sym(_)))
        {
            return self.pure(op, &[b.clone(), a.clone()]);
        }
        self.pure(op, &[a.clone(), b.clone()])
    }

    fn is_container(&self, value: &Value<'e>) -> bool {
        match value {
            Value::Tuple(_) => true,
            Value::Ref(_) => matches!(
                self.object_of(value),
                Some(Obj::List(_) | Obj::Set(_) | Obj::Dict(_))
            ),
            _ => false,
        }
    }

    fn containers(&mut self, op: &str, a: &Value<'e>, b: &Value<'e>) -> Value<'e> {
        let seq_of = |i: &Self, v: &Value<'e>| match v {
            Value::Tuple(items) => Some(Seq::of(items.to_vec())),
            _ => match i.object_of(v) {
                Some(Obj::List(seq)) => Some(seq.clone()),
                _ => None,
            },
        };
        match (op, self.object_of(a), self.object_of(b)) {
            ("|", Some(Obj::Dict(x)), Some(Obj::Dict(y))) => {
                let (mut x, y) = (x.clone(), y.clone());
                x.open |= y.open;
                for (k, v, certain) in &y.entries {
                    super::dicts::dict_set(&mut x, k, v, *certain);
                }
                return Value::Ref(self.alloc(Obj::Dict(x)));
            }
            ("|" | "&" | "-" | "^", Some(Obj::Set(x)), Some(Obj::Set(y))) => {
                let (x, y) = (x.clone(), y.clone());
                let seq = super::methods::set_operation(op, &x, &y);
                return Value::Ref(self.alloc(Obj::Set(seq)));
            }
            _ => {}
        }
        match op {
            "+" => match (seq_of(self, a), seq_of(self, b)) {
                (Some(mut x), Some(y)) => {
                    self.charge(x.slots.len() + y.slots.len());
                    x.extend(&y);
                    self.list(x)
                }
                // A list and something unknown: at least as long as the list.
                (Some(mut x), None) if matches!(b, Value::Sym(_)) => {
                    x.extend(&Seq::unknown());
                    self.list(x)
                }
                (None, Some(y)) if matches!(a, Value::Sym(_)) => {
                    let mut x = Seq::unknown();
                    x.extend(&y);
                    self.list(x)
                }
                _ => {
                    self.risks += 1;
                    self.fresh()
                }
            },
            "*" => {
                let (items, times) = match (seq_of(self, a), seq_of(self, b)) {
                    (Some(s), None) => (s, b),
                    (None, Some(s)) => (s, a),
                    _ => {
                        self.risks += 1;
                        return self.fresh();
                    }
                };
                let seq = self.repeat(items, times);
                if matches!(a, Value::Tuple(_)) || matches!(b, Value::Tuple(_)) {
                    self.tuple_of(seq)
                } else {
                    self.list(seq)
                }
            }
            _ => {
                self.risks += 1;
                self.fresh()
            }
        }
    }

    fn repeat(&mut self, items: Seq<'e>, times: &Value<'e>) -> Seq<'e> {
        let range = self.range(times);
        let clamp = |v: i64| u64::try_from(v).unwrap_or(0);
        let times = super::seq::Len {
            min: range.lo.map_or(0, clamp),
            max: range.hi.map(clamp),
        };
        let len = items.len.times(times);
        match times.exact() {
            Some(n) if items.exact() && len.max.is_some_and(|m| m <= 4096) => {
                let values = items.values().unwrap_or_default();
                let count = values.len().saturating_mul(n as usize);
                Seq::of(values.into_iter().cycle().take(count).collect())
            }
            _ => items.any_of(len),
        }
    }

    pub(super) fn unary(&mut self, op: &str, a: &Value<'e>) -> Value<'e> {
        if let Value::OneOf(items) = a {
            let values = items.iter().map(|v| self.unary(op, v)).collect();
            return self.any_of(values);
        }
        match (op, a) {
            ("-", Value::Float(v)) => Value::Float(-v),
            ("+", Value::Float(_)) => a.clone(),
            ("-", _) if a.int().is_some() => match a.int().and_then(i64::checked_neg) {
                Some(v) => Value::Int(v),
                None => self.fresh_of(Kind::Int, Range::ALL),
            },
            ("+", _) if a.int().is_some() => a.int().map_or(Value::None, Value::Int),
            ("~", _) if a.int().is_some() => a.int().map_or(Value::None, |v| Value::Int(!v)),
            ("-", Value::Sym(_)) => self.pure("neg", std::slice::from_ref(a)),
            _ => self.pure(op, std::slice::from_ref(a)),
        }
    }
}

fn whole<'e>(op: &str, x: i64, y: i64) -> Option<Value<'e>> {
    let shift = || u32::try_from(y).ok().filter(|s| *s < 63);
    let v = match op {
        "+" => x.checked_add(y)?,
        "-" => x.checked_sub(y)?,
        "*" => x.checked_mul(y)?,
        "//" => floor_div(x, y)?,
        "%" => x.checked_sub(floor_div(x, y)?.checked_mul(y)?)?,
        "**" if y >= 0 => x.checked_pow(u32::try_from(y).ok()?)?,
        "<<" => x.checked_mul(1i64.checked_shl(shift()?)?)?,
        ">>" => x.checked_shr(u32::try_from(y).ok()?.min(63))?,
        "&" => x & y,
        "|" => x | y,
        "^" => x ^ y,
        "/" | "**" => return fraction(op, x as f64, y as f64).map(Value::Float),
        _ => return None,
    };
    Some(Value::Int(v))
}

fn floor_div(x: i64, y: i64) -> Option<i64> {
    let q = x.checked_div(y)?;
    Some(if x % y != 0 && (x < 0) != (y < 0) {
        q - 1
    } else {
        q
    })
}

fn fraction(op: &str, x: f64, y: f64) -> Option<f64> {
    let v = match op {
        "+" => x + y,
        "-" => x - y,
        "*" => x * y,
        "/" if y != 0.0 => x / y,
        "//" if y != 0.0 => (x / y).floor(),
        "%" if y != 0.0 => x - y * (x / y).floor(),
        "**" => x.powf(y),
        _ => return None,
    };
    v.is_finite().then_some(v)
}
