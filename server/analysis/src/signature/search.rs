//! What a configuration of a search makes of a kernel: the constants that the trial is launched with,
//! and the hints that it is compiled with.
//!
//! Both are what the search's callbacks take from the configuration. A callback is a lambda or a
//! function of the file; what it computes in other ways than by naming a field is not known. Where a
//! search is given callbacks that cannot be followed, a field counts for the parameter or hint of its
//! name.

#[cfg(test)]
mod tests;

use smol_str::SmolStr;
use tileperf_syntax::ast::{Expr, ExprKind, FunctionDef, Stmt, StmtKind};

use super::Constant;
use super::launches::{Located, constant, located, passed};
use crate::arch::Arch;
use crate::body::bindings;
use crate::eval::{Config, Enclosing, Evaluator, Known, ModuleId, Scope};
use crate::model::{Kernel, Search, SearchApi};
use crate::slice::{Source, Workspace};

/// The hints that a kernel can be remade with.
const HINTS: [&str; 4] = ["num_ctas", "occupancy", "opt_level", "num_worker_warps"];
/// Names followed one after the other.
const MAX_DEPTH: usize = 4;

/// A configuration of a search, as far as the compiler is concerned.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    /// Its fields, as they are written.
    pub fields: Vec<(SmolStr, Constant)>,
    /// Constants of the kernel, by the place of the parameter.
    pub constants: Vec<(usize, Constant)>,
    /// Hints.
    pub hints: Vec<(SmolStr, i64)>,
}

/// The configurations of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Configurations {
    /// Those that are known, each once, in the order of the space.
    pub all: Vec<Configuration>,
    /// How many there are of which something is not known.
    pub unknown: usize,
    /// There are no others.
    pub complete: bool,
}

/// The configurations of a search for an architecture. `module` is the file that searches. `None` if
/// the search is not there.
pub fn configurations(
    workspace: &dyn Workspace,
    module: ModuleId,
    search: &Search,
    kernel: &Kernel,
    arch: Arch,
) -> Option<Configurations> {
    let source = workspace.source(module)?;
    let at = located(&source, search.span)?;
    let space = located(&source, search.space_span)?;
    let evaluator = Evaluator::new(super::launches::workspace_env(workspace));
    let scope = Scope::at(module, space.item, space.body, space.call.span);
    let space = evaluator.space(space.call, &scope, arch);
    let callbacks = Callbacks::of(module, &source, &at, search);
    let mut out = Configurations {
        complete: space.complete,
        ..Configurations::default()
    };
    for config in &space.configs {
        match callbacks.apply(config, kernel) {
            Some(known) if out.all.contains(&known) => {}
            Some(known) => out.all.push(known),
            None => out.unknown += 1,
        }
    }
    Some(out)
}

/// The constants that a search's arguments take from a configuration, by place.
pub(super) fn constants(
    source: &Source<'_>,
    module: ModuleId,
    at: &Located<'_>,
    search: &Search,
    config: &Config,
) -> Vec<(usize, Constant)> {
    Callbacks::of(module, source, at, search).constants(config)
}

/// The functions of a search that say what becomes of a configuration.
struct Callbacks<'w> {
    args: Option<Callback<'w>>,
    hints: Option<Callback<'w>>,
    /// There are hints, or may be.
    has_hints: bool,
}

/// A function of a configuration.
#[derive(Clone, Copy)]
struct Callback<'w> {
    /// By which name it knows it.
    config: &'w SmolStr,
    /// Its statements; none of a lambda.
    body: &'w [Stmt],
    /// What it gives.
    value: &'w Expr,
}

impl<'w> Callbacks<'w> {
    fn of(module: ModuleId, source: &Source<'w>, at: &Located<'w>, search: &Search) -> Self {
        let args = match search.api {
            SearchApi::ExhaustiveSearch => 4,
            SearchApi::AutotuneLaunch => 3,
        };
        let find = |place, name| callback(module, source, at, passed(at.call, place, name)?);
        let hints = passed(at.call, 5, "hints_fn");
        Self {
            args: find(args, "args_fn"),
            hints: find(5, "hints_fn"),
            has_hints: hints.is_some_and(|hints| !matches!(hints.kind, ExprKind::None)),
        }
    }

    /// `None` if something that counts is not known of the configuration.
    fn apply(&self, config: &Config, kernel: &Kernel) -> Option<Configuration> {
        let fields = config.fields.iter();
        let fields = fields.filter_map(|(name, value)| Some((name.clone(), exactly(value)?)));
        let args = self
            .args
            .as_ref()
            .and_then(|args| Some((args, args.items()?)));
        let constants = match args {
            Some((args, items)) => args.each(&items, config),
            None => by_name(config, kernel),
        };
        let hints = match (&self.hints, self.has_hints) {
            (Some(hints), _) => hints.named(config)?,
            (None, false) => Vec::new(),
            (None, true) => HINTS
                .iter()
                .filter_map(|name| Some((SmolStr::new_static(name), field(config, name)?)))
                .collect(),
        };
        let is_constant = |place: usize| kernel.params.get(place).is_some_and(|p| p.constant);
        let mut out = Configuration {
            fields: fields.collect(),
            constants: Vec::new(),
            hints: Vec::new(),
        };
        for (place, value) in constants {
            if is_constant(place) {
                out.constants.push((place, exactly(value)?));
            }
        }
        for (name, value) in hints {
            match value {
                // As if it was not given.
                Known::None => {}
                Known::Int(value) => out.hints.push((name, *value)),
                _ => return None,
            }
        }
        Some(out)
    }

    fn constants(&self, config: &Config) -> Vec<(usize, Constant)> {
        let Some(args) = &self.args else {
            return Vec::new();
        };
        let items = args.items().unwrap_or_default();
        let known = args.each(&items, config).into_iter();
        known
            .filter_map(|(place, value)| Some((place, constant(value)?)))
            .collect()
    }
}

impl<'w> Callback<'w> {
    /// The arguments that it gives, as far as they are written one by one.
    fn items(&self) -> Option<Vec<&'w Expr>> {
        match &self.follow(self.value, MAX_DEPTH).kind {
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                let one = |item: &&Expr| !matches!(item.kind, ExprKind::Starred(_));
                Some(items.iter().take_while(one).collect())
            }
            ExprKind::Binary { op, left, .. } if op == "+" => Callback {
                value: left,
                ..*self
            }
            .items(),
            _ => None,
        }
    }

    /// The places whose arguments are fields of the configuration.
    fn each<'c>(&self, items: &[&'w Expr], config: &'c Config) -> Vec<(usize, &'c Known)> {
        let items = items.iter().enumerate();
        items
            .filter_map(|(place, item)| Some((place, self.known(item, config, MAX_DEPTH)?)))
            .collect()
    }

    /// The hints that are fields of the configuration. `None` if one is computed.
    fn named<'c>(&self, config: &'c Config) -> Option<Vec<(SmolStr, &'c Known)>> {
        let mut out = Vec::new();
        let mut add = |name: &SmolStr, value: &'w Expr| {
            out.push((name.clone(), self.known(value, config, MAX_DEPTH)?));
            Some(())
        };
        match &self.follow(self.value, MAX_DEPTH).kind {
            ExprKind::Dict(entries) => {
                for (key, value) in entries {
                    let ExprKind::Str(name) = &key.as_ref()?.kind else {
                        return None;
                    };
                    add(&SmolStr::new(name), value)?;
                }
            }
            ExprKind::Call { func, args } if func.name().is_some_and(|name| name == "dict") => {
                for arg in args {
                    add(&arg.name.as_ref()?.name, &arg.value)?;
                }
            }
            _ => return None,
        }
        Some(out)
    }

    /// The field that an expression names.
    fn known<'c>(&self, expr: &'w Expr, config: &'c Config, depth: usize) -> Option<&'c Known> {
        let is_config = |value: &Expr| value.name() == Some(self.config);
        match &expr.kind {
            ExprKind::Attribute { value, attr } if is_config(value) => field(config, &attr.name),
            ExprKind::Subscript { value, index } if is_config(value) => {
                match &index.first()?.kind {
                    ExprKind::Str(name) => field(config, name),
                    ExprKind::Int(number) => match (field(config, "")?, usize::try_from(*number)) {
                        (Known::Tuple(parts), Ok(number)) => parts.get(number),
                        _ => None,
                    },
                    _ => None,
                }
            }
            ExprKind::Name(_) if is_config(expr) => field(config, ""),
            ExprKind::Name(_) => {
                let same = self.follow(expr, depth);
                match std::ptr::eq(same, expr) {
                    true => None,
                    false => self.known(same, config, depth.checked_sub(1)?),
                }
            }
            ExprKind::Call { func, args } => match (func.name()?.as_str(), args.as_slice()) {
                ("int" | "bool" | "float", [one]) => {
                    self.known(&one.value, config, depth.checked_sub(1)?)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// What a name of the callback stands for, if it is bound once.
    fn follow(&self, expr: &'w Expr, depth: usize) -> &'w Expr {
        let Some(name) = expr.name().filter(|_| depth > 0) else {
            return expr;
        };
        let mut found = Vec::new();
        bindings(self.body, name, &mut |value| found.push(value));
        match found.as_slice() {
            [Some(value)] => self.follow(value, depth - 1),
            _ => expr,
        }
    }
}

/// A value that is known for sure.
fn exactly(value: &Known) -> Option<Constant> {
    match value {
        Known::OneOf(_) => None,
        value => constant(value),
    }
}

fn field<'c>(config: &'c Config, name: &str) -> Option<&'c Known> {
    let mut fields = config.fields.iter();
    fields.find(|(field, _)| field == name).map(|(_, v)| v)
}

fn by_name<'c>(config: &'c Config, kernel: &Kernel) -> Vec<(usize, &'c Known)> {
    let params = kernel.params.iter().enumerate();
    params
        .filter_map(|(place, param)| Some((place, field(config, &param.name)?)))
        .collect()
}

/// The function that an argument of a search is, if there is one only.
fn callback<'w>(
    module: ModuleId,
    source: &Source<'w>,
    at: &Located<'w>,
    argument: &'w Expr,
) -> Option<Callback<'w>> {
    if let Some(lambda) = of_lambda(argument) {
        return Some(lambda);
    }
    let name = argument.name()?;
    let scope = Scope::at(module, at.item, at.body, at.call.span);
    let around = scope.around.iter().rev().filter_map(|around| match around {
        Enclosing::Function(def) => Some(def.body.as_slice()),
        Enclosing::Class(_) => None,
    });
    let top = source
        .file
        .items
        .iter()
        .map(|item| item.facts.body.as_slice());
    for body in around.chain(top) {
        let mut functions = Vec::new();
        named(body, name, &mut functions);
        match functions.as_slice() {
            [] => {}
            [one] => return of_function(one),
            _ => return None,
        }
        let mut bound = Vec::new();
        bindings(body, name, &mut |value| bound.push(value));
        match bound.as_slice() {
            [] => {}
            [Some(one)] => return of_lambda(one),
            _ => return None,
        }
    }
    None
}

fn of_lambda(expr: &Expr) -> Option<Callback<'_>> {
    let ExprKind::Lambda { params, body } = &expr.kind else {
        return None;
    };
    Some(Callback {
        config: &params.first()?.name.name,
        body: &[],
        value: body,
    })
}

/// A function that returns in one place, at its end.
fn of_function(def: &FunctionDef) -> Option<Callback<'_>> {
    let StmtKind::Return(Some(value)) = &def.body.last()?.kind else {
        return None;
    };
    Some(Callback {
        config: &def.params.first()?.name.name,
        body: &def.body,
        value,
    })
}

/// The functions of that name that statements define, those within other definitions left out.
fn named<'w>(body: &'w [Stmt], name: &str, out: &mut Vec<&'w FunctionDef>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::FunctionDef(def) if def.name.name == name => out.push(def),
            StmtKind::FunctionDef(_) | StmtKind::ClassDef(_) => {}
            _ => {
                for block in stmt.blocks() {
                    named(block, name, out);
                }
            }
        }
    }
}
