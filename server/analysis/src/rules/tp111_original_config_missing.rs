//! A configuration that was good enough to be fixed, and that a search is not offered.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::host;
use super::tuned::{self, Searched};
use crate::arch::Arch;
use crate::eval::Known;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, Links};

rule! {
    /// Hints or tiles that are fixed elsewhere, at the decorator or on a path without tuning, are not
    /// in the space, so that tuning can lose against them.
    ///
    /// Whoever fixed a configuration had a reason. A search that is offered it can only be as fast or
    /// faster; one that is not may end up slower than no search at all, and nobody will know. Add it
    /// to the space, on every architecture on which it was used.
    ///
    /// ```python bad
    /// from types import SimpleNamespace
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel(occupancy=4)
    /// def scale(x):
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (128,)) * 2)
    ///
    /// def space():  # TP111
    ///     for occupancy in (1, 2, 8):
    ///         yield SimpleNamespace(occupancy=occupancy)
    ///
    /// def tune(x, stream, grid, args, hints):
    ///     return exhaustive_search(list(space()), stream, grid, scale, args, hints)
    /// ```
    ///
    /// ```python good
    /// from types import SimpleNamespace
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel(occupancy=4)
    /// def scale(x):
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (128,)) * 2)
    ///
    /// def space():
    ///     for occupancy in (1, 2, 4, 8):
    ///         yield SimpleNamespace(occupancy=occupancy)
    ///
    /// def tune(x, stream, grid, args, hints):
    ///     return exhaustive_search(list(space()), stream, grid, scale, args, hints)
    /// ```
    TP111 "original-config-missing" Hint,
    Workspace(check)
}

/// Values by field.
type Fixed = Vec<(SmolStr, i64)>;

/// A fixed configuration that a space does not offer.
struct Missing {
    fixed: Fixed,
    how: String,
    /// Where it is fixed, if that is in this file.
    at: Option<Span>,
    archs: Vec<Arch>,
}

fn check(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    let spaces = tuned::searched(file, links);
    let mut said: Vec<(Span, Fixed)> = Vec::new();
    for space in &spaces {
        let mut missing = at_decorators(links, space);
        missing.extend(remade(file, space));
        missing.extend(written(file, &spaces, space));
        for one in missing {
            if one.archs.is_empty() || said.contains(&(space.span, one.fixed.clone())) {
                continue;
            }
            said.push((space.span, one.fixed.clone()));
            report(space, one, out);
        }
    }
}

fn report(space: &Searched<'_>, missing: Missing, out: &mut Findings<'_>) {
    let everywhere = missing.archs.len() == space.facts.by_arch.len();
    let on = if everywhere {
        String::new()
    } else {
        format!(" on {}", tuned::listed(&missing.archs))
    };
    let (name, fixed, how) = (space.name(), shown(&missing.fixed), missing.how);
    let message = format!("{name} does not offer {fixed}{on}, which is {how}");
    let mut found = out.push(space.span, message);
    if !everywhere {
        found = found.archs(missing.archs);
    }
    if let Some(at) = missing.at {
        found.related(at, "what is fixed");
    }
}

/// Hints at the decorator of the searched kernel.
fn at_decorators(links: &dyn Links, space: &Searched<'_>) -> Vec<Missing> {
    let mut out = Vec::new();
    for kernel in links.kernels(&space.search.candidates) {
        for hint in &kernel.hints {
            let Ok(value) = hint.text.trim().parse::<i64>() else {
                continue;
            };
            let fixed = vec![(hint.name.clone(), value)];
            out.push(Missing {
                archs: without(space, &fixed),
                fixed,
                how: format!("fixed at `{}`", kernel.name),
                at: kernel.here.map(|_| hint.span),
            });
        }
    }
    out
}

/// Hints written out where the searched kernel is remade. That path may be for one architecture: in
/// the space of any is enough.
fn remade(file: &FileContext<'_>, space: &Searched<'_>) -> Vec<Missing> {
    let candidates = &space.search.candidates;
    let mut out = Vec::new();
    for used in file.model.hint_uses.iter().filter(|h| !h.stale) {
        let Some(call) = file.expr(used.span) else {
            continue;
        };
        if !used.candidates.iter().any(|c| candidates.contains(c)) {
            continue;
        }
        let fixed = ints(call.node);
        if !is_nowhere(space, &fixed) {
            continue;
        }
        out.push(Missing {
            archs: without(space, &fixed),
            fixed,
            how: "used without a search".to_owned(),
            at: Some(used.span),
        });
    }
    out
}

/// Whether the space has the fields but on no architecture a configuration with these values.
fn is_nowhere(space: &Searched<'_>, fixed: &Fixed) -> bool {
    let known = space.known().count();
    known > 0 && without(space, fixed).len() == known
}

fn shown(fixed: &Fixed) -> String {
    let parts: Vec<String> = fixed.iter().map(|(n, v)| format!("{n}={v}")).collect();
    format!("`{}`", parts.join(", "))
}

/// The architectures on which the space has the fields but no configuration with these values.
fn without(space: &Searched<'_>, fixed: &Fixed) -> Vec<Arch> {
    space
        .known()
        .filter(|(_, known)| {
            let fields = known.fields();
            let has_fields = fixed
                .iter()
                .all(|(name, _)| (fields.iter()).any(|f| same(&f.name, name) && !f.open));
            let offered = known.configs.iter().any(|config| {
                fixed.iter().all(|(name, value)| {
                    (config.fields.iter())
                        .any(|(field, known)| same(field, name) && holds(known, *value))
                })
            });
            has_fields && !offered
        })
        .map(|(arch, _)| arch)
        .collect()
}

fn same(field: &str, name: &str) -> bool {
    field == name || tuned::is_occupancy(field) && tuned::is_occupancy(name)
}

fn holds(known: &Known, value: i64) -> bool {
    match known {
        Known::Int(known) => *known == value,
        Known::OneOf(parts) => parts.iter().any(|part| holds(part, value)),
        _ => false,
    }
}

/// Configurations written out elsewhere in the file, with all fields of the space.
fn written(file: &FileContext<'_>, spaces: &[Searched<'_>], space: &Searched<'_>) -> Vec<Missing> {
    let Some(fields) = space.known().next().map(|(_, known)| known.fields()) else {
        return Vec::new();
    };
    let mut scopes = vec![host::module(file)];
    let functions = host::functions(file).into_iter();
    scopes.extend(functions.map(|def| vec![def.with(def.node.body.as_slice())]));
    let mut out = Vec::new();
    for scope in scopes {
        host::each(&scope, &mut |expr, _| {
            let at = expr.place(expr.node.span);
            let offered = file.model.spaces.iter().any(|s| s.span.contains(at));
            if offered || !is_config(expr.node, fields.len()) {
                return;
            }
            let mut fixed = ints(expr.node);
            fixed.retain(|(name, _)| fields.iter().any(|f| same(&f.name, name)));
            // It may be another kernel's.
            let others = |s: &Searched<'_>| has(s, &fixed) && !is_nowhere(s, &fixed);
            let all = fixed.len() == fields.len() && is_nowhere(space, &fixed);
            if all && !spaces.iter().any(others) {
                out.push(Missing {
                    archs: without(space, &fixed),
                    fixed,
                    how: "used without a search".to_owned(),
                    at: Some(at),
                });
            }
        });
    }
    out
}

/// Whether the space has all the fields.
fn has(space: &Searched<'_>, fixed: &Fixed) -> bool {
    space.known().any(|(_, known)| {
        let fields = known.fields();
        (fixed.iter()).all(|(name, _)| fields.iter().any(|f| same(&f.name, name)))
    })
}

/// Whether an expression can be a configuration: two fields or more, or called like one.
fn is_config(expr: &Expr, fields: usize) -> bool {
    match &expr.kind {
        ExprKind::Dict(_) => fields > 1,
        ExprKind::Call { func, .. } => func.last_ident().is_some_and(|ident| {
            let lower = ident.name.to_ascii_lowercase();
            let hints = lower.ends_with("replace_hints") || lower == "kernel";
            !hints && (fields > 1 || lower.contains("namespace") || lower.contains("config"))
        }),
        _ => false,
    }
}

/// The whole numbers written out in a call or a dictionary, by name.
fn ints(expr: &Expr) -> Fixed {
    let pair = |name: &SmolStr, value: &Expr| match value.kind {
        ExprKind::Int(value) => Some((name.clone(), value)),
        _ => None,
    };
    match &expr.kind {
        ExprKind::Call { args, .. } => (args.iter())
            .filter_map(|arg| pair(&arg.name.as_ref()?.name, &arg.value))
            .collect(),
        ExprKind::Dict(pairs) => (pairs.iter())
            .filter_map(|(key, value)| match &key.as_ref()?.kind {
                ExprKind::Str(text) => pair(&text.as_str().into(), value),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
