//! Comparison and membership. What cannot be decided becomes a symbol, so that asking again, or
//! asking for the opposite, has the same answer.

use super::interp::Interp;
use super::sym::{Arg, Kind, Range};
use super::value::{Obj, Value};

/// Whether two values are equal, if they are known well enough.
pub(super) fn equal_constants(a: &Value<'_>, b: &Value<'_>) -> Option<bool> {
    use Value as V;
    match (a, b) {
        (V::Sym(x), V::Sym(y)) if x == y => Some(true),
        (V::Sym(_) | V::OneOf(_) | V::External(_), _)
        | (_, V::Sym(_) | V::OneOf(_) | V::External(_)) => {
            matches!((a, b), (V::External(x), V::External(y)) if x == y).then_some(true)
        }
        (V::Tuple(x), V::Tuple(y)) => {
            if x.len() != y.len() {
                return Some(false);
            }
            let parts: Vec<Option<bool>> = x
                .iter()
                .zip(y.iter())
                .map(|(a, b)| equal_constants(a, b))
                .collect();
            if parts.contains(&Some(false)) {
                Some(false)
            } else {
                parts.iter().all(|p| *p == Some(true)).then_some(true)
            }
        }
        (V::Str(x), V::Str(y)) => Some(x == y),
        (V::None, V::None) => Some(true),
        (V::Int(_) | V::Bool(_) | V::Float(_), V::Int(_) | V::Bool(_) | V::Float(_)) => {
            match (a.int(), b.int()) {
                (Some(x), Some(y)) => Some(x == y),
                _ => Some(a.number() == b.number()),
            }
        }
        (V::Ref(x), V::Ref(y)) => (x == y).then_some(true),
        (V::Ref(_), _) | (_, V::Ref(_)) => {
            // A sequence that stands for a tuple may equal one.
            let other = if matches!(a, V::Ref(_)) { b } else { a };
            if matches!(other, V::Tuple(_)) {
                None
            } else {
                Some(false)
            }
        }
        (V::Func(_), V::Func(_)) | (V::Class(_), V::Class(_)) | (V::Method(_), V::Method(_)) => {
            a.same(b).then_some(true)
        }
        _ => Some(false),
    }
}

impl<'e> Interp<'e> {
    /// `a op b` for one comparison operator.
    pub(super) fn compare(&mut self, op: &str, a: &Value<'e>, b: &Value<'e>) -> Value<'e> {
        self.pairwise(a, b, &mut |i, a, b| {
            let (a, b) = (i.settle(a.clone()), i.settle(b.clone()));
            let (base, negated) = match op {
                "!=" | "<>" => ("==", true),
                ">=" => ("<", true),
                "is not" => ("is", true),
                "not in" => ("in", true),
                "<=" | ">" => ("<", op == "<="),
                op => (op, false),
            };
            let (x, y) = if matches!(op, "<=" | ">") {
                (&b, &a)
            } else {
                (&a, &b)
            };
            let value = match base {
                "==" => i.equal(x, y),
                "<" => i.less(x, y),
                "is" => i.identical(x, y),
                "in" => i.contains(x, y),
                _ => i.fresh_bool(),
            };
            if negated {
                let cond = i.truth(&value).not();
                i.cond_value(cond)
            } else {
                value
            }
        })
    }

    pub(super) fn fresh_bool(&mut self) -> Value<'e> {
        self.fresh_of(
            Kind::Bool,
            Range {
                lo: Some(0),
                hi: Some(1),
            },
        )
    }

    /// A Boolean symbol, or what the path knows it to be.
    fn test(&mut self, op: &str, args: Option<Vec<Arg>>) -> Value<'e> {
        match args {
            Some(args) => {
                let sym = self.syms.op(op, args);
                match self.holds(sym) {
                    Some(b) => Value::Bool(b),
                    None => Value::Sym(sym),
                }
            }
            None => self.fresh_bool(),
        }
    }

    pub(super) fn equal(&mut self, a: &Value<'e>, b: &Value<'e>) -> Value<'e> {
        if let (Value::Ref(_), Value::Ref(_)) = (a, b) {
            let seq = |i: &Self, v: &Value<'e>| match i.object_of(v) {
                Some(Obj::List(s)) => s.values(),
                _ => None,
            };
            if let (Some(x), Some(y)) = (seq(self, a), seq(self, b)) {
                return match equal_constants(&Value::tuple(x), &Value::tuple(y)) {
                    Some(b) => Value::Bool(b),
                    None => self.fresh_bool(),
                };
            }
        }
        if let Some(known) = equal_constants(a, b) {
            return Value::Bool(known);
        }
        let args = match (a.arg(), b.arg()) {
            // The symbol first, so that `x == 3` and `3 == x` are one.
            (Some(x), Some(y)) => Some(if matches!(x, Arg::Sym(_)) || !matches!(y, Arg::Sym(_)) {
                vec![x, y]
            } else {
                vec![y, x]
            }),
            _ => None,
        };
        self.test("==", args)
    }

    fn less(&mut self, a: &Value<'e>, b: &Value<'e>) -> Value<'e> {
        match (a, b) {
            (Value::Str(x), Value::Str(y)) => return Value::Bool(x < y),
            (Value::Tuple(x), Value::Tuple(y)) => {
                // The first difference decides.
                for (p, q) in x.iter().zip(y.iter()) {
                    match equal_constants(p, q) {
                        Some(true) => {}
                        Some(false) => return self.less(p, q),
                        None => return self.fresh_bool(),
                    }
                }
                return Value::Bool(x.len() < y.len());
            }
            _ => {}
        }
        if let (Some(x), Some(y)) = (a.int(), b.int()) {
            return Value::Bool(x < y);
        }
        if let (Some(x), Some(y)) = (a.number(), b.number()) {
            return Value::Bool(x < y);
        }
        if !self.is_number(a) || !self.is_number(b) {
            self.risks += 1;
        }
        let args = a.arg().zip(b.arg()).map(|(x, y)| vec![x, y]);
        self.test("<", args)
    }

    fn identical(&mut self, a: &Value<'e>, b: &Value<'e>) -> Value<'e> {
        match (a, b) {
            (Value::Sym(_), Value::None) => {
                let args = a.arg().zip(b.arg()).map(|(x, y)| vec![x, y]);
                self.test("is", args)
            }
            (Value::None, Value::Sym(_)) => self.identical(b, a),
            (Value::External(_), Value::None) | (Value::None, Value::External(_)) => {
                self.fresh_bool()
            }
            (Value::Bool(x), Value::Bool(y)) => Value::Bool(x == y),
            // `1 is True` is false although they are equal.
            (Value::Bool(_), Value::Int(_)) | (Value::Int(_), Value::Bool(_)) => Value::Bool(false),
            _ => self.equal(a, b),
        }
    }

    /// `item in container`.
    pub(super) fn contains(&mut self, item: &Value<'e>, container: &Value<'e>) -> Value<'e> {
        // Whether it surely is there, and whether it may be.
        let (mut sure, mut maybe) = (false, false);
        let mut look = |value: &Value<'e>, certain: bool| match equal_constants(item, value) {
            Some(true) if certain => sure = true,
            Some(false) => {}
            _ => maybe = true,
        };
        let size = match container {
            Value::Tuple(items) => {
                items.iter().for_each(|v| look(v, true));
                items.len()
            }
            Value::Str(s) => {
                return match item {
                    Value::Str(part) => Value::Bool(s.contains(part.as_str())),
                    _ => self.fresh_bool(),
                };
            }
            Value::Ref(_) => match self.object_of(container) {
                Some(Obj::List(s) | Obj::Set(s)) => {
                    s.slots.iter().for_each(|s| look(&s.value, s.certain));
                    maybe |= s.tail.max != Some(0);
                    s.slots.len()
                }
                Some(Obj::Dict(d)) => {
                    d.entries.iter().for_each(|(k, _, there)| look(k, *there));
                    maybe |= d.open && !d.cache;
                    d.entries.len()
                }
                _ => return self.fresh_bool(),
            },
            _ => {
                let args = item.arg().zip(container.arg()).map(|(x, y)| vec![x, y]);
                return self.test("in", args);
            }
        };
        self.charge(size / 4);
        if sure || !maybe {
            return Value::Bool(sure);
        }
        let listed = match container {
            Value::Tuple(items) => Some(items.to_vec()),
            _ => match self.object_of(container) {
                Some(Obj::List(s) | Obj::Set(s)) => s.values(),
                Some(Obj::Dict(d)) if !d.open && d.entries.iter().all(|e| e.2) => {
                    Some(d.entries.iter().map(|e| e.0.clone()).collect())
                }
                _ => None,
            },
        };
        let listed = listed.and_then(|v| v.iter().map(Value::arg).collect::<Option<Vec<_>>>());
        let (Some(Arg::Sym(s)), Some(listed)) = (item.arg(), listed) else {
            return self.fresh_bool();
        };
        let range = self.sym_range(s);
        let possible: Vec<Arg> = listed
            .into_iter()
            .filter(|a| !matches!(a, Arg::Int(v) if !range.has(*v)))
            .collect();
        match possible.as_slice() {
            [] => Value::Bool(false),
            [one] => self.test("==", Some(vec![Arg::Sym(s), one.clone()])),
            _ => self.test("in", Some(vec![Arg::Sym(s), Arg::Many(possible)])),
        }
    }
}
