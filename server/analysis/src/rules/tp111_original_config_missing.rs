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

fn check(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    let mut said: Vec<(Span, Fixed)> = Vec::new();
    for space in tuned::searched(file, links) {
        let mut missing: Vec<(Fixed, String, Option<Span>, Vec<Arch>)> = Vec::new();
        for kernel in links.kernels(&space.search.candidates) {
            for hint in &kernel.hints {
                if let Ok(value) = hint.text.trim().parse::<i64>() {
                    let fixed = vec![(hint.name.clone(), value)];
                    let archs = without(&space, &fixed);
                    let here = kernel.here.map(|_| hint.span);
                    missing.push((fixed, format!("fixed at `{}`", kernel.name), here, archs));
                }
            }
        }
        for (fixed, at) in fallbacks(file, &space) {
            // A path without tuning may be for one architecture: in the space of any is enough.
            let archs = without(&space, &fixed);
            if archs.len() == space.known().count() {
                missing.push((fixed, "used without a search".to_owned(), Some(at), archs));
            }
        }
        for (fixed, how, at, archs) in missing {
            if archs.is_empty() || said.contains(&(space.span, fixed.clone())) {
                continue;
            }
            said.push((space.span, fixed.clone()));
            let everywhere = archs.len() == space.facts.by_arch.len();
            let on = if everywhere {
                String::new()
            } else {
                format!(" on {}", tuned::listed(&archs))
            };
            let found = out.push(
                space.span,
                format!("{} does not offer {}{on}, which is {how}", space.name(), shown(&fixed)),
            );
            let found = if everywhere { found } else { found.archs(archs) };
            // Places in decorators are the file's only for kernels of this file.
            if let Some(at) = at {
                found.related(at, "what is fixed");
            }
        }
    }
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
            let has_fields = fixed.iter().all(|(name, _)| {
                (fields.iter()).any(|f| same(&f.name, name) && !f.open)
            });
            let offered = known.configs.iter().any(|config| {
                fixed.iter().all(|(name, value)| {
                    (config.fields.iter()).any(|(field, known)| {
                        same(field, name) && holds(known, *value)
                    })
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

/// Configurations written out beside the search: of the same fields, whole numbers all.
fn fallbacks(file: &FileContext<'_>, space: &Searched<'_>) -> Vec<(Fixed, Span)> {
    let Some(fields) = space.known().next().map(|(_, known)| known.fields()) else {
        return Vec::new();
    };
    let mut out = Vec::new();
    if file.functions_around(space.search.span).is_empty() {
        return out;
    }
    host::each(&host::scope(file, space.search.span), &mut |expr, _| {
        let at = expr.place(expr.node.span);
        let inside = |outer: Option<Span>| outer.is_some_and(|outer| outer.contains(at));
        if inside(Some(space.search.span)) || inside(space.facts.here) {
            return;
        }
        let Some(fixed) = written(expr.node) else {
            return;
        };
        let all = (fields.iter()).all(|f| fixed.iter().any(|(name, _)| same(&f.name, name)));
        if fixed.len() == fields.len() && all {
            out.push((fixed, at));
        }
    });
    out
}

/// A configuration of whole numbers: `SimpleNamespace(TILE=64, occupancy=2)`, or a dictionary.
fn written(expr: &Expr) -> Option<Fixed> {
    let int = |expr: &Expr| match expr.kind {
        ExprKind::Int(value) => Some(value),
        _ => None,
    };
    let fixed: Fixed = match &expr.kind {
        ExprKind::Call { args, .. } => (args.iter())
            .map(|arg| Some((arg.name.as_ref()?.name.clone(), int(&arg.value)?)))
            .collect::<Option<_>>()?,
        ExprKind::Dict(pairs) => (pairs.iter())
            .map(|(key, value)| match &key.as_ref()?.kind {
                ExprKind::Str(text) => Some((text.as_str().into(), int(value)?)),
                _ => None,
            })
            .collect::<Option<_>>()?,
        _ => return None,
    };
    (!fixed.is_empty()).then_some(fixed)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn code(hints: &str, space: &str, fallback: &str) -> String {
        format!(
            "import torch\nimport cuda.tile as ct\nfrom types import SimpleNamespace as C\nfrom cuda.tile.tune import exhaustive_search\n\n@ct.kernel{hints}\ndef k(x):\n    pass\n\nSPACE = {space}\n\ndef run(x, off):\n    if off:\n        config = {fallback}\n    else:\n        config = exhaustive_search(SPACE, s, g, k, a, h).best.config\n    return config\n"
        )
    }

    #[test]
    fn what_is_fixed_and_not_offered() {
        let space = "[C(TILE=t, occupancy=o) for t in (64, 128) for o in (1, 2)]";
        let marked = format!("{space}  # TP111");
        bad(&RULE, &code("(occupancy=8)", &marked, "None"));
        bad(&RULE, &code("", &marked, "C(TILE=256, occupancy=1)"));
        bad(&RULE, &code("", &marked, "{'TILE': 64, 'occupancy': 4}"));
        // `occ` is the occupancy.
        bad(
            &RULE,
            &code("(occupancy=8)", "[C(occ=1), C(occ=2)]  # TP111", "None"),
        );
        // A remade kernel in place of the search.
        bad(
            &RULE,
            &code("", "[C(occupancy=1)]  # TP111", "k.replace_hints(occupancy=3)"),
        );
    }

    #[test]
    fn what_is_offered_or_not_known() {
        let space = "[C(TILE=t, occupancy=o) for t in (64, 128) for o in (1, 2)]";
        for (hints, space, fallback) in [
            ("(occupancy=2)", space, "None"),
            ("(occupancy=8)", "[C(TILE=64), C(TILE=128)]", "None"),
            ("(occupancy=8)", "[C(occupancy=o) for o in OCCUPANCIES]", "None"),
            ("(occupancy=N)", space, "None"),
            ("", space, "C(TILE=64, occupancy=2)"),
            ("", space, "SPACE[0]"),
            ("", space, "C(TILE=n, occupancy=2)"),
            ("", space, "C(rows=64, columns=2)"),
            ("(opt_level=3)", space, "None"),
        ] {
            good(&RULE, &code(hints, space, fallback));
        }
    }

    #[test]
    fn on_some_architectures_only() {
        let (_, found) = bad(
            &RULE,
            "import torch\nimport cuda.tile as ct\nfrom types import SimpleNamespace as C\nfrom cuda.tile.tune import exhaustive_search\n\n@ct.kernel(occupancy=4)\ndef k(x):\n    pass\n\ndef space():  # TP111\n    if torch.cuda.get_device_capability()[0] < 9:\n        yield C(occupancy=4)\n    else:\n        yield C(occupancy=1)\n\nexhaustive_search(list(space()), s, g, k, a, h)\n",
        );
        assert!(found[0].archs.iter().all(|a| a.sm() >= 90) && !found[0].archs.is_empty());
    }
}
