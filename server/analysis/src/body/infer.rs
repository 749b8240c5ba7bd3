//! The walk that types a function: statements in order, branches joined, loops twice.

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::ast::{Clause, Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::module::{Literal, ModuleEnv};
use super::{Body, Const, Dtype, Tile, Ty, walk};

/// Types of local names.
pub(super) type Locals = FxHashMap<SmolStr, Ty>;

/// The state of the walk.
pub(super) struct Infer<'a> {
    pub(super) module: &'a ModuleEnv,
    pub(super) body: Body,
    pub(super) locals: Locals,
    pub(super) params: FxHashSet<SmolStr>,
}

pub(super) fn infer(
    def: &FunctionDef,
    outer: FxHashSet<SmolStr>,
    constants: &FxHashSet<SmolStr>,
    module: &ModuleEnv,
) -> Body {
    let mut infer = Infer {
        module,
        body: Body {
            outer,
            ..Body::default()
        },
        locals: Locals::default(),
        params: def.params.iter().map(|p| p.name.name.clone()).collect(),
    };
    infer.body.arrays = infer.arrays(def);
    walk::reads(&def.body, &mut |name| {
        if infer.params.contains(name) {
            infer.body.read.insert(name.clone());
        }
    });
    for param in &def.params {
        let name = &param.name.name;
        let ty = if constants.contains(name) {
            Ty::Const(Const::Name(name.clone()))
        } else if infer.body.arrays.contains(name) {
            Ty::Array(name.clone())
        } else {
            Ty::Unknown
        };
        infer.locals.insert(name.clone(), ty);
    }
    infer.block(&def.body);
    infer.body
}

impl Infer<'_> {
    /// Parameters that are used as arrays: read or written by an access, or asked for what only an
    /// array has.
    fn arrays(&self, def: &FunctionDef) -> FxHashSet<SmolStr> {
        let mut found = FxHashSet::default();
        walk::walk(&def.body, &mut |expr, _| match &expr.kind {
            ExprKind::Call { func, args } => {
                let takes_array = self.module.api(func).is_some_and(|name| {
                    matches!(
                        name.as_str(),
                        "load" | "store" | "gather" | "scatter" | "num_tiles"
                    ) || name.starts_with("atomic_")
                });
                let array = super::argument(args, Some(0), "array").and_then(Expr::name);
                if let Some(name) = array.filter(|n| takes_array && self.params.contains(*n)) {
                    found.insert(name.clone());
                }
            }
            ExprKind::Attribute { value, attr } => {
                let asked = matches!(
                    attr.name.as_str(),
                    "strides" | "slice" | "tiled_view" | "get_raw_memory"
                );
                if let Some(name) = value.name()
                    && asked
                    && self.params.contains(name)
                {
                    found.insert(name.clone());
                }
            }
            _ => {}
        });
        found
    }

    fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                let ty = self.expr(value);
                targets.iter().for_each(|t| self.bind(t, &ty));
            }
            StmtKind::AnnAssign {
                target,
                value: Some(value),
                ..
            } => {
                let ty = self.expr(value);
                self.bind(target, &ty);
            }
            StmtKind::AugAssign { target, op, value } => {
                let right = self.expr(value);
                let left = self.expr(target);
                let op = op.trim_end_matches('=');
                let ty = self.binary(op, &left, &right);
                self.bind(target, &ty);
            }
            StmtKind::For {
                target,
                iter,
                body,
                orelse,
            } => {
                let ty = self.counter(iter);
                self.twice(|s| {
                    s.bind(target, &ty);
                    s.block(body);
                });
                self.block(orelse);
            }
            StmtKind::While { test, body, orelse } => {
                self.twice(|s| {
                    s.expr(test);
                    s.block(body);
                });
                self.block(orelse);
            }
            StmtKind::If { branches, orelse } => {
                let before = self.locals.clone();
                let mut after: Option<Locals> = None;
                for (test, body) in branches {
                    self.expr(test);
                    let here = self.locals.clone();
                    self.block(body);
                    let ended = std::mem::replace(&mut self.locals, here);
                    if !leaves(body) {
                        after = Some(joined(after, ended));
                    }
                }
                self.block(orelse);
                let ended = std::mem::replace(&mut self.locals, before);
                if orelse.is_empty() || !leaves(orelse) {
                    after = Some(joined(after, ended));
                }
                if let Some(after) = after {
                    self.locals = after;
                }
            }
            StmtKind::With { items, body } => {
                for (value, target) in items {
                    let ty = self.expr(value);
                    if let Some(target) = target {
                        self.bind(target, &ty);
                    }
                }
                self.block(body);
            }
            StmtKind::FunctionDef(def) => {
                self.locals.insert(def.name.name.clone(), Ty::Unknown);
            }
            StmtKind::ClassDef(_) => {}
            _ => {
                let mut own: Vec<&Expr> = Vec::new();
                stmt.own_exprs(&mut |e| own.push(e));
                own.into_iter().for_each(|e| drop(self.expr(e)));
                for inner in stmt.blocks() {
                    self.block(inner);
                }
            }
        }
    }

    /// A loop's body, once to learn what it changes and once with that known.
    fn twice(&mut self, mut body: impl FnMut(&mut Self)) {
        for _ in 0..2 {
            let before = self.locals.clone();
            body(self);
            let ended = std::mem::take(&mut self.locals);
            self.locals = joined(Some(before), ended);
        }
    }

    /// What a loop counts with.
    fn counter(&mut self, iter: &Expr) -> Ty {
        let ty = self.expr(iter);
        let ExprKind::Call { func, args } = &iter.kind else {
            return match ty {
                Ty::Tuple(parts) => parts
                    .iter()
                    .cloned()
                    .reduce(|a, b| a.join(&b))
                    .unwrap_or_default(),
                _ => Ty::Unknown,
            };
        };
        if self.module.api(func).is_some_and(|n| n == "static_iter") {
            return Ty::Const(Const::Other);
        }
        if func.name().is_some_and(|n| n == "range") {
            // A counter that starts at a block's index walks over blocks.
            let from_block = |e: &Expr| matches!(self.body.ty(e), Ty::Scalar { block: true });
            let block = args.len() < 2 || args.iter().any(|a| from_block(&a.value));
            return Ty::Scalar { block };
        }
        Ty::Unknown
    }

    fn bind(&mut self, target: &Expr, ty: &Ty) {
        match &target.kind {
            ExprKind::Name(name) => {
                self.locals.insert(name.clone(), ty.clone());
                self.record(target, ty.clone());
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                for (i, item) in items.iter().enumerate() {
                    let part = match ty {
                        Ty::Tuple(parts) if parts.len() == items.len() => parts[i].clone(),
                        _ => Ty::Unknown,
                    };
                    self.bind(item, &part);
                }
            }
            ExprKind::Starred(inner) => self.bind(inner, &Ty::Unknown),
            _ => drop(self.expr(target)),
        }
    }

    fn record(&mut self, expr: &Expr, ty: Ty) {
        self.body.types.insert(expr.span, ty);
    }

    /// Types an expression and all its parts.
    pub(super) fn expr(&mut self, expr: &Expr) -> Ty {
        let ty = self.kind(expr);
        self.record(expr, ty.clone());
        ty
    }

    fn kind(&mut self, expr: &Expr) -> Ty {
        match &expr.kind {
            ExprKind::Int(value) => Ty::Const(Const::Int(*value)),
            ExprKind::Float(value) => Ty::Const(Const::Float(*value)),
            ExprKind::Bool(value) => Ty::Const(Const::Bool(*value)),
            ExprKind::Str(_) | ExprKind::FString(_) => Ty::Const(Const::Str),
            ExprKind::None => Ty::None,
            ExprKind::Name(name) => self.name(name, expr),
            ExprKind::Attribute { value, attr } => {
                if let Some(api) = self.module.api(expr) {
                    return match Dtype::named(&api) {
                        Some(dtype) => Ty::Dtype(dtype),
                        None => Ty::Api(api),
                    };
                }
                let base = self.expr(value);
                attribute(&base, &attr.name)
            }
            ExprKind::Call { func, args } => self.call(expr, func, args),
            ExprKind::Subscript { value, index } => {
                let base = self.expr(value);
                let indices: Vec<Ty> = index.iter().map(|i| self.expr(i)).collect();
                subscript(&base, index, &indices)
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => self.sequence(items),
            ExprKind::Unary { op, operand } => {
                let ty = self.expr(operand);
                match (op.as_str(), ty) {
                    ("-", Ty::Const(Const::Int(v))) => {
                        Ty::Const(v.checked_neg().map_or(Const::Other, Const::Int))
                    }
                    ("-", Ty::Const(Const::Float(v))) => Ty::Const(Const::Float(-v)),
                    ("not", Ty::Const(_)) => Ty::Const(Const::Other),
                    ("not", _) => Ty::Scalar { block: false },
                    (_, ty) => ty,
                }
            }
            ExprKind::Binary { op, left, right } => {
                let (left, right) = (self.expr(left), self.expr(right));
                self.binary(op, &left, &right)
            }
            ExprKind::Compare { first, rest } => {
                let mut all = vec![self.expr(first)];
                all.extend(rest.iter().map(|(_, e)| self.expr(e)));
                comparison(&all)
            }
            ExprKind::Logical { left, right, .. } => {
                let (left, right) = (self.expr(left), self.expr(right));
                left.join(&right)
            }
            ExprKind::Conditional { test, body, orelse } => {
                self.expr(test);
                let (body, orelse) = (self.expr(body), self.expr(orelse));
                body.join(&orelse)
            }
            ExprKind::Named { target, value } => {
                let ty = self.expr(value);
                self.locals.insert(target.name.clone(), ty.clone());
                ty
            }
            ExprKind::Comprehension {
                element,
                value,
                clauses,
                ..
            } => {
                let outer = self.locals.clone();
                for clause in clauses {
                    match clause {
                        Clause::For { target, iter } => {
                            let ty = self.counter(iter);
                            self.bind(target, &ty);
                        }
                        Clause::If(test) => drop(self.expr(test)),
                    }
                }
                self.expr(element);
                value.iter().for_each(|v| drop(self.expr(v)));
                self.locals = outer;
                Ty::Unknown
            }
            ExprKind::Lambda { .. } => Ty::Unknown,
            _ => {
                let mut parts: Vec<&Expr> = Vec::new();
                expr.children(&mut |e| parts.push(e));
                parts.into_iter().for_each(|e| drop(self.expr(e)));
                Ty::Unknown
            }
        }
    }

    /// `(a, *rest)`: known if the length is.
    fn sequence(&mut self, items: &[Expr]) -> Ty {
        let mut parts = Some(Vec::with_capacity(items.len()));
        for item in items {
            let ExprKind::Starred(inner) = &item.kind else {
                let ty = self.expr(item);
                parts.iter_mut().for_each(|p| p.push(ty.clone()));
                continue;
            };
            match (self.expr(inner), &mut parts) {
                (Ty::Tuple(more), Some(parts)) => parts.extend(more),
                _ => parts = None,
            }
        }
        parts.map_or(Ty::Unknown, Ty::Tuple)
    }

    fn name(&mut self, name: &SmolStr, expr: &Expr) -> Ty {
        if let Some(ty) = self.locals.get(name) {
            return ty.clone();
        }
        if self.body.outer.contains(name) {
            return Ty::Const(Const::Name(name.clone()));
        }
        match self.module.constants.get(name) {
            Some(Literal::Int(value)) => return Ty::Const(Const::Int(*value)),
            Some(Literal::Float(value)) => return Ty::Const(Const::Float(*value)),
            Some(Literal::Bool(value)) => return Ty::Const(Const::Bool(*value)),
            Some(Literal::Str(_)) => return Ty::Const(Const::Str),
            _ => {}
        }
        if let Some(api) = self.module.api(expr) {
            return match Dtype::named(&api) {
                Some(dtype) => Ty::Dtype(dtype),
                None => Ty::Api(api),
            };
        }
        if self.module.functions.contains_key(name) || self.module.imports.contains_key(name) {
            return Ty::Unknown;
        }
        // A name from around the kernel: fixed when it is compiled.
        Ty::Const(Const::Name(name.clone()))
    }

    /// What an operator on two values gives.
    pub(super) fn binary(&self, op: &str, left: &Ty, right: &Ty) -> Ty {
        match (left, right) {
            (Ty::Tile(a), Ty::Tile(b)) => {
                let mut tile = a.combine(b);
                tile.offsets = (a.offsets || b.offsets) && matches!(op, "+" | "-" | "*");
                tile.mask &= keeps_mask(op);
                divided(op, &mut tile);
                tile.ty()
            }
            (Ty::Tile(tile), other) | (other, Ty::Tile(tile)) => {
                let mut tile = (**tile).clone();
                match other {
                    Ty::Const(Const::Float(_)) if tile.dtype == Dtype::Int => {
                        tile.dtype = Dtype::F32;
                    }
                    Ty::Const(_) => {}
                    Ty::Scalar { .. } => tile.constant = false,
                    _ => {
                        tile.constant = false;
                        tile.dtype = match tile.dtype {
                            Dtype::F32 | Dtype::F64 => tile.dtype,
                            _ => Dtype::Unknown,
                        };
                    }
                }
                tile.offsets &= matches!(op, "+" | "-" | "*");
                tile.mask &= keeps_mask(op);
                divided(op, &mut tile);
                tile.ty()
            }
            (Ty::Const(Const::Int(a)), Ty::Const(Const::Int(b))) => Ty::Const(folded(op, *a, *b)),
            (Ty::Const(_), Ty::Const(_)) => Ty::Const(Const::Other),
            (Ty::Scalar { block: a }, Ty::Scalar { block: b }) => Ty::Scalar { block: *a || *b },
            (Ty::Scalar { block }, Ty::Const(_)) | (Ty::Const(_), Ty::Scalar { block }) => {
                Ty::Scalar { block: *block }
            }
            (Ty::Scalar { block: true }, Ty::Unknown)
            | (Ty::Unknown, Ty::Scalar { block: true }) => Ty::Scalar { block: true },
            (Ty::Tuple(a), Ty::Tuple(b)) if op == "+" => {
                Ty::Tuple(a.iter().chain(b).cloned().collect())
            }
            _ => Ty::Unknown,
        }
    }
}

/// Whether an operator makes a mask of masks.
fn keeps_mask(op: &str) -> bool {
    matches!(op, "&" | "|" | "^") || op.starts_with("bitwise_")
}

/// True division of whole numbers gives floats.
fn divided(op: &str, tile: &mut Tile) {
    if op == "/" && matches!(tile.dtype, Dtype::Int | Dtype::Bool) {
        tile.dtype = Dtype::F32;
    }
}

fn folded(op: &str, a: i64, b: i64) -> Const {
    let value = match op {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "//" if b > 0 => Some(a.div_euclid(b)),
        "%" if b > 0 => Some(a.rem_euclid(b)),
        "**" => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        "<<" => u32::try_from(b)
            .ok()
            .filter(|b| *b < 62)
            .and_then(|b| a.checked_mul(1 << b)),
        ">>" => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
        _ => None,
    };
    value.map_or(Const::Other, Const::Int)
}

fn comparison(parts: &[Ty]) -> Ty {
    let mut tile: Option<Tile> = None;
    for part in parts {
        if let Ty::Tile(part) = part {
            tile = Some(tile.map_or_else(|| (**part).clone(), |t| t.combine(part)));
        }
    }
    match tile {
        Some(tile) => Tile {
            dtype: Dtype::Bool,
            offsets: false,
            mask: true,
            ..tile
        }
        .ty(),
        None if parts.iter().all(Ty::is_const) => Ty::Const(Const::Other),
        None => Ty::Scalar { block: false },
    }
}

fn attribute(base: &Ty, name: &str) -> Ty {
    match (base, name) {
        (Ty::Array(array), "dtype") => Ty::Dtype(Dtype::Of(array.clone())),
        (Ty::Tile(tile), "dtype") => Ty::Dtype(tile.dtype.clone()),
        (Ty::Tile(tile), "shape") => match &tile.shape {
            Some(shape) => Ty::Tuple(shape.iter().map(shown).collect()),
            None => Ty::Unknown,
        },
        (Ty::Tile(_) | Ty::Array(_), "ndim") => Ty::Const(Const::Other),
        _ => Ty::Unknown,
    }
}

fn shown(extent: &super::Extent) -> Ty {
    Ty::Const(match extent {
        super::Extent::Int(value) => Const::Int(*value),
        super::Extent::Name(name) => Const::Name(name.clone()),
        super::Extent::Other => Const::Other,
    })
}

fn subscript(base: &Ty, index: &[Expr], indices: &[Ty]) -> Ty {
    match base {
        // `x[:, None]`: an axis more, the same values.
        Ty::Tile(tile) => {
            let mut tile = (**tile).clone();
            let mut old = tile.shape.take().map(Vec::into_iter);
            let mut shape = old.as_ref().map(|_| Vec::new());
            for (part, ty) in index.iter().zip(indices) {
                let extent = match (&part.kind, ty) {
                    (ExprKind::None, _) => Some(super::Extent::Int(1)),
                    (ExprKind::Slice { .. }, _) => old.as_mut().and_then(Iterator::next),
                    _ => None,
                };
                match (extent, &mut shape) {
                    (Some(extent), Some(shape)) => shape.push(extent),
                    _ => shape = None,
                }
            }
            if let (Some(shape), Some(old)) = (&mut shape, old) {
                shape.extend(old);
            }
            tile.shape = shape;
            tile.ty()
        }
        Ty::Tuple(parts) => match indices {
            [Ty::Const(Const::Int(i))] => {
                let at = if *i < 0 { *i + parts.len() as i64 } else { *i };
                usize::try_from(at)
                    .ok()
                    .and_then(|at| parts.get(at).cloned())
                    .unwrap_or_default()
            }
            _ => Ty::Unknown,
        },
        _ => Ty::Unknown,
    }
}

/// Whether control never reaches the end of statements.
fn leaves(body: &[Stmt]) -> bool {
    (body.last()).is_some_and(|s| {
        matches!(
            s.kind,
            StmtKind::Return(_) | StmtKind::Raise(_) | StmtKind::Break | StmtKind::Continue
        )
    })
}

/// Names of both ways; of a name that only one of them binds, what that one says.
fn joined(first: Option<Locals>, second: Locals) -> Locals {
    let Some(mut first) = first else {
        return second;
    };
    for (name, ty) in second {
        match first.get_mut(&name) {
            Some(known) if *known != ty => *known = known.join(&ty),
            Some(_) => {}
            None => drop(first.insert(name, ty)),
        }
    }
    first
}
