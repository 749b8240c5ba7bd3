//! Spaces of configurations as the rules about them see them: where each is searched as it is, and
//! how architectures are listed.

use tileperf_syntax::ast::{Clause, Expr, ExprKind};

use super::search_call::{Given, SearchCall, names};
use crate::arch::Arch;
use crate::model::{Space, SpaceRef};
use crate::rules::{FileContext, tuned};

/// The searches of a file that use its n-th space.
pub(in crate::rules) fn searches_of<'a>(
    file: &FileContext<'a>,
    space: usize,
) -> Vec<SearchCall<'a>> {
    (file.model.searches.iter())
        .filter(|s| s.spaces.contains(&SpaceRef::Local(space)))
        .filter_map(|s| SearchCall::of(file, s))
        .collect()
}

/// What a search is given as its space: local names followed, `list(...)` and the like taken off.
pub(in crate::rules) fn bare_space<'a>(call: &SearchCall<'a>) -> Option<&'a Expr> {
    let mut space = call.arg(Given::Space)?;
    for _ in 0..4 {
        space = bare(call.follow(space));
    }
    Some(space)
}

/// How a search takes a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rules) enum Taken {
    /// As it is.
    Whole,
    /// Without what a test on an input leaves out: all of it for some inputs, it may be.
    Filtered,
    /// Some part of it.
    Part,
}

/// How a search takes a space of another file, by its absolute path.
pub(in crate::rules) fn taken_imported(call: &SearchCall<'_>, path: &str) -> Taken {
    let name = path.rsplit('.').next().unwrap_or(path);
    let module = call.file.module;
    taken_as(call, &|e| {
        is_called(e, name) || module.path(called(e)).is_some_and(|p| p == path)
    })
}

/// How a search takes a space of its file.
pub(in crate::rules) fn taken(call: &SearchCall<'_>, of: &Space) -> Taken {
    match bare_space(call) {
        Some(space) if call.place(space.span) == of.span => Taken::Whole,
        _ => taken_as(call, &|e| is_called(e, &of.name)),
    }
}

/// A call without its arguments; anything else as it is.
fn called(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Call { func, .. } => func,
        _ => expr,
    }
}

fn is_called(expr: &Expr, name: &str) -> bool {
    called(expr).last_ident().is_some_and(|i| i.name == name)
}

/// How a search takes the space that an expression is or calls.
fn taken_as(call: &SearchCall<'_>, is_it: &dyn Fn(&Expr) -> bool) -> Taken {
    let Some(space) = bare_space(call) else {
        return Taken::Part;
    };
    match &space.kind {
        // `[c for c in space() if c.split <= k]`
        ExprKind::Comprehension { clauses, .. } => {
            let mut own = Vec::new();
            let mut found = false;
            let mut inputs = true;
            for clause in clauses {
                match clause {
                    Clause::For { target, iter } => {
                        own.extend(names(target));
                        found |= is_it(bare(iter));
                    }
                    Clause::If(test) => inputs &= names(test).iter().any(|n| !own.contains(n)),
                }
            }
            let filters = clauses.iter().any(|c| matches!(c, Clause::If(_)));
            match (found, filters, inputs) {
                (true, false, _) => Taken::Whole,
                (true, true, true) => Taken::Filtered,
                _ => Taken::Part,
            }
        }
        _ if is_it(space) => Taken::Whole,
        _ => Taken::Part,
    }
}

/// Without `list(...)` and the like.
fn bare(mut space: &Expr) -> &Expr {
    while let ExprKind::Call { func, args } = &space.kind
        && func
            .name()
            .is_some_and(|n| matches!(n.as_str(), "list" | "tuple" | "sorted" | "reversed"))
        && let Some(first) = args.first()
    {
        space = &first.value;
    }
    space
}

/// `sm_90, sm_100 and sm_103`; `every architecture` if it is all of them.
pub(in crate::rules) fn listed(archs: &[Arch], all: usize) -> String {
    if archs.len() == all && all > 1 {
        return "every architecture".into();
    }
    tuned::listed(archs)
}
