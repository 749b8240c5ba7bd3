//! The abstract heap: copied in a moment when a path splits, compared by identity when paths meet.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::seq::Seq;
use super::sym::{Range, SymId};
use super::value::{Dict, Iter, Obj, ObjId, Record, Scope, Value};

const CHUNK: usize = 64;

type Chunk<'e> = Rc<Vec<Option<Rc<Obj<'e>>>>>;

/// Objects by number. A number is given out once per run, so two copies of a heap can be joined.
#[derive(Clone, Default)]
pub(super) struct Heap<'e> {
    chunks: Vec<Chunk<'e>>,
}

impl<'e> Heap<'e> {
    pub(super) fn get(&self, id: ObjId) -> Option<&Obj<'e>> {
        self.chunks
            .get(id as usize / CHUNK)?
            .get(id as usize % CHUNK)?
            .as_deref()
    }

    pub(super) fn get_mut(&mut self, id: ObjId) -> Option<&mut Obj<'e>> {
        let chunk = Rc::make_mut(self.chunks.get_mut(id as usize / CHUNK)?);
        chunk
            .get_mut(id as usize % CHUNK)?
            .as_mut()
            .map(Rc::make_mut)
    }

    pub(super) fn put(&mut self, id: ObjId, obj: Obj<'e>) {
        let (chunk, at) = (id as usize / CHUNK, id as usize % CHUNK);
        while self.chunks.len() <= chunk {
            self.chunks.push(Rc::default());
        }
        let chunk = Rc::make_mut(&mut self.chunks[chunk]);
        if chunk.len() <= at {
            chunk.resize(at + 1, None);
        }
        chunk[at] = Some(Rc::new(obj));
    }

    pub(super) fn size(&self) -> usize {
        self.chunks.len()
    }

    /// Objects that differ from those of an earlier copy and existed in it.
    pub(super) fn changed_since(&self, before: &Heap<'e>) -> Vec<ObjId> {
        let mut out = Vec::new();
        for (at, (a, b)) in self.chunks.iter().zip(&before.chunks).enumerate() {
            if Rc::ptr_eq(a, b) {
                continue;
            }
            for (i, (x, y)) in a.iter().zip(b.iter()).enumerate() {
                if let (Some(x), Some(y)) = (x, y)
                    && !Rc::ptr_eq(x, y)
                {
                    out.push((at * CHUNK + i) as ObjId);
                }
            }
        }
        out
    }

    /// What both can be; `join` decides for values.
    pub(super) fn join(
        mut self,
        other: Heap<'e>,
        join: &mut dyn FnMut(&Value<'e>, &Value<'e>) -> Value<'e>,
    ) -> Self {
        while self.chunks.len() < other.chunks.len() {
            self.chunks.push(Rc::default());
        }
        for (mine, theirs) in self.chunks.iter_mut().zip(&other.chunks) {
            if Rc::ptr_eq(mine, theirs) {
                continue;
            }
            let mine = Rc::make_mut(mine);
            if mine.len() < theirs.len() {
                mine.resize(theirs.len(), None);
            }
            for (a, b) in mine.iter_mut().zip(theirs.iter()) {
                match (a.as_ref(), b) {
                    (None, Some(_)) => *a = b.clone(),
                    (Some(x), Some(y)) if !Rc::ptr_eq(x, y) => {
                        *a = Some(Rc::new(join_objects(x, y, join)))
                    }
                    _ => {}
                }
            }
        }
        self
    }
}

fn join_objects<'e>(
    a: &Obj<'e>,
    b: &Obj<'e>,
    join: &mut dyn FnMut(&Value<'e>, &Value<'e>) -> Value<'e>,
) -> Obj<'e> {
    match (a, b) {
        (Obj::List(a), Obj::List(b)) => Obj::List(a.join(b, join)),
        (Obj::Set(a), Obj::Set(b)) => Obj::Set(a.join(b, join)),
        (Obj::Dict(a), Obj::Dict(b)) => Obj::Dict(join_dicts(a, b, join)),
        (Obj::Record(a), Obj::Record(b)) => Obj::Record(join_records(a, b, join)),
        (Obj::Scope(a), Obj::Scope(b)) => Obj::Scope(join_scopes(a, b, join)),
        (Obj::Iter(Iter::Rest(a)), Obj::Iter(Iter::Rest(b))) => {
            Obj::Iter(Iter::Rest(a.join(b, join)))
        }
        (Obj::Iter(Iter::Call(f, s)), Obj::Iter(Iter::Call(g, t)))
            if Rc::ptr_eq(f, g) && s == t =>
        {
            a.clone()
        }
        (Obj::Iter(_), Obj::Iter(_)) => Obj::Iter(Iter::Rest(Seq::unknown())),
        // A number names one object for good, so its sort never differs.
        _ => a.clone(),
    }
}

fn join_dicts<'e>(
    a: &Dict<'e>,
    b: &Dict<'e>,
    join: &mut dyn FnMut(&Value<'e>, &Value<'e>) -> Value<'e>,
) -> Dict<'e> {
    let mut entries = Vec::with_capacity(a.entries.len());
    for (key, value, certain) in &a.entries {
        match b.entries.iter().find(|(k, _, _)| k.same(key)) {
            Some((_, other, c)) => entries.push((key.clone(), join(value, other), *certain && *c)),
            None => entries.push((key.clone(), value.clone(), false)),
        }
    }
    for (key, value, _) in &b.entries {
        if !a.entries.iter().any(|(k, _, _)| k.same(key)) {
            entries.push((key.clone(), value.clone(), false));
        }
    }
    Dict {
        entries,
        open: a.open || b.open,
        cache: a.cache || b.cache,
    }
}

fn join_records<'e>(
    a: &Record<'e>,
    b: &Record<'e>,
    join: &mut dyn FnMut(&Value<'e>, &Value<'e>) -> Value<'e>,
) -> Record<'e> {
    let mut out = a.clone();
    out.open |= b.open;
    out.fields.retain_mut(|(name, value)| match b.get(name) {
        Some(other) => {
            *value = join(value, other);
            true
        }
        None => false,
    });
    out.open |= out.fields.len() < a.fields.len() || out.fields.len() < b.fields.len();
    out
}

fn join_scopes<'e>(
    a: &Scope<'e>,
    b: &Scope<'e>,
    join: &mut dyn FnMut(&Value<'e>, &Value<'e>) -> Value<'e>,
) -> Scope<'e> {
    let mut out = a.clone();
    for (name, value) in &b.vars {
        match out.vars.iter_mut().find(|(n, _)| n == name) {
            Some((_, mine)) if mine.same(value) => {}
            Some((_, mine)) => *mine = join(mine, value),
            // Unbound on the other path: a use of it there would raise.
            None => out.vars.push((name.clone(), value.clone())),
        }
    }
    for name in &b.loaded {
        if !out.loaded.contains(name) {
            out.loaded.push(name.clone());
        }
    }
    out
}

/// What is assumed about symbols.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts<'e> {
    pub(super) truths: FxHashMap<SymId, bool>,
    pub(super) pins: FxHashMap<SymId, Value<'e>>,
    pub(super) ranges: FxHashMap<SymId, Range>,
    /// Attributes set on unknown objects, by the symbol that reads them.
    pub(super) stores: FxHashMap<SymId, Value<'e>>,
}

impl<'e> Facts<'e> {
    fn meet_of_both(&self, other: &Facts<'e>) -> Self {
        let mut out = self.clone();
        out.truths.retain(|k, v| other.truths.get(k) == Some(v));
        out.pins
            .retain(|k, v| other.pins.get(k).is_some_and(|o| o.same(v)));
        out.ranges.retain(|k, v| match other.ranges.get(k) {
            Some(o) => {
                *v = v.hull(*o);
                true
            }
            None => false,
        });
        let unknown = || Value::External(SmolStr::new_static(UNKNOWN));
        for (k, v) in &mut out.stores {
            if other.stores.get(k).is_none_or(|o| !o.same(v)) {
                *v = unknown();
            }
        }
        for k in other.stores.keys() {
            out.stores.entry(*k).or_insert_with(unknown);
        }
        out
    }
}

/// A name of nothing: a value that is unknown for good.
const UNKNOWN: &str = "?";

/// Everything that differs from path to path.
#[derive(Clone, Default)]
pub(super) struct State<'e> {
    pub(super) heap: Heap<'e>,
    pub(super) facts: Rc<Facts<'e>>,
}

impl<'e> State<'e> {
    pub(super) fn join(
        self,
        other: State<'e>,
        join: &mut dyn FnMut(&Value<'e>, &Value<'e>) -> Value<'e>,
    ) -> Self {
        let facts = if Rc::ptr_eq(&self.facts, &other.facts) {
            self.facts
        } else {
            Rc::new(self.facts.meet_of_both(&other.facts))
        };
        State {
            heap: self.heap.join(other.heap, join),
            facts,
        }
    }
}
