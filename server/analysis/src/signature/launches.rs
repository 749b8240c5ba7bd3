//! What launches in the code pass for constants, where that can be evaluated.
//!
//! Every launch, and every way in which it can be reached with other constants, is a signature of its
//! own. Of a search the first configuration stands for all: its fields are what the arguments' function
//! takes from it.

use rustc_hash::FxHashMap;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt};

use super::functions::{File, Files};
use super::{Constant, Elsewhere, Launched};
use crate::arch::Arch;
use crate::body::argument;
use crate::eval::{Evaluator, Known, ModuleId, Scope};
use crate::model::{Candidate, LaunchApi};
use crate::slice::Workspace;

/// Launches looked at for one kernel.
const MAX_LAUNCHES: usize = 4;
/// Launches and searches of other files looked at for one kernel.
const MAX_ELSEWHERE: usize = 8;
/// Different constants kept of one kernel: a loop around a launch can have many.
const MAX_TOLD: usize = 8;

/// Values of parameters, by place.
pub(super) type Told = FxHashMap<usize, Constant>;

/// What the launches of a kernel pass for constants, each once: those of its own file in their order,
/// then those of others, with their places. What one does not tell, another tells for it; what none does
/// is missing. Always one at least, which can be empty. `own` is the kernel's file and its number there.
pub(super) fn values(
    workspace: &dyn Workspace,
    files: &Files<'_>,
    own: (ModuleId, &File<'_>, usize),
    elsewhere: &[Elsewhere],
    arch: Arch,
) -> Vec<(Told, Option<Launched>)> {
    let (module, file, kernel) = own;
    let params = file.model.kernels.get(kernel).map(|k| k.params.as_slice());
    let is_constant = |place: &usize| {
        let param = params.and_then(|params| params.get(*place));
        param.is_some_and(|param| param.constant)
    };
    let is_it = |candidates: &[Candidate]| candidates.contains(&Candidate::Local(kernel));
    let mut told: Vec<(Told, Option<Launched>)> = Vec::new();
    let found = each(
        workspace,
        module,
        file,
        &|_, candidates| is_it(candidates),
        arch,
    );
    told.extend(found.into_iter().map(|one| (one, None)));
    for other in elsewhere.iter().take(MAX_ELSEWHERE) {
        let (Some(there), Some(source)) =
            (files.file(other.module), workspace.source(other.module))
        else {
            continue;
        };
        let before = source.text.get(..other.call.start as usize).unwrap_or("");
        let launched = Launched {
            path: source.path.clone(),
            line: before.matches('\n').count() as u32 + 1,
        };
        let found = each(
            workspace,
            other.module,
            &there,
            &|span, _| span == other.call,
            arch,
        );
        told.extend(found.into_iter().map(|one| (one, Some(launched.clone()))));
    }
    for (one, _) in &mut told {
        one.retain(|place, _| is_constant(place));
    }
    let mut all = Told::default();
    for (place, value) in told.iter().flat_map(|(one, _)| one) {
        all.entry(*place).or_insert(*value);
    }
    let mut whole: Vec<(Told, Option<Launched>)> = Vec::new();
    for (mut one, launched) in told {
        for (place, value) in &all {
            one.entry(*place).or_insert(*value);
        }
        if !whole.iter().any(|(known, _)| *known == one) && whole.len() < MAX_TOLD {
            whole.push((one, launched));
        }
    }
    if whole.is_empty() {
        whole.push((all, None));
    }
    whole
}

/// What each launch and search of a file tells by itself, of those that are wanted.
fn each(
    workspace: &dyn Workspace,
    module: ModuleId,
    file: &File<'_>,
    is_wanted: &dyn Fn(Span, &[Candidate]) -> bool,
    arch: Arch,
) -> Vec<Told> {
    let mut found = Vec::new();
    let Some(source) = workspace.source(module) else {
        return found;
    };
    let evaluator = Evaluator::new(workspace_env(workspace));
    let launches = (file.model.launches.iter())
        .filter(|launch| is_wanted(launch.span, &launch.candidates) && !launch.stale);
    for launch in launches.take(MAX_LAUNCHES) {
        let (place, name) = match launch.api {
            LaunchApi::Launch => (3, "kernel_args"),
            LaunchApi::CutileCall => (2, "args"),
        };
        let Some(at) = located(&source, launch.span) else {
            continue;
        };
        let Some(args) = passed(at.call, place, name) else {
            continue;
        };
        let scope = Scope::at(module, at.item, at.body, args.span);
        enter(&evaluator.value(args, &scope, arch), &mut found);
    }
    let searches = (file.model.searches.iter())
        .filter(|search| is_wanted(search.span, &search.candidates) && !search.stale);
    for search in searches.take(MAX_LAUNCHES) {
        let (Some(at), Some(space)) = (
            located(&source, search.span),
            located(&source, search.space_span),
        ) else {
            continue;
        };
        let scope = Scope::at(module, space.item, space.body, space.call.span);
        let configs = evaluator.space(space.call, &scope, arch).configs;
        if let Some(config) = configs.first() {
            let told = super::search::constants(&source, module, &at, search, config);
            found.push(told.into_iter().collect());
        }
    }
    found
}

/// The workspace as the evaluator wants it.
pub(super) fn workspace_env(workspace: &dyn Workspace) -> &dyn crate::eval::Env {
    workspace
}

/// Each way in which a launch is reached.
fn enter(values: &[Known], found: &mut Vec<Told>) {
    for value in values {
        let Known::Tuple(parts) = value else { continue };
        let told = parts.iter().enumerate();
        found.push(
            told.filter_map(|(place, part)| Some((place, constant(part)?)))
                .collect(),
        );
    }
}

/// A value as a constant.
pub(super) fn constant(value: &Known) -> Option<Constant> {
    Some(match value {
        Known::Bool(value) => Constant::Bool(*value),
        Known::Int(value) => Constant::Int(*value),
        Known::Float(bits) => Constant::Float(f64::from_bits(*bits)),
        Known::OneOf(values) => return values.iter().find_map(constant),
        _ => return None,
    })
}

/// An expression of a file with what is around it.
pub(super) struct Located<'w> {
    pub(super) item: u32,
    pub(super) body: &'w [Stmt],
    pub(super) call: &'w Expr,
}

/// The expression at a place of a file.
pub(super) fn located<'w>(source: &crate::slice::Source<'w>, span: Span) -> Option<Located<'w>> {
    let mut items = source.file.items.iter().enumerate();
    let (number, item) = items.find(|(_, i)| i.span.contains(span) && !i.is_stale())?;
    let own = span.moved(-i64::from(item.span.start));
    Some(Located {
        item: number as u32,
        body: &item.facts.body,
        call: expr_at(&item.facts.body, own)?,
    })
}

fn expr_at(body: &[Stmt], span: Span) -> Option<&Expr> {
    let stmt = body.iter().find(|s| s.span.contains(span))?;
    let mut found = None;
    stmt.own_exprs(&mut |e| {
        e.walk(&mut |e| {
            if e.span == span {
                found = found.or(Some(e));
            }
        });
    });
    found.or_else(|| {
        stmt.blocks()
            .into_iter()
            .find_map(|block| expr_at(block, span))
    })
}

/// An argument of a call.
pub(super) fn passed<'w>(call: &'w Expr, place: usize, name: &str) -> Option<&'w Expr> {
    let ExprKind::Call { args, .. } = &call.kind else {
        return None;
    };
    argument(args, Some(place), name)
}
