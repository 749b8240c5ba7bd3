//! Conditions: what decides a branch, what a path learns from having taken it.

use std::rc::Rc;

use super::heap::Facts;
use super::interp::Interp;
use super::seq::Len;
use super::space::Cause;
use super::sym::{Arg, Kind, Node, Range, SymId};
use super::value::{Obj, ObjId, Value};

/// The test of a branch.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cond {
    Known(bool),
    /// A symbol whose truth, turned round if `false`, decides.
    Sym(SymId, bool),
    /// Whether a container holds anything, turned round if `false`.
    Filled(ObjId, bool),
    /// Either, and nothing to be learnt.
    Opaque,
}

impl Cond {
    pub(super) fn not(self) -> Self {
        match self {
            Cond::Known(b) => Cond::Known(!b),
            Cond::Sym(s, want) => Cond::Sym(s, !want),
            Cond::Filled(id, want) => Cond::Filled(id, !want),
            Cond::Opaque => Cond::Opaque,
        }
    }
}

impl<'e> Interp<'e> {
    /// The truth of a value.
    pub(super) fn truth(&mut self, value: &Value<'e>) -> Cond {
        match value {
            Value::None => Cond::Known(false),
            Value::Bool(b) => Cond::Known(*b),
            Value::Int(v) => Cond::Known(*v != 0),
            Value::Float(v) => Cond::Known(*v != 0.0),
            Value::Str(s) => Cond::Known(!s.is_empty()),
            Value::Tuple(items) => Cond::Known(!items.is_empty()),
            Value::Func(_) | Value::Method(_) | Value::Class(_) | Value::Module(_) => {
                Cond::Known(true)
            }
            Value::External(_) => Cond::Opaque,
            Value::Ref(id) => self.truth_of_object(*id),
            Value::Sym(sym) => {
                let sym = *sym;
                match self.syms.kind(sym) {
                    Kind::Bool => self.simplify(Cond::Sym(sym, true)),
                    kind => {
                        if matches!(kind, Kind::Int | Kind::Number) {
                            let range = self.sym_range(sym);
                            if !range.has(0) {
                                return Cond::Known(true);
                            }
                        }
                        let truth = self.syms.op("truth", vec![Arg::Sym(sym)]);
                        self.simplify(Cond::Sym(truth, true))
                    }
                }
            }
            Value::OneOf(items) => {
                let truths: Vec<Cond> = items.iter().map(|v| self.truth(v)).collect();
                match truths.first() {
                    Some(Cond::Known(first))
                        if truths
                            .iter()
                            .all(|t| matches!(t, Cond::Known(b) if b == first)) =>
                    {
                        Cond::Known(*first)
                    }
                    _ => Cond::Opaque,
                }
            }
        }
    }

    fn truth_of_object(&mut self, id: ObjId) -> Cond {
        match self.obj(id) {
            Some(Obj::List(seq) | Obj::Set(seq)) => {
                if (seq.cache && seq.slots.is_empty()) || seq.len.max == Some(0) {
                    Cond::Known(false)
                } else if seq.len.min > 0 {
                    Cond::Known(true)
                } else {
                    Cond::Filled(id, true)
                }
            }
            Some(Obj::Dict(dict)) => {
                if dict.entries.iter().any(|(_, _, certain)| *certain) {
                    Cond::Known(true)
                } else if dict.entries.is_empty() && (!dict.open || dict.cache) {
                    Cond::Known(false)
                } else {
                    Cond::Opaque
                }
            }
            Some(Obj::Record(r)) if r.open => Cond::Opaque,
            _ => Cond::Known(true),
        }
    }

    /// Both conditions, or either.
    pub(super) fn combine(&mut self, and: bool, a: Cond, b: Cond) -> Cond {
        match (a, b) {
            (Cond::Known(x), other) | (other, Cond::Known(x)) => {
                if x == and {
                    other
                } else {
                    Cond::Known(x)
                }
            }
            (Cond::Sym(s, p), Cond::Sym(t, q)) => {
                let (a, b) = (self.as_arg(s, p), self.as_arg(t, q));
                let sym = self.syms.op(if and { "and" } else { "or" }, vec![a, b]);
                Cond::Sym(sym, true)
            }
            _ => Cond::Opaque,
        }
    }

    fn as_arg(&mut self, sym: SymId, want: bool) -> Arg {
        Arg::Sym(if want {
            sym
        } else {
            self.syms.op("not", vec![Arg::Sym(sym)])
        })
    }

    /// The condition as a value.
    pub(super) fn cond_value(&mut self, cond: Cond) -> Value<'e> {
        match cond {
            Cond::Known(b) => Value::Bool(b),
            Cond::Sym(s, want) => match self.as_arg(s, want) {
                Arg::Sym(s) => Value::Sym(s),
                _ => self.fresh_of(
                    Kind::Bool,
                    Range {
                        lo: Some(0),
                        hi: Some(1),
                    },
                ),
            },
            _ => self.fresh_of(
                Kind::Bool,
                Range {
                    lo: Some(0),
                    hi: Some(1),
                },
            ),
        }
    }

    fn simplify(&self, cond: Cond) -> Cond {
        match cond {
            Cond::Sym(s, want) => match self.holds(s) {
                Some(b) => Cond::Known(b == want),
                None => cond,
            },
            other => other,
        }
    }

    /// Whether what this path has assumed decides a Boolean symbol.
    pub(super) fn holds(&self, sym: SymId) -> Option<bool> {
        if let Some(b) = self
            .state
            .facts
            .truths
            .get(&sym)
            .or_else(|| self.decided.truths.get(&sym))
        {
            return Some(*b);
        }
        if let Some(Value::Bool(b)) = self.pin(sym) {
            return Some(*b);
        }
        let Node::Op { op, args } = self.syms.node(sym) else {
            return None;
        };
        let sub = |a: &Arg| match a {
            Arg::Sym(s) => self.holds(*s),
            Arg::Bool(b) => Some(*b),
            _ => None,
        };
        match (op.as_str(), args.as_slice()) {
            ("not", [a]) => sub(a).map(|b| !b),
            ("and", [a, b]) => match (sub(a), sub(b)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            ("or", [a, b]) => match (sub(a), sub(b)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            ("<", [a, b]) => {
                let (a, b) = (self.arg_range(a), self.arg_range(b));
                if a.hi.zip(b.lo).is_some_and(|(x, y)| x < y) {
                    Some(true)
                } else if a.lo.zip(b.hi).is_some_and(|(x, y)| x >= y) {
                    Some(false)
                } else {
                    None
                }
            }
            ("==", [a, b]) => self.equal_args(a, b),
            ("is", [Arg::Sym(s), Arg::None]) => match self.pin(*s) {
                Some(v) => Some(matches!(v, Value::None)),
                // What was compared with a number, or is true, is not `None`.
                None => (self.known_range(*s).is_some()
                    || self.truth_known(*s) == Some(true)
                    || self.syms.kind(*s) != Kind::Any)
                    .then_some(false),
            },
            ("truth", [Arg::Sym(s)]) => match self.pin(*s) {
                Some(Value::None) => Some(false),
                Some(v) => v.int().map(|v| v != 0),
                None => {
                    (self.known_range(*s).is_some() && !self.sym_range(*s).has(0)).then_some(true)
                }
            },
            _ => None,
        }
    }

    fn truth_known(&self, sym: SymId) -> Option<bool> {
        let held = |f: &Facts<'e>| {
            f.truths.iter().find_map(|(k, v)| match self.syms.node(*k) {
                Node::Op { op, args } if op == "truth" && args[..] == [Arg::Sym(sym)] => Some(*v),
                _ => None,
            })
        };
        held(&self.state.facts).or_else(|| held(&self.decided))
    }

    fn arg_range(&self, arg: &Arg) -> Range {
        match arg {
            Arg::Sym(s) => self.sym_range(*s),
            other => self.syms.range_of(other, &|s| self.known_range(s)),
        }
    }

    fn equal_args(&self, a: &Arg, b: &Arg) -> Option<bool> {
        let value = |a: &Arg| self.settle(Value::from_arg(a));
        let (x, y) = (value(a), value(b));
        if let Some(known) = super::compare::equal_constants(&x, &y) {
            return Some(known);
        }
        let (r, s) = (self.arg_range(a), self.arg_range(b));
        let apart = |p: Range, q: Range| p.hi.zip(q.lo).is_some_and(|(h, l)| h < l);
        let number = |v: &Value<'e>| v.int().is_some() || matches!(v, Value::Sym(_));
        if number(&x) && number(&y) && (apart(r, s) || apart(s, r)) {
            return Some(false);
        }
        self.divides(a, b)
    }

    /// `x % 16 == 0` follows from `x % 32 == 0`, and fails where `x % 8 == 0` does.
    fn divides(&self, a: &Arg, b: &Arg) -> Option<bool> {
        let as_rest = |sym: SymId| match self.syms.node(sym) {
            Node::Op { op, args } if op == "%" => match args.as_slice() {
                [Arg::Sym(x), Arg::Int(m)] if *m > 0 => Some((*x, *m)),
                _ => None,
            },
            _ => None,
        };
        let (Arg::Sym(sym), Arg::Int(0)) = (a, b) else {
            return None;
        };
        let (x, m) = as_rest(*sym)?;
        let from = |facts: &Facts<'e>| {
            facts.truths.iter().find_map(|(k, v)| {
                let Node::Op { op, args } = self.syms.node(*k) else {
                    return None;
                };
                let (Arg::Sym(rest), Arg::Int(0)) = (args.first()?, args.get(1)?) else {
                    return None;
                };
                let (y, n) = if op == "==" {
                    as_rest(*rest)?
                } else {
                    return None;
                };
                if y != x {
                    return None;
                }
                match v {
                    true if n % m == 0 => Some(true),
                    false if m % n == 0 => Some(false),
                    _ => None,
                }
            })
        };
        from(&self.state.facts).or_else(|| from(&self.decided))
    }

    /// Decides a condition: by what is known, else by splitting the run. `None`: take both branches
    /// and join them.
    pub(super) fn decide(&mut self, cond: Cond) -> Option<bool> {
        match self.simplify(cond) {
            Cond::Known(b) => Some(b),
            Cond::Sym(sym, want) if self.syms.is_stable(sym) => {
                let value = self.trail.take(sym)?;
                self.decisions.push(Cause {
                    place: self.at_test,
                    outcome: value == want,
                });
                let mut facts = std::mem::take(&mut self.decided);
                self.learn(&mut facts, sym, value);
                self.decided = facts;
                Some(value == want)
            }
            _ => None,
        }
    }

    /// The same without splitting the run.
    pub(super) fn decide_here(&mut self, cond: Cond) -> Option<bool> {
        match self.simplify(cond) {
            Cond::Known(b) => Some(b),
            _ => None,
        }
    }

    /// Takes for granted, in the present state, how a condition comes out.
    pub(super) fn assume(&mut self, cond: Cond, value: bool) {
        match cond {
            Cond::Sym(sym, want) => {
                let mut facts = Facts::clone(&self.state.facts);
                self.learn(&mut facts, sym, value == want);
                self.state.facts = Rc::new(facts);
            }
            Cond::Filled(id, want) => {
                if let Some(Obj::List(seq) | Obj::Set(seq)) = self.obj_mut(id) {
                    if value == want {
                        seq.len.min = seq.len.min.max(1);
                    } else {
                        seq.slots.clear();
                        seq.samples.clear();
                        seq.tail = Len::ZERO;
                        seq.len = Len::ZERO;
                    }
                }
            }
            Cond::Known(_) | Cond::Opaque => {}
        }
    }

    fn learn(&self, facts: &mut Facts<'e>, sym: SymId, value: bool) {
        facts.truths.insert(sym, value);
        let Node::Op { op, args } = self.syms.node(sym) else {
            facts.pins.insert(sym, Value::Bool(value));
            return;
        };
        let each = |facts: &mut Facts<'e>, v: bool| {
            for arg in args {
                if let Arg::Sym(s) = arg {
                    self.learn(facts, *s, v);
                }
            }
        };
        match (op.as_str(), value) {
            ("not", _) => each(facts, !value),
            ("and", true) | ("or", false) => each(facts, value),
            ("<", true) => self.learn_less(facts, &args[0], &args[1], 1),
            ("<", false) => self.learn_less(facts, &args[1], &args[0], 0),
            ("==", true) => {
                for (a, b) in [(&args[0], &args[1]), (&args[1], &args[0])] {
                    if let (Arg::Sym(s), false) = (a, matches!(b, Arg::Sym(_))) {
                        facts.pins.insert(*s, Value::from_arg(b));
                    }
                }
            }
            ("is", true) => {
                if let (Arg::Sym(s), Arg::None) = (&args[0], &args[1]) {
                    facts.pins.insert(*s, Value::None);
                }
            }
            ("truth", false) => {
                if let Arg::Sym(s) = &args[0]
                    && self.syms.kind(*s) == Kind::Int
                {
                    facts.pins.insert(*s, Value::Int(0));
                }
            }
            ("in", true) => {
                if let [Arg::Sym(s), Arg::Many(items)] = args.as_slice() {
                    let whole: Option<Vec<i64>> = items
                        .iter()
                        .map(|a| if let Arg::Int(v) = a { Some(*v) } else { None })
                        .collect();
                    if let Some(whole) = whole {
                        let range = Range {
                            lo: whole.iter().min().copied(),
                            hi: whole.iter().max().copied(),
                        };
                        narrow(facts, *s, range);
                    }
                }
            }
            _ => {}
        }
    }

    /// Learns that `a < b` (`gap` 1) or `a <= b` (`gap` 0), for whole numbers.
    fn learn_less(&self, facts: &mut Facts<'e>, a: &Arg, b: &Arg, gap: i64) {
        let whole = |arg: &Arg| match arg {
            Arg::Sym(s) => matches!(self.syms.kind(*s), Kind::Int | Kind::Bool),
            Arg::Int(_) | Arg::Bool(_) => true,
            _ => false,
        };
        // With a fraction on one side `a < 4` only says that a is at most 4.
        let gap = if whole(a) && whole(b) { gap } else { 0 };
        if let Arg::Sym(s) = a
            && let Some(hi) = self.arg_range(b).hi.and_then(|h| h.checked_sub(gap))
        {
            narrow(
                facts,
                *s,
                Range {
                    lo: None,
                    hi: Some(hi),
                },
            );
        }
        if let Arg::Sym(s) = b
            && let Some(lo) = self.arg_range(a).lo.and_then(|l| l.checked_add(gap))
        {
            narrow(facts, *s, Range::from(lo));
        }
    }

    /// The length of a sequence as a number.
    pub(super) fn length_value(&mut self, len: Len) -> Value<'e> {
        match len.exact().and_then(|n| i64::try_from(n).ok()) {
            Some(n) => Value::Int(n),
            None => {
                let range = Range {
                    lo: i64::try_from(len.min).ok(),
                    hi: len.max.and_then(|m| i64::try_from(m).ok()),
                };
                self.fresh_of(Kind::Int, range)
            }
        }
    }
}

fn narrow(facts: &mut Facts<'_>, sym: SymId, range: Range) {
    let entry = facts.ranges.entry(sym).or_default();
    *entry = entry.meet(range);
}
