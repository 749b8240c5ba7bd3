//! Statements.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::cond::Cond;
use super::env::{ModuleId, Place, Top};
use super::heap::State;
use super::interp::{Frame, Interp, R, Stop};
use super::shape::{leaves, produces};
use super::space::{Cause, Note};
use super::value::{Obj, ObjId, Value};

/// The ways out of a statement. On the way to the next statement the interpreter's own state is the
/// one to go on with; for every other way the state is kept here until the loop or the call around
/// it picks it up.
pub(super) struct Exits<'e> {
    pub(super) next: bool,
    pub(super) brk: Option<State<'e>>,
    pub(super) cont: Option<State<'e>>,
    pub(super) ret: Option<(State<'e>, Value<'e>)>,
}

impl<'e> Exits<'e> {
    pub(super) fn next() -> Self {
        Self {
            next: true,
            brk: None,
            cont: None,
            ret: None,
        }
    }

    pub(super) fn none() -> Self {
        Self {
            next: false,
            ..Self::next()
        }
    }

    pub(super) fn pending(&self) -> bool {
        self.brk.is_some() || self.cont.is_some() || self.ret.is_some()
    }
}

impl<'e> Interp<'e> {
    pub(super) fn join_returns(
        &mut self,
        a: Option<(State<'e>, Value<'e>)>,
        b: Option<(State<'e>, Value<'e>)>,
    ) -> R<Option<(State<'e>, Value<'e>)>> {
        Ok(match (a, b) {
            (Some((s, v)), Some((t, w))) => {
                let value = self.join(&v, &w);
                Some((self.join_states(s, t)?, value))
            }
            (a, b) => a.or(b),
        })
    }

    /// Adds the ways out of a later statement, except the one to the next.
    pub(super) fn absorb(&mut self, acc: &mut Exits<'e>, other: Exits<'e>) -> R<()> {
        acc.brk = self.join_pending(acc.brk.take(), other.brk)?;
        acc.cont = self.join_pending(acc.cont.take(), other.cont)?;
        acc.ret = self.join_returns(acc.ret.take(), other.ret)?;
        acc.next = other.next;
        Ok(())
    }

    /// Remembers the present state for the `try` around it.
    pub(super) fn raised(&mut self) -> R<()> {
        if let Some(last) = self.tries.pop() {
            let state = self.state.clone();
            let joined = self.join_pending(last, Some(state))?;
            self.tries.push(joined);
        }
        Ok(())
    }

    pub(super) fn exec_block(&mut self, body: &'e [Stmt]) -> R<Exits<'e>> {
        let slice = self.frames.last().and_then(|f| f.slice.clone());
        let mut acc = Exits::next();
        for stmt in body {
            if slice.as_ref().is_some_and(|s| !s.keeps(stmt.span)) {
                continue;
            }
            match self.deeper(|i| i.exec(stmt)) {
                Ok(exits) => self.absorb(&mut acc, exits)?,
                Err(Stop::Raise) if acc.pending() => {
                    self.raised()?;
                    acc.next = false;
                }
                Err(stop) => return Err(stop),
            }
            if !acc.next {
                break;
            }
        }
        Ok(acc)
    }

    /// The statements of a module that decide a name, in the module's own scope.
    pub(super) fn run_tops(
        &mut self,
        module: ModuleId,
        scope: ObjId,
        tops: &[Top<'e>],
        names: &[&str],
    ) -> R<()> {
        for top in tops {
            self.frames.push(Frame {
                scope,
                module,
                item: top.item,
                out: None,
                slice: None,
            });
            if matches!(top.stmt.kind, StmtKind::Expr(_)) && self.is_watched_in(top.stmt.span) {
                // The search itself: what it does with its space is not asked.
                self.frames.pop();
                continue;
            }
            let done = match &top.stmt.kind {
                StmtKind::Import(list) => self.import_names(list, Some(names)),
                StmtKind::ImportFrom {
                    module,
                    level,
                    names: list,
                    ..
                } => self.import_from(module, *level, list, Some(names)),
                _ => self.deeper(|i| i.exec(top.stmt)).map(|_| ()),
            };
            self.frames.pop();
            match done {
                Ok(()) | Err(Stop::Raise) => {}
                Err(stop) => return Err(stop),
            }
        }
        Ok(())
    }

    /// Whether the watched expression lies in `span` of the present item.
    pub(super) fn is_watched_in(&self, span: Span) -> bool {
        self.watch.is_some_and(|watch| {
            span.contains(watch.place.span) && self.place(watch.place.span) == watch.place
        })
    }

    fn exec(&mut self, stmt: &'e Stmt) -> R<Exits<'e>> {
        match &stmt.kind {
            StmtKind::Expr(value) => {
                self.eval(value)?;
            }
            StmtKind::Assign { targets, value } => {
                let value = self.eval(value)?;
                for target in targets {
                    self.assign(target, value.clone())?;
                }
            }
            StmtKind::AnnAssign {
                target,
                value: Some(value),
                ..
            } => {
                let value = self.eval(value)?;
                self.assign(target, value)?;
            }
            StmtKind::AugAssign { target, op, value } => self.augment(target, op, value)?,
            StmtKind::If { branches, orelse } => return self.exec_if(stmt, branches, orelse),
            StmtKind::For {
                target,
                iter,
                body,
                orelse,
            } => return self.exec_for(stmt, target, iter, body, orelse),
            StmtKind::While { test, body, orelse } => return self.exec_while(test, body, orelse),
            StmtKind::Return(value) => {
                let value = match value {
                    Some(value) => {
                        self.detach = matches!(
                            value.kind,
                            ExprKind::Conditional { .. } | ExprKind::Logical { .. }
                        );
                        self.eval(value)?
                    }
                    None => Value::None,
                };
                return Ok(Exits {
                    ret: Some((std::mem::take(&mut self.state), value)),
                    ..Exits::none()
                });
            }
            StmtKind::Break => {
                return Ok(Exits {
                    brk: Some(std::mem::take(&mut self.state)),
                    ..Exits::none()
                });
            }
            StmtKind::Continue => {
                return Ok(Exits {
                    cont: Some(std::mem::take(&mut self.state)),
                    ..Exits::none()
                });
            }
            StmtKind::With { items, body } => return self.exec_with(items, body),
            StmtKind::Try {
                body,
                handlers,
                orelse,
                finally,
            } => {
                return self.exec_try(body, handlers, orelse, finally);
            }
            StmtKind::Match { subject, cases } => {
                self.eval(subject)?;
                self.note(Note::UnknownBranch(self.place(subject.span)));
                return self.exec_any(cases);
            }
            StmtKind::Raise(_) => return Err(Stop::Raise),
            StmtKind::Assert { test, .. } => self.exec_assert(test)?,
            StmtKind::FunctionDef(def) => {
                let value = self.define(def)?;
                self.assign_name(&def.name.name, value);
            }
            StmtKind::ClassDef(class) => {
                let value = self.define_class(class);
                self.assign_name(&class.name.name, value);
            }
            StmtKind::Import(names) => self.import_names(names, None)?,
            StmtKind::ImportFrom {
                module,
                level,
                names,
                ..
            } => self.import_from(module, *level, names, None)?,
            StmtKind::Global(names) | StmtKind::Nonlocal(names) => {
                let global = matches!(stmt.kind, StmtKind::Global(_));
                let scope = self.scope_id();
                if let Some(Obj::Scope(s)) = self.obj_mut(scope) {
                    s.outer
                        .extend(names.iter().map(|n| (n.name.clone(), global)));
                }
            }
            StmtKind::Delete(targets) => {
                for target in targets {
                    self.delete(target)?;
                }
            }
            StmtKind::Unknown(parts) => {
                for part in parts {
                    self.eval(part)?;
                }
            }
            StmtKind::AnnAssign { value: None, .. } | StmtKind::Pass => {}
        }
        Ok(Exits::next())
    }

    /// Runs one of several blocks, or none, nobody knows which.
    fn exec_any(&mut self, blocks: &'e [Vec<Stmt>]) -> R<Exits<'e>> {
        let before = self.state.clone();
        let mut acc = Exits::next();
        let mut live = Some(before.clone());
        for block in blocks {
            self.state = before.clone();
            match self.exec_block(block) {
                Ok(mut exits) => {
                    let next = exits.next.then(|| std::mem::take(&mut self.state));
                    exits.next = true;
                    self.absorb(&mut acc, exits)?;
                    live = self.join_pending(live, next)?;
                }
                Err(Stop::Raise) => self.raised()?,
                Err(stop) => return Err(stop),
            }
        }
        self.state = live.unwrap_or(before);
        Ok(acc)
    }

    fn exec_if(
        &mut self,
        stmt: &'e Stmt,
        branches: &'e [(Expr, Vec<Stmt>)],
        orelse: &'e [Stmt],
    ) -> R<Exits<'e>> {
        if let Some(slice) = self.frames.last().and_then(|f| f.slice.clone())
            && let Some(target) = slice.only_branch(stmt.span)
        {
            return self.exec_forced(branches, orelse, target);
        }
        let Some(((test, body), rest)) = branches.split_first() else {
            return self.exec_block(orelse);
        };
        let cond = self.cond(test)?;
        let other = || rest.first().map_or(orelse, |(_, body)| body.as_slice());
        let place = self.place(test.span);
        match self.decide(cond) {
            Some(true) => {
                if leaves(body) || produces(other()) {
                    self.cause(place, true);
                }
                if leaves(body) {
                    self.guard(test, cond);
                }
                self.exec_block(body)
            }
            Some(false) => {
                if produces(body) || (rest.is_empty() && leaves(orelse)) {
                    self.cause(place, false);
                }
                self.exec_if(stmt, rest, orelse)
            }
            None => {
                if leaves(body) {
                    self.guard(test, cond);
                }
                if produces(body) || leaves(body) || produces(other()) {
                    self.note(Note::UnknownBranch(place));
                }
                self.both(cond, &mut |i| i.exec_block(body), &mut |i| {
                    i.exec_if(stmt, rest, orelse)
                })
            }
        }
    }

    /// Enters the one branch that matters (`None`: the `else`), since no other path gets there.
    fn exec_forced(
        &mut self,
        branches: &'e [(Expr, Vec<Stmt>)],
        orelse: &'e [Stmt],
        target: Option<usize>,
    ) -> R<Exits<'e>> {
        for (at, (test, body)) in branches.iter().enumerate() {
            let cond = self.cond(test)?;
            let wanted = target == Some(at);
            if self.decide_here(cond) == Some(!wanted) {
                self.missed = true;
                return Ok(Exits::none());
            }
            self.assume(cond, wanted);
            if wanted {
                return self.exec_block(body);
            }
        }
        self.exec_block(orelse)
    }

    /// Runs two branches of which either may be taken.
    pub(super) fn both(
        &mut self,
        cond: Cond,
        then: &mut dyn FnMut(&mut Self) -> R<Exits<'e>>,
        otherwise: &mut dyn FnMut(&mut Self) -> R<Exits<'e>>,
    ) -> R<Exits<'e>> {
        self.burn(self.state.heap.size())?;
        let before = self.state.clone();
        self.assume(cond, true);
        let first = self.branch(then)?;
        let after = std::mem::replace(&mut self.state, before);
        self.assume(cond, false);
        let second = self.branch(otherwise)?;
        let (Some(first), Some(second)) = (&first, &second) else {
            return match (first, second) {
                (Some(exits), None) => {
                    self.state = after;
                    Ok(exits)
                }
                (None, Some(exits)) => Ok(exits),
                _ => Err(Stop::Raise),
            };
        };
        if first.next {
            if second.next {
                let now = std::mem::take(&mut self.state);
                self.state = self.join_states(after, now)?;
            } else {
                self.state = after;
            }
        }
        let next = first.next || second.next;
        let mut acc = Exits::none();
        for exits in [first, second] {
            let copy = Exits {
                next,
                brk: exits.brk.clone(),
                cont: exits.cont.clone(),
                ret: exits.ret.clone(),
            };
            self.absorb(&mut acc, copy)?;
        }
        Ok(acc)
    }

    /// A branch that may raise: then it has no way out, and a `try` around learns of it.
    pub(super) fn branch(
        &mut self,
        run: &mut dyn FnMut(&mut Self) -> R<Exits<'e>>,
    ) -> R<Option<Exits<'e>>> {
        match run(self) {
            Ok(exits) => Ok(Some(exits)),
            Err(Stop::Raise) => {
                self.raised()?;
                Ok(None)
            }
            Err(stop) => Err(stop),
        }
    }

    pub(super) fn cause(&mut self, place: Place, outcome: bool) {
        let cause = Cause { place, outcome };
        if self.causes.len() < 16 && !self.causes.contains(&cause) {
            self.causes.push(cause);
        }
    }

    fn exec_assert(&mut self, test: &'e Expr) -> R<()> {
        let cond = self.cond(test)?;
        if self.guard(test, cond) {
            return Ok(());
        }
        let decided = if self.tries.is_empty() {
            self.decide_here(cond)
        } else {
            self.decide(cond)
        };
        match decided {
            Some(true) => Ok(()),
            Some(false) => Err(Stop::Raise),
            None => {
                self.raised()?;
                self.assume(cond, true);
                Ok(())
            }
        }
    }

    /// Whether a test asks if a container is empty: whoever asks guards against it.
    fn guard(&mut self, test: &'e Expr, cond: Cond) -> bool {
        let subject = match &test.kind {
            ExprKind::Unary { op, operand } if op == "not" => operand,
            ExprKind::Compare { first, .. } => match &first.kind {
                ExprKind::Call { func, args }
                    if func.name().is_some_and(|n| n == "len") && args.len() == 1 =>
                {
                    return self.guard_subject(&args[0].value, cond);
                }
                _ => return false,
            },
            _ => test,
        };
        self.guard_subject(subject, cond)
    }

    fn guard_subject(&mut self, subject: &'e Expr, cond: Cond) -> bool {
        let is_container = match (&subject.kind, cond) {
            (_, Cond::Filled(..)) => true,
            (ExprKind::Name(name), _) => match self.lookup(name) {
                Ok(Value::Tuple(_)) => true,
                Ok(value) => matches!(
                    self.object_of(&value),
                    Some(Obj::List(_) | Obj::Set(_) | Obj::Dict(_))
                ),
                Err(_) => false,
            },
            _ => false,
        };
        self.guarded |= is_container;
        is_container
    }
}
