//! The walk that types a function: statements in order, branches joined, loops twice.

use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::ast::{Clause, Expr, ExprKind, FunctionDef};

use super::locals::{Locals, Slots};
use super::module::{Literal, ModuleEnv};
use super::{Body, Const, Dtype, Ty, operators, walk};

/// The state of the walk.
pub(super) struct Infer<'a> {
    pub(super) module: &'a ModuleEnv,
    pub(super) body: Body,
    pub(super) locals: Locals,
    pub(super) slots: Slots,
    /// Names that were read where no local of that name was known, in the order of the walk.
    pub(super) missed: Vec<SmolStr>,
    pub(super) params: FxHashSet<SmolStr>,
}

pub(super) fn infer(
    def: &FunctionDef,
    outer: FxHashSet<SmolStr>,
    constants: &FxHashSet<SmolStr>,
    module: &ModuleEnv,
) -> Body {
    // An expression for every few characters: room for all at once.
    let room = def.def_span.len() / 10;
    let mut infer = Infer {
        module,
        body: Body {
            types: FxHashMap::with_capacity_and_hasher(room, FxBuildHasher),
            outer,
            ..Body::default()
        },
        locals: Locals::default(),
        slots: Slots::default(),
        missed: Vec::new(),
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
        infer.set(name, ty);
    }
    infer.block(&def.body);
    let types = infer.body.types.values();
    infer.body.is_tf32_known = types.into_iter().any(|ty| *ty == Ty::Dtype(Dtype::Tf32));
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

    /// Binds a local name.
    pub(super) fn set(&mut self, name: &SmolStr, ty: Ty) {
        self.locals.insert(&mut self.slots, name, ty);
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
                operators::attribute(&base, &attr.name)
            }
            ExprKind::Call { func, args } => self.call(expr, func, args),
            ExprKind::Subscript { value, index } => {
                let base = self.expr(value);
                let indices: Vec<Ty> = index.iter().map(|i| self.expr(i)).collect();
                operators::subscript(&base, index, &indices)
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
                operators::binary(op, &left, &right)
            }
            ExprKind::Compare { first, rest } => {
                let mut all = vec![self.expr(first)];
                all.extend(rest.iter().map(|(_, e)| self.expr(e)));
                operators::comparison(&all)
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
                self.set(&target.name, ty.clone());
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
                (Ty::Tuple(more), Some(parts)) => parts.extend(more.iter().cloned()),
                _ => parts = None,
            }
        }
        parts.map_or(Ty::Unknown, |parts| Ty::Tuple(parts.into()))
    }

    fn name(&mut self, name: &SmolStr, expr: &Expr) -> Ty {
        if let Some(ty) = self.locals.get(&self.slots, name) {
            return ty.clone();
        }
        self.missed.push(name.clone());
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
}
