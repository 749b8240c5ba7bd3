//! A small abstract evaluator: what an expression or a generator can yield on an architecture.
//!
//! A configuration space is ordinary Python: loops, filters, helpers, branches on the device. This
//! runs it without running it. Known values are computed as Python would; what is not known, a
//! parameter, an environment variable, the number of multiprocessors, is a symbol ([`sym`]) with an
//! interval. Where a branch depends on a symbol, the run is repeated for each outcome ([`paths`]),
//! so that two tests of one condition agree; where that would be too often, or the condition is new
//! each time, both branches run and their results are joined ([`heap`]). Counts widen to a range that
//! holds the right number; they are never a wrong one.
//!
//! Everything is bounded: steps, depth, paths, elements. When a bound is hit the answer is "0 to
//! unbounded" with the reason.
//!
//! Assumed, and so the limits of what is said here: code does not change builtins or other modules'
//! globals; a module-level container that only caches is cold; numbers given as parameters are
//! ordinary ones (no NaN); a call of something outside the workspace does not change the lists it is
//! given.

mod attrs;
mod builtins;
mod call;
mod classes;
mod compare;
mod comprehension;
mod cond;
mod convert;
mod define;
mod dicts;
mod enter;
mod env;
mod expr;
mod heap;
mod interp;
mod iterate;
mod itertools;
mod library;
mod loops;
mod methods;
mod names;
mod ops;
mod paths;
mod seq;
mod shape;
mod slice;
mod space;
mod stmt;
mod subscript;
mod sym;
mod targets;
mod tries;
mod triton;
mod value;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use tileperf_syntax::Span;
use tileperf_syntax::ast::{ClassDef, Expr, FunctionDef, Stmt, StmtKind};

pub use env::{Env, EnvItem, ModuleId, Place};
pub(crate) use env::{MUTATORS, bare_bindings, bound_here, root_name};
pub use space::{Cause, Config, Empty, Field, Form, Known, Note, Space, SpaceCount};

use crate::arch::Arch;
use interp::{Interp, Modules, R, Stop};
use space::Gathered;

/// How often a run is repeated with how many decisions, before more is joined instead; and how long
/// a list may be to be walked.
const EFFORTS: [Effort; 4] = [
    Effort::new(usize::MAX, 96, 100_000, 60_000),
    Effort::new(5, 32, 100_000, 20_000),
    Effort::new(0, 1, 100_000, 100_000),
    Effort::new(0, 1, 24, 20_000),
];

struct Effort {
    decisions: usize,
    runs: usize,
    walk: usize,
    fuel: u32,
}

impl Effort {
    const fn new(decisions: usize, runs: usize, walk: usize, fuel: u32) -> Self {
        Self {
            decisions,
            runs,
            walk,
            fuel,
        }
    }
}

/// After so many runs at least this share of all paths must have been seen, or it is hopeless.
const HOPES: [(usize, f64); 2] = [(16, 0.05), (48, 0.3)];

/// A definition around an expression.
#[derive(Debug, Clone, Copy)]
pub enum Enclosing<'e> {
    /// A function or method.
    Function(&'e FunctionDef),
    /// A class.
    Class(&'e ClassDef),
}

/// Where an expression stands: the module, the item and the definitions around it.
#[derive(Debug, Clone)]
pub struct Scope<'e> {
    /// The file.
    pub module: ModuleId,
    /// The item in it, as [`Env::items`] numbers them.
    pub item: u32,
    /// Definitions around the place, outermost first.
    pub around: Vec<Enclosing<'e>>,
}

impl<'e> Scope<'e> {
    /// The top level of a module.
    pub fn module(module: ModuleId) -> Self {
        Self {
            module,
            item: 0,
            around: Vec::new(),
        }
    }

    /// The scope of the place `span` (relative to the item) in an item with these statements.
    pub fn at(module: ModuleId, item: u32, body: &'e [Stmt], span: Span) -> Self {
        let mut around = Vec::new();
        find_around(body, span, &mut around);
        Self {
            module,
            item,
            around,
        }
    }
}

fn find_around<'e>(body: &'e [Stmt], span: Span, around: &mut Vec<Enclosing<'e>>) {
    for stmt in body.iter().filter(|s| s.span.contains(span)) {
        match &stmt.kind {
            // Decorators and defaults are evaluated outside.
            StmtKind::FunctionDef(def) if def.body.iter().any(|s| s.span.contains(span)) => {
                around.push(Enclosing::Function(def));
            }
            StmtKind::ClassDef(class) if class.body.iter().any(|s| s.span.contains(span)) => {
                around.push(Enclosing::Class(class));
            }
            _ => {}
        }
        for block in stmt.blocks() {
            find_around(block, span, around);
        }
    }
}

/// What stands at a span.
enum Subject<'e> {
    Function(&'e FunctionDef),
    Expr(&'e Expr),
}

fn subject<'e>(body: &'e [Stmt], span: Span) -> Option<Subject<'e>> {
    for stmt in body.iter().filter(|s| s.span.contains(span)) {
        if let StmtKind::FunctionDef(def) = &stmt.kind
            && (def.name.span == span || def.def_span == span || stmt.span == span)
        {
            return Some(Subject::Function(def));
        }
        let mut found = None;
        stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| {
                if e.span == span && found.is_none() {
                    found = Some(e);
                }
            });
        });
        if let Some(expr) = found {
            return Some(Subject::Expr(expr));
        }
        let inner = stmt
            .blocks()
            .into_iter()
            .find_map(|block| subject(block, span));
        if inner.is_some() {
            return inner;
        }
    }
    None
}

/// Answers questions about one snapshot of a workspace, remembering its modules between them.
pub struct Evaluator<'e> {
    env: &'e dyn Env,
    modules: Rc<Modules<'e>>,
}

impl<'e> Evaluator<'e> {
    /// An evaluator for the workspace that `env` describes.
    pub fn new(env: &'e dyn Env) -> Self {
        Self {
            env,
            modules: Rc::default(),
        }
    }

    /// The space that an expression is, where it stands: local variables, branches and early returns
    /// before it are followed. `expr` must be part of the statements that the workspace gives for the
    /// scope's item.
    pub fn space(&self, expr: &'e Expr, scope: &Scope<'e>, arch: Arch) -> Space {
        self.explore(arch, &|i| i.run_to(expr, scope))
    }

    /// What an expression can be where it stands, once for each way that the code before it goes;
    /// empty if nothing can be said. `expr` as for [`space`](Self::space).
    pub fn value(&self, expr: &'e Expr, scope: &Scope<'e>, arch: Arch) -> Vec<Known> {
        let space = self.explore(arch, &|i| {
            i.whole = true;
            i.run_to(expr, scope)
        });
        let values = space.configs.into_iter().flat_map(|config| config.fields);
        values.map(|(_, value)| value).collect()
    }

    /// The space that a function gives when called with arguments of which nothing is known.
    /// `scope` is where the function is defined, the function itself not included.
    pub fn function(&self, def: &'e FunctionDef, scope: &Scope<'e>, arch: Arch) -> Space {
        self.explore(arch, &|i| i.run_function(def, scope))
    }

    /// The space at a place: that of the function whose name or definition has exactly that span, or
    /// of the expression that has. `None` if there is neither.
    pub fn at(&self, place: Place, arch: Arch) -> Option<Space> {
        let items = self.env.items(place.module);
        let item = items.into_iter().find(|i| i.item == place.item)?;
        let scope = Scope::at(place.module, place.item, item.body, place.span);
        match subject(item.body, place.span)? {
            Subject::Function(def) => Some(self.function(def, &scope, arch)),
            Subject::Expr(expr) => Some(self.space(expr, &scope, arch)),
        }
    }

    /// Runs `run` along every path, within bounds.
    fn explore(&self, arch: Arch, run: &dyn Fn(&mut Interp<'e>) -> R<()>) -> Space {
        let mut asked = false;
        for effort in &EFFORTS {
            let mut interp = Interp::new(self.env, Rc::clone(&self.modules), arch);
            interp.fuel = effort.fuel;
            interp.max_walk = effort.walk;
            interp.trail.reset(effort.decisions);
            let space = every_path(&mut interp, effort.runs, run);
            asked |= interp.asked;
            if let Some(space) = space {
                return Space {
                    by_arch: asked,
                    ..space
                };
            }
        }
        Space {
            by_arch: asked,
            ..Gathered::nothing()
        }
    }
}

fn every_path<'e>(
    interp: &mut Interp<'e>,
    runs: usize,
    run: &dyn Fn(&mut Interp<'e>) -> R<()>,
) -> Option<Space> {
    let mut gathered = Gathered::default();
    let mut share = 0.0;
    for run_number in 1..=runs {
        interp.restart();
        interp.trail.rewind();
        match run(interp) {
            Ok(()) => {}
            Err(Stop::Raise) => gathered.raises |= !interp.missed,
            Err(Stop::Fuel) => return None,
        }
        gathered.add(&interp.observed, &interp.decisions, &interp.causes);
        share += interp.trail.share();
        if HOPES
            .iter()
            .any(|(at, least)| run_number == *at && share < *least)
        {
            return None;
        }
        if !interp.trail.next() {
            gathered.guarded = interp.guarded;
            return Some(gathered.into_space(std::mem::take(&mut interp.notes)));
        }
    }
    None
}
