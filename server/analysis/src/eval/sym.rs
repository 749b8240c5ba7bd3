//! Symbols: unknown values that remember where they come from.
//!
//! `state_size % 16 == 0` asked twice has one answer, although nobody knows which. So an unknown is
//! a node in a small table of expressions over roots (parameters, environment variables, names from
//! elsewhere), equal expressions are one node, and what a path has assumed about a node holds
//! wherever it appears. What is worth knowing of a number is the interval it lies in.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// Number of a node in [`Syms`].
pub(super) type SymId = u32;

/// What sort of value a symbol is, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Any,
    Int,
    /// A number, maybe with a fraction.
    Number,
    Bool,
    Str,
}

/// Integers from `lo` to `hi`, an absent end being open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(super) struct Range {
    pub(super) lo: Option<i64>,
    pub(super) hi: Option<i64>,
}

impl Range {
    pub(super) const ALL: Range = Range { lo: None, hi: None };

    pub(super) fn only(v: i64) -> Self {
        Self {
            lo: Some(v),
            hi: Some(v),
        }
    }

    pub(super) fn from(lo: i64) -> Self {
        Self {
            lo: Some(lo),
            hi: None,
        }
    }

    pub(super) fn single(self) -> Option<i64> {
        (self.lo == self.hi).then_some(self.lo).flatten()
    }

    pub(super) fn meet(self, other: Range) -> Self {
        let lo = self.lo.into_iter().chain(other.lo).max();
        let hi = self.hi.into_iter().chain(other.hi).min();
        Self { lo, hi }
    }

    pub(super) fn hull(self, other: Range) -> Self {
        Self {
            lo: self.lo.zip(other.lo).map(|(a, b)| a.min(b)),
            hi: self.hi.zip(other.hi).map(|(a, b)| a.max(b)),
        }
    }

    pub(super) fn has(self, v: i64) -> bool {
        self.lo.is_none_or(|lo| lo <= v) && self.hi.is_none_or(|hi| v <= hi)
    }

    fn add(self, o: Range) -> Self {
        Self {
            lo: self.lo.zip(o.lo).and_then(|(a, b)| a.checked_add(b)),
            hi: self.hi.zip(o.hi).and_then(|(a, b)| a.checked_add(b)),
        }
    }

    fn neg(self) -> Self {
        Self {
            lo: self.hi.and_then(i64::checked_neg),
            hi: self.lo.and_then(i64::checked_neg),
        }
    }

    fn mul(self, o: Range) -> Self {
        if self.lo.is_some_and(|v| v >= 0) && o.lo.is_some_and(|v| v >= 0) {
            return Self {
                lo: self.lo.zip(o.lo).and_then(|(a, b)| a.checked_mul(b)),
                hi: self.hi.zip(o.hi).and_then(|(a, b)| a.checked_mul(b)),
            };
        }
        let (Some(a), Some(b), Some(c), Some(d)) = (self.lo, self.hi, o.lo, o.hi) else {
            return Self::ALL;
        };
        let corners = [
            a.checked_mul(c),
            a.checked_mul(d),
            b.checked_mul(c),
            b.checked_mul(d),
        ];
        let known: Vec<i64> = corners.into_iter().flatten().collect();
        if known.len() < 4 {
            return Self::ALL;
        }
        Self {
            lo: known.iter().min().copied(),
            hi: known.iter().max().copied(),
        }
    }

    /// Division rounding down, by something positive.
    fn floor_div(self, o: Range) -> Self {
        match o.lo {
            Some(least) if least > 0 => {
                let lo = self.lo.map(|v| match v {
                    0.. => o.hi.map_or(0, |most| v / most),
                    _ => v.div_euclid(least),
                });
                let hi = self.hi.and_then(|v| match v {
                    0.. => Some(v / least),
                    _ => o.hi.map(|most| v.div_euclid(most)).or(Some(-1)),
                });
                Self { lo, hi }
            }
            _ => Self::ALL,
        }
    }

    fn modulo(self, o: Range) -> Self {
        match o.lo {
            Some(least) if least > 0 => {
                let hi = o.hi.and_then(|most| most.checked_sub(1));
                let small = self.lo.is_some_and(|v| v >= 0).then_some(self.hi).flatten();
                // `x % m` is `x` itself where 0 <= x < m.
                if small.is_some_and(|v| v < least) {
                    return self;
                }
                Self {
                    lo: Some(0),
                    hi: hi.into_iter().chain(small).min(),
                }
            }
            _ => Self::ALL,
        }
    }
}

/// An operand of a node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Arg {
    Sym(SymId),
    Int(i64),
    /// The bits of a float.
    Float(u64),
    Bool(bool),
    Str(SmolStr),
    None,
    /// A name from outside the workspace.
    External(SmolStr),
    Many(Vec<Arg>),
}

/// What a symbol is made of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Node {
    /// Fixed while the code runs: a parameter, an environment variable, a name from elsewhere.
    Root {
        name: SmolStr,
        kind: Kind,
        range: Range,
    },
    /// Unknown anew each time it is met.
    Fresh {
        number: u32,
        kind: Kind,
        range: Range,
    },
    /// A pure function of its operands.
    Op { op: SmolStr, args: Vec<Arg> },
}

struct Entry {
    node: Node,
    stable: bool,
    size: u32,
}

/// Nodes above this size are not kept apart any more.
const MAX_SIZE: u32 = 24;

/// The table of symbols of one query.
#[derive(Default)]
pub(super) struct Syms {
    entries: Vec<Entry>,
    ids: FxHashMap<Node, SymId>,
    fresh: u32,
}

impl Syms {
    pub(super) fn node(&self, sym: SymId) -> &Node {
        &self.entries[sym as usize].node
    }

    /// Whether the symbol is one value throughout a run.
    pub(super) fn is_stable(&self, sym: SymId) -> bool {
        self.entries[sym as usize].stable
    }

    pub(super) fn restart(&mut self) {
        self.fresh = 0;
    }

    pub(super) fn fresh(&mut self, kind: Kind, range: Range) -> SymId {
        self.fresh += 1;
        self.intern(Node::Fresh {
            number: self.fresh,
            kind,
            range,
        })
    }

    pub(super) fn root(&mut self, name: impl Into<SmolStr>, kind: Kind, range: Range) -> SymId {
        self.intern(Node::Root {
            name: name.into(),
            kind,
            range,
        })
    }

    pub(super) fn op(&mut self, op: &str, args: Vec<Arg>) -> SymId {
        self.intern(Node::Op {
            op: SmolStr::new(op),
            args,
        })
    }

    fn intern(&mut self, node: Node) -> SymId {
        if let Some(&id) = self.ids.get(&node) {
            return id;
        }
        let (stable, size) = match &node {
            Node::Root { .. } => (true, 1),
            Node::Fresh { .. } => (false, 1),
            Node::Op { args, .. } => self.measure(args),
        };
        if size > MAX_SIZE {
            let kind = self.kind_of(&node);
            return self.fresh(kind, Range::ALL);
        }
        let id = self.entries.len() as SymId;
        self.entries.push(Entry {
            node: node.clone(),
            stable,
            size,
        });
        self.ids.insert(node, id);
        id
    }

    fn measure(&self, args: &[Arg]) -> (bool, u32) {
        args.iter()
            .fold((true, 1), |(stable, size), arg| match arg {
                Arg::Sym(s) => {
                    let e = &self.entries[*s as usize];
                    (stable && e.stable, size + e.size)
                }
                Arg::Many(inner) => {
                    let (s, n) = self.measure(inner);
                    (stable && s, size + n)
                }
                _ => (stable, size + 1),
            })
    }

    pub(super) fn kind(&self, sym: SymId) -> Kind {
        self.kind_of(self.node(sym))
    }

    fn kind_of(&self, node: &Node) -> Kind {
        match node {
            Node::Root { kind, .. } | Node::Fresh { kind, .. } => *kind,
            Node::Op { op, args } => match op.as_str() {
                "<" | "==" | "is" | "not" | "and" | "or" | "truth" | "in" | "isinstance" => {
                    Kind::Bool
                }
                "len" | "int" | "<<" | ">>" | "&" | "|" | "^" | "bit_length" | "ceil" | "floor" => {
                    Kind::Int
                }
                "/" | "log2" | "sqrt" | "float" => Kind::Number,
                "str" => Kind::Str,
                "+" | "-" | "*" | "//" | "%" | "min" | "max" | "abs" | "neg" | "**" => {
                    let kinds = args.iter().map(|a| match a {
                        Arg::Sym(s) => self.kind(*s),
                        Arg::Int(_) | Arg::Bool(_) => Kind::Int,
                        Arg::Float(_) => Kind::Number,
                        Arg::Str(_) => Kind::Str,
                        _ => Kind::Any,
                    });
                    let all = |want: &[Kind]| kinds.clone().all(|k| want.contains(&k));
                    if all(&[Kind::Int, Kind::Bool]) && op != "**" {
                        Kind::Int
                    } else if all(&[Kind::Int, Kind::Bool, Kind::Number]) {
                        Kind::Number
                    } else {
                        Kind::Any
                    }
                }
                _ => Kind::Any,
            },
        }
    }

    /// The interval of a number under what has been assumed. For a value that is not a number it
    /// means nothing and is never asked.
    pub(super) fn range(&self, sym: SymId, known: &dyn Fn(SymId) -> Option<Range>) -> Range {
        let own = match self.node(sym) {
            Node::Root { range, .. } | Node::Fresh { range, .. } => *range,
            Node::Op { op, args } => self.range_of_op(op, args, known),
        };
        known(sym).map_or(own, |r| own.meet(r))
    }

    pub(super) fn range_of(&self, arg: &Arg, known: &dyn Fn(SymId) -> Option<Range>) -> Range {
        match arg {
            Arg::Sym(s) => self.range(*s, known),
            Arg::Int(v) => Range::only(*v),
            Arg::Bool(v) => Range::only(i64::from(*v)),
            Arg::Float(bits) => {
                let v = f64::from_bits(*bits);
                if v.abs() < 1e15 {
                    Range {
                        lo: Some(v.floor() as i64),
                        hi: Some(v.ceil() as i64),
                    }
                } else {
                    Range::ALL
                }
            }
            _ => Range::ALL,
        }
    }

    fn range_of_op(&self, op: &str, args: &[Arg], known: &dyn Fn(SymId) -> Option<Range>) -> Range {
        let at = |i: usize| args.get(i).map_or(Range::ALL, |a| self.range_of(a, known));
        let whole = |i: usize| match args.get(i) {
            Some(Arg::Sym(s)) => matches!(self.kind(*s), Kind::Int | Kind::Bool),
            Some(Arg::Int(_) | Arg::Bool(_)) => true,
            _ => false,
        };
        match op {
            "+" => at(0).add(at(1)),
            "-" => at(0).add(at(1).neg()),
            "neg" => at(0).neg(),
            "*" => at(0).mul(at(1)),
            "//" => at(0).floor_div(at(1)),
            // A fraction modulo m may lie between m-1 and m.
            "%" if whole(0) || args.get(1).is_some_and(|a| matches!(a, Arg::Int(_))) => {
                let r = at(0).modulo(at(1));
                if whole(0) {
                    r
                } else {
                    Range {
                        lo: r.lo,
                        hi: r.hi.and_then(|h| h.checked_add(1)),
                    }
                }
            }
            "&" if at(1).lo.is_some_and(|v| v >= 0) => Range {
                lo: Some(0),
                hi: at(1).hi,
            },
            "<<" if at(0).lo.is_some_and(|v| v >= 0) => Range::from(0),
            "**" if at(0).lo.is_some_and(|v| v >= 1) && at(1).lo.is_some_and(|v| v >= 0) => {
                let least = at(0)
                    .lo
                    .zip(at(1).lo)
                    .and_then(|(b, e)| b.checked_pow(e.try_into().ok()?));
                let most = at(0)
                    .hi
                    .zip(at(1).hi)
                    .and_then(|(b, e)| b.checked_pow(e.try_into().ok()?));
                Range {
                    lo: least.or(Some(1)),
                    hi: most,
                }
            }
            "min" => args
                .iter()
                .map(|a| self.range_of(a, known))
                .reduce(|a, b| Range {
                    lo: a.lo.zip(b.lo).map(|(x, y)| x.min(y)),
                    hi: a.hi.into_iter().chain(b.hi).min(),
                })
                .unwrap_or_default(),
            "max" => args
                .iter()
                .map(|a| self.range_of(a, known))
                .reduce(|a, b| Range {
                    lo: a.lo.into_iter().chain(b.lo).max(),
                    hi: a.hi.zip(b.hi).map(|(x, y)| x.max(y)),
                })
                .unwrap_or_default(),
            "abs" | "len" | "bit_length" => Range::from(0),
            "int" | "ceil" | "floor" => {
                let r = at(0);
                Range { lo: r.lo, hi: r.hi }
            }
            _ if matches!(
                self.kind_of(&Node::Op {
                    op: op.into(),
                    args: Vec::new()
                }),
                Kind::Bool
            ) =>
            {
                Range {
                    lo: Some(0),
                    hi: Some(1),
                }
            }
            _ => Range::ALL,
        }
    }
}
