//! What the expressions of device code are: tiles, arrays, block indices, compile-time constants.
//!
//! Rules about kernels ask "is this a tile, and of which dtype?" far more than "what is it called".
//! [`Body::of`] answers for every expression of one function by a walk in source order: branches are
//! joined, loop bodies walked twice. What it cannot tell is [`Ty::Unknown`], never a guess: a rule
//! that needs a tile stays silent then.

mod api;
mod calls;
mod infer;
mod locals;
mod module;
mod operators;
mod shape;
mod statements;
mod ty;
mod walk;

#[cfg(test)]
mod tests;

use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, FunctionDef};

pub(crate) use module::{Binding, is_decorated, module_bindings};
pub use module::{FunctionKind, Literal, ModuleEnv};
pub use ty::{Const, Dtype, Extent, Source, SourceKind, Tile, Ty};
pub(crate) use walk::{Bound, bindings, bound};
pub use walk::{Place, values, walk};

/// What is known of one function of device code.
#[derive(Debug, Default)]
pub struct Body {
    types: FxHashMap<Span, Ty>,
    /// Every binding of a name: where the value stands, of a plain assignment.
    bindings: Vec<(SmolStr, Option<Span>)>,
    /// It looks at dtypes itself: it knows tfloat32.
    pub is_tf32_known: bool,
    /// Where the values of names stand that have one only.
    only: FxHashMap<SmolStr, Span>,
    /// Parameters that are used as arrays.
    pub arrays: FxHashSet<SmolStr>,
    /// Parameters read anywhere, in nested functions and lambdas as well.
    pub read: FxHashSet<SmolStr>,
    /// Names that the functions around it bind: what they are is known only when it is compiled.
    pub outer: FxHashSet<SmolStr>,
    /// Arrays that loads and gathers read from, by parameter.
    pub loaded: FxHashSet<SmolStr>,
    /// Arrays that stores, scatters and atomics write to, by parameter.
    pub stored: FxHashSet<SmolStr>,
    /// Of those loaded, the ones that nothing was written to before: what they hold is the caller's.
    pub read_first: FxHashSet<SmolStr>,
}

impl Body {
    /// Walks a function. `constants` are the parameters whose annotation makes them compile-time
    /// constants.
    pub fn of(def: &FunctionDef, constants: &FxHashSet<SmolStr>, module: &ModuleEnv) -> Body {
        Body::within(def, &[], constants, module)
    }

    /// Walks a function that stands in others.
    pub fn within(
        def: &FunctionDef,
        around: &[&FunctionDef],
        constants: &FxHashSet<SmolStr>,
        module: &ModuleEnv,
    ) -> Body {
        let mut outer = FxHashSet::default();
        for function in around {
            outer.extend(function.params.iter().map(|p| p.name.name.clone()));
            walk::bound_names(&function.body, &mut |name| {
                outer.insert(name.clone());
            });
        }
        let mut body = infer::infer(def, outer, constants, module);
        body.bindings = walk::all_bindings(def);
        body.only = walk::only_values(def, &body.bindings);
        body
    }

    /// What an expression of the function is; of one that was never reached, unknown.
    pub fn ty(&self, expr: &Expr) -> &Ty {
        self.types.get(&expr.span).unwrap_or(&Ty::Unknown)
    }
}

/// A function of device code with everything a rule asks of it.
#[derive(Debug, Clone, Copy)]
pub struct Device<'a> {
    /// The definition.
    pub def: &'a FunctionDef,
    /// Its expressions.
    pub body: &'a Body,
    /// The file around it.
    pub module: &'a ModuleEnv,
    /// The function is a kernel, not a helper that kernels call.
    pub is_kernel: bool,
    /// Parameters whose annotation makes them compile-time constants.
    pub constants: &'a FxHashSet<SmolStr>,
    /// Its expressions in a row, if somebody has gathered them: dozens of rules ask for each.
    pub code: Option<&'a Code<'a>>,
}

/// The expressions of a function in source order, gathered once.
#[derive(Debug)]
pub struct Code<'a> {
    exprs: Vec<(&'a Expr, usize)>,
    calls: Vec<(ApiCall<'a>, usize)>,
    /// One for each statement.
    places: Vec<Place<'a>>,
}

impl<'a> Code<'a> {
    /// Gathers what [`walk`] visits.
    pub fn of(def: &'a FunctionDef, module: &ModuleEnv) -> Code<'a> {
        let mut code = Code {
            exprs: Vec::new(),
            calls: Vec::new(),
            places: Vec::new(),
        };
        walk(&def.body, &mut |expr, place| {
            if !code.places.last().is_some_and(|known| same(known, place)) {
                code.places.push(place.clone());
            }
            let number = code.places.len() - 1;
            code.exprs.push((expr, number));
            if let Some(call) = api_call(expr, module) {
                code.calls.push((call, number));
            }
        });
        code
    }
}

/// Whether two places are of the same statement.
fn same(a: &Place<'_>, b: &Place<'_>) -> bool {
    match (a.stmt(), b.stmt()) {
        (Some(a), Some(b)) => std::ptr::eq(a, b),
        _ => false,
    }
}

fn api_call<'a>(expr: &'a Expr, module: &ModuleEnv) -> Option<ApiCall<'a>> {
    let ExprKind::Call { func, args } = &expr.kind else {
        return None;
    };
    let name = module.api(func)?;
    Some(ApiCall { name, expr, args })
}

/// A call of something of cuTile's.
#[derive(Debug, Clone)]
pub struct ApiCall<'a> {
    /// Its name in `cuda.tile`: `load`, `tune.exhaustive_search`.
    pub name: SmolStr,
    /// The whole call.
    pub expr: &'a Expr,
    /// Its arguments.
    pub args: &'a [Arg],
}

impl<'a> ApiCall<'a> {
    /// The argument for a parameter of this place and name.
    pub fn arg(&self, place: usize, name: &str) -> Option<&'a Expr> {
        argument(self.args, Some(place), name)
    }

    /// The argument given by a name.
    pub fn keyword(&self, name: &str) -> Option<&'a Expr> {
        argument(self.args, None, name)
    }

    /// Some arguments are not written out: `*args`, `**options`.
    pub fn is_open(&self) -> bool {
        self.args.iter().any(|a| a.stars > 0)
    }
}

/// The argument for a parameter: by its name, or by its place among those without one.
pub fn argument<'a>(args: &'a [Arg], place: Option<usize>, name: &str) -> Option<&'a Expr> {
    let named = |a: &&Arg| a.name.as_ref().is_some_and(|n| n.name == name);
    let by_place = || {
        let mut plain = args.iter().filter(|a| a.name.is_none());
        plain.nth(place?).filter(|a| a.stars == 0)
    };
    (args.iter().find(named).or_else(by_place)).map(|a| &a.value)
}

impl<'a> Device<'a> {
    /// What an expression is.
    pub fn ty(&self, expr: &Expr) -> &'a Ty {
        self.body.ty(expr)
    }

    /// The tile that an expression is, if it is one.
    pub fn tile(&self, expr: &Expr) -> Option<&'a Tile> {
        match self.ty(expr) {
            Ty::Tile(tile) => Some(tile),
            _ => None,
        }
    }

    /// The call of cuTile's that an expression is.
    pub fn call(&self, expr: &'a Expr) -> Option<ApiCall<'a>> {
        api_call(expr, self.module)
    }

    /// Every expression of the function, in source order, and where it stands.
    pub fn walk(&self, visit: &mut dyn FnMut(&'a Expr, &Place<'a>)) {
        match self.code {
            Some(code) => (code.exprs.iter()).for_each(|(e, at)| visit(e, &code.places[*at])),
            None => walk(&self.def.body, visit),
        }
    }

    /// Every call of cuTile's in the function, in source order, and where it stands.
    pub fn calls(&self, visit: &mut dyn FnMut(&ApiCall<'a>, &Place<'a>)) {
        if let Some(code) = self.code {
            (code.calls.iter()).for_each(|(call, at)| visit(call, &code.places[*at]));
            return;
        }
        walk(&self.def.body, &mut |expr, place| {
            if let Some(call) = self.call(expr) {
                visit(&call, place);
            }
        });
    }

    /// The parameter of that name.
    pub fn param(&self, name: &str) -> Option<&'a tileperf_syntax::ast::Param> {
        self.def.params.iter().find(|p| p.name.name == name)
    }

    /// Whether its statements bind a name, parameters left out.
    pub fn binds(&self, name: &str) -> bool {
        self.body.bindings.iter().any(|(bound, _)| bound == name)
    }

    /// What its statements bind a name to, as [`values`] says it.
    pub fn values(&self, name: &str) -> Vec<Option<&'a Expr>> {
        let of_name = self.body.bindings.iter().filter(|(bound, _)| bound == name);
        let value = |span: &Option<Span>| walk::value_at(&self.def.body, (*span)?);
        of_name.map(|(_, span)| value(span)).collect()
    }

    /// What a local name stands for if it is assigned once and never changed, else the expression
    /// itself: `off = bid * BLOCK`, then `off`.
    pub fn follow(&self, expr: &'a Expr) -> &'a Expr {
        let Some(name) = expr.name() else { return expr };
        let value = self.body.only.get(name);
        (value.and_then(|span| walk::value_at(&self.def.body, *span))).unwrap_or(expr)
    }
}
