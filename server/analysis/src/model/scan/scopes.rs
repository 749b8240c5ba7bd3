//! Scopes and the names bound in them: where Python looks a name up.

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use super::definitions::Def;
use super::{Scanner, Value};

/// A name's reach.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) kind: ScopeKind,
    pub(crate) parent: usize,
    /// Ordered by [`rank`] once the scan is done; those of one name in source order.
    pub(crate) binds: Vec<Bind>,
    /// What a function returns; a class's bases.
    pub(crate) returns: Vec<Value>,
    /// What a generator yields.
    pub(crate) yields: Vec<Value>,
    pub(crate) def: Option<Def>,
    /// `global a`: binding it here binds the module's.
    pub(super) globals: FxHashSet<SmolStr>,
    /// `nonlocal a`: binding it here binds the enclosing function's.
    pub(super) nonlocals: FxHashSet<SmolStr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeKind {
    Module,
    Class,
    Function,
    Lambda,
}

/// A name bound to a value.
#[derive(Debug)]
pub(crate) struct Bind {
    pub(crate) name: SmolStr,
    pub(crate) value: Value,
    /// The scope in which the value's own names are looked up: for `self.x = y` the method's, though
    /// the name belongs to the class.
    pub(crate) origin: usize,
}

impl Scope {
    /// Makes [`Self::bound`] find what is bound by now.
    pub(super) fn sort(&mut self) {
        self.binds.sort_by(|a, b| rank(&a.name).cmp(&rank(&b.name)));
    }

    /// Everything a name of this scope is bound to, in source order.
    pub(crate) fn bound(&self, name: &str) -> impl Iterator<Item = &Bind> {
        let first = self.binds.partition_point(|b| rank(&b.name) < rank(name));
        self.binds[first..]
            .iter()
            .take_while(move |b| b.name == name)
    }
}

/// Shorter names first: most comparisons are then decided without reading them.
fn rank(name: &str) -> (usize, &str) {
    (name.len(), name)
}

/// What the queries look for by name; a name bound to one of these is looked for as well.
const API_NAMES: [&str; 7] = [
    "kernel",
    "launch",
    "cutile_call",
    "register_impl",
    "exhaustive_search",
    "autotune_launch",
    "cached_replace_hints",
];

impl Scanner {
    /// Adds a scope within the present one, without entering it.
    pub(super) fn open(&mut self, kind: ScopeKind, def: Option<Def>) -> usize {
        self.out.scopes.push(Scope {
            kind,
            parent: self.scope,
            binds: Vec::new(),
            returns: Vec::new(),
            yields: Vec::new(),
            def,
            globals: FxHashSet::default(),
            nonlocals: FxHashSet::default(),
        });
        self.out.scopes.len() - 1
    }

    /// Does something in a scope and comes back.
    pub(super) fn within(&mut self, scope: usize, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.scope, scope);
        walk(self);
        self.scope = outer;
    }

    /// The present scope.
    pub(super) fn here(&mut self) -> &mut Scope {
        &mut self.out.scopes[self.scope]
    }

    /// Binds a name of the present scope.
    pub(super) fn bind(&mut self, name: &SmolStr, value: Value) {
        self.note_alias(name, &value);
        let here = &self.out.scopes[self.scope];
        let scope = if here.globals.contains(name) {
            0
        } else if here.nonlocals.contains(name) {
            here.parent
        } else {
            self.scope
        };
        self.bind_in(scope, name, value);
    }

    /// Binds a name of another scope to a value read in this one.
    pub(super) fn bind_in(&mut self, scope: usize, name: &SmolStr, value: Value) {
        self.out.scopes[scope].binds.push(Bind {
            name: name.clone(),
            value,
            origin: self.scope,
        });
    }

    /// Remembers names that stand for an API under another name: `go = ct.launch`.
    fn note_alias(&mut self, name: &SmolStr, value: &Value) {
        let last = match value {
            Value::Import(path) => path.rsplit('.').next(),
            value => value.last().map(SmolStr::as_str),
        };
        if last.is_some_and(|l| l != name && API_NAMES.contains(&l)) {
            self.out.aliases.push(name.clone());
        }
    }

    /// The class whose body or method this is.
    pub(super) fn enclosing_class(&self) -> Option<usize> {
        let mut scope = self.scope;
        while scope != 0 {
            if self.out.scopes[scope].kind == ScopeKind::Class {
                return Some(scope);
            }
            scope = self.out.scopes[scope].parent;
        }
        None
    }
}
