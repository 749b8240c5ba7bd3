//! Hints with values that cuTile refuses.

use tileperf_syntax::ast::{Arg, Expr, ExprKind, Stmt, StmtKind};

use crate::body::Literal;
use crate::rules::rule::rule;
use crate::rules::{Findings, ItemContext};

rule! {
    /// A hint has a value that cuTile refuses: an occupancy outside 1 to 32 and the like.
    ///
    /// `ct.kernel` and `replace_hints` raise ValueError for an `occupancy` outside 1 to 32, a
    /// `num_ctas` that is no power of two from 1 to 16, an `opt_level` outside 0 to 3 and a
    /// `num_worker_warps` that is no power of two from 1 to 32 (cuda-tile 1.7), also within `ByTarget`.
    ///
    /// ```python bad
    /// @ct.kernel(occupancy=64)  # TP226
    /// def copy(x, y, TILE: ct.Constant[int]):
    ///     ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (TILE,)))
    ///
    /// def remade():
    ///     return copy.replace_hints(num_ctas=3)  # TP226
    /// ```
    ///
    /// ```python good
    /// @ct.kernel(occupancy=32, num_ctas=ct.ByTarget(sm_100=2, default=1))
    /// def copy(x, y, TILE: ct.Constant[int]):
    ///     ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (TILE,)))
    /// ```
    TP226 "hint-out-of-range" Error,
    Item(check)
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
    }
}

/// Hints that a lambda returns as a dictionary.
fn returned(at: &ItemContext<'_>, function: &Expr, out: &mut Findings<'_>) {
    let ExprKind::Lambda { body, .. } = &function.kind else {
        return;
    };
    match &body.kind {
        ExprKind::Dict(pairs) => {
            for (key, given) in pairs {
                if let Some(ExprKind::Str(name)) = key.as_ref().map(|k| &k.kind) {
                    value(at, name, given, out);
                }
            }
        }
        ExprKind::Call { func, args } if func.name().is_some_and(|n| n == "dict") => {
            args.iter().for_each(|a| hint(at, a, out));
        }
        _ => {}
    }
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
    use crate::rules::testing::{bad, good};

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
            "k.replace_hints(**{\"occupancy\": 64})",
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
