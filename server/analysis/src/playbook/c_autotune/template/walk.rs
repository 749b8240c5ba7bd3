//! The walk that gathers what flows into matrix products, through loops, branches and functions of the
//! file.

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, Stmt, StmtKind};

use super::facts::{Facts, Flag, Key, Load, Loop, Product, Scaling, Where};
use crate::body::{Device, argument};
use crate::rules::FileContext;

/// How deep functions of the file are followed.
const DEPTH: usize = 4;
/// How often a loop's body is walked: what flows around it settles sooner.
const ROUNDS: usize = 4;

type Names = FxHashMap<SmolStr, Facts>;

/// The walk.
pub(super) struct Walk<'w, 'a> {
    file: &'w FileContext<'a>,
    pub(super) device: Device<'a>,
    pub(super) names: Names,
    /// By which call of a function its code is walked.
    context: u32,
    contexts: FxHashMap<Key, u32>,
    depth: usize,
    pub(super) place: Where,
    numbers: FxHashMap<Key, usize>,
    pub(super) products: Vec<Product>,
    pub(super) loads: Vec<Load<'a>>,
    pub(super) scalings: Vec<Scaling>,
    pub(super) reduces: bool,
    returned: Facts,
    pub(super) rows: Rows,
}

/// What says which rows a block works on.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Names of the kernel.
    pub(super) names: FxHashSet<SmolStr>,
    /// Axes of the grid.
    pub(super) blocks: u8,
}

impl<'w, 'a> Walk<'w, 'a> {
    pub(super) fn of(file: &'w FileContext<'a>, device: &Device<'a>) -> Walk<'w, 'a> {
        Walk::following(file, device, Rows::default())
    }

    /// The same, with what follows from rows marked.
    pub(super) fn following(
        file: &'w FileContext<'a>,
        device: &Device<'a>,
        rows: Rows,
    ) -> Walk<'w, 'a> {
        let mut walk = Walk {
            file,
            device: *device,
            names: Names::default(),
            context: 0,
            contexts: FxHashMap::default(),
            depth: 0,
            place: Where::default(),
            numbers: FxHashMap::default(),
            products: Vec::new(),
            loads: Vec::new(),
            scalings: Vec::new(),
            reduces: false,
            returned: Facts::default(),
            rows,
        };
        walk.block(&device.def.body);
        walk
    }

    fn block(&mut self, body: &'a [Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::FunctionDef(_) | StmtKind::ClassDef(_) => {}
            StmtKind::Assign { targets, value } => {
                targets.iter().for_each(|t| self.assign(t, value));
            }
            StmtKind::AnnAssign { target, value, .. } => {
                value.iter().for_each(|v| self.assign(target, v));
            }
            StmtKind::AugAssign { target, op, value } => {
                let left = self.expr(target);
                let right = self.expr(value);
                let facts = self.operation(op.trim_end_matches('='), left, right);
                self.bind(target, facts);
            }
            StmtKind::For {
                target, iter, body, ..
            } => {
                let bounds = self.expr(iter);
                let hands_out = self.hands_out(iter);
                let mut counter = bounds.without(Flag::Count).without(Flag::Area);
                if hands_out {
                    counter = counter.and(Flag::Handed);
                }
                self.bind(target, counter);
                self.around(stmt, bounds, hands_out, body);
            }
            StmtKind::While { test, body, .. } => {
                let bounds = self.expr(test);
                let hands_out = self.advances(test, body);
                self.around(stmt, bounds, hands_out, body);
            }
            StmtKind::If { branches, orelse } => {
                branches.iter().for_each(|(test, _)| _ = self.expr(test));
                let ways = branches
                    .iter()
                    .map(|(_, b)| b.as_slice())
                    .chain([&orelse[..]]);
                self.ways(stmt, ways);
            }
            StmtKind::Match { subject, cases } => {
                self.expr(subject);
                self.ways(stmt, cases.iter().map(Vec::as_slice));
            }
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    self.returned = self.expr(value).with(self.returned);
                }
            }
            _ => {
                let mut own = Vec::new();
                stmt.own_exprs(&mut |e| own.push(e));
                own.into_iter().for_each(|e| _ = self.expr(e));
                stmt.blocks().into_iter().for_each(|b| self.block(b));
            }
        }
    }

    fn around(&mut self, stmt: &'a Stmt, bounds: Facts, hands_out: bool, body: &'a [Stmt]) {
        let key = self.key(stmt.span.start);
        self.place.loops.push(Loop {
            key,
            bounds,
            hands_out,
        });
        for _ in 0..ROUNDS {
            let before = self.names.clone();
            self.block(body);
            self.join(&before);
            if self.names == before {
                break;
            }
        }
        self.place.loops.pop();
    }

    fn ways(&mut self, stmt: &'a Stmt, ways: impl Iterator<Item = &'a [Stmt]>) {
        let key = self.key(stmt.span.start);
        let before = self.names.clone();
        let mut after = Names::default();
        for (number, body) in ways.enumerate() {
            self.names.clone_from(&before);
            self.place.branches.push((key, number));
            self.block(body);
            self.place.branches.pop();
            let way = std::mem::take(&mut self.names);
            self.names = std::mem::take(&mut after);
            self.join(&way);
            after = std::mem::take(&mut self.names);
        }
        self.names = after;
    }

    fn join(&mut self, other: &Names) {
        for (name, facts) in other {
            let own = self.names.entry(name.clone()).or_default();
            *own = own.with(*facts);
        }
    }

    fn assign(&mut self, target: &'a Expr, value: &'a Expr) {
        match (&target.kind, &value.kind) {
            (
                ExprKind::Tuple(targets) | ExprKind::List(targets),
                ExprKind::Tuple(values) | ExprKind::List(values),
            ) if targets.len() == values.len() => {
                let facts: Vec<Facts> = values.iter().map(|v| self.expr(v)).collect();
                for (target, facts) in targets.iter().zip(facts) {
                    self.bind(target, facts);
                }
            }
            _ => {
                let facts = self.expr(value);
                self.bind(target, facts);
            }
        }
    }

    pub(super) fn bind(&mut self, target: &Expr, facts: Facts) {
        match &target.kind {
            ExprKind::Name(name) => {
                let is_rows = self.context == 0 && self.rows.names.contains(name);
                let facts = match is_rows || facts.blocks & self.rows.blocks != 0 {
                    true => facts.and(Flag::Rows),
                    false => facts,
                };
                self.names.insert(name.clone(), facts);
            }
            ExprKind::Tuple(parts) | ExprKind::List(parts) => {
                parts.iter().for_each(|part| self.bind(part, facts));
            }
            ExprKind::Starred(inner) => self.bind(inner, facts),
            _ => {}
        }
    }

    /// What flows through a function of the file.
    pub(super) fn function(
        &mut self,
        call: &'a Expr,
        name: &str,
        args: &'a [Arg],
    ) -> Option<Facts> {
        if self.depth >= DEPTH {
            return None;
        }
        let callee = self.file.device_named(name)?;
        let mut names = Names::default();
        for (place, param) in callee.def.params.iter().enumerate() {
            if let Some(value) = argument(args, Some(place), &param.name.name) {
                names.insert(param.name.name.clone(), self.expr(value));
            }
        }
        let next = self.contexts.len() as u32 + 1;
        let key = self.key(call.span.start);
        let context = *self.contexts.entry(key).or_insert(next);
        let outer = (
            std::mem::replace(&mut self.device, callee),
            std::mem::replace(&mut self.names, names),
            std::mem::replace(&mut self.context, context),
            std::mem::take(&mut self.returned),
        );
        self.depth += 1;
        self.block(&callee.def.body);
        self.depth -= 1;
        let facts = self.returned;
        (self.device, self.names, self.context, self.returned) = outer;
        Some(facts)
    }

    pub(super) fn key(&self, start: u32) -> Key {
        (self.context, start)
    }

    /// The number of a product or load: a place has one.
    pub(super) fn number(&mut self, start: u32, product: bool) -> usize {
        let key = self.key(start);
        let next = match product {
            true => self.products.len(),
            false => self.loads.len(),
        };
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next && product {
            self.products.push(Product::default());
        } else if number == next {
            self.loads.push(Load::default());
        }
        number
    }
}
