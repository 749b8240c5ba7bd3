//! A text as a compile-time constant of a kernel.

use tileperf_syntax::ast::{Expr, ExprKind};

use crate::body::{Literal, ModuleEnv};
use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings};

rule! {
    /// A kernel takes a `ct.Constant[str]`: launches pass no texts, so every launch raises `TypeError`.
    ///
    /// Constants of a kernel are whole numbers, floats and booleans. Number the cases and compare
    /// with module-level names; or make one kernel for each. Inside device code, and between
    /// helpers, texts are fine. cuda-tile 1.7 refuses a text at the launch; its unreleased successor
    /// is prepared to take them.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def activate(x, BLOCK: ct.Constant[int], MODE: ct.Constant[str]):  # TP202
    ///     i = ct.bid(0)
    ///     y = ct.load(x, (i,), (BLOCK,))
    ///     if MODE == "relu":
    ///         y = ct.maximum(y, 0)
    ///     ct.store(x, (i,), y)
    /// ```
    ///
    /// ```python good
    /// RELU = 0
    ///
    /// @ct.kernel
    /// def activate(x, BLOCK: ct.Constant[int], MODE: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     y = ct.load(x, (i,), (BLOCK,))
    ///     if MODE == RELU:
    ///         y = ct.maximum(y, 0)
    ///     ct.store(x, (i,), y)
    /// ```
    TP202 "constant-str" Error until 1.8,
    Device(check)
}

fn check(kernel: &DeviceContext<'_>, out: &mut Findings<'_>) {
    if !kernel.is_kernel {
        return;
    }
    for param in &kernel.def.params {
        let Some(annotation) = &param.annotation else {
            continue;
        };
        if !is_constant_text(kernel.module, kernel.source(annotation.span), annotation) {
            continue;
        }
        let message = format!(
            "`{}` is a constant text, which no launch can pass; number the cases and take an int",
            param.name.name
        );
        out.push(annotation.span, message);
    }
}

fn is_constant_text(module: &ModuleEnv, source: &str, annotation: &Expr) -> bool {
    let is_constant = |e: &Expr| module.api(e).is_some_and(|n| n == "Constant");
    match &annotation.kind {
        ExprKind::Subscript { value, index } => {
            is_constant(value) && matches!(index.as_slice(), [of] if is_text(of))
        }
        // `Mode = ct.Constant[str]`, then `Mode`.
        ExprKind::Name(name) => {
            is_constant(annotation)
                && matches!(
                    module.constants.get(name),
                    Some(Literal::Generic { of: Some(of), .. }) if of == "str"
                )
        }
        ExprKind::Str(_) => {
            let inner = source.trim_matches(['"', '\'']).replace(' ', "");
            inner.ends_with("Constant[str]")
        }
        _ => false,
    }
}

/// `str`, `str | None`, `Optional[str]`, `Literal["a", "b"]`.
fn is_text(of: &Expr) -> bool {
    match &of.kind {
        ExprKind::Name(name) => name == "str",
        ExprKind::Str(text) => text == "str",
        ExprKind::Binary { op, left, right } if op == "|" => {
            let none = |e: &Expr| matches!(e.kind, ExprKind::None);
            is_text(left) && (is_text(right) || none(right)) || none(left) && is_text(right)
        }
        ExprKind::Subscript { value, index } => match value.last_ident() {
            Some(name) if name.name == "Optional" => {
                matches!(index.as_slice(), [of] if is_text(of))
            }
            Some(name) if name.name == "Literal" => {
                let text = |e: &Expr| matches!(e.kind, ExprKind::Str(_));
                index.iter().all(|i| match &i.kind {
                    ExprKind::Tuple(items) => items.iter().all(text),
                    _ => text(i),
                })
            }
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good, good_for};
    use crate::target::{Target, Version};

    fn kernel(annotation: &str, mark: &str) -> String {
        format!(
            "import cuda.tile as ct\nfrom cuda.tile import Constant\nfrom typing import Literal, Optional\nMode = ct.Constant[str]\nSize = ct.Constant[int]\n\n@ct.kernel\ndef k(x, MODE: {annotation}):{mark}\n    if MODE == 'a':\n        ct.store(x, (0,), ct.load(x, (0,), (8,)))\n"
        )
    }

    #[test]
    fn every_way_to_write_a_constant_text() {
        for annotation in [
            "ct.Constant[str]",
            "Constant[str]",
            "ct.Constant['str']",
            "'ct.Constant[str]'",
            "Mode",
            "ct.Constant[str | None]",
            "ct.Constant[None | str]",
            "ct.Constant[Optional[str]]",
            "ct.Constant[Literal['a', 'b']]",
            "ct.Constant[Literal['a']]",
        ] {
            bad(&RULE, &kernel(annotation, "  # TP202"));
        }
    }

    #[test]
    fn other_annotations() {
        for annotation in [
            "ct.Constant[int]",
            "ct.Constant",
            "ct.Constant[bool]",
            "Size",
            "str",
            "list[str]",
            "ct.Constant[Literal[1, 2]]",
            "ct.Constant[Literal['a', 2]]",
            "ct.Constant[list[str]]",
            "ct.Constant[tuple[str, int]]",
            "ct.Constant[list()[0]]",
            "ct.Constant[int | str]",
            "'ct.Constant[int]'",
            "ct.Array",
            "Optional[str]",
        ] {
            good(&RULE, &kernel(annotation, ""));
        }
    }

    #[test]
    fn helpers_and_later_versions_may_take_texts() {
        good(
            &RULE,
            "def helper(t, mode: ct.Constant[str]):\n    return ct.exp(t) if mode == 'exp' else t\n\n@ct.kernel\ndef k(x):\n    ct.store(x, (0,), helper(ct.load(x, (0,), (8,)), 'exp'))\n",
        );
        let target = Target {
            cuda_tile: Some(Version::new(1, 8, 0)),
            ..Target::default()
        };
        good_for(&RULE, &kernel("ct.Constant[str]", ""), &target);
    }
}
