//! Which local names are surely bound where they are read.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, Ident, Stmt, StmtKind};

use crate::body::{Device, Ty};
use crate::rules::bindings::{bound, own_bindings};

/// Whether a condition is surely decided when the kernel runs, not when it is compiled.
pub(super) fn is_runtime<'a>(device: &Device<'a>, test: &'a Expr) -> bool {
    match &test.kind {
        ExprKind::Logical { left, right, .. } => {
            is_runtime(device, left) && is_runtime(device, right)
        }
        ExprKind::Unary { operand, .. } => is_runtime(device, operand),
        ExprKind::Compare { first, rest } => {
            let values = |(op, _): &(SmolStr, Expr)| !op.contains("is") && !op.contains("in");
            rest.iter().all(values)
                && std::iter::once(&**first)
                    .chain(rest.iter().map(|(_, e)| e))
                    .any(|e| is_runtime_value(device, e))
        }
        ExprKind::Name(_) => {
            let followed = device.follow(test);
            match followed.kind {
                ExprKind::Name(_) => is_runtime_value(device, test),
                _ => is_runtime(device, followed),
            }
        }
        _ => is_runtime_value(device, test),
    }
}

/// Made of a block index, a loop's counter or something read from memory.
pub(super) fn is_runtime_value(device: &Device<'_>, expr: &Expr) -> bool {
    match device.ty(expr) {
        Ty::Scalar { block: true } => true,
        Ty::Tile(tile) => !tile.sources.is_empty(),
        Ty::Unknown => expr.name().is_some_and(|n| is_plain_parameter(device, n)),
        _ => false,
    }
}

/// A kernel's parameter that callers pass a number for: without an annotation that could make it a
/// constant, never bound again.
pub(super) fn is_plain_parameter(device: &Device<'_>, name: &str) -> bool {
    let plain = |annotation: &Expr| {
        (annotation.name()).is_some_and(|n| matches!(n.as_str(), "int" | "float" | "bool"))
    };
    device.is_kernel
        && !device.constants.contains(name)
        && (device.param(name)).is_some_and(|p| {
            p.stars == 0 && p.default.is_none() && p.annotation.as_ref().is_none_or(plain)
        })
        && !device.binds(name)
}

/// A read of a name that only some of the branches before it bind.
pub(super) struct Undefined {
    /// The name.
    pub name: Ident,
    /// The `if` whose branches differ.
    pub branch: Span,
}

/// Whether a name is bound.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Bound,
    /// Only if a condition held when the kernel ran: that of the `if` that begins there.
    Maybe(Span),
}

type States = FxHashMap<SmolStr, State>;

struct Flow<'a, 'd> {
    device: &'d Device<'a>,
    states: States,
    found: Vec<Undefined>,
}

/// Reads of names that only some branches of an `if` bind, where the condition is decided when the
/// kernel runs. The first read of each.
pub(super) fn undefined(device: &Device<'_>) -> Vec<Undefined> {
    if !any_uneven(device, &device.def.body) {
        return Vec::new();
    }
    let mut flow = Flow {
        device,
        states: States::default(),
        found: Vec::new(),
    };
    for param in &device.def.params {
        flow.bind(&param.name.name);
    }
    flow.block(&device.def.body);
    flow.found
}

/// Whether an `if` that is decided at run time binds a name in some branches only.
fn any_uneven<'a>(device: &Device<'a>, body: &'a [Stmt]) -> bool {
    body.iter().any(|stmt| {
        let uneven = match &stmt.kind {
            StmtKind::If { branches, orelse } => {
                let first = bound(orelse);
                branches.iter().any(|(_, body)| bound(body) != first)
                    && branches.iter().all(|(test, _)| is_runtime(device, test))
            }
            _ => false,
        };
        uneven
            || stmt
                .blocks()
                .into_iter()
                .any(|inner| any_uneven(device, inner))
    })
}

impl<'a> Flow<'a, '_> {
    fn bind(&mut self, name: &SmolStr) {
        self.states.insert(name.clone(), State::Bound);
    }

    /// Whether control reaches the end.
    fn block(&mut self, body: &'a [Stmt]) -> bool {
        for stmt in body {
            if !self.stmt(stmt) {
                return false;
            }
        }
        true
    }

    fn stmt(&mut self, stmt: &'a Stmt) -> bool {
        match &stmt.kind {
            StmtKind::If { branches, orelse } => return self.branches(stmt, branches, orelse),
            StmtKind::Return(_) | StmtKind::Raise(_) | StmtKind::Break | StmtKind::Continue => {
                stmt.own_exprs(&mut |e| self.read(e));
                return false;
            }
            StmtKind::Assign { targets, value } => {
                self.read(value);
                for target in targets.iter().filter(|t| t.name().is_none()) {
                    self.read_target(target);
                }
            }
            StmtKind::For { iter, body, .. } => {
                self.read(iter);
                own_bindings(stmt, &mut |name| {
                    self.states.insert(name.clone(), State::Bound);
                });
                self.looped(body);
            }
            StmtKind::While { test, body, .. } => {
                self.read(test);
                self.looped(body);
            }
            StmtKind::FunctionDef(_) | StmtKind::ClassDef(_) => {}
            StmtKind::AnnAssign { value, .. } => value.iter().for_each(|v| self.read(v)),
            _ => {
                stmt.own_exprs(&mut |e| self.read(e));
                for inner in stmt.blocks() {
                    self.block(inner);
                }
            }
        }
        own_bindings(stmt, &mut |name| {
            self.states.insert(name.clone(), State::Bound);
        });
        true
    }

    /// A loop's body. What it binds counts as bound after it.
    fn looped(&mut self, body: &'a [Stmt]) {
        let before = self.states.clone();
        self.block(body);
        for name in bound(body) {
            self.states.insert(name, State::Bound);
        }
        for (name, state) in before {
            self.states.entry(name).or_insert(state);
        }
    }

    fn branches(
        &mut self,
        stmt: &'a Stmt,
        branches: &'a [(Expr, Vec<Stmt>)],
        orelse: &'a [Stmt],
    ) -> bool {
        let runtime = branches.iter().all(|(t, _)| is_runtime(self.device, t));
        let mut ends: Vec<States> = Vec::new();
        let mut before = self.states.clone();
        for (test, body) in branches {
            self.states.clone_from(&before);
            self.read(test);
            before.clone_from(&self.states);
            self.branch(body, runtime, &mut ends);
        }
        self.states.clone_from(&before);
        self.branch(orelse, runtime, &mut ends);
        let Some(joined) = join(&ends, runtime.then_some(stmt.span)) else {
            self.states = before;
            return false;
        };
        self.states = joined;
        true
    }

    fn branch(&mut self, body: &'a [Stmt], runtime: bool, ends: &mut Vec<States>) {
        if !runtime {
            // The condition may be the very one under which the name was bound.
            for state in self.states.values_mut() {
                *state = State::Bound;
            }
        }
        if self.block(body) {
            ends.push(std::mem::take(&mut self.states));
        }
    }

    /// Everything of a target but the names that it binds.
    fn read_target(&mut self, target: &'a Expr) {
        match &target.kind {
            ExprKind::Name(_) => {}
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|i| self.read_target(i));
            }
            _ => self.read(target),
        }
    }

    fn read(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Name(name) => {
                if let Some(State::Maybe(branch)) = self.states.get(name).copied() {
                    let name = Ident {
                        name: name.clone(),
                        span: expr.span,
                    };
                    self.bind(&name.name.clone());
                    self.found.push(Undefined { name, branch });
                }
            }
            // Evaluated elsewhere, with names of their own, or perhaps not at all.
            ExprKind::Lambda { .. } | ExprKind::Comprehension { .. } => {}
            ExprKind::Conditional { test, .. } => self.read(test),
            ExprKind::Logical { left, .. } => self.read(left),
            _ => expr.children(&mut |e| self.read(e)),
        }
    }
}

/// What is bound after branches that end so; nothing if none reaches the end.
fn join(ends: &[States], runtime: Option<Span>) -> Option<States> {
    ends.first()?;
    let mut joined = States::default();
    for name in ends.iter().flat_map(|e| e.keys()) {
        if joined.contains_key(name) {
            continue;
        }
        let states: Vec<Option<State>> = ends.iter().map(|e| e.get(name).copied()).collect();
        let known = |s: &Option<State>| *s == Some(State::Bound);
        let maybe = states.iter().flatten().find(|s| **s != State::Bound);
        let state = match (maybe, runtime) {
            (Some(maybe), _) => *maybe,
            (None, Some(branch)) if !states.iter().all(known) => State::Maybe(branch),
            _ => State::Bound,
        };
        joined.insert(name.clone(), state);
    }
    Some(joined)
}
