//! What launches in the code pass for constants, where that can be evaluated.
//!
//! Of a search the first configuration stands for all: its fields are what the arguments' function
//! takes from it.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt};

use super::Constant;
use super::functions::File;
use crate::arch::Arch;
use crate::body::argument;
use crate::eval::{Evaluator, Known, ModuleId, Scope};
use crate::model::{Candidate, LaunchApi};
use crate::slice::Workspace;

/// Launches looked at for one kernel.
const MAX_LAUNCHES: usize = 4;

/// Values of parameters, by place; those that no launch of the kernel's own file tells are missing.
pub(super) fn values(
    workspace: &dyn Workspace,
    module: ModuleId,
    file: &File<'_>,
    kernel: usize,
    arch: Arch,
) -> FxHashMap<usize, Constant> {
    let mut found = FxHashMap::default();
    let Some(source) = workspace.source(module) else {
        return found;
    };
    let evaluator = Evaluator::new(workspace_env(workspace));
    let is_it = |candidates: &[Candidate]| candidates.contains(&Candidate::Local(kernel));
    let launches = file
        .model
        .launches
        .iter()
        .filter(|l| is_it(&l.candidates) && !l.stale);
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
    let searches = file
        .model
        .searches
        .iter()
        .filter(|s| is_it(&s.candidates) && !s.stale);
    for search in searches.take(MAX_LAUNCHES) {
        let (Some(at), Some(space)) = (
            located(&source, search.span),
            located(&source, search.space_span),
        ) else {
            continue;
        };
        let scope = Scope::at(module, space.item, space.body, space.call.span);
        let configs = evaluator.space(space.call, &scope, arch).configs;
        let (Some(config), Some(args)) = (configs.first(), arguments_of(at.call)) else {
            continue;
        };
        for (place, field) in args {
            let value = config.fields.iter().find(|(name, _)| *name == field);
            if let Some(value) = value.and_then(|(_, value)| constant(value)) {
                found.entry(place).or_insert(value);
            }
        }
    }
    found
}

/// The workspace as the evaluator wants it.
fn workspace_env(workspace: &dyn Workspace) -> &dyn crate::eval::Env {
    workspace
}

fn enter(values: &[Known], found: &mut FxHashMap<usize, Constant>) {
    for value in values {
        let Known::Tuple(parts) = value else { continue };
        for (place, part) in parts.iter().enumerate() {
            if let Some(value) = constant(part) {
                found.entry(place).or_insert(value);
            }
        }
    }
}

fn constant(value: &Known) -> Option<Constant> {
    Some(match value {
        Known::Bool(value) => Constant::Bool(*value),
        Known::Int(value) => Constant::Int(*value),
        Known::Float(bits) => Constant::Float(f64::from_bits(*bits)),
        Known::OneOf(values) => return values.iter().find_map(constant),
        _ => return None,
    })
}

/// An expression of a file with what is around it.
struct Located<'w> {
    item: u32,
    body: &'w [Stmt],
    call: &'w Expr,
}

fn located<'w>(source: &crate::slice::Source<'w>, span: Span) -> Option<Located<'w>> {
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

fn passed<'w>(call: &'w Expr, place: usize, name: &str) -> Option<&'w Expr> {
    let ExprKind::Call { args, .. } = &call.kind else {
        return None;
    };
    argument(args, Some(place), name)
}

/// `lambda cfg: (x, cfg.TILE)`: place 1 is the field `TILE`.
fn arguments_of(search: &Expr) -> Option<Vec<(usize, SmolStr)>> {
    let args = passed(search, 4, "args_fn")?;
    let ExprKind::Lambda { params, body } = &args.kind else {
        return None;
    };
    let (ExprKind::Tuple(items) | ExprKind::List(items)) = &body.kind else {
        return None;
    };
    let config = &params.first()?.name.name;
    let field = |item: &Expr| match &item.kind {
        ExprKind::Attribute { value, attr } if value.name() == Some(config) => {
            Some(attr.name.clone())
        }
        _ => None,
    };
    Some(
        (items.iter().enumerate())
            .filter_map(|(place, item)| Some((place, field(item)?)))
            .collect(),
    )
}
