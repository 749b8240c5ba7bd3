//! Loops and comprehensions: round by round where the elements are known, once for any round where
//! they are not.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use tileperf_syntax::ast::{Expr, Stmt, StmtKind};

use super::env::{bound_here, changed_in_expr};
use super::heap::{Heap, State};
use super::interp::{Interp, R, Stop};
use super::seq::{Len, Seq};
use super::shape::produces;
use super::space::Note;
use super::stmt::Exits;
use super::value::{Iter, Obj, ObjId, Value};

/// Rounds over a body that keeps changing more objects before giving up.
const MAX_PASSES: usize = 6;

/// The ways out of a loop.
pub(super) struct LoopEnd<'e> {
    /// It ran out of elements; the interpreter's state is the one to go on with.
    done: bool,
    broke: Option<State<'e>>,
    ret: Option<(State<'e>, Value<'e>)>,
    /// Elements left when it surely broke off.
    rest: Option<Seq<'e>>,
}

type Round<'a, 'e> = &'a mut dyn FnMut(&mut Interp<'e>, Value<'e>) -> R<Exits<'e>>;

impl<'e> Interp<'e> {
    pub(super) fn exec_for(
        &mut self,
        stmt: &'e Stmt,
        target: &'e Expr,
        iter: &'e Expr,
        body: &'e [Stmt],
        orelse: &'e [Stmt],
    ) -> R<Exits<'e>> {
        let source = self.eval(iter)?;
        let seq = self.iterate(&source)?;
        if seq.len.exact().is_none() && produces(body) {
            let place = self.place(iter.span);
            self.note(Note::UnknownLength(place));
        }
        let assigned = self.assigned_in(stmt);
        let end = self.run_loop(seq, &assigned, &mut |i, value| {
            i.assign(target, value)?;
            i.exec_block(body)
        })?;
        if let (Value::Ref(id), Some(rest)) = (&source, &end.rest)
            && let Some(Obj::Iter(it)) = self.obj_mut(*id)
        {
            *it = Iter::Rest(rest.clone());
        }
        self.after_loop(end, orelse)
    }

    fn after_loop(&mut self, end: LoopEnd<'e>, orelse: &'e [Stmt]) -> R<Exits<'e>> {
        let mut exits = if end.done {
            self.exec_block(orelse)?
        } else {
            Exits::none()
        };
        exits.ret = self.join_returns(exits.ret.take(), end.ret)?;
        if let Some(broke) = end.broke {
            self.state = if exits.next {
                let now = std::mem::take(&mut self.state);
                self.join_states(now, broke)?
            } else {
                broke
            };
            exits.next = true;
        }
        if !exits.next && exits.ret.is_none() && exits.brk.is_none() && exits.cont.is_none() {
            return Err(Stop::Raise);
        }
        Ok(exits)
    }

    pub(super) fn exec_while(
        &mut self,
        test: &'e Expr,
        body: &'e [Stmt],
        orelse: &'e [Stmt],
    ) -> R<Exits<'e>> {
        let mut end = LoopEnd {
            done: false,
            broke: None,
            ret: None,
            rest: None,
        };
        let mut undecided = false;
        loop {
            self.burn(1)?;
            let cond = self.cond(test)?;
            match self.decide_here(cond) {
                Some(false) => {
                    end.done = true;
                    break;
                }
                Some(true) if !undecided => {
                    let exits = self.exec_block(body)?;
                    undecided =
                        exits.next as u8 + exits.cont.is_some() as u8 > 0 && exits.brk.is_some();
                    if !self.next_round(exits, &mut end)? {
                        break;
                    }
                }
                _ => {
                    if produces(body) {
                        let place = self.place(test.span);
                        self.note(Note::UnknownLength(place));
                    }
                    let assigned = self.assigned_in_block(body);
                    let any = self.any_rounds(Len::ANY, None, &assigned, &mut |i, _| {
                        let cond = i.cond(test)?;
                        i.assume(cond, true);
                        i.exec_block(body)
                    })?;
                    end.broke = self.join_pending(end.broke.take(), any.broke)?;
                    end.ret = self.join_returns(end.ret.take(), any.ret)?;
                    let cond = self.cond(test)?;
                    end.done = any.done && self.decide_here(cond) != Some(true);
                    self.assume(cond, false);
                    break;
                }
            }
        }
        self.after_loop(end, orelse)
    }

    /// Collects a round's ways out; says whether there is a next round.
    fn next_round(&mut self, exits: Exits<'e>, end: &mut LoopEnd<'e>) -> R<bool> {
        end.broke = self.join_pending(end.broke.take(), exits.brk)?;
        end.ret = self.join_returns(end.ret.take(), exits.ret)?;
        let now = exits.next.then(|| std::mem::take(&mut self.state));
        match self.join_pending(now, exits.cont)? {
            Some(state) => {
                self.state = state;
                Ok(true)
            }
            None => Ok(false),
        }
    }

    /// Runs `round` for every element.
    pub(super) fn run_loop(
        &mut self,
        seq: Seq<'e>,
        assigned: &FxHashSet<&'e str>,
        round: Round<'_, 'e>,
    ) -> R<LoopEnd<'e>> {
        let sure = seq.slots.iter().filter(|s| s.certain).count() as u64;
        let loose = Len {
            min: sure,
            max: Some(seq.slots.len() as u64),
        }
        .plus(seq.tail);
        if seq.slots.len() > self.max_walk || loose != seq.len {
            return self.any_element(seq, assigned, round);
        }
        let before = seq.shuffled.then(|| self.state.clone());
        let mut end = LoopEnd {
            done: true,
            broke: None,
            ret: None,
            rest: None,
        };
        for (at, slot) in seq.slots.iter().enumerate() {
            self.burn(1)?;
            let skipped = (!slot.certain).then(|| self.state.clone());
            let exits = match round(self, slot.value.clone()) {
                Ok(exits) => exits,
                Err(Stop::Raise)
                    if skipped.is_some() || end.broke.is_some() || end.ret.is_some() =>
                {
                    self.raised()?;
                    Exits::none()
                }
                Err(stop) => return Err(stop),
            };
            let mut on = self.next_round(exits, &mut end)?;
            if let Some(skipped) = skipped {
                let now = on.then(|| std::mem::take(&mut self.state));
                if let Some(state) = self.join_pending(now, Some(skipped))? {
                    self.state = state;
                }
                on = true;
            }
            if !on {
                end.done = false;
                if end.ret.is_none() {
                    end.rest = Some(seq.slice(at + 1, None));
                }
                break;
            }
        }
        if let Some(before) = before
            && (end.broke.is_some() || end.ret.is_some())
        {
            // It depends on the order, which is not known.
            self.state = before;
            return self.any_element(seq, assigned, round);
        }
        if end.done && seq.tail.max != Some(0) {
            let samples = (!seq.open).then_some(seq.samples);
            let any = self.any_rounds(seq.tail, samples, assigned, round)?;
            end.broke = self.join_pending(end.broke.take(), any.broke)?;
            end.ret = self.join_returns(end.ret.take(), any.ret)?;
            end.done = any.done;
        }
        Ok(end)
    }

    fn any_element(
        &mut self,
        seq: Seq<'e>,
        assigned: &FxHashSet<&'e str>,
        round: Round<'_, 'e>,
    ) -> R<LoopEnd<'e>> {
        let (values, open) = seq.all_values();
        let values = (!open && values.len() <= 4096).then_some(values);
        self.any_rounds(seq.len, values, assigned, round)
    }

    /// Runs `round` once for all of `len` rounds: on a state that any of them may find.
    fn any_rounds(
        &mut self,
        len: Len,
        values: Option<Vec<Value<'e>>>,
        assigned: &FxHashSet<&'e str>,
        round: Round<'_, 'e>,
    ) -> R<LoopEnd<'e>> {
        let nothing = LoopEnd {
            done: true,
            broke: None,
            ret: None,
            rest: None,
        };
        if len.max == Some(0) {
            return Ok(nothing);
        }
        let before = self.state.clone();
        let scope = self.scope_id();
        let mut vars: Vec<(ObjId, String)> = assigned
            .iter()
            .filter(|n| !self.holds_object(scope, n))
            .map(|n| (scope, (*n).to_owned()))
            .collect();
        vars.sort();
        let mut objects: Vec<ObjId> = Vec::new();
        for _ in 0..MAX_PASSES {
            self.burn(before.heap.size() * 4 + 16)?;
            self.state = before.clone();
            self.blur(&vars, &objects);
            let start = self.state.heap.clone();
            let element = match &values {
                Some(values) => self.any_of(values.clone()),
                None => self.fresh(),
            };
            let exits = match round(self, element) {
                Ok(exits) => exits,
                Err(Stop::Raise) => {
                    self.raised()?;
                    Exits::none()
                }
                Err(stop) => return Err(stop),
            };
            let now = exits.next.then(|| std::mem::take(&mut self.state));
            let fell = self.join_pending(now, exits.cont)?;
            let (broke, ret) = (exits.brk, exits.ret);
            let ends: Vec<&State<'e>> = fell
                .iter()
                .chain(&broke)
                .chain(ret.as_ref().map(|(s, _)| s))
                .collect();
            if self.note_changes(&start, &ends, &mut vars, &mut objects) {
                continue;
            }
            let finals = self.finals(
                &before.heap,
                &ends,
                &objects,
                len,
                fell.is_some() && broke.is_none() && ret.is_none(),
            );
            let settle = |i: &mut Self, state: State<'e>| -> R<State<'e>> {
                let mut state = i.join_states(before.clone(), state)?;
                for (id, obj) in &finals {
                    state.heap.put(*id, obj.clone());
                }
                Ok(state)
            };
            let broke = broke.map(|s| settle(self, s)).transpose()?;
            let ret = ret
                .map(|(s, v)| settle(self, s).map(|s| (s, v)))
                .transpose()?;
            let done = fell.is_some() || len.min == 0;
            self.state = settle(self, fell.unwrap_or_else(|| before.clone()))?;
            return Ok(LoopEnd {
                done,
                broke,
                ret,
                rest: None,
            });
        }
        Err(Stop::Fuel)
    }

    /// Whether a local name holds a container, which `+=` changes in place.
    fn holds_object(&self, scope: ObjId, name: &str) -> bool {
        match self.obj(scope) {
            Some(Obj::Scope(s)) => match s.get(name) {
                Some(v) => matches!(
                    self.object_of(v),
                    Some(Obj::List(_) | Obj::Set(_) | Obj::Dict(_))
                ),
                None => false,
            },
            _ => false,
        }
    }

    /// Forgets what may differ from round to round.
    pub(super) fn blur(&mut self, vars: &[(ObjId, String)], objects: &[ObjId]) {
        for (scope, name) in vars {
            let unknown = self.fresh();
            if let Some(Obj::Scope(s)) = self.obj_mut(*scope) {
                s.set(name, unknown);
            }
        }
        for &id in objects {
            let unknown = self.fresh();
            match self.obj_mut(id) {
                Some(Obj::List(seq) | Obj::Set(seq)) => seq.blur(),
                Some(Obj::Dict(dict)) => {
                    dict.open = true;
                    dict.cache = false;
                    for (_, value, certain) in &mut dict.entries {
                        *value = unknown.clone();
                        *certain = false;
                    }
                }
                Some(Obj::Record(record)) => {
                    record.open = true;
                    record
                        .fields
                        .iter_mut()
                        .for_each(|(_, v)| *v = unknown.clone());
                }
                Some(Obj::Iter(it)) => *it = Iter::Rest(Seq::unknown()),
                Some(Obj::Scope(_)) | None => {}
            }
        }
    }

    /// Adds what a round changed to what must be blurred; says whether that was more than before.
    fn note_changes(
        &self,
        start: &Heap<'e>,
        ends: &[&State<'e>],
        vars: &mut Vec<(ObjId, String)>,
        objects: &mut Vec<ObjId>,
    ) -> bool {
        let mut more = false;
        for end in ends {
            for id in end.heap.changed_since(start) {
                match (start.get(id), end.heap.get(id)) {
                    (Some(Obj::Scope(old)), Some(Obj::Scope(new))) => {
                        for (name, value) in &new.vars {
                            let changed = old.get(name).is_some_and(|v| !v.same(value));
                            if changed && !vars.iter().any(|(s, n)| *s == id && n == name.as_str())
                            {
                                vars.push((id, name.to_string()));
                                more = true;
                            }
                        }
                    }
                    _ if !objects.contains(&id) => {
                        objects.push(id);
                        more = true;
                    }
                    _ => {}
                }
            }
        }
        more
    }

    /// What the changed objects are after all rounds.
    fn finals(
        &self,
        before: &Heap<'e>,
        ends: &[&State<'e>],
        objects: &[ObjId],
        len: Len,
        whole_rounds: bool,
    ) -> Vec<(ObjId, Obj<'e>)> {
        let mut out = Vec::new();
        for &id in objects {
            let Some(Obj::List(base) | Obj::Set(base)) = before.get(id) else {
                continue;
            };
            let after: Vec<&Seq<'e>> = ends
                .iter()
                .filter_map(|s| match s.heap.get(id) {
                    Some(Obj::List(seq) | Obj::Set(seq)) => Some(seq),
                    _ => None,
                })
                .collect();
            let mut seq = base.clone();
            if after.iter().any(|s| s.rewritten) {
                seq.replace(Seq::unknown());
            } else if let Some(added) = after.iter().map(|s| s.added).reduce(Len::hull) {
                let total = added.times(len);
                let total = if whole_rounds {
                    total
                } else {
                    total.without_min()
                };
                let samples = after
                    .iter()
                    .flat_map(|s| s.samples.iter().cloned())
                    .collect();
                let open = after.iter().any(|s| s.added_open);
                seq.cache = false;
                seq.grow(total, samples, open);
            }
            let is_set = matches!(before.get(id), Some(Obj::Set(_)));
            if is_set {
                // Rounds may add the same element.
                seq.len.min = base.len.min;
                seq.tail.min = base.tail.min;
            }
            out.push((
                id,
                if is_set {
                    Obj::Set(seq)
                } else {
                    Obj::List(seq)
                },
            ));
        }
        out
    }

    /// Names that a loop assigns.
    fn assigned_in(&mut self, stmt: &'e Stmt) -> Rc<FxHashSet<&'e str>> {
        let key = std::ptr::from_ref(stmt) as usize;
        if let Some(known) = self.assigned.get(&key) {
            return known.clone();
        }
        let mut names = FxHashSet::default();
        assigned(stmt, &mut names);
        let names = Rc::new(names);
        self.assigned.insert(key, names.clone());
        names
    }

    fn assigned_in_block(&mut self, body: &'e [Stmt]) -> FxHashSet<&'e str> {
        let mut names = FxHashSet::default();
        body.iter().for_each(|s| assigned(s, &mut names));
        names
    }
}

fn assigned<'e>(stmt: &'e Stmt, names: &mut FxHashSet<&'e str>) {
    bound_here(stmt, &mut |n| {
        names.insert(n);
    });
    stmt.own_exprs(&mut |e| {
        changed_in_expr(e, &mut |n| {
            names.insert(n);
        })
    });
    if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
        stmt.blocks()
            .into_iter()
            .flatten()
            .for_each(|s| assigned(s, names));
    }
}
