//! Hints with values that cuTile refuses.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Arg, Expr, ExprKind, Stmt, StmtKind};

use super::tuned::{self, Searched};
use super::tuning::search_call::{Given, Gives, SearchCall};
use crate::arch::Arch;
use crate::body::Literal;
use crate::eval::Known;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, ItemContext, Links};

rule! {
    /// A hint has a value that cuTile refuses: an occupancy outside 1 to 32 and the like.
    ///
    /// `ct.kernel` and `replace_hints` raise ValueError for an `occupancy` outside 1 to 32, a
    /// `num_ctas` that is no power of two from 1 to 16, an `opt_level` outside 0 to 3 and a
    /// `num_worker_warps` that is no power of two from 1 to 32 (cuda-tile 1.7), also within `ByTarget`.
    /// A search raises it too, when it comes to a configuration whose hints are such.
    ///
    /// ```python bad
    /// import cuda.tile as ct
    /// from types import SimpleNamespace
    ///
    /// @ct.kernel(occupancy=64)  # TP226
    /// def copy(x, y, TILE: ct.Constant[int]):
    ///     ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (TILE,)))
    ///
    /// def remade():
    ///     return copy.replace_hints(num_ctas=3)  # TP226
    ///
    /// def configs():  # TP226
    ///     for occupancy in (1, 2, 64):
    ///         yield SimpleNamespace(tile=128, occupancy=occupancy)
    ///
    /// def tune(stream, grid, args):
    ///     return ct.tune.exhaustive_search(
    ///         list(configs()), stream, grid, copy, args, lambda cfg: {"occupancy": cfg.occupancy}
    ///     )
    /// ```
    ///
    /// ```python good
    /// @ct.kernel(occupancy=32, num_ctas=ct.ByTarget(sm_100=2, default=1))
    /// def copy(x, y, TILE: ct.Constant[int]):
    ///     ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (TILE,)))
    /// ```
    TP226 "hint-out-of-range" Error,
    Item(check), Workspace(in_spaces)
}

fn check(at: &ItemContext<'_>, out: &mut Findings<'_>) {
    block(at, at.body, out);
}

fn block(at: &ItemContext<'_>, body: &[Stmt], out: &mut Findings<'_>) {
    for stmt in body {
        stmt.own_exprs(&mut |e| e.walk(&mut |e| call(at, e, out)));
        if let StmtKind::FunctionDef(def) = &stmt.kind
            && at.is_device(def)
        {
            continue;
        }
        for inner in stmt.blocks() {
            block(at, inner, out);
        }
    }
}

fn call(at: &ItemContext<'_>, expr: &Expr, out: &mut Findings<'_>) {
    let ExprKind::Call { func, args } = &expr.kind else {
        return;
    };
    let makes = at.module.api(func).is_some_and(|n| n == "kernel");
    let remakes = || matches!(&func.kind, ExprKind::Attribute { attr, .. } if attr.name == "replace_hints");
    if makes || remakes() {
        for arg in args {
            hint(at, arg, out);
        }
    } else if at.module.api(func).is_some_and(|n| n.ends_with("exhaustive_search")) {
        for arg in args.iter().filter(|a| named(a, "hints_fn")) {
            returned(at, &arg.value, out);
        }
    }
}

fn named(arg: &Arg, name: &str) -> bool {
    arg.name.as_ref().is_some_and(|n| n.name == name)
}

fn hint(at: &ItemContext<'_>, arg: &Arg, out: &mut Findings<'_>) {
    if let Some(name) = &arg.name {
        value(at, &name.name, &arg.value, out);
    } else if arg.stars == 2 {
        pairs(&arg.value, &mut |name, given| value(at, name, given, out));
    }
}

/// Hints that a lambda returns as a dictionary.
fn returned(at: &ItemContext<'_>, function: &Expr, out: &mut Findings<'_>) {
    if let ExprKind::Lambda { body, .. } = &function.kind {
        pairs(body, &mut |name, given| value(at, name, given, out));
    }
}

/// The names and values of a dictionary that is written out.
fn pairs<'e>(dictionary: &'e Expr, visit: &mut dyn FnMut(&'e str, &'e Expr)) {
    match &dictionary.kind {
        ExprKind::Dict(pairs) => {
            for (key, given) in pairs {
                if let Some(ExprKind::Str(name)) = key.as_ref().map(|k| &k.kind) {
                    visit(name, given);
                }
            }
        }
        ExprKind::Call { func, args } if func.name().is_some_and(|n| n == "dict") => {
            for arg in args {
                if let Some(name) = &arg.name {
                    visit(&name.name, &arg.value);
                }
            }
        }
        _ => {}
    }
}

/// Spaces with configurations whose fields a search makes hints of.
fn in_spaces(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    let mut seen: Vec<(Span, SmolStr)> = Vec::new();
    for space in tuned::searched(file, links) {
        let Some(call) = SearchCall::of(file, space.search) else {
            continue;
        };
        let Some(hints) = call.arg(Given::Hints) else {
            continue;
        };
        for given in call.gives(hints) {
            pairs(given.value, &mut |name, value| {
                let Some(field) = field(&given, value) else {
                    return;
                };
                if !seen.contains(&(space.span, field.clone())) && offered(&space, name, field, out) {
                    seen.push((space.span, field.clone()));
                }
            });
        }
    }
}

/// The field of the configuration that a hint is, for every target or for one.
fn field<'a>(given: &Gives<'a>, value: &'a Expr) -> Option<&'a SmolStr> {
    match &value.kind {
        ExprKind::Attribute { value, attr } => {
            (value.name().is_some() && value.name() == given.config).then_some(&attr.name)
        }
        ExprKind::Call { func, args } if func.last_ident()?.name == "ByTarget" => {
            args.iter().find_map(|a| field(given, &a.value))
        }
        _ => None,
    }
}

/// Reports a hint that a space offers and cuTile refuses; whether there is one.
fn offered(space: &Searched<'_>, hint: &str, field: &SmolStr, out: &mut Findings<'_>) -> bool {
    let Some(allowed) = allowed(hint) else {
        return false;
    };
    let mut refused: Vec<(Arch, i64)> = Vec::new();
    for (arch, known) in &space.facts.by_arch {
        let configs = known.configs.iter().filter(|_| known.count.reached);
        let values = configs.flat_map(|c| &c.fields).filter(|(name, _)| name == field);
        let bad = values.filter_map(|(_, value)| match value {
            Known::Int(number) if !(allowed.fits)(*number) => Some(*number),
            _ => None,
        });
        refused.extend(bad.map(|number| (*arch, number)).take(1));
    }
    let Some((_, number)) = refused.first() else {
        return false;
    };
    let found = out.push(
        space.span,
        format!(
            "{} offers `{hint}={number}`, which is refused with a ValueError: it must be {}",
            space.name(),
            allowed.words
        ),
    );
    if refused.len() < space.facts.by_arch.len() {
        found.archs(refused.iter().map(|(arch, _)| *arch));
    }
    true
}

/// A hint's value, each of them where it depends on the target or a condition.
fn value(at: &ItemContext<'_>, name: &str, given: &Expr, out: &mut Findings<'_>) {
    let Some(allowed) = allowed(name) else {
        return;
    };
    match &given.kind {
        ExprKind::Call { func, args } => {
            if at.module.api(func).is_some_and(|n| n == "ByTarget") {
                args.iter().for_each(|a| value(at, name, &a.value, out));
            }
        }
        ExprKind::Conditional { body, orelse, .. } => {
            value(at, name, body, out);
            value(at, name, orelse, out);
        }
        _ => {
            if let Some(number) = number(at, given)
                && !(allowed.fits)(number)
            {
                out.push(
                    given.span,
                    format!(
                        "`{name}={number}` is refused with a ValueError: it must be {}",
                        allowed.words
                    ),
                );
            }
        }
    }
}

fn number(at: &ItemContext<'_>, expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Int(value) => Some(*value),
        ExprKind::Unary { op, operand } if op == "-" => number(at, operand)?.checked_neg(),
        ExprKind::Name(name) => match at.module.constants.get(name) {
            Some(Literal::Int(value)) if !bound_in(at, name) => Some(*value),
            _ => None,
        },
        _ => None,
    }
}

/// The item binds the name itself: it is not the module's.
fn bound_in(at: &ItemContext<'_>, name: &str) -> bool {
    at.functions().iter().any(|def| {
        def.params.iter().any(|p| p.name.name == name)
            || super::bindings::bound(&def.body).contains(name)
    })
}

struct Allowed {
    fits: fn(i64) -> bool,
    words: &'static str,
}

fn allowed(hint: &str) -> Option<Allowed> {
    Some(match hint {
        "occupancy" => Allowed {
            fits: |v| (1..=32).contains(&v),
            words: "from 1 to 32",
        },
        "num_ctas" => Allowed {
            fits: |v| [1, 2, 4, 8, 16].contains(&v),
            words: "a power of two from 1 to 16",
        },
        "opt_level" => Allowed {
            fits: |v| (0..=3).contains(&v),
            words: "from 0 to 3",
        },
        "num_worker_warps" => Allowed {
            fits: |v| [1, 2, 4, 8, 16, 32].contains(&v),
            words: "a power of two from 1 to 32",
        },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, bad_beside, good};

    const BODY: &str = "\ndef k(x):\n    ct.store(x, (ct.bid(0),), ct.zeros((8,), dtype=ct.float32))\n";

    #[test]
    fn every_hint_and_place() {
        for hints in [
            "occupancy=0",
            "occupancy=33",
            "occupancy=-1",
            "num_ctas=0",
            "num_ctas=3",
            "num_ctas=32",
            "opt_level=4",
            "opt_level=-1",
            "num_worker_warps=3",
            "num_worker_warps=64",
            "occupancy=ct.ByTarget(sm_90=64, default=1)",
            "num_ctas=ct.ByTarget(sm_90=1, default=6)",
            "occupancy=48 if True else 2",
        ] {
            bad(&RULE, &format!("@ct.kernel({hints})  # TP226{BODY}"));
            bad(
                &RULE,
                &format!("@ct.kernel{BODY}\ndef run():\n    return k.replace_hints({hints})  # TP226\n"),
            );
        }
        bad(
            &RULE,
            &format!("WIDE = 64\n@ct.kernel(occupancy=WIDE)  # TP226{BODY}"),
        );
        bad(
            &RULE,
            "import cuda.tile as ct\ndef f(x):\n    ct.store(x, (0,), 1)\nk = ct.kernel(f, occupancy=40)  # TP226\n",
        );
        bad(
            &RULE,
            &format!(
                "@ct.kernel{BODY}\ndef run(s, c, x):\n    return ct.tune.exhaustive_search(c, s, grid_fn=None, kernel=k, args_fn=None, hints_fn=lambda c: {{\"occupancy\": 64, \"num_ctas\": c.n}})  # TP226\n"
            ),
        );
        bad(
            &RULE,
            &format!(
                "@ct.kernel{BODY}\ndef run(s, c, x):\n    return ct.tune.exhaustive_search(c, s, kernel=k, hints_fn=lambda c: dict(num_ctas=5))  # TP226\n"
            ),
        );
    }

    #[test]
    fn hints_in_a_dictionary_at_the_call() {
        for hints in ["**{\"occupancy\": 64}", "**dict(num_ctas=3)", "num_ctas=1, **{\"opt_level\": 7}"] {
            bad(
                &RULE,
                &format!("@ct.kernel{BODY}\ndef run():\n    return k.replace_hints({hints})  # TP226\n"),
            );
        }
    }

    const HEAD: &str = "import cuda.tile as ct\nimport torch\nfrom types import SimpleNamespace as C\n\
        from cuda.tile.tune import exhaustive_search\n\n@ct.kernel\ndef k(x):\n    ct.store(x, (0,), 1)\n\n";

    fn searched(space: &str, hints: &str) -> String {
        format!("{HEAD}{space}\ndef tune(s, g, a):\n    return exhaustive_search(list(space()), s, g, k, a, {hints})\n")
    }

    const SPACE: &str = "def space():  # TP226\n    for occupancy in (1, 33):\n        yield C(n=64, occupancy=occupancy, ctas=3)\n";

    #[test]
    fn fields_that_become_hints() {
        for hints in [
            "lambda c: {\"occupancy\": c.occupancy}",
            "hints_fn=lambda cfg: dict(num_ctas=1, occupancy=cfg.occupancy)",
            "lambda c: {\"num_ctas\": c.ctas}",
            "lambda c: {\"num_ctas\": ct.ByTarget(sm_90=c.ctas, default=1)}",
        ] {
            bad(&RULE, &searched(SPACE, hints));
        }
        let (_, found) = bad(&RULE, &searched(SPACE, "lambda c: {\"occupancy\": c.occupancy}"));
        assert!(found[0].message.starts_with("`space` offers `occupancy=33`"), "{found:?}");
        assert!(found[0].archs.is_empty(), "{found:?}");
        let named = format!("{SPACE}\ndef hints(c):\n    return {{\"occupancy\": c.occupancy}}\n");
        bad(&RULE, &searched(&named, "hints"));
        // Two searches of one space, one finding.
        let twice = searched(SPACE, "lambda c: {\"occupancy\": c.occupancy}") + "\ndef again(s, g, a):\n    \
            return exhaustive_search(list(space()), s, g, k, a, lambda c: {\"occupancy\": c.occupancy})\n";
        assert_eq!(bad(&RULE, &twice).1.len(), 1);
        let listed = format!("{HEAD}exhaustive_search([C(occ=n) for n in (0, 1)], s, g, k, a, lambda c: {{\"occupancy\": c.occ}})  # TP226\n");
        bad(&RULE, &listed);
        let one = "def space():  # TP226\n    if torch.cuda.get_device_capability()[0] == 9:\n        yield C(n=3)\n    else:\n        yield C(n=2)\n";
        let (_, found) = bad(&RULE, &searched(one, "lambda c: {\"num_ctas\": c.n}"));
        assert_eq!(found[0].archs, [crate::arch::Arch::Sm90]);
    }

    #[test]
    fn in_a_space_of_another_file() {
        let other = "from types import SimpleNamespace as C\n".to_owned() + &SPACE.replace("  # TP226", "");
        let code = format!("{HEAD}from spaces import space\n\ndef tune(s, g, a):\n    \
            return exhaustive_search(list(space()), s, g, k, a, lambda c: {{\"occupancy\": c.occupancy}})  # TP226\n");
        bad_beside(&RULE, &[("spaces", &other)], &code);
        good(&RULE, &code.replace("  # TP226", ""));
    }

    #[test]
    fn fields_that_are_no_hints_or_are_allowed() {
        let quiet = SPACE.replace("  # TP226", "");
        for hints in [
            "lambda c: {\"occupancy\": c.n // 32}",
            "lambda c: {\"occupancy\": other.occupancy}",
            "lambda c: {\"num_ctas\": c.num_ctas}",
            "lambda c: {\"other\": c.occupancy}",
            "lambda c: {\"occupancy\": min(c.occupancy, 32)}",
            "lambda c: plan(occupancy=c.occupancy)",
            "lambda c: None",
            "unknown",
            "None",
        ] {
            good(&RULE, &searched(&quiet, hints));
        }
        let allowed = quiet.replace("33", "32");
        good(&RULE, &searched(&allowed, "lambda c: {\"occupancy\": c.occupancy}"));
        let unknown = quiet.replace("(1, 33)", "(1, torch.pick())");
        good(&RULE, &searched(&unknown, "lambda c: {\"occupancy\": c.occupancy}"));
    }

    #[test]
    fn silent_on_what_is_allowed_or_unknown() {
        for hints in [
            "occupancy=1",
            "occupancy=32",
            "num_ctas=16",
            "opt_level=0",
            "opt_level=3",
            "num_worker_warps=32",
            "occupancy=None",
            "num_ctas=CTAS",
            "occupancy=ct.ByTarget(sm_100=32)",
            "other=64",
        ] {
            good(&RULE, &format!("@ct.kernel({hints}){BODY}"));
        }
        // Values and hints that something else makes of them.
        for call in [
            "k.replace_hints(occupancy=pick(64))",
            "k.replace_hints(**make({\"occupancy\": 64}))",
            "k.replace_hints(**{\"occupancy\": 4})",
            "k.replace_hints(*{\"occupancy\": 64})",
            "ct.tune.exhaustive_search(s, s, kernel=k, args_fn=lambda c: {\"occupancy\": 64}, hints_fn=None)",
            "ct.tune.exhaustive_search(s, s, kernel=k, hints_fn=lambda c: plan(occupancy=64))",
            "sweep(s, hints_fn=lambda c: {\"occupancy\": 64})",
        ] {
            good(&RULE, &format!("@ct.kernel{BODY}\ndef run(s):\n    return {call}\n"));
        }
        // A parameter of the same name as a constant; another object's keyword.
        good(
            &RULE,
            &format!(
                "WIDE = 64\n@ct.kernel{BODY}\ndef run(WIDE):\n    plan(occupancy=64)\n    return k.replace_hints(occupancy=WIDE)\n"
            ),
        );
    }
}
