//! `None` among what a launch passes to a kernel.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::launch;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, InItem, KernelFacts, Links};

rule! {
    /// A launch passes `None` to a kernel: the launch raises `TypeError`.
    ///
    /// An argument of a kernel is an array, a number, or a tuple or list of them; there is no empty
    /// one. Pass any array of the right rank, which costs nothing if it is not read, and a constant
    /// that says whether it counts. Seen with cuda-tile 1.7: `Objects of type 'NoneType' are not
    /// supported`. That version refuses it for a compile-time constant too, which is not reported: its
    /// unreleased successor takes it. A search whose `args_fn` gives one leaves out every configuration
    /// that gets it.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def add_bias(x, bias, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(x, (i,), ct.load(x, (i,), (BLOCK,)) + ct.load(bias, (i,), (BLOCK,)))
    ///
    /// def run(x, stream):
    ///     ct.launch(stream, (8,), add_bias, (x, None, 128))  # TP201
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def add_bias(x, bias, HAS_BIAS: ct.Constant[bool], BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     y = ct.load(x, (i,), (BLOCK,))
    ///     if HAS_BIAS:
    ///         y = y + ct.load(bias, (i,), (BLOCK,))
    ///     ct.store(x, (i,), y)
    ///
    /// def run(x, stream):
    ///     ct.launch(stream, (8,), add_bias, (x, x, False, 128))
    /// ```
    TP201 "launch-none" Error,
    Workspace(check)
}

fn check(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    let mut said: Vec<(Span, String)> = Vec::new();
    for passed in launch::passed(file) {
        let nothing: Vec<_> = (passed.args.iter().enumerate())
            .filter_map(|(place, value)| Some((place, none_in(file, value)?)))
            .collect();
        if nothing.is_empty() {
            continue;
        }
        let Some(kernels) = passed.kernels(links) else {
            continue;
        };
        for (place, none) in nothing {
            let Some(name) = refused_by(&kernels, place) else {
                continue;
            };
            // A search has as many callbacks as it has branches.
            let once = (passed.callee, name.to_owned());
            if said.contains(&once) {
                continue;
            }
            said.push(once);
            let kernel = passed.kernel;
            let verb = if none.always { "is" } else { "may be" };
            let message = format!(
                "`{name}` {verb} None here, which `{kernel}` cannot take; pass an array that is not read"
            );
            let found = out.push(passed.callee, message);
            found.related(none.span, "None");
        }
    }
}

/// A `None` that is passed.
struct Nothing {
    span: Span,
    /// Not only in one case of two.
    always: bool,
}

fn none_in<'a>(file: &FileContext<'a>, value: &InItem<'a, Expr>) -> Option<Nothing> {
    let value = launch::follow(file, value.with(value.node));
    let is_none = |e: &Expr| matches!(e.kind, ExprKind::None);
    let always = match &value.node.kind {
        ExprKind::None => true,
        ExprKind::Conditional { body, orelse, .. } if is_none(body) || is_none(orelse) => false,
        _ => return None,
    };
    Some(Nothing {
        span: value.place(value.node.span),
        always,
    })
}

/// The parameter at a place, if no kernel has a constant there.
fn refused_by(kernels: &[std::sync::Arc<KernelFacts>], place: usize) -> Option<&str> {
    let mut name = None;
    for kernel in kernels {
        let param = kernel.params.get(place).filter(|p| !p.constant)?;
        name = Some(param.name.as_str());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, bad_beside, good, good_beside};

    const KERNEL: &str = "@ct.kernel\ndef k(x, y, C: ct.Constant):\n    ct.store(x, (0,), ct.load(y, (0,), (8,)) * C)\n\n";

    fn code(text: &str) -> String {
        format!("import cuda.tile as ct\nimport pytest\n\n{KERNEL}{text}")
    }

    #[test]
    fn none_is_found_wherever_it_was_written() {
        for text in [
            "def run(s, x):\n    ct.launch(s, (1,), k, (x, None, 8))  # TP201\n",
            "def run(s, x):\n    y = None\n    ct.launch(s, (1,), k, (x, y, 8))  # TP201\n",
            "def run(s, x):\n    args = (x, None, 8)\n    ct.launch(s, (1,), k, args)  # TP201\n",
            "def run(s, x):\n    ct.launch(s, (1,), k, (x,) + (None, 8))  # TP201\n",
            "def run(s, x):\n    rest = [None, 8]\n    ct.launch(s, (1,), k, (x, *rest))  # TP201\n",
            "def run(s, x, b):\n    ct.launch(s, (1,), k, (x, b if b.any() else None, 8))  # TP201\n",
            "def run(s, x, b):\n    ct.launch(s, (1,), k, tuple([x, None, 8]))  # TP201\n",
            "def run(s, x, b):\n    t = k.replace_hints(occupancy=2)\n    ct.launch(s, (1,), t, (x, None, 8))  # TP201\n",
            "args = (X, None, 8)\nct.launch(S, (1,), k, args)  # TP201\n",
        ] {
            bad(&RULE, &code(text));
        }
    }

    #[test]
    fn what_is_said_of_it() {
        for (value, said) in [
            ("None", "`y` is None here"),
            ("x if x else None", "`y` may be None here"),
            ("None if x else x", "`y` may be None here"),
        ] {
            let (_, found) = bad(
                &RULE,
                &code(&format!(
                    "def run(s, x):\n    ct.launch(s, (1,), k, (x, {value}, 8))  # TP201\n"
                )),
            );
            assert!(found[0].message.starts_with(said), "{found:?}");
            assert_eq!(found[0].related.len(), 1);
        }
    }

    const TUNE: &str = "from cuda.tile.tune import exhaustive_search\n\ndef tune(s, g, c, x, b):\n";

    #[test]
    fn searches_that_pass_it() {
        for lines in [
            "    exhaustive_search(c, s, g, k, lambda cfg: (x, None, cfg.n))  # TP201\n",
            "    def args(cfg):\n        y = None\n        return (x, y, cfg.n)\n    exhaustive_search(c, s, g, k, args_fn=args)  # TP201\n",
            "    y = None\n    exhaustive_search(c, s, g, k, lambda cfg: (x, y, cfg.n))  # TP201\n",
            "    if b:\n        a = lambda cfg: (x, None, 1)\n    else:\n        a = lambda cfg: (x, None, 2)\n    exhaustive_search(c, s, g, k, a)  # TP201\n",
        ] {
            let (_, found) = bad(&RULE, &code(&format!("{TUNE}{lines}")));
            assert_eq!(found.len(), 1, "{lines}");
        }
        for lines in [
            "    exhaustive_search(c, s, g, k, lambda cfg: (x, x, None))\n",
            "    exhaustive_search(c, s, g, k, lambda cfg: (x, b, cfg.n))\n",
            "    exhaustive_search(c, s, g, unknown, lambda cfg: (x, None, cfg.n))\n",
            // The configuration, not the name outside.
            "    cfg = None\n    exhaustive_search(c, s, g, k, lambda cfg: (x, cfg, 8))\n",
            "    with pytest.raises(ValueError):\n        exhaustive_search(c, s, g, k, lambda cfg: (x, None, 8))\n",
        ] {
            good(&RULE, &code(&format!("{TUNE}{lines}")));
        }
    }

    #[test]
    fn kernels_of_other_files() {
        let launch = |name: &str, mark: &str| {
            format!(
                "import cuda.tile as ct\nfrom ops import {name}\n\ndef run(s, x):\n    ct.launch(s, (1,), {name}, (x, None, 8)){mark}\n"
            )
        };
        let others = [("ops", KERNEL)];
        bad_beside(&RULE, &others, &launch("k", "  # TP201"));
        good_beside(&RULE, &others, &launch("unknown", ""));
        let constant = KERNEL.replace("y, C", "y: ct.Constant, C");
        good_beside(&RULE, &[("ops", &constant)], &launch("k", ""));
    }

    #[test]
    fn what_may_be_an_array_or_a_constant_is_not_reported() {
        for text in [
            "def run(s, x):\n    ct.launch(s, (1,), k, (x, x, None))\n",
            "def run(s, x, b):\n    ct.launch(s, (1,), k, (x, x if b.any() else b, 8))\n",
            "def run(s, x, y=None):\n    ct.launch(s, (1,), k, (x, y, 8))\n",
            "def run(s, x):\n    y = None\n    if y is None:\n        y = x\n    ct.launch(s, (1,), k, (x, y, 8))\n",
            "def run(s, x):\n    with pytest.raises(TypeError):\n        ct.launch(s, (1,), k, (x, None, 8))\n",
            "def run(s, x):\n    other(s, (1,), k, (x, None, 8))\n",
            "def run(s, x, t):\n    t.launch(s, (1,), k, (x, None, 8))\n",
            "def run(s, x):\n    ct.launch(s, (1,), unknown(), (x, None, 8))\n",
            "def run(s, x):\n    ct.launch(s, (1,), k, (x, (x, None)[0], 8))\n",
        ] {
            good(&RULE, &code(text));
        }
    }
}
