//! `None` among what a launch passes to a kernel.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind};

use super::launch::{self, LaunchCall};
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, InItem, KernelFacts, Links};

rule! {
    /// A launch passes `None` to a kernel: the launch raises `TypeError`.
    ///
    /// An argument of a kernel is an array, a number, or a tuple or list of them; there is no empty
    /// one. Pass any array of the right rank, which costs nothing if it is not read, and a constant
    /// that says whether it counts. Seen with cuda-tile 1.7: `Objects of type 'NoneType' are not
    /// supported`. That version refuses it for a compile-time constant too, which is not reported: its
    /// unreleased successor takes it.
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
    for launch in &file.model.launches {
        let passed = LaunchCall::of(file, launch).and_then(|call| call.passed(file));
        let Some(passed) = passed else { continue };
        let nothing: Vec<_> = (passed.iter().enumerate())
            .filter_map(|(place, value)| Some((place, none_in(file, value)?)))
            .collect();
        if nothing.is_empty() {
            continue;
        }
        let Some(kernels) = launch::kernels(launch, links) else {
            continue;
        };
        for (place, none) in nothing {
            let Some(name) = refused_by(&kernels, place) else {
                continue;
            };
            let kernel = &launch.kernel_text;
            let verb = if none.always { "is" } else { "may be" };
            let message = format!(
                "`{name}` {verb} None here, which `{kernel}` cannot take; pass an array that is not read"
            );
            let found = out.push(launch.callee_span, message);
            found.related(none.span, "None");
        }
    }
}

/// A `None` that is passed.
struct Passed {
    span: Span,
    /// Not only in one case of two.
    always: bool,
}

fn none_in<'a>(file: &FileContext<'a>, value: &InItem<'a, Expr>) -> Option<Passed> {
    let value = launch::follow(file, value.with(value.node));
    let is_none = |e: &Expr| matches!(e.kind, ExprKind::None);
    let always = match &value.node.kind {
        ExprKind::None => true,
        ExprKind::Conditional { body, orelse, .. } if is_none(body) || is_none(orelse) => false,
        _ => return None,
    };
    Some(Passed {
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
    use crate::rules::testing::{bad, good};

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
    fn what_may_be_an_array_or_a_constant_is_not_reported() {
        for text in [
            "def run(s, x):\n    ct.launch(s, (1,), k, (x, x, None))\n",
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
