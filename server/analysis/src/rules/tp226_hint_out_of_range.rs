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
    let remakes =
        || matches!(&func.kind, ExprKind::Attribute { attr, .. } if attr.name == "replace_hints");
    if makes || remakes() {
        for arg in args {
            hint(at, arg, out);
        }
    } else if at
        .module
        .api(func)
        .is_some_and(|n| n.ends_with("exhaustive_search"))
    {
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
                if !seen.contains(&(space.span, field.clone())) && offered(&space, name, field, out)
                {
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
        let values = configs
            .flat_map(|c| &c.fields)
            .filter(|(name, _)| name == field);
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
mod tests;
