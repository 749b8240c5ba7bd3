//! A search that has nothing to try.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::tuning::fallback::fallback;
use super::tuning::search_call::{Given, SearchCall, is_test, names};
use super::tuning::spaces::{Taken, bare_space, listed, searches_of, taken, taken_imported};
use crate::arch::Arch;
use crate::body::walk;
use crate::eval::{Note, SpaceCount};
use crate::model::{Space, SpaceRef};
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, Links, Severity, SpaceFacts};

rule! {
    /// On some architecture, or for some input, a search space has no configuration, and nothing
    /// guards the search: it raises `ValueError: Search space is empty`.
    ///
    /// A space is emptied by a branch on the compute capability that no case covers, by a guard on
    /// sizes, or by a filter on `num_ctas`. The message names it. Give the space an `else`, or the
    /// search a fallback: `list(configs()) or [SimpleNamespace(...)]`. The text of the exception is
    /// that of cuda-tile 1.7.
    ///
    /// ```python bad
    /// import torch
    /// from cuda.tile.tune import exhaustive_search
    /// from types import SimpleNamespace
    ///
    /// def configs():  # TP102
    ///     if torch.cuda.get_device_capability()[0] >= 9:
    ///         yield SimpleNamespace(block=128, num_ctas=2)
    ///
    /// def tune(stream, grid, kernel, args):
    ///     return exhaustive_search(list(configs()), stream, grid, kernel, args)
    /// ```
    ///
    /// ```python fixed
    /// import torch
    /// from cuda.tile.tune import exhaustive_search
    /// from types import SimpleNamespace
    ///
    /// def configs():
    ///     if torch.cuda.get_device_capability()[0] >= 9:
    ///         yield SimpleNamespace(block=128, num_ctas=2)
    ///     else:
    ///         yield SimpleNamespace(block=128, num_ctas=1)
    ///
    /// def tune(stream, grid, kernel, args):
    ///     return exhaustive_search(list(configs()), stream, grid, kernel, args)
    /// ```
    ///
    /// ```python good
    /// import torch
    /// from cuda.tile.tune import exhaustive_search
    /// from types import SimpleNamespace
    ///
    /// def configs():
    ///     if torch.cuda.get_device_capability()[0] >= 9:
    ///         yield SimpleNamespace(block=128, num_ctas=2)
    ///
    /// def tune(stream, grid, kernel, args):
    ///     space = list(configs())
    ///     if not space:
    ///         space = [SimpleNamespace(block=64, num_ctas=1)]
    ///     return exhaustive_search(space, stream, grid, kernel, args)
    /// ```
    TP102 "empty-search-space" Error,
    Workspace(check)
}

fn check(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    if is_test(file) {
        return;
    }
    for (number, space) in file.model.spaces.iter().enumerate() {
        if space.stale {
            continue;
        }
        let searches: Vec<SearchCall<'_>> = (searches_of(file, number).into_iter())
            .filter(|s| taken(s, space) != Taken::Part && !is_guarded(s))
            .collect();
        let Some(search) = searches.first() else {
            continue;
        };
        let Some(facts) = links.space(&SpaceRef::Local(number)) else {
            continue;
        };
        report(file, space, &facts, search, out);
    }
    imported(file, links, out);
}

/// Spaces of other files, at the searches that take them as they are.
fn imported(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    for search in file.model.searches.iter().filter(|s| !s.stale) {
        for space in &search.spaces {
            let SpaceRef::Imported(path) = space else {
                continue;
            };
            let Some(call) = SearchCall::of(file, search) else {
                continue;
            };
            if taken_imported(&call, path) == Taken::Part || is_guarded(&call) {
                continue;
            }
            if let Some(facts) = links.space(space) {
                report_imported(&facts, &call, out);
            }
        }
    }
}

/// Only what is empty for every input: whether something else can leave nothing is for the file of
/// the space to say.
fn report_imported(facts: &SpaceFacts, call: &SearchCall<'_>, out: &mut Findings<'_>) {
    let counts = facts.by_arch.iter().filter(|(_, s)| !s.count.guarded);
    let empty: Vec<Arch> = counts
        .filter(|(_, s)| s.count.is_surely_empty())
        .map(|(arch, _)| *arch)
        .collect();
    if empty.is_empty() {
        return;
    }
    let described = out.push(
        call.search.space_span,
        format!(
            "`{}` has no configuration on {}, and the search raises there",
            facts.name,
            listed(&empty, facts.by_arch.len())
        ),
    );
    if empty.len() < facts.by_arch.len() {
        described.archs(empty);
    }
}

fn report(
    file: &FileContext<'_>,
    space: &Space,
    facts: &SpaceFacts,
    search: &SearchCall<'_>,
    out: &mut Findings<'_>,
) {
    let counts: Vec<(Arch, &SpaceCount)> = (facts.by_arch.iter())
        .map(|(arch, s)| (*arch, &s.count))
        .filter(|(_, c)| !c.guarded)
        .collect();
    let empty: Vec<Arch> = (counts.iter())
        .filter(|(_, c)| c.is_surely_empty())
        .map(|(arch, _)| *arch)
        .collect();
    let Some(first) = counts.iter().find(|(_, c)| c.is_surely_empty()) else {
        return report_may(file, space, &counts, search, out);
    };
    let why = cause(file, space, first.1)
        .map(|text| format!(": `{text}` does not hold there"))
        .unwrap_or_default();
    let name = if space.name.is_empty() {
        "the search space".to_owned()
    } else {
        format!("`{}`", space.name)
    };
    let mut described = out
        .push(
            space.name_span,
            format!(
                "{name} has no configuration on {}, and the search raises there{why}",
                listed(&empty, facts.by_arch.len())
            ),
        )
        .related(search.search.callee_span, "searched here");
    if empty.len() < facts.by_arch.len() {
        described = described.archs(empty);
    }
    if let Some(edits) = fallback(file, space, facts, search, &tests(file, first.1, space)) {
        described.review_fix("Add a configuration for the other architectures", edits);
    }
}

/// For some input nothing is left: a warning, since callers may know that it does not occur.
fn report_may(
    file: &FileContext<'_>,
    space: &Space,
    counts: &[(Arch, &SpaceCount)],
    search: &SearchCall<'_>,
    out: &mut Findings<'_>,
) {
    let vague = |c: &SpaceCount| {
        (c.why.iter()).any(|n| {
            matches!(
                n,
                Note::UnknownFilter(_) | Note::UnknownLength(_) | Note::TooMuch
            )
        })
    };
    let found = counts.iter().find(|(_, c)| c.reached && c.empty.is_some());
    let Some((_, count)) = found.filter(|(_, c)| !vague(c)) else {
        return;
    };
    let tests = emptying(file, space, count);
    let Some(last) = tests.last().filter(|_| !is_checked(search)) else {
        return;
    };
    out.push(
        space.name_span,
        format!(
            "`{}` may have no configuration: the test `{last}` can leave none for some inputs, and the search then raises",
            space.name
        ),
    )
    .related(search.search.callee_span, "searched here")
    .severity(Severity::Warning);
}

/// Where the tests stand that keep every configuration out.
fn tests(file: &FileContext<'_>, count: &SpaceCount, space: &Space) -> Vec<Span> {
    let Some((number, item)) = file.item(space.span) else {
        return Vec::new();
    };
    (count.empty.iter().flat_map(|e| &e.causes))
        .filter(|c| c.place.item as usize == number)
        .map(|c| item.place(c.place.span))
        .collect()
}

/// The tests that leave nothing, as written; none if one of them calls what is not known.
fn emptying<'a>(file: &FileContext<'a>, space: &Space, count: &SpaceCount) -> Vec<&'a str> {
    let mut out = Vec::new();
    let Some((number, item)) = file.item(space.span) else {
        return out;
    };
    let causes = count.empty.iter().flat_map(|e| &e.causes);
    for cause in causes {
        let place = item.place(cause.place.span);
        let test = file.expr(place).map(|t| t.node);
        let known = cause.place.item as usize == number
            && space.span.contains(place)
            && test.is_some_and(|t| !calls_unknown(t));
        if !known {
            return Vec::new();
        }
        out.push(file.source(place));
    }
    out
}

fn calls_unknown(test: &Expr) -> bool {
    let mut found = false;
    test.walk(&mut |e| {
        if let ExprKind::Call { func, .. } = &e.kind {
            found |= !func
                .name()
                .is_some_and(|n| matches!(n.as_str(), "min" | "max" | "len" | "abs" | "int"));
        }
    });
    found
}

/// Whether the function that searches checks what it makes the space from.
fn is_checked(search: &SearchCall<'_>) -> bool {
    let Some(ExprKind::Call { args, .. }) = bare_space(search).map(|s| &s.kind) else {
        return false;
    };
    let inputs: Vec<&SmolStr> = args.iter().flat_map(|a| names(&a.value)).collect();
    let about = |test: &Expr| names(test).iter().any(|n| inputs.contains(n));
    let raises = |body: &[Stmt]| body.iter().any(|s| matches!(s.kind, StmtKind::Raise(_)));
    let mut found = false;
    walk(search.body(), &mut |_, place| {
        found |= place.stmt().is_some_and(|s| match &s.kind {
            StmtKind::Assert { test, .. } => about(test),
            StmtKind::If { branches, .. } => branches
                .iter()
                .any(|(test, body)| about(test) && raises(body)),
            _ => false,
        });
    });
    found
}

/// The test that keeps every configuration out, if it stands in the space.
fn cause<'a>(file: &FileContext<'a>, space: &Space, count: &SpaceCount) -> Option<&'a str> {
    let empty = count.empty.as_ref()?;
    let (number, item) = file.item(space.span)?;
    let known = empty.causes.iter().chain(&empty.assuming).find(|c| {
        !c.outcome
            && c.place.item as usize == number
            && space.span.contains(item.place(c.place.span))
    })?;
    let test = file.expr(item.place(known.place.span))?;
    let text = file.source(test.place(test.node.span));
    (text.len() < 80 && !text.contains('\n')).then_some(text)
}

/// Whether the code around a search asks if the space is empty.
fn is_guarded(call: &SearchCall<'_>) -> bool {
    let Some(given) = call.arg(Given::Space) else {
        return true;
    };
    let has_or = |e: &Expr| {
        matches!(
            e.kind,
            ExprKind::Logical { .. } | ExprKind::Conditional { .. }
        )
    };
    if has_or(given) || has_or(call.follow(given)) {
        return true;
    }
    let Some(name) = given
        .name()
        .or_else(|| bare_space(call).and_then(Expr::name))
    else {
        return in_try(call);
    };
    call.values(name).len() > 1 || is_asked(call, name) || in_try(call)
}

/// `if not configs`, `assert configs`, `len(configs)`, `configs or [...]`.
fn is_asked(call: &SearchCall<'_>, name: &SmolStr) -> bool {
    let mut found = false;
    let bare = |e: &Expr| e.name() == Some(name);
    walk(call.body(), &mut |expr, place| {
        found |= match &expr.kind {
            ExprKind::Unary { op, operand } => op == "not" && bare(operand),
            ExprKind::Logical { left, right, .. } => bare(left) || bare(right),
            ExprKind::Conditional { test, .. } => bare(test),
            ExprKind::Call { func, args } => {
                (func
                    .name()
                    .is_some_and(|n| matches!(n.as_str(), "len" | "bool" | "any")))
                    && args.first().is_some_and(|a| bare(&a.value))
            }
            _ => false,
        };
        found |= place.stmt().is_some_and(|s| match &s.kind {
            StmtKind::If { branches, .. } => branches.iter().any(|(test, _)| bare(test)),
            StmtKind::Assert { test, .. } | StmtKind::While { test, .. } => bare(test),
            _ => false,
        });
    });
    found
}

fn in_try(call: &SearchCall<'_>) -> bool {
    let mut found = false;
    walk(call.body(), &mut |expr, place| {
        if expr.span == call.call.span {
            found |= (place.path.iter())
                .any(|s| matches!(&s.kind, StmtKind::Try { handlers, .. } if !handlers.is_empty()));
        }
    });
    found
}

#[cfg(test)]
mod tests;
