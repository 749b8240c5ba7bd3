//! The walk that counts FLOP and bytes.

use std::collections::BTreeMap;

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::{Assumptions, Known, amount};
use crate::body::{ApiCall, Device, Ty};

/// What a walk found.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub(super) flops: f64,
    pub(super) bytes: f64,
    pub(super) assumed: Vec<String>,
    /// Something that matters is out of sight.
    pub(super) blind: bool,
    /// FLOP or bytes, what they are for.
    pub(super) entries: Vec<(f64, String)>,
    /// FLOP on the elements of tiles of a shape, in all and on each.
    pub(super) elementwise: BTreeMap<String, (f64, f64)>,
}

impl Found {
    /// FLOP per byte.
    pub(super) fn intensity(&self) -> Option<f64> {
        (!self.blind && self.bytes > 0.0).then(|| self.flops / self.bytes)
    }

    /// Why there is no intensity.
    pub(super) fn reason(&self) -> Option<&'static str> {
        if self.blind {
            Some("a helper multiplies matrices whose extents are out of sight")
        } else if self.bytes == 0.0 {
            Some("no load or store is seen in it")
        } else {
            None
        }
    }

    fn size(&self) -> f64 {
        self.flops + self.bytes
    }

    /// The largest parts.
    pub(super) fn parts(&self) -> Vec<String> {
        let on_elements = self.elementwise.iter().map(|(shape, (flops, each))| {
            let (all, each) = (amount::short(*flops), amount::rounded(*each));
            (*flops, format!("{all} FLOP: {each} on each of {shape}"))
        });
        let mut entries: Vec<_> = (self.entries.iter().cloned()).chain(on_elements).collect();
        entries.sort_by(|a, b| b.0.total_cmp(&a.0));
        entries.into_iter().take(8).map(|(_, text)| text).collect()
    }
}

/// The state of the walk.
pub(super) struct Walk<'w, 'a> {
    pub(super) device: Device<'a>,
    pub(super) known: Known,
    pub(super) lookup: &'w dyn Fn(&str) -> Option<Device<'a>>,
    pub(super) assumptions: Assumptions,
    pub(super) found: Found,
    /// How many helpers are around the statement at hand.
    pub(super) depth: u32,
    /// How often the statement at hand runs.
    pub(super) rounds: f64,
    /// The most elements that a tile of known shape has had: what one of unknown shape is taken for.
    pub(super) largest: f64,
}

impl<'w, 'a> Walk<'w, 'a> {
    pub(super) fn new(
        device: &Device<'a>,
        known: &Known,
        lookup: &'w dyn Fn(&str) -> Option<Device<'a>>,
        assumptions: Assumptions,
    ) -> Walk<'w, 'a> {
        Walk {
            device: *device,
            known: known.clone(),
            lookup,
            assumptions,
            found: Found::default(),
            depth: 0,
            rounds: 1.0,
            largest: 0.0,
        }
    }

    pub(super) fn run(mut self) -> Found {
        self.block(&self.device.def.body);
        self.found
    }

    pub(super) fn block(&mut self, body: &'a [Stmt]) {
        body.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::FunctionDef(_) | StmtKind::ClassDef(_) => {}
            StmtKind::For {
                target, iter, body, ..
            } => {
                self.expr(iter);
                let rounds = self.rounds_of(target, iter);
                self.repeated(rounds, body);
            }
            StmtKind::While { test, body, .. } => {
                self.expr(test);
                self.assume(format!("{} rounds of `while`", self.assumptions.rounds));
                self.repeated(self.assumptions.rounds, body);
            }
            StmtKind::If { branches, orelse } => self.costliest(branches, orelse),
            StmtKind::AugAssign { target, value, op } => {
                self.expr(value);
                let cost = cost_of_operator(op.trim_end_matches('='));
                self.operation(self.device.ty(target), cost);
            }
            _ => {
                let mut own = Vec::new();
                stmt.own_exprs(&mut |e| own.push(e));
                own.into_iter().for_each(|e| self.expr(e));
                (stmt.blocks().into_iter()).for_each(|b| self.block(b));
            }
        }
    }

    fn repeated(&mut self, rounds: f64, body: &'a [Stmt]) {
        let before = self.rounds;
        self.rounds *= rounds;
        self.block(body);
        self.rounds = before;
    }

    /// Of branches only one is taken: the one that moves or computes most.
    fn costliest(&mut self, branches: &'a [(Expr, Vec<Stmt>)], orelse: &'a [Stmt]) {
        branches.iter().for_each(|(test, _)| self.expr(test));
        let before = self.found.clone();
        let mut best: Option<Found> = None;
        let bodies = branches.iter().map(|(_, b)| b.as_slice()).chain([orelse]);
        for body in bodies {
            self.found = before.clone();
            self.block(body);
            if best.as_ref().is_none_or(|b| self.found.size() > b.size()) {
                best = Some(self.found.clone());
            }
        }
        if let Some(found) = best {
            self.found = found;
        }
    }

    fn expr(&mut self, expr: &'a Expr) {
        let mut all = Vec::new();
        expr.walk(&mut |e| all.push(e));
        // The innermost first, as they run.
        for part in all.into_iter().rev() {
            match &part.kind {
                ExprKind::Binary { op, left, right } if op == "@" => {
                    self.product(self.device.tile(left), self.device.tile(right), None)
                }
                ExprKind::Binary { op, .. } => {
                    self.operation(self.device.ty(part), cost_of_operator(op));
                }
                ExprKind::Unary { op, .. } if op == "-" => {
                    self.operation(self.device.ty(part), 1.0);
                }
                ExprKind::Call { func, args } => match self.device.call(part) {
                    Some(call) => self.api(&call),
                    None => func.name().into_iter().for_each(|n| self.helper(n, args)),
                },
                _ => {}
            }
        }
    }

    fn api(&mut self, call: &ApiCall<'a>) {
        let ty = self.device.ty(call.expr);
        match call.name.as_str() {
            "load" | "gather" => {
                if let Ty::Tile(tile) = ty {
                    self.moved(tile, call, "loaded");
                }
            }
            "store" => self.written(call, call.arg(2, "tile")),
            "scatter" => self.written(call, call.arg(2, "value")),
            "mma" | "mma_scaled" | "matmul" => {
                let tile = |place, name| call.arg(place, name).and_then(|e| self.device.tile(e));
                self.product(tile(0, "x"), tile(1, "y"), tile(2, "acc"));
            }
            name if name.starts_with("atomic_") => self.written(call, call.arg(2, "update")),
            "sum" | "max" | "min" | "prod" | "argmax" | "argmin" | "reduce" | "cumsum"
            | "cumprod" | "scan" => {
                let of = call.args.first().map(|a| self.device.ty(&a.value));
                self.operation(of.unwrap_or(&Ty::Unknown), 1.0);
            }
            name => self.operation(ty, cost_of_function(name)),
        }
    }

    fn rounds_of(&mut self, target: &Expr, iter: &'a Expr) -> f64 {
        if let ExprKind::Call { func, args } = &iter.kind
            && func.name().is_some_and(|n| n == "range")
        {
            let values: Option<Vec<i64>> = args.iter().map(|a| self.constant(&a.value)).collect();
            let rounds = match values.as_deref() {
                Some([end]) => Some(*end),
                Some([start, end]) => Some(end - start),
                Some([start, end, step]) if *step > 0 => Some((end - start + step - 1) / step),
                _ => None,
            };
            if let Some(rounds) = rounds {
                return rounds.max(0) as f64;
            }
        }
        let rounds = self.assumptions.rounds;
        let counter = target.name().map_or("a loop", SmolStr::as_str);
        self.assume(format!("{rounds} rounds of `{counter}`"));
        rounds
    }

    fn constant(&self, expr: &Expr) -> Option<i64> {
        match self.device.ty(expr) {
            Ty::Const(crate::body::Const::Name(name)) => self.known.constants.get(name).copied(),
            ty => ty.int(),
        }
    }

    pub(super) fn assume(&mut self, text: String) {
        if !self.found.assumed.contains(&text) {
            self.found.assumed.push(text);
        }
    }
}

/// FLOP of an operator on one element.
pub(super) fn cost_of_operator(op: &str) -> f64 {
    match op {
        "+" | "-" | "*" => 1.0,
        "/" => 4.0,
        "**" => 8.0,
        _ => 0.0,
    }
}

/// FLOP of a function on one element. Those that take a series count as many.
pub(super) fn cost_of_function(name: &str) -> f64 {
    match name {
        "add" | "sub" | "mul" | "maximum" | "minimum" | "where" | "negative" | "abs" => 1.0,
        "truediv" | "sqrt" | "rsqrt" => 4.0,
        "exp" | "exp2" | "log" | "log2" | "sin" | "cos" | "tan" | "sinh" | "cosh" | "tanh"
        | "pow" | "atan2" | "sigmoid" => 8.0,
        _ => 0.0,
    }
}
