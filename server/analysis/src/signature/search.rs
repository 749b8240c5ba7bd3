//! What a configuration of a search makes of a kernel: the constants that the trial is launched with,
//! and the hints that it is compiled with.
//!
//! Both are what the search's callbacks take from the configuration. A callback is a lambda or a
//! function of the file; what it computes in other ways than by naming a field is not known. Where a
//! search is given callbacks that cannot be followed, a field counts for the parameter or hint of its
//! name.

mod callback;
#[cfg(test)]
mod tests;

use smol_str::SmolStr;
use tileperf_syntax::ast::ExprKind;

use self::callback::{Callback, callback, field};
use super::Constant;
use super::launches::{Located, constant, located, passed};
use crate::arch::Arch;
use crate::eval::{Config, Evaluator, Known, ModuleId, Scope};
use crate::model::{Kernel, Search, SearchApi};
use crate::slice::{Source, Workspace};

/// The hints that a kernel can be remade with.
const HINTS: [&str; 4] = ["num_ctas", "occupancy", "opt_level", "num_worker_warps"];

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

/// A value that is known for sure.
fn exactly(value: &Known) -> Option<Constant> {
    match value {
        Known::OneOf(_) => None,
        value => constant(value),
    }
}

fn by_name<'c>(config: &'c Config, kernel: &Kernel) -> Vec<(usize, &'c Known)> {
    let params = kernel.params.iter().enumerate();
    params
        .filter_map(|(place, param)| Some((place, field(config, &param.name)?)))
        .collect()
}
