//! The interpreter: one run of a piece of Python on one architecture along one path of decisions.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::FunctionDef;

use super::env::{Env, Module, ModuleId, Place};
use super::heap::{Facts, State};
use super::paths::Trail;
use super::seq::Seq;
use super::slice::Slice;
use super::space::{Cause, Note, Observed};
use super::sym::{Kind, Range, SymId, Syms};
use super::value::{Obj, ObjId, Value};
use crate::arch::Arch;

/// Why evaluation cannot go on along this path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Too much work: nothing can be said.
    Fuel,
    /// The code raises.
    Raise,
}

pub(super) type R<T> = Result<T, Stop>;

/// Nested evaluation beyond this is given up: a thread's stack may be 2 MiB.
const MAX_DEPTH: u32 = 130;

/// A call in progress.
#[derive(Clone)]
pub(super) struct Frame {
    pub(super) scope: ObjId,
    pub(super) module: ModuleId,
    pub(super) item: u32,
    /// Where a generator puts what it yields.
    pub(super) out: Option<ObjId>,
    /// Which statements matter, if not all do.
    pub(super) slice: Option<Rc<Slice>>,
}

/// The expression whose value is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Watch {
    pub(super) place: Place,
}

/// Modules indexed so far, shared by the queries of one [`super::Evaluator`].
pub(super) type Modules<'e> = RefCell<FxHashMap<ModuleId, Rc<Module<'e>>>>;

pub(super) struct Interp<'e> {
    pub(super) env: &'e dyn Env,
    pub(super) arch: Arch,
    /// Something asked which architecture it is.
    pub(super) asked: bool,
    pub(super) modules: Rc<Modules<'e>>,
    pub(super) syms: Syms,
    pub(super) state: State<'e>,
    pub(super) frames: Vec<Frame>,
    pub(super) trail: Trail,
    /// Holds for the whole run: the decisions taken.
    pub(super) decided: Facts<'e>,
    /// Lists longer than this are not walked element by element.
    pub(super) max_walk: usize,
    pub(super) fuel: u32,
    pub(super) watch: Option<Watch>,
    /// What is watched is one value, whatever it is, not a space.
    pub(super) whole: bool,
    pub(super) observed: Vec<Observed>,
    pub(super) notes: Vec<Note>,
    /// Tests that kept something from being yielded, in this run.
    pub(super) causes: Vec<Cause>,
    /// Decisions that this run has split on.
    pub(super) decisions: Vec<Cause>,
    /// The test evaluated last.
    pub(super) at_test: Place,
    pub(super) guarded: bool,
    /// This run took a branch away from the watched expression.
    pub(super) missed: bool,
    /// The next expression is what a function returns.
    pub(super) detach: bool,
    /// For each `try` around us, what the state was where something raised.
    pub(super) tries: Vec<Option<State<'e>>>,
    /// Operations met so far that could raise, for all we know.
    pub(super) risks: u32,
    pub(super) next_id: ObjId,
    pub(super) depth: u32,
    pub(super) module_scopes: FxHashMap<ModuleId, ObjId>,
    pub(super) imports: FxHashMap<SmolStr, Option<ModuleId>>,
    pub(super) generators: FxHashMap<*const FunctionDef, bool>,
    pub(super) assigned: FxHashMap<usize, Rc<FxHashSet<&'e str>>>,
}

impl<'e> Interp<'e> {
    pub(super) fn new(env: &'e dyn Env, modules: Rc<Modules<'e>>, arch: Arch) -> Self {
        Self {
            env,
            arch,
            asked: false,
            modules,
            syms: Syms::default(),
            state: State::default(),
            frames: Vec::new(),
            trail: Trail::default(),
            decided: Facts::default(),
            max_walk: usize::MAX,
            fuel: 0,
            watch: None,
            whole: false,
            observed: Vec::new(),
            notes: Vec::new(),
            causes: Vec::new(),
            decisions: Vec::new(),
            at_test: Place {
                module: ModuleId(u32::MAX),
                item: 0,
                span: Span::default(),
            },
            guarded: false,
            missed: false,
            detach: false,
            tries: Vec::new(),
            risks: 0,
            next_id: 0,
            depth: 0,
            module_scopes: FxHashMap::default(),
            imports: FxHashMap::default(),
            generators: FxHashMap::default(),
            assigned: FxHashMap::default(),
        }
    }

    /// Forgets everything that belongs to one run.
    pub(super) fn restart(&mut self) {
        self.state = State::default();
        self.frames.clear();
        self.decided = Facts::default();
        self.observed.clear();
        self.causes.clear();
        self.decisions.clear();
        self.tries.clear();
        self.risks = 0;
        self.missed = false;
        self.detach = false;
        self.next_id = 0;
        self.depth = 0;
        self.module_scopes.clear();
        self.syms.restart();
    }

    pub(super) fn burn(&mut self, steps: usize) -> R<()> {
        match u32::try_from(steps)
            .ok()
            .and_then(|s| self.fuel.checked_sub(s))
        {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => {
                self.fuel = 0;
                Err(Stop::Fuel)
            }
        }
    }

    /// Pays for work on many elements at once; whoever has nothing left stops at the next step.
    pub(super) fn charge(&mut self, elements: usize) {
        let steps = u32::try_from(elements / 8).unwrap_or(u32::MAX);
        self.fuel = self.fuel.saturating_sub(steps);
    }

    /// Runs `f` one level deeper; too deep is too much work.
    pub(super) fn deeper<T>(&mut self, f: impl FnOnce(&mut Self) -> R<T>) -> R<T> {
        self.burn(1)?;
        if self.depth >= MAX_DEPTH {
            return Err(Stop::Fuel);
        }
        self.depth += 1;
        let out = f(self);
        self.depth -= 1;
        out
    }

    // Objects.

    pub(super) fn alloc(&mut self, obj: Obj<'e>) -> ObjId {
        let id = self.next_id;
        self.next_id += 1;
        self.state.heap.put(id, obj);
        id
    }

    pub(super) fn list(&mut self, seq: Seq<'e>) -> Value<'e> {
        Value::Ref(self.alloc(Obj::List(seq)))
    }

    pub(super) fn tuple(&mut self, items: Vec<Value<'e>>) -> Value<'e> {
        Value::small_tuple(items).unwrap_or_else(|| self.fresh())
    }

    /// A tuple if every element is known, else a sequence that behaves like one.
    pub(super) fn tuple_of(&mut self, seq: Seq<'e>) -> Value<'e> {
        match seq.values() {
            Some(values) => self.tuple(values),
            None => self.list(seq),
        }
    }

    pub(super) fn obj(&self, id: ObjId) -> Option<&Obj<'e>> {
        self.state.heap.get(id)
    }

    pub(super) fn obj_mut(&mut self, id: ObjId) -> Option<&mut Obj<'e>> {
        self.state.heap.get_mut(id)
    }

    pub(super) fn object_of(&self, value: &Value<'e>) -> Option<&Obj<'e>> {
        match value {
            Value::Ref(id) => self.obj(*id),
            _ => None,
        }
    }

    // Unknowns.

    pub(super) fn fresh(&mut self) -> Value<'e> {
        self.fresh_of(Kind::Any, Range::ALL)
    }

    pub(super) fn fresh_of(&mut self, kind: Kind, range: Range) -> Value<'e> {
        Value::Sym(self.syms.fresh(kind, range))
    }

    pub(super) fn root(&mut self, name: impl Into<SmolStr>) -> Value<'e> {
        Value::Sym(self.syms.root(name, Kind::Any, Range::ALL))
    }

    /// A pure function of its operands: known to be equal to itself, nothing else.
    pub(super) fn pure(&mut self, op: &str, operands: &[Value<'e>]) -> Value<'e> {
        let args: Option<Vec<_>> = operands.iter().map(Value::arg).collect();
        match args {
            Some(args) => {
                let sym = self.syms.op(op, args);
                self.settle(Value::Sym(sym))
            }
            None => self.fresh(),
        }
    }

    pub(super) fn known_range(&self, sym: SymId) -> Option<Range> {
        match (
            self.decided.ranges.get(&sym),
            self.state.facts.ranges.get(&sym),
        ) {
            (Some(a), Some(b)) => Some(a.meet(*b)),
            (a, b) => a.or(b).copied(),
        }
    }

    pub(super) fn pin(&self, sym: SymId) -> Option<&Value<'e>> {
        self.state
            .facts
            .pins
            .get(&sym)
            .or_else(|| self.decided.pins.get(&sym))
    }

    /// The value, or the constant that this path has found it to be.
    pub(super) fn settle(&self, value: Value<'e>) -> Value<'e> {
        let Value::Sym(sym) = value else { return value };
        if let Some(v) = self.pin(sym) {
            return v.clone();
        }
        if self.syms.kind(sym) == Kind::Int
            && let Some(v) = self.sym_range(sym).single()
        {
            return Value::Int(v);
        }
        value
    }

    pub(super) fn sym_range(&self, sym: SymId) -> Range {
        self.syms
            .range(sym, &|s| match self.pin(s).and_then(Value::int) {
                Some(v) => Some(Range::only(v)),
                None => self.known_range(s),
            })
    }

    pub(super) fn range(&self, value: &Value<'e>) -> Range {
        match value {
            Value::Int(_) | Value::Bool(_) => value.int().map_or(Range::ALL, Range::only),
            Value::Float(_) => value
                .arg()
                .map_or(Range::ALL, |a| self.syms.range_of(&a, &|_| None)),
            Value::Sym(s) => self.sym_range(*s),
            Value::OneOf(items) => items
                .iter()
                .map(|v| self.range(v))
                .reduce(Range::hull)
                .unwrap_or_default(),
            _ => Range::ALL,
        }
    }

    pub(super) fn join_values(syms: &mut Syms, a: &Value<'e>, b: &Value<'e>) -> Value<'e> {
        if a.same(b) {
            return a.clone();
        }
        if let (Value::Tuple(x), Value::Tuple(y)) = (a, b)
            && x.len() == y.len()
        {
            return Value::tuple(
                x.iter()
                    .zip(y.iter())
                    .map(|(x, y)| Self::join_values(syms, x, y))
                    .collect(),
            );
        }
        Value::one_of([a.clone(), b.clone()]).unwrap_or_else(|| {
            let ints: Option<Vec<i64>> = a
                .alternatives()
                .iter()
                .chain(b.alternatives())
                .map(Value::int)
                .collect();
            let (kind, range) = match ints {
                Some(all) => (
                    Kind::Int,
                    Range {
                        lo: all.iter().min().copied(),
                        hi: all.iter().max().copied(),
                    },
                ),
                None => (Kind::Any, Range::ALL),
            };
            Value::Sym(syms.fresh(kind, range))
        })
    }

    pub(super) fn join(&mut self, a: &Value<'e>, b: &Value<'e>) -> Value<'e> {
        Self::join_values(&mut self.syms, a, b)
    }

    pub(super) fn join_states(&mut self, a: State<'e>, b: State<'e>) -> R<State<'e>> {
        self.burn(a.heap.size() * 2 + 1)?;
        let syms = &mut self.syms;
        Ok(a.join(b, &mut |x, y| Self::join_values(syms, x, y)))
    }

    pub(super) fn join_pending(
        &mut self,
        a: Option<State<'e>>,
        b: Option<State<'e>>,
    ) -> R<Option<State<'e>>> {
        Ok(match (a, b) {
            (Some(a), Some(b)) => Some(self.join_states(a, b)?),
            (a, b) => a.or(b),
        })
    }

    /// Something of several that nobody can choose from.
    pub(super) fn any_of(&mut self, values: Vec<Value<'e>>) -> Value<'e> {
        values
            .into_iter()
            .reduce(|a, b| self.join(&a, &b))
            .unwrap_or_else(|| self.fresh())
    }
}
