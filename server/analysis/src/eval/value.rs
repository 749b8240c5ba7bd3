//! What an expression can be: known Python values, objects on the abstract heap, and unknowns.

use std::rc::Rc;

use smol_str::SmolStr;
use tileperf_syntax::ast::{ClassDef, Expr, FunctionDef, Param};

use super::env::{ModuleId, Place};
use super::seq::Seq;
use super::sym::{Arg, SymId};

/// Number of an object on the heap.
pub(super) type ObjId = u32;

/// An abstract Python value. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) enum Value<'e> {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(SmolStr),
    Tuple(Rc<[Value<'e>]>),
    /// A list, set, dictionary, record, iterator or scope.
    Ref(ObjId),
    Func(Rc<Func<'e>>),
    /// A method of a built-in object, not called yet.
    Method(Rc<(Value<'e>, SmolStr)>),
    Class(Rc<Class<'e>>),
    /// Something from outside the workspace, by its dotted path.
    External(SmolStr),
    Module(ModuleId),
    Sym(SymId),
    /// One of several, none of which is a `OneOf`.
    OneOf(Rc<[Value<'e>]>),
}

/// More alternatives than this are not kept apart.
pub(super) const MAX_ALTERNATIVES: usize = 16;

/// Values nested in one tuple, beyond its own elements.
const MAX_NESTED: usize = 1_000;

/// A function with what it closes over.
#[derive(Debug)]
pub(super) struct Func<'e> {
    pub(super) code: Code<'e>,
    pub(super) scope: ObjId,
    pub(super) module: ModuleId,
    pub(super) item: u32,
    /// Values of default arguments, as they were at the definition.
    pub(super) defaults: Vec<Option<Value<'e>>>,
    /// `self` or `cls`, and arguments given by `functools.partial`.
    pub(super) bound: Args<'e>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Code<'e> {
    Def(&'e FunctionDef),
    Lambda(&'e [Param], &'e Expr),
}

impl<'e> Code<'e> {
    pub(super) fn params(self) -> &'e [Param] {
        match self {
            Code::Def(def) => &def.params,
            Code::Lambda(params, _) => params,
        }
    }
}

/// A class of the workspace, or a tuple type made by a call.
#[derive(Debug)]
pub(super) struct Class<'e> {
    pub(super) name: SmolStr,
    pub(super) body: ClassBody<'e>,
    pub(super) module: ModuleId,
    pub(super) item: u32,
    pub(super) scope: ObjId,
}

#[derive(Debug)]
pub(super) enum ClassBody<'e> {
    Def(&'e ClassDef),
    /// Fields of `namedtuple("X", "a b")`, with how many of the last have a default of `None`.
    Fields(Vec<SmolStr>),
}

/// Arguments of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Args<'e> {
    pub(super) pos: Vec<Value<'e>>,
    pub(super) named: Vec<(SmolStr, Value<'e>)>,
    /// There may be more, from `*x` or `**x` that nobody can unpack here.
    pub(super) open: bool,
}

impl<'e> Args<'e> {
    pub(super) fn one(value: Value<'e>) -> Self {
        Self {
            pos: vec![value],
            ..Self::default()
        }
    }

    /// The argument at a position or of a name.
    pub(super) fn get(&self, at: usize, name: &str) -> Option<&Value<'e>> {
        self.pos.get(at).or_else(|| self.named(name))
    }

    pub(super) fn named(&self, name: &str) -> Option<&Value<'e>> {
        self.named.iter().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Value<'e>> {
        self.pos.iter().chain(self.named.iter().map(|(_, v)| v))
    }
}

/// An object on the heap.
#[derive(Debug, Clone)]
pub(super) enum Obj<'e> {
    Scope(Scope<'e>),
    List(Seq<'e>),
    Set(Seq<'e>),
    Dict(Dict<'e>),
    Record(Record<'e>),
    Iter(Iter<'e>),
}

/// Names of a running function or of a module.
#[derive(Debug, Clone)]
pub(super) struct Scope<'e> {
    pub(super) vars: Vec<(SmolStr, Value<'e>)>,
    /// The scope around it; none for a module.
    pub(super) parent: Option<ObjId>,
    pub(super) module: ModuleId,
    /// Names declared `global` or `nonlocal`.
    pub(super) outer: Vec<(SmolStr, bool)>,
    /// Module names already looked up.
    pub(super) loaded: Vec<SmolStr>,
}

impl<'e> Scope<'e> {
    pub(super) fn new(parent: Option<ObjId>, module: ModuleId) -> Self {
        Self {
            vars: Vec::new(),
            parent,
            module,
            outer: Vec::new(),
            loaded: Vec::new(),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value<'e>> {
        self.vars.iter().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    pub(super) fn set(&mut self, name: &str, value: Value<'e>) {
        match self.vars.iter_mut().find(|(n, _)| n == name) {
            Some((_, v)) => *v = value,
            None => self.vars.push((SmolStr::new(name), value)),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Dict<'e> {
    /// Key, value, and whether the entry is certainly there.
    pub(super) entries: Vec<(Value<'e>, Value<'e>, bool)>,
    /// There may be other entries.
    pub(super) open: bool,
    /// Filled by functions at unknown times: as found at the top of the module, other entries may
    /// be there but are taken not to be when asked for one by key (a cache is cold).
    pub(super) cache: bool,
}

/// An object known by its attributes: a namespace, a data class, a configuration.
#[derive(Debug, Clone)]
pub(super) struct Record<'e> {
    pub(super) class: Option<Rc<Class<'e>>>,
    /// The dotted name of what made it.
    pub(super) maker: SmolStr,
    pub(super) fields: Vec<(SmolStr, Value<'e>)>,
    /// Positional arguments of a maker that is not understood.
    pub(super) args: Vec<Value<'e>>,
    /// It may have other attributes.
    pub(super) open: bool,
    pub(super) place: Place,
}

impl<'e> Record<'e> {
    pub(super) fn get(&self, name: &str) -> Option<&Value<'e>> {
        self.fields.iter().find(|(n, _)| n == name).map(|(_, v)| v)
    }

    pub(super) fn set(&mut self, name: &str, value: Value<'e>) {
        match self.fields.iter_mut().find(|(n, _)| n == name) {
            Some((_, v)) => *v = value,
            None => self.fields.push((SmolStr::new(name), value)),
        }
    }
}

/// A generator or iterator: consumed once.
#[derive(Debug, Clone)]
pub(super) enum Iter<'e> {
    /// A generator function's call that has not started.
    Call(Rc<Func<'e>>, ObjId),
    /// A generator expression that has not started: itself, its scope, its first iterable, its place.
    Expr(&'e Expr, ObjId, Box<Value<'e>>, Place),
    /// What is left of it.
    Rest(Seq<'e>),
}

/// A constant as a hash table sees it: `1`, `1.0` and `True` are one key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    None,
    Int(i64),
    Float(u64),
    Str(SmolStr),
    Tuple(Vec<Key>),
}

impl<'e> Value<'e> {
    pub(super) fn str(s: &str) -> Self {
        Value::Str(SmolStr::new(s))
    }

    pub(super) fn tuple(items: Vec<Value<'e>>) -> Self {
        Value::Tuple(items.into())
    }

    /// Whether the value is made of at most `budget` values; what is left of it is put back.
    fn fits(&self, budget: &mut usize) -> bool {
        let Some(left) = budget.checked_sub(1) else {
            return false;
        };
        *budget = left;
        match self {
            Value::Tuple(items) | Value::OneOf(items) => items.iter().all(|v| v.fits(budget)),
            _ => true,
        }
    }

    /// A tuple, unless so much is nested in it that walking it would never end.
    pub(super) fn small_tuple(items: Vec<Value<'e>>) -> Option<Self> {
        let mut budget = MAX_NESTED + items.len();
        let tuple = Value::tuple(items);
        tuple.fits(&mut budget).then_some(tuple)
    }

    /// A whole number; a bool counts as one, as in Python.
    pub(super) fn int(&self) -> Option<i64> {
        match self {
            Value::Int(v) => Some(*v),
            Value::Bool(v) => Some(i64::from(*v)),
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Value::Float(v) => Some(*v),
            _ => self.int().map(|v| v as f64),
        }
    }

    /// Whether two values are the same abstract value: then, known or not, they are equal.
    pub(super) fn same(&self, other: &Value<'e>) -> bool {
        match (self, other) {
            (Value::None, Value::None) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (Value::Str(a), Value::Str(b)) | (Value::External(a), Value::External(b)) => a == b,
            (Value::Tuple(a), Value::Tuple(b)) | (Value::OneOf(a), Value::OneOf(b)) => {
                Rc::ptr_eq(a, b)
                    || (a.len() == b.len() && a.iter().zip(b.iter()).all(|(x, y)| x.same(y)))
            }
            (Value::Ref(a), Value::Ref(b)) => a == b,
            (Value::Module(a), Value::Module(b)) => a == b,
            (Value::Sym(a), Value::Sym(b)) => a == b,
            (Value::Func(a), Value::Func(b)) => Rc::ptr_eq(a, b),
            (Value::Method(a), Value::Method(b)) => a.1 == b.1 && a.0.same(&b.0),
            (Value::Class(a), Value::Class(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Whether nothing about the value is unknown and it holds no object with an identity.
    pub(super) fn is_constant(&self) -> bool {
        match self {
            Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Str(_) => true,
            Value::Tuple(items) => items.iter().all(Value::is_constant),
            _ => false,
        }
    }

    /// What a set or dictionary tells constants apart by.
    pub(super) fn key(&self) -> Option<Key> {
        Some(match self {
            Value::None => Key::None,
            Value::Float(v) if v.fract() == 0.0 && v.abs() < 1e15 => Key::Int(*v as i64),
            Value::Float(v) if !v.is_nan() => Key::Float(v.to_bits()),
            Value::Str(s) => Key::Str(s.clone()),
            Value::Tuple(items) => Key::Tuple(items.iter().map(Value::key).collect::<Option<_>>()?),
            other => Key::Int(other.int()?),
        })
    }

    /// The value as an operand of a symbol, if it can be one.
    pub(super) fn arg(&self) -> Option<Arg> {
        Some(match self {
            Value::None => Arg::None,
            Value::Bool(v) => Arg::Bool(*v),
            Value::Int(v) => Arg::Int(*v),
            Value::Float(v) => Arg::Float(v.to_bits()),
            Value::Str(s) => Arg::Str(s.clone()),
            Value::External(path) => Arg::External(path.clone()),
            Value::Sym(s) => Arg::Sym(*s),
            Value::Tuple(items) => Arg::Many(items.iter().map(Value::arg).collect::<Option<_>>()?),
            _ => return None,
        })
    }

    /// The value that an operand of a symbol stands for.
    pub(super) fn from_arg(arg: &Arg) -> Self {
        match arg {
            Arg::Sym(s) => Value::Sym(*s),
            Arg::Int(v) => Value::Int(*v),
            Arg::Float(bits) => Value::Float(f64::from_bits(*bits)),
            Arg::Bool(v) => Value::Bool(*v),
            Arg::Str(s) => Value::Str(s.clone()),
            Arg::None => Value::None,
            Arg::External(path) => Value::External(path.clone()),
            Arg::Many(items) => Value::tuple(items.iter().map(Value::from_arg).collect()),
        }
    }

    /// Calls `visit` with every alternative.
    pub(super) fn alternatives(&self) -> &[Value<'e>] {
        match self {
            Value::OneOf(items) => items,
            other => std::slice::from_ref(other),
        }
    }

    /// One of several values: flattened, without repetition. `None` when there are too many.
    pub(super) fn one_of(values: impl IntoIterator<Item = Value<'e>>) -> Option<Value<'e>> {
        let mut out: Vec<Value<'e>> = Vec::new();
        for value in values {
            for v in value.alternatives() {
                if !out.iter().any(|o| o.same(v)) {
                    if out.len() == MAX_ALTERNATIVES {
                        return None;
                    }
                    out.push(v.clone());
                }
            }
        }
        match out.len() {
            0 => None,
            1 => out.pop(),
            _ => Some(Value::OneOf(out.into())),
        }
    }
}
