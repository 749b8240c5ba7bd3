//! The walk that counts FLOP and bytes.

use std::collections::BTreeMap;

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::{Assumptions, Known, amount};
use crate::body::{ApiCall, Device, Dtype, Extent, Tile, Ty};

/// How deep helpers that call helpers are followed.
const DEPTH: u32 = 3;

/// What a walk found.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub(super) flops: f64,
    pub(super) bytes: f64,
    pub(super) assumed: Vec<String>,
    /// Something that matters is out of sight.
    blind: bool,
    /// FLOP or bytes, what they are for.
    entries: Vec<(f64, String)>,
    /// FLOP on the elements of tiles of a shape, in all and on each.
    elementwise: BTreeMap<String, (f64, f64)>,
}

impl Found {
    /// FLOP per byte.
    pub(super) fn intensity(&self) -> Option<f64> {
        (!self.blind && self.bytes > 0.0).then(|| self.flops / self.bytes)
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
    device: Device<'a>,
    known: &'w Known,
    helper: &'w dyn Fn(&str) -> Option<Device<'a>>,
    assumptions: Assumptions,
    found: Found,
    /// How often the statement at hand runs.
    rounds: f64,
    /// The most elements that a tile of known shape has had: what one of unknown shape is taken for.
    largest: f64,
}

impl<'w, 'a> Walk<'w, 'a> {
    pub(super) fn new(
        device: &Device<'a>,
        known: &'w Known,
        helper: &'w dyn Fn(&str) -> Option<Device<'a>>,
        assumptions: Assumptions,
    ) -> Walk<'w, 'a> {
        Walk {
            device: *device,
            known,
            helper,
            assumptions,
            found: Found::default(),
            rounds: 1.0,
            largest: 0.0,
        }
    }

    pub(super) fn run(mut self) -> Found {
        self.block(&self.device.def.body);
        self.found
    }

    fn block(&mut self, body: &'a [Stmt]) {
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
                    self.product(left, right, None)
                }
                ExprKind::Binary { op, .. } => {
                    self.operation(self.device.ty(part), cost_of_operator(op));
                }
                ExprKind::Unary { op, .. } if op == "-" => {
                    self.operation(self.device.ty(part), 1.0);
                }
                ExprKind::Call { func, args } => match self.device.call(part) {
                    Some(call) => self.api(&call),
                    None => {
                        if let Some(name) = func.name() {
                            let tile = args.iter().find_map(|a| self.device.tile(&a.value));
                            self.helper(name, tile, DEPTH);
                        }
                    }
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
                if let (Some(a), Some(b)) = (call.arg(0, "x"), call.arg(1, "y")) {
                    let acc = call.arg(2, "acc").and_then(|e| self.device.tile(e));
                    self.product(a, b, acc);
                }
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

    /// An operation on every element of a tile.
    fn operation(&mut self, ty: &Ty, cost: f64) {
        let Ty::Tile(tile) = ty else { return };
        // Whole numbers are addresses and masks, which other units compute.
        let counts = !tile.offsets && !matches!(tile.dtype, Dtype::Int | Dtype::Bool);
        if cost == 0.0 || !counts {
            return;
        }
        let (elements, shape) = self.elements(tile);
        let flops = cost * elements * self.rounds;
        self.found.flops += flops;
        let entry = self.found.elementwise.entry(shape).or_default();
        entry.0 += flops;
        entry.1 += cost;
    }

    fn product(&mut self, a: &'a Expr, b: &'a Expr, acc: Option<&'a Tile>) {
        let last = |tile: Option<&'a Tile>, from_end: usize| {
            let shape = tile?.shape.as_ref()?;
            shape.get(shape.len().checked_sub(from_end)?)
        };
        let (a, b) = (self.device.tile(a), self.device.tile(b));
        let m = last(a, 2).or_else(|| last(acc, 2));
        let n = last(b, 1).or_else(|| last(acc, 1));
        let k = last(a, 1).or_else(|| last(b, 2));
        let [m, n, k] = [m, n, k].map(|e| self.extent(e.unwrap_or(&Extent::Other)));
        let batch: f64 = match a.and_then(|t| t.shape.as_deref()) {
            Some([batch @ .., _, _]) => batch.iter().map(|e| self.extent(e)).product(),
            _ => 1.0,
        };
        let flops = 2.0 * batch * m * n * k * self.rounds;
        self.found.flops += flops;
        let text = format!(
            "{} FLOP: a matrix product of {m} x {n} x {k}{}",
            amount::short(flops),
            self.times()
        );
        self.found.entries.push((flops, text));
    }

    fn written(&mut self, call: &ApiCall<'a>, value: Option<&'a Expr>) {
        match value.map(|v| self.device.ty(v)) {
            Some(Ty::Tile(tile)) => self.moved(tile, call, "stored"),
            Some(Ty::Unknown) => self.moved(&Tile::default(), call, "stored"),
            Some(_) => {
                let one = Tile {
                    shape: Some(Vec::new()),
                    ..Tile::default()
                };
                self.moved(&one, call, "stored");
            }
            None => {}
        }
    }

    fn moved(&mut self, tile: &Tile, call: &ApiCall<'a>, what: &str) {
        let array = call.arg(0, "array").and_then(Expr::name);
        let (elements, shape) = self.elements(tile);
        let bytes = elements * self.element_bytes(array) * self.rounds;
        self.found.bytes += bytes;
        let array = array.map_or("an array", SmolStr::as_str);
        let text = format!(
            "{} bytes: {shape} of `{array}` {what}{}",
            amount::short(bytes),
            self.times()
        );
        self.found.entries.push((bytes, text));
    }

    fn times(&self) -> String {
        match self.rounds {
            1.0 => String::new(),
            rounds => format!(", {} times", amount::short(rounds)),
        }
    }

    fn element_bytes(&mut self, array: Option<&SmolStr>) -> f64 {
        if let Some(bytes) = array.and_then(|a| self.known.element_bytes.get(a)) {
            return f64::from(*bytes);
        }
        let bytes = self.assumptions.bytes;
        self.assume(format!("{bytes} bytes an element"));
        bytes
    }

    /// How many elements a tile has, and its shape as people read it.
    fn elements(&mut self, tile: &Tile) -> (f64, String) {
        let Some(shape) = &tile.shape else {
            if self.largest == 0.0 {
                self.largest = self.assumptions.extent;
                self.assume(format!("{} elements of a tile", self.largest));
            }
            return (
                self.largest,
                format!("{} elements", amount::short(self.largest)),
            );
        };
        let extents: Vec<f64> = shape.iter().map(|e| self.extent(e)).collect();
        let elements = extents.iter().product();
        self.largest = self.largest.max(elements);
        let text: Vec<String> = extents.iter().map(f64::to_string).collect();
        match text.as_slice() {
            [] => (1.0, "1 element".to_owned()),
            _ => (elements, format!("{} elements", text.join(" x "))),
        }
    }

    fn extent(&mut self, extent: &Extent) -> f64 {
        match extent {
            Extent::Int(value) => *value as f64,
            Extent::Name(name) => match self.known.constants.get(name) {
                Some(value) => *value as f64,
                None => {
                    self.assume(format!("{name} = {}", self.assumptions.extent));
                    self.assumptions.extent
                }
            },
            Extent::Other => {
                self.assume(format!("{} for other extents", self.assumptions.extent));
                self.assumptions.extent
            }
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

    /// A call of a function of the file: its operations, taken as done on each element of the tile
    /// that it is given.
    fn helper(&mut self, name: &str, tile: Option<&Tile>, depth: u32) {
        let Some(tile) = tile else { return };
        let Some(callee) = (self.helper)(name) else {
            return;
        };
        let mut operations = 0.0;
        let mut called = Vec::new();
        crate::body::walk(&callee.def.body, &mut |expr, _| match &expr.kind {
            ExprKind::Binary { op, .. } => operations += cost_of_operator(op),
            ExprKind::Call { func, .. } => match callee.call(expr) {
                Some(call) if matches!(call.name.as_str(), "mma" | "mma_scaled" | "matmul") => {
                    self.found.blind = true;
                }
                Some(call) => operations += cost_of_function(&call.name),
                None => called.extend(func.name().cloned()),
            },
            _ => {}
        });
        self.operation(&tile.clone().ty(), operations);
        if depth > 0 {
            (called.iter()).for_each(|inner| self.helper(inner, Some(tile), depth - 1));
        }
    }

    fn assume(&mut self, text: String) {
        if !self.found.assumed.contains(&text) {
            self.found.assumed.push(text);
        }
    }
}

/// FLOP of an operator on one element.
fn cost_of_operator(op: &str) -> f64 {
    match op {
        "+" | "-" | "*" => 1.0,
        "/" => 4.0,
        "**" => 8.0,
        _ => 0.0,
    }
}

/// FLOP of a function on one element. Those that take a series count as many.
fn cost_of_function(name: &str) -> f64 {
    match name {
        "add" | "sub" | "mul" | "maximum" | "minimum" | "where" | "negative" | "abs" | "fma" => 1.0,
        "truediv" | "sqrt" | "rsqrt" => 4.0,
        "exp" | "exp2" | "log" | "log2" | "sin" | "cos" | "tan" | "sinh" | "cosh" | "tanh"
        | "pow" | "atan2" | "sigmoid" => 8.0,
        _ => 0.0,
    }
}
