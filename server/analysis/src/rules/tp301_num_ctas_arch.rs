//! Clusters where there is nothing to gain from them.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::host;
use super::tuned;
use crate::arch::Arch;
use crate::body::argument;
use crate::eval::Known;
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{Claim, FileContext, Findings, InItem, Links};

rule! {
    /// `num_ctas` greater than 1 reaches an architecture that gains nothing from it: sm_80 to sm_89,
    /// sm_120, sm_121.
    ///
    /// Blocks of a cluster share operands in shared memory, which helps tensor cores that read them
    /// there: those of sm_90, sm_100, sm_103, sm_110. Below sm_90 the same code comes out whatever
    /// `num_ctas` says (compared byte by byte, tileiras 13.4), so a search compiles and times one
    /// kernel twice. sm_120 and sm_121 do build clusters, which then only have to be scheduled
    /// together, and multiply from registers. Branch on `torch.cuda.get_device_capability()`, or write
    /// `ct.ByTarget(sm_100=2)`.
    ///
    /// ```python bad
    /// @ct.kernel(num_ctas=2)
    /// def scale(x):  # TP301
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (128,)) * 2)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel(num_ctas=ct.ByTarget(sm_90=2, sm_100=2, default=1))
    /// def scale(x):
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (128,)) * 2)
    /// ```
    TP301 "num-ctas-arch" Warning,
    Workspace(check)
}

fn check(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    for kernel in file.model.kernels.iter().filter(|k| !k.stale) {
        for hint in kernel.hints.iter().filter(|h| h.name == "num_ctas") {
            let Some(value) = file.expr(hint.span) else {
                continue;
            };
            let archs = reached(file, &|arch| at_most(file, value, arch));
            let what = format!("`{}` has `num_ctas={}`", kernel.name, hint.text);
            let without = file.expr(kernel.decorator_span).and_then(|decorator| {
                decorator.without_argument(Edits::new(file.text), "num_ctas")
            });
            said(kernel.name_span, &what, archs, without, out);
        }
    }
    remade(file, out);
    spaces(file, links, out);
}

/// The architectures without gain for which there is a number of blocks greater than one.
fn reached(file: &FileContext<'_>, num_ctas: &dyn Fn(Arch) -> Option<i64>) -> Vec<Arch> {
    (file.target.archs.iter().copied())
        .filter(|arch| !arch.gains_from_clusters())
        .filter(|arch| num_ctas(*arch).is_some_and(|n| n > 1))
        .collect()
}

fn said(
    span: Span,
    what: &str,
    archs: Vec<Arch>,
    without: Option<Edits<'_>>,
    out: &mut Findings<'_>,
) {
    if archs.is_empty() {
        return;
    }
    let clusters = archs.iter().any(|a| a.has_clusters());
    let why = match (archs.iter().all(|a| a.has_clusters()), clusters) {
        (true, _) => "whose tensor cores cannot use what a cluster shares",
        (_, false) => "which have no clusters",
        _ => "which have no clusters, or no use for what they share",
    };
    let message = format!("{what} on {} too, {why}", tuned::listed(&archs));
    let on: Vec<Arch> = (archs.iter().copied())
        .filter(|arch| !arch.has_clusters())
        .collect();
    let found = out.push(span, message).archs(archs);
    if let (Some(without), false) = (without, on.is_empty()) {
        let edits = without.finish();
        found.claim(Claim::Inert { edits, on });
    }
}

/// The greatest number that a value can be on an architecture, as far as it is written out.
fn at_most(file: &FileContext<'_>, value: InItem<'_, Expr>, arch: Arch) -> Option<i64> {
    let value = host::follow(file, value);
    match &value.node.kind {
        ExprKind::Int(number) => Some(*number),
        ExprKind::Conditional { test, body, orelse } if !asks_device(test) => {
            at_most(file, value.with(&**body), arch).max(at_most(file, value.with(&**orelse), arch))
        }
        ExprKind::Call { func, args } if by_target(func) => {
            let named = |name: &str| argument(args, None, name);
            at_most(
                file,
                value.with(named(arch.name()).or_else(|| named("default"))?),
                arch,
            )
        }
        _ => None,
    }
}

fn by_target(func: &Expr) -> bool {
    func.last_ident()
        .is_some_and(|ident| ident.name == "ByTarget")
}

/// Whether an expression asks which device it is.
fn asks_device(expr: &Expr) -> bool {
    let mut found = false;
    expr.walk(&mut |e| {
        found |= e.last_ident().is_some_and(|ident| {
            // A search is for no architecture.
            let lower = ident.name.to_ascii_lowercase().replace("search", "");
            [
                "capability",
                "arch",
                "sm_",
                "hopper",
                "blackwell",
                "device_name",
                "is_sm",
            ]
            .iter()
            .any(|word| lower.contains(word))
                || matches!(lower.as_str(), "cc" | "sm" | "major")
        });
    });
    found
}

/// Kernels remade with a number that is written out, in functions that never ask for the device.
fn remade(file: &FileContext<'_>, out: &mut Findings<'_>) {
    for used in file.model.hint_uses.iter().filter(|h| !h.stale) {
        let Some(call) = file.expr(used.span) else {
            continue;
        };
        let ExprKind::Call { args, .. } = &call.node.kind else {
            continue;
        };
        let Some(value) = argument(args, None, "num_ctas") else {
            continue;
        };
        let value = call.with(value);
        let archs = reached(file, &|arch| at_most(file, value, arch));
        if archs.is_empty() {
            continue;
        }
        let mut gated = false;
        host::each(&host::scope(file, used.span), &mut |expr, _| {
            gated |= matches!(
                expr.node.kind,
                ExprKind::Name(_) | ExprKind::Attribute { .. }
            ) && asks_device(expr.node);
        });
        if !gated {
            let what = format!(
                "`{}` is remade with `num_ctas` greater than 1",
                used.kernel_text
            );
            said(used.span, &what, archs, None, out);
        }
    }
}

/// Spaces that offer it.
fn spaces(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    let mut seen: Vec<Span> = Vec::new();
    for space in tuned::searched(file, links) {
        if seen.contains(&space.span) || hints_by_target(file, space.search.span) {
            continue;
        }
        let most = |arch: Arch| {
            let (_, known) = space.facts.by_arch.iter().find(|(a, _)| *a == arch)?;
            let configs = known.configs.iter().filter(|_| known.count.reached);
            let numbers = configs.flat_map(|c| &c.fields).filter_map(|(name, value)| {
                match (name.as_str(), value) {
                    ("num_ctas", Known::Int(number)) => Some(*number),
                    _ => None,
                }
            });
            numbers.max()
        };
        let archs = reached(file, &most);
        if archs.is_empty() {
            continue;
        }
        seen.push(space.span);
        let what = format!("{} offers `num_ctas` greater than 1", space.name());
        said(space.span, &what, archs, None, out);
    }
}

/// Whether the hints that a search gives are told apart by architecture.
fn hints_by_target(file: &FileContext<'_>, search: Span) -> bool {
    let Some(call) = file.expr(search) else {
        return false;
    };
    let ExprKind::Call { args, .. } = &call.node.kind else {
        return false;
    };
    let Some(hints) = argument(args, Some(5), "hints_fn") else {
        return false;
    };
    let mut found = false;
    let mut look = |expr: &Expr| {
        expr.walk(&mut |e| found |= by_target(e) || asks_device(e));
    };
    let hints = host::follow(file, call.with(hints));
    look(hints.node);
    if let Some(name) = hints.node.name() {
        for def in host::functions(file) {
            if def.node.name.name == *name {
                host::returns(def.node).into_iter().for_each(&mut look);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::arch::Arch;
    use crate::rules::testing::{bad, bad_for, good, good_for};
    use crate::target::Target;

    fn kernel(hints: &str, mark: &str) -> String {
        format!("@ct.kernel({hints})\ndef k(x):{mark}\n    pass\n")
    }

    #[test]
    fn at_the_decorator() {
        for hints in [
            "num_ctas=4, occupancy=1",
            "num_ctas=ct.ByTarget(sm_100=1, default=2)",
            "num_ctas=ct.ByTarget(sm_120=2)",
        ] {
            bad(&RULE, &kernel(hints, "  # TP301"));
        }
        let (_, found) = bad(
            &RULE,
            &kernel("num_ctas=ct.ByTarget(sm_120=2)", "  # TP301"),
        );
        assert_eq!(found[0].archs, [Arch::Sm120]);
        for hints in [
            "num_ctas=1",
            "occupancy=2",
            "num_ctas=None",
            "num_ctas=N",
            "num_ctas=pick()(default=2)",
            "num_ctas=ct.ByTarget(sm_100=2)",
            "num_ctas=ct.ByTarget(sm_90=4, sm_120=1, default=1)",
        ] {
            good(&RULE, &kernel(hints, ""));
        }
    }

    #[test]
    fn for_targets_that_gain() {
        let target = Target {
            archs: vec![Arch::Sm90, Arch::Sm100],
            ..Target::default()
        };
        let code = kernel("num_ctas=2", "");
        good_for(&RULE, &format!("import cuda.tile as ct\n{code}"), &target);
    }

    const HEAD: &str = "import torch\nimport cuda.tile as ct\nfrom types import SimpleNamespace as C\nfrom cuda.tile.tune import exhaustive_search\n@ct.kernel\ndef k(x):\n    pass\n\n";

    #[test]
    fn in_spaces() {
        bad(
            &RULE,
            &format!(
                "{HEAD}def space():  # TP301\n    if torch.cuda.get_device_capability()[0] < 9:\n        yield C(num_ctas=1)\n    else:\n        yield C(num_ctas=2)\n\nexhaustive_search(list(space()), s, g, k, a, h)\n"
            ),
        );
        bad(
            &RULE,
            &format!(
                "{HEAD}exhaustive_search([C(num_ctas=n) for n in (1, 2)], s, g, k, a, h)  # TP301\n"
            ),
        );
        good(
            &RULE,
            &format!(
                "{HEAD}def space():\n    if torch.cuda.get_device_capability()[0] in (9, 10):\n        yield C(num_ctas=2)\n    yield C(num_ctas=1)\n\nexhaustive_search(list(space()), s, g, k, a, h)\n"
            ),
        );
        for hints in [
            "lambda c: {'num_ctas': ct.ByTarget(sm_100=c.num_ctas)}",
            "lambda c: {'num_ctas': c.num_ctas if arch() else 1}",
        ] {
            good(
                &RULE,
                &format!(
                    "{HEAD}exhaustive_search([C(num_ctas=n) for n in (1, 2)], s, g, k, a, {hints})\n"
                ),
            );
        }
    }

    #[test]
    fn in_kernels_remade() {
        bad(
            &RULE,
            &format!(
                "{HEAD}def run(x):\n    n = 2 if x else None\n    return k.replace_hints(num_ctas=n)  # TP301\n"
            ),
        );
        bad(
            &RULE,
            &format!(
                "{HEAD}def run(x):\n    r = exhaustive_search([C(n=1)], s, g, k, a, h)\n    return k.replace_hints(num_ctas=2)  # TP301\n"
            ),
        );
        for body in [
            "    return k.replace_hints(num_ctas=1)",
            "    return k.replace_hints(num_ctas=x.n)",
            "    if torch.cuda.get_device_capability()[0] == 10:\n        return k.replace_hints(num_ctas=2)",
            "    n = 2 if is_blackwell() else 1\n    return k.replace_hints(num_ctas=n)",
            "    print(gpu_arch)\n    return k.replace_hints(num_ctas=2)",
            "    return k.replace_hints(num_ctas=ct.ByTarget(sm_100=2))",
        ] {
            good(&RULE, &format!("{HEAD}def run(x):\n{body}\n"));
        }
    }

    #[test]
    fn why_there_is_no_gain() {
        for (archs, said) in [
            (
                vec![Arch::Sm120, Arch::Sm121],
                "whose tensor cores cannot use what a cluster shares",
            ),
            (vec![Arch::Sm80, Arch::Sm86], "which have no clusters"),
            (
                vec![Arch::Sm80, Arch::Sm120],
                "or no use for what they share",
            ),
        ] {
            let target = Target {
                archs,
                ..Target::default()
            };
            let code = format!(
                "import cuda.tile as ct\n{}",
                kernel("num_ctas=2", "  # TP301")
            );
            let (_, found) = bad_for(&RULE, &code, &target);
            assert!(found[0].message.ends_with(said), "{found:?}");
        }
    }

    #[test]
    fn a_function_of_hints_that_asks_for_the_device() {
        let space = "[C(num_ctas=n) for n in (1, 2)]";
        let code = |hints: &str, mark: &str| {
            format!(
                "{HEAD}def hints(c):\n    return {hints}\n\ndef other(c):\n    return arch()\n\nexhaustive_search({space}, s, g, k, a, hints){mark}\n"
            )
        };
        bad(&RULE, &code("{'num_ctas': c.num_ctas}", "  # TP301"));
        good(
            &RULE,
            &code("{'num_ctas': c.num_ctas if arch() else 1}", ""),
        );
    }
}
