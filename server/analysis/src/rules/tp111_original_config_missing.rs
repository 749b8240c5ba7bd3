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
        // With more than the space has, in a function of its own.
        let function =
            "def fixed():\n    return {'TILE': 32, 'occupancy': 1, 'stages': 2, 'name': 'x'}\n";
        bad(&RULE, &format!("{}\n{function}", code("", &marked, "None")));
        // A remade kernel in place of the search.
        bad(
            &RULE,
            &code(
                "",
                "[C(occupancy=1)]  # TP111",
                "k.replace_hints(occupancy=3)",
            ),
        );
    }

    #[test]
    fn what_is_offered_or_not_known() {
        let space = "[C(TILE=t, occupancy=o) for t in (64, 128) for o in (1, 2)]";
        for (hints, space, fallback) in [
            ("(occupancy=2)", space, "None"),
            ("(occupancy=8)", "[C(TILE=64), C(TILE=128)]", "None"),
            (
                "(occupancy=8)",
                "[C(occupancy=o) for o in OCCUPANCIES]",
                "None",
            ),
            ("(occupancy=N)", space, "None"),
            ("", space, "C(TILE=64, occupancy=2)"),
            ("", space, "SPACE[0]"),
            ("", space, "C(TILE=n, occupancy=2)"),
            ("", space, "C(rows=64, columns=2)"),
            ("(opt_level=3)", space, "None"),
            ("", "[C(occupancy=1)]", "other.replace_hints(occupancy=3)"),
            ("", "[C(occupancy=1)]", "start(occupancy=3)"),
        ] {
            good(&RULE, &code(hints, space, fallback));
        }
        // A space of other fields can have none of it.
        let rows = "ROWS = [C(rows=1, columns=r) for r in (1, 2)]\nexhaustive_search(ROWS, s, g, k, a, h)\n";
        let marked = format!("{space}  # TP111");
        bad(
            &RULE,
            &format!("{}\n{rows}", code("", &marked, "C(TILE=256, occupancy=1)")),
        );
        // Another kernel's space has it.
        let two = "SPACE_2 = [C(TILE=256, occupancy=o) for o in (1, 2)]\nexhaustive_search(SPACE_2, s, g, k, a, h)\n";
        good(
            &RULE,
            &format!("{}\n{two}", code("", space, "C(TILE=256, occupancy=1)")),
        );
    }

    #[test]
    fn paths_for_one_architecture_and_configurations_left_out() {
        let gated = "import torch\nimport cuda.tile as ct\nfrom types import SimpleNamespace as C\nfrom cuda.tile.tune import exhaustive_search\n\n@ct.kernel\ndef k(x):\n    pass\n\ndef space():\n    if torch.cuda.get_device_capability()[0] < 9:\n        yield C(TILE=64, occupancy=4)\n    else:\n        yield C(TILE=64, occupancy=1)\n\ndef few():\n    for c in (C(TILE=32, occupancy=1), C(TILE=512, occupancy=1)):\n        if c.TILE < 256:\n            yield c\n\nexhaustive_search(list(space()), s, g, k, a, h)\nexhaustive_search(list(few()), s, g, other, a, h)\n";
        good(&RULE, gated);
        good(
            &RULE,
            &format!("{gated}fixed = k.replace_hints(occupancy=4)\n"),
        );
        good(
            &RULE,
            &format!("{gated}fixed = k.replace_hints(occupancy=N)\n"),
        );
    }

    #[test]
    fn on_some_architectures_only() {
        let (_, found) = bad(
            &RULE,
            "import torch\nimport cuda.tile as ct\nfrom types import SimpleNamespace as C\nfrom cuda.tile.tune import exhaustive_search\n\n@ct.kernel(occupancy=4)\ndef k(x):\n    pass\n\ndef space():  # TP111\n    if torch.cuda.get_device_capability()[0] < 9:\n        yield C(occupancy=4)\n    else:\n        yield C(occupancy=1)\n\nexhaustive_search(list(space()), s, g, k, a, h)\n",
        );
        assert!(found[0].archs.iter().all(|a| a.sm() >= 90) && !found[0].archs.is_empty());
    }

    #[test]
    fn where_it_is_not_offered() {
        let space = "[C(TILE=t, occupancy=o) for t in (64, 128) for o in (1, 2)]  # TP111";
        let (_, found) = bad(&RULE, &code("(occupancy=8)", space, "None"));
        assert!(
            found[0].archs.is_empty() && !found[0].message.contains(" on "),
            "{found:?}"
        );
        // Fields that the space does not have are something else's.
        good(
            &RULE,
            &code(
                "",
                &space.replace("  # TP111", ""),
                "{'TILE': 256, 'other': 4}",
            ),
        );
    }

    #[test]
    fn a_field_that_is_one_of_two() {
        for either in ["64 if FLAG else 128", "(64, 128)[FLAG]"] {
            let space = format!("[C(TILE={either}, occupancy=1)]");
            for tile in [64, 128] {
                let fixed = format!("C(TILE={tile}, occupancy=1)");
                good(&RULE, &code("", &space, &fixed));
            }
            let marked = format!("{space}  # TP111");
            bad(&RULE, &code("", &marked, "C(TILE=256, occupancy=1)"));
        }
    }
}
