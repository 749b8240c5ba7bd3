//! What a kernel and its helpers do with a parameter.

mod access;

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, Param, Stmt, StmtKind};

use super::functions::{Files, Function};
use crate::body::{ApiCall, Const, Dtype, Ty, argument, walk};

/// Helpers that call helpers are followed so deep.
const MAX_DEPTH: u32 = 5;

/// What is done with a parameter.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Use {
    /// It is read or written by an access, or asked for what only arrays have.
    pub(super) array: bool,
    /// Its rank, as an array.
    pub(super) ndim: Option<usize>,
    /// At least its rank: `x.shape[2]`.
    pub(super) at_least: usize,
    /// It is subscripted, or walked: a list or a tuple.
    pub(super) sequence: bool,
    /// It is an extent of a tile; of one with a single axis.
    pub(super) extent: bool,
    pub(super) only_extent: bool,
    /// Its elements are operands of a matrix product.
    pub(super) mma: bool,
    /// Its elements are indices, counts or bounds.
    pub(super) index: bool,
    /// Its elements are used as a mask.
    pub(super) mask: bool,
    /// What is stored in it, if that is known.
    pub(super) stored: Option<Dtype>,
    /// It is tested.
    pub(super) tested: bool,
    /// It is combined with floating-point values.
    pub(super) float: bool,
}

impl Use {
    /// What a helper does with what it is given is done with the argument.
    fn merge(&mut self, other: &Use) {
        self.array |= other.array;
        self.ndim = self.ndim.or(other.ndim);
        self.at_least = self.at_least.max(other.at_least);
        self.sequence |= other.sequence;
        self.extent |= other.extent;
        self.only_extent |= other.only_extent;
        self.mma |= other.mma;
        self.index |= other.index;
        self.mask |= other.mask;
        self.stored = self.stored.clone().or_else(|| other.stored.clone());
        self.tested |= other.tested;
        self.float |= other.float;
    }
}

/// Uses by parameter.
pub(super) type Uses = FxHashMap<SmolStr, Use>;

/// Functions walked so far, by module and definition.
type Done = FxHashMap<(u32, *const u8), Rc<Uses>>;

pub(super) struct Walker<'f, 'w> {
    files: &'f Files<'w>,
    done: Done,
}

impl<'f, 'w> Walker<'f, 'w> {
    pub(super) fn new(files: &'f Files<'w>) -> Self {
        Self {
            files,
            done: Done::default(),
        }
    }

    pub(super) fn uses(&mut self, function: &Function<'w>) -> Rc<Uses> {
        self.within(function, MAX_DEPTH)
    }

    fn within(&mut self, function: &Function<'w>, depth: u32) -> Rc<Uses> {
        // The address tells definitions apart and is never followed.
        let key = (function.module.0, std::ptr::from_ref(function.def).cast());
        if let Some(done) = self.done.get(&key) {
            return Rc::clone(done);
        }
        // A function that calls itself learns nothing from that.
        self.done.insert(key, Rc::default());
        let mut found = One {
            walker: self,
            function,
            depth,
            uses: Uses::default(),
            alias: aliases(function),
            loaded: FxHashMap::default(),
        };
        found.run();
        let uses = Rc::new(found.uses);
        self.done.insert(key, Rc::clone(&uses));
        uses
    }
}

/// Names that stand for parameters: the parameters themselves, and what is assigned from them.
fn aliases(function: &Function<'_>) -> FxHashMap<SmolStr, SmolStr> {
    let params = function.def.params.iter().filter(|p| p.stars == 0);
    let mut alias: FxHashMap<SmolStr, SmolStr> = params
        .map(|p| (p.name.name.clone(), p.name.name.clone()))
        .collect();
    // A name may be that of a view of a view.
    for _ in 0..2 {
        each_assign(&function.def.body, &mut |target, value| {
            let Some(name) = target.name() else { return };
            if let Some(param) = stands_for(value, &alias) {
                alias.entry(name.clone()).or_insert(param);
            }
        });
    }
    alias
}

/// The parameter that a value is, or is a view or an element of.
fn stands_for(value: &Expr, alias: &FxHashMap<SmolStr, SmolStr>) -> Option<SmolStr> {
    match &value.kind {
        ExprKind::Name(name) => alias.get(name).cloned(),
        ExprKind::Call { func, .. } => match &func.kind {
            ExprKind::Attribute { value, attr }
                if matches!(attr.name.as_str(), "slice" | "tiled_view") =>
            {
                stands_for(value, alias)
            }
            _ => None,
        },
        _ => None,
    }
}

fn each_assign<'e>(body: &'e [Stmt], visit: &mut dyn FnMut(&'e Expr, &'e Expr)) {
    for stmt in body {
        if let StmtKind::Assign { targets, value } = &stmt.kind {
            targets.iter().for_each(|target| visit(target, value));
        }
        if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            stmt.blocks()
                .into_iter()
                .for_each(|block| each_assign(block, visit));
        }
    }
}

/// One function as it is walked.
struct One<'a, 'f, 'w> {
    walker: &'a mut Walker<'f, 'w>,
    function: &'a Function<'w>,
    depth: u32,
    uses: Uses,
    alias: FxHashMap<SmolStr, SmolStr>,
    /// Arrays whose elements local names have or are computed from.
    loaded: FxHashMap<SmolStr, Vec<SmolStr>>,
}

impl<'w> One<'_, '_, 'w> {
    fn run(&mut self) {
        let def = self.function.def;
        let mut exprs: Vec<&'w Expr> = Vec::new();
        let mut tests: Vec<&'w Expr> = Vec::new();
        let mut shapes = Vec::new();
        let mut walked: Vec<&'w Expr> = Vec::new();
        walk(&def.body, &mut |expr, _| exprs.push(expr));
        // What a loop assigns at its end is used at its beginning.
        for _ in 0..2 {
            each_assign(&def.body, &mut |target, value| {
                if let Some(name) = target.name() {
                    let mut arrays = Vec::new();
                    self.sources(value, &mut arrays);
                    let known = self.loaded.entry(name.clone()).or_default();
                    arrays.retain(|a| !known.contains(a));
                    known.extend(arrays);
                }
            });
        }
        each_stmt(&def.body, &mut |stmt| match &stmt.kind {
            StmtKind::If { branches, .. } => tests.extend(branches.iter().map(|(test, _)| test)),
            StmtKind::Assign { targets, value } => {
                shapes.extend(targets.iter().map(|target| (target, value)));
            }
            StmtKind::For { iter, .. } => walked.push(iter),
            _ => {}
        });
        exprs.iter().for_each(|e| self.expr(e));
        for test in tests {
            self.test(test);
        }
        for (target, value) in shapes {
            self.unpacked(target, value);
        }
        for iter in walked {
            match self.param(iter) {
                Some(param) => self.of(&param).sequence = true,
                // `range(start, end)`
                None => self.whole_numbers(iter),
            }
        }
    }

    /// The arrays whose elements a value is computed from, as far as it is of their type.
    fn sources(&self, value: &Expr, out: &mut Vec<SmolStr>) {
        match &value.kind {
            ExprKind::Name(name) => {
                out.extend(self.loaded.get(name).into_iter().flatten().cloned())
            }
            ExprKind::Compare { .. } | ExprKind::Lambda { .. } => {}
            ExprKind::Call { func, args } => match self.function.file.env.api(func).as_deref() {
                Some("load" | "gather") => {
                    let array = argument(args, Some(0), "array");
                    out.extend(array.and_then(|a| self.param(a)));
                }
                Some("cdiv" | "maximum" | "minimum" | "reshape" | "broadcast_to") => {
                    args.iter().for_each(|a| self.sources(&a.value, out));
                }
                Some(_) => {}
                None => match &func.kind {
                    ExprKind::Attribute { value, attr }
                        if matches!(attr.name.as_str(), "item" | "reshape") =>
                    {
                        self.sources(value, out);
                    }
                    ExprKind::Name(name) if matches!(name.as_str(), "min" | "max") => {
                        args.iter().for_each(|a| self.sources(&a.value, out));
                    }
                    _ => {}
                },
            },
            ExprKind::Binary { op, .. } if op == "/" => {}
            _ => value.children(&mut |e| self.sources(e, out)),
        }
    }

    /// What an expression is computed from are whole numbers.
    fn whole_numbers(&mut self, expr: &'w Expr) {
        let mut arrays = Vec::new();
        match &expr.kind {
            ExprKind::Call { func, args } if func.name().is_some_and(|n| n == "range") => {
                args.iter()
                    .for_each(|a| self.sources(&a.value, &mut arrays));
            }
            _ => self.sources(expr, &mut arrays),
        }
        for array in arrays {
            self.of(&array).index = true;
        }
    }

    fn of(&mut self, param: &SmolStr) -> &mut Use {
        self.uses.entry(param.clone()).or_default()
    }

    fn param(&self, expr: &Expr) -> Option<SmolStr> {
        stands_for(expr, &self.alias)
    }

    fn expr(&mut self, expr: &'w Expr) {
        match &expr.kind {
            ExprKind::Attribute { value, attr } => {
                if let Some(param) = self.param(value) {
                    self.attribute(&param, &attr.name);
                }
            }
            ExprKind::Subscript { value, index } => self.subscript(value, index),
            ExprKind::Call { func, args } => {
                let function = self.function.clone();
                let device = function.device();
                match device.module.api(func) {
                    Some(name) => {
                        let call = ApiCall { name, expr, args };
                        self.api(&call);
                    }
                    None => self.other_call(func, args),
                }
            }
            ExprKind::Binary { left, right, .. } => {
                for (one, other) in [(left, right), (right, left)] {
                    if let Some(param) = one.name().and_then(|n| self.alias.get(n)).cloned() {
                        let float = self.is_float(other);
                        self.of(&param).float |= float;
                    }
                }
            }
            ExprKind::Conditional { test, .. } => self.test(test),
            _ => {}
        }
    }

    fn is_float(&self, expr: &Expr) -> bool {
        match self.function.body.ty(expr) {
            Ty::Tile(tile) => tile.dtype.is_float(),
            Ty::Const(Const::Float(_)) => true,
            _ => false,
        }
    }

    fn attribute(&mut self, param: &SmolStr, name: &str) {
        let array = matches!(
            name,
            "shape" | "dtype" | "strides" | "ndim" | "slice" | "tiled_view" | "get_raw_memory"
        );
        self.of(param).array |= array;
    }

    fn subscript(&mut self, value: &'w Expr, index: &'w [Expr]) {
        if let ExprKind::Attribute { value, attr } = &value.kind
            && matches!(attr.name.as_str(), "shape" | "strides")
            && let (Some(param), [index]) = (self.param(value), index)
            && let ExprKind::Int(axis) = index.kind
        {
            let least = usize::try_from(axis).map_or(1, |axis| axis + 1);
            let of = self.of(&param);
            of.at_least = of.at_least.max(least);
        }
        if let Some(param) = value.name().and_then(|n| self.alias.get(n)).cloned() {
            self.of(&param).sequence = true;
        }
    }

    /// `a, b = x.shape`: as many axes.
    fn unpacked(&mut self, target: &'w Expr, value: &'w Expr) {
        if let ExprKind::Attribute { value, attr } = &value.kind
            && attr.name == "shape"
            && let (ExprKind::Tuple(parts), Some(param)) = (&target.kind, self.param(value))
        {
            self.of(&param).ndim = Some(parts.len());
        }
    }

    fn test(&mut self, test: &'w Expr) {
        let mut names = Vec::new();
        match &test.kind {
            ExprKind::Name(name) => names.push(name),
            ExprKind::Unary { op, operand } if op == "not" => names.extend(operand.name()),
            ExprKind::Logical { left, right, .. } => {
                self.test(left);
                self.test(right);
            }
            _ => {}
        }
        for name in names {
            if let Some(param) = self.alias.get(name).cloned() {
                self.of(&param).tested = true;
            }
        }
    }

    /// A call of something of the workspace's, or a method.
    fn other_call(&mut self, func: &'w Expr, args: &'w [Arg]) {
        if let ExprKind::Attribute { value, attr } = &func.kind
            && let Some(param) = self.param(value)
        {
            self.method(&param, &attr.name, args);
            return;
        }
        let (Some(path), Some(depth)) = (func.dotted(), self.depth.checked_sub(1)) else {
            return;
        };
        let Some(callee) = self.walker.files.called(self.function.module, &path) else {
            return;
        };
        let uses = self.walker.within(&callee, depth);
        for (param, value) in bound_to(&callee.def.params, args) {
            let used = uses.get(param);
            if let (Some(own), Some(used)) = (self.param(value), used) {
                self.of(&own).merge(used);
            }
            // What a helper does with a tile is done with the elements of its array.
            if let (Ty::Tile(tile), Some(used)) = (self.function.body.ty(value), used)
                && let Dtype::Of(array) = &tile.dtype
            {
                let (mma, index) = (used.mma, used.index);
                let of = self.of(array);
                of.mma |= mma;
                of.index |= index;
            }
        }
    }

    fn method(&mut self, param: &SmolStr, method: &str, args: &'w [Arg]) {
        let place = match method {
            "tiled_view" | "load" | "store" => 0,
            "slice" => {
                args.iter().for_each(|a| self.whole_numbers(&a.value));
                return;
            }
            _ => return,
        };
        let names = ["shape", "index", "tile_shape"];
        let shape = names
            .iter()
            .find_map(|name| argument(args, Some(place), name));
        let ndim = shape.and_then(|shape| self.rank(shape));
        let of = self.of(param);
        of.array = true;
        of.ndim = of.ndim.or(ndim);
    }
}

fn each_stmt<'e>(body: &'e [Stmt], visit: &mut dyn FnMut(&'e Stmt)) {
    for stmt in body {
        visit(stmt);
        if !matches!(stmt.kind, StmtKind::FunctionDef(_) | StmtKind::ClassDef(_)) {
            stmt.blocks()
                .into_iter()
                .for_each(|block| each_stmt(block, visit));
        }
    }
}

/// Parameters with what a call gives them.
fn bound_to<'a>(params: &'a [Param], args: &'a [Arg]) -> Vec<(&'a str, &'a Expr)> {
    let mut places = params.iter().filter(|p| p.stars == 0 && !p.keyword_only);
    let mut out = Vec::new();
    for arg in args.iter().filter(|a| a.stars == 0) {
        match &arg.name {
            Some(name) => out.push((name.name.as_str(), &arg.value)),
            None => out.extend(places.next().map(|p| (p.name.name.as_str(), &arg.value))),
        }
    }
    out
}
