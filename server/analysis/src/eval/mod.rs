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
mod comprehension;
mod cond;
mod convert;
mod define;
mod dicts;
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
mod slice;
mod space;
mod stmt;
mod subscript;
mod sym;
mod targets;
mod tries;
mod value;

#[cfg(test)]
mod tests;

use std::rc::Rc;

use rustc_hash::FxHashSet;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{ClassDef, Expr, ExprKind, FunctionDef, Stmt, StmtKind};

pub use env::{Env, EnvItem, ModuleId, Place};
pub use space::{Cause, Config, Empty, Field, Form, Known, Note, Space, SpaceCount};

use crate::arch::Arch;
use interp::{Frame, Interp, Modules, R, Stop, Watch};
use slice::Slice;
use space::Gathered;
use value::{Args, Class, ClassBody, Code, Obj, Record, Scope as Names, Value};

/// How often a run is repeated with how many decisions, before more is joined instead; and how long
/// a list may be to be walked.
const EFFORTS: [Effort; 4] = [
    Effort::new(usize::MAX, 96, 100_000, 40_000),
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

/// Whether a lambda in these statements holds `span`.
fn in_lambda(body: &[Stmt], span: Span) -> bool {
    body.iter().filter(|s| s.span.contains(span)).any(|stmt| {
        let mut found = false;
        stmt.own_exprs(&mut |e| {
            e.walk(&mut |e| {
                found |= matches!(e.kind, ExprKind::Lambda { .. }) && e.span.contains(span);
            });
        });
        found || stmt.blocks().into_iter().any(|b| in_lambda(b, span))
    })
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
    modules: Modules<'e>,
}

impl<'e> Evaluator<'e> {
    /// An evaluator for the workspace that `env` describes.
    pub fn new(env: &'e dyn Env) -> Self {
        Self {
            env,
            modules: Modules::default(),
        }
    }

    /// The space that an expression is, where it stands: local variables, branches and early returns
    /// before it are followed. `expr` must be part of the statements that the workspace gives for the
    /// scope's item.
    pub fn space(&'e self, expr: &'e Expr, scope: &Scope<'e>, arch: Arch) -> Space {
        self.explore(arch, &|i| i.run_to(expr, scope))
    }

    /// The space that a function gives when called with arguments of which nothing is known.
    /// `scope` is where the function is defined, the function itself not included.
    pub fn function(&'e self, def: &'e FunctionDef, scope: &Scope<'e>, arch: Arch) -> Space {
        self.explore(arch, &|i| i.run_function(def, scope))
    }

    /// The space at a place: that of the function whose name or definition has exactly that span, or
    /// of the expression that has. `None` if there is neither.
    pub fn at(&'e self, place: Place, arch: Arch) -> Option<Space> {
        let items = self.env.items(place.module);
        let item = items.into_iter().find(|i| i.item == place.item)?;
        let scope = Scope::at(place.module, place.item, item.body, place.span);
        match subject(item.body, place.span)? {
            Subject::Function(def) => Some(self.function(def, &scope, arch)),
            Subject::Expr(expr) => Some(self.space(expr, &scope, arch)),
        }
    }

    /// Runs `run` along every path, within bounds.
    fn explore(&'e self, arch: Arch, run: &dyn Fn(&mut Interp<'e>) -> R<()>) -> Space {
        for effort in &EFFORTS {
            let mut interp = Interp::new(self.env, &self.modules, arch);
            interp.fuel = effort.fuel;
            interp.max_walk = effort.walk;
            interp.trail.reset(effort.decisions);
            if let Some(space) = every_path(&mut interp, effort.runs, run) {
                return space;
            }
        }
        Gathered::nothing()
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
            Err(Stop::Raise) => gathered.raises = true,
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

impl<'e> Interp<'e> {
    fn enter_module(&mut self, scope: &Scope<'e>) {
        let id = self.module_scope(scope.module);
        self.frames.push(Frame {
            scope: id,
            module: scope.module,
            item: scope.item,
            out: None,
            slice: None,
        });
    }

    fn run_function(&mut self, def: &'e FunctionDef, scope: &Scope<'e>) -> R<()> {
        self.enter_module(scope);
        self.enter(&scope.around, None, &mut |i, receiver| {
            let func = i.closure(Code::Def(def))?;
            let func = value::Func {
                bound: receiver.map(Args::one).unwrap_or_default(),
                ..func
            };
            i.observe_call(&Value::Func(Rc::new(func)))
        })
    }

    fn run_to(&mut self, expr: &'e Expr, scope: &Scope<'e>) -> R<()> {
        self.watch = Some(Watch {
            place: Place {
                module: scope.module,
                item: scope.item,
                span: expr.span,
            },
        });
        self.enter_module(scope);
        let innermost = scope.around.last();
        // The body of a function was run up to the expression, unless a lambda holds it back.
        let ran =
            matches!(innermost, Some(Enclosing::Function(def)) if !in_lambda(&def.body, expr.span));
        self.enter(&scope.around, Some(expr), &mut |i, _| {
            if !ran && i.observed.is_empty() {
                let value = i.eval(expr)?;
                if i.observed.is_empty() {
                    i.observe(&value)?;
                }
            }
            Ok(())
        })
    }

    /// Walks into the definitions around a place, running each function as far as it matters for
    /// `target`, and does `then` in the innermost scope, given `self` if that is a class.
    fn enter(
        &mut self,
        around: &[Enclosing<'e>],
        target: Option<&'e Expr>,
        then: &mut dyn FnMut(&mut Self, Option<Value<'e>>) -> R<()>,
    ) -> R<()> {
        let mut names: FxHashSet<&'e str> = FxHashSet::default();
        let mut slices: Vec<Option<Rc<Slice>>> = Vec::new();
        let mut inner: Option<Span> = target.map(|t| t.span);
        for level in around.iter().rev() {
            slices.push(match level {
                Enclosing::Function(def) => {
                    let wanted = inner.unwrap_or(Span {
                        start: def.def_span.end,
                        end: def.def_span.end,
                    });
                    let slice = Slice::new(def, wanted, &mut names);
                    inner = Some(def.def_span);
                    Some(Rc::new(slice))
                }
                Enclosing::Class(_) => None,
            });
        }
        slices.reverse();
        let mut receiver: Option<Value<'e>> = None;
        for (level, slice) in around.iter().zip(slices) {
            match level {
                Enclosing::Class(class) => receiver = Some(self.instance_of(class)?),
                Enclosing::Function(def) => {
                    let func = self.closure(Code::Def(def))?;
                    let is_static = def
                        .decorators
                        .iter()
                        .any(|d| d.name().is_some_and(|n| n == "staticmethod"));
                    let bound = receiver
                        .take()
                        .filter(|_| !is_static)
                        .map(Args::one)
                        .unwrap_or_default();
                    let func = value::Func { bound, ..func };
                    let args = self.unknown_args(&func);
                    let scope = self.bind_new(&func, args)?;
                    let out = self.alloc(Obj::List(seq::Seq::empty()));
                    self.run_body(&func, scope, Some(out), slice)?;
                    // The function is over, but what stands in it sees its variables.
                    let frame = Frame {
                        scope,
                        module: func.module,
                        item: func.item,
                        out: None,
                        slice: None,
                    };
                    self.frames.push(frame);
                }
            }
        }
        then(self, receiver)
    }

    /// Some instance of a class: what `__init__` makes of unknown arguments, without the attributes
    /// that other methods change.
    fn instance_of(&mut self, class: &'e ClassDef) -> R<Value<'e>> {
        let here = self.place(Span::default());
        let body = Rc::new(Class {
            name: class.name.name.clone(),
            body: ClassBody::Def(class),
            module: here.module,
            item: here.item,
            scope: self.scope_id(),
        });
        let record = Record {
            class: Some(body),
            maker: class.name.name.clone(),
            fields: Vec::new(),
            args: Vec::new(),
            open: true,
            place: here,
        };
        Ok(Value::Ref(self.alloc(Obj::Record(record))))
    }

    fn bind_new(&mut self, func: &value::Func<'e>, args: Args<'e>) -> R<value::ObjId> {
        let scope = self.alloc(Obj::Scope(Names::new(Some(func.scope), func.module)));
        self.bind(func, args, scope)?;
        Ok(scope)
    }
}

/// How many configurations `expr` is; see [`Evaluator::space`].
pub fn count<'e>(
    evaluator: &'e Evaluator<'e>,
    expr: &'e Expr,
    scope: &Scope<'e>,
    arch: Arch,
) -> SpaceCount {
    evaluator.space(expr, scope, arch).count
}

/// How many configurations a function gives; see [`Evaluator::function`].
pub fn count_function<'e>(
    evaluator: &'e Evaluator<'e>,
    def: &'e FunctionDef,
    scope: &Scope<'e>,
    arch: Arch,
) -> SpaceCount {
    evaluator.function(def, scope, arch).count
}
