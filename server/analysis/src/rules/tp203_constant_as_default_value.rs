//! `p=ct.Constant[bool]`: a default value where an annotation was meant.

use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, Param};

use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{DeviceContext, Findings};

rule! {
    /// `ct.Constant[...]` stands as the default value of a parameter, where it changes nothing; it is
    /// meant as its annotation.
    ///
    /// The parameter is not a compile-time constant then: a branch on it is taken at run time, a tile
    /// cannot be as large as it says, and every call still has to pass it.
    ///
    /// ```python bad
    /// @ct.kernel
    /// def double(x, FAST=ct.Constant[bool], BLOCK: ct.Constant[int] = 128):  # TP203
    ///     i = ct.bid(0)
    ///     ct.store(x, (i,), ct.load(x, (i,), (BLOCK,)) * 2)
    /// ```
    ///
    /// ```python fixed
    /// @ct.kernel
    /// def double(x, FAST: ct.Constant[bool], BLOCK: ct.Constant[int] = 128):
    ///     i = ct.bid(0)
    ///     ct.store(x, (i,), ct.load(x, (i,), (BLOCK,)) * 2)
    /// ```
    ///
    /// ```python good
    /// @ct.kernel
    /// def double(x, FAST: ct.Constant[bool] = True, BLOCK: ct.Constant[int] = 128):
    ///     i = ct.bid(0)
    ///     ct.store(x, (i,), ct.load(x, (i,), (BLOCK,)) * 2)
    /// ```
    TP203 "constant-as-default-value" Warning,
    Device(check)
}

fn check(function: &DeviceContext<'_>, out: &mut Findings<'_>) {
    let params = &function.def.params;
    let wrong = |p: &&Param| p.default.as_ref().is_some_and(|d| is_constant(function, d));
    let all: Vec<&Param> = params.iter().filter(wrong).collect();
    for param in &all {
        let Some(default) = &param.default else {
            continue;
        };
        let name = &param.name.name;
        let written = function.source(default.span);
        let message = format!(
            "`{written}` is the default value of `{name}`, not its annotation, so `{name}` is no constant"
        );
        let found = out.push(
            Span::new(param.name.span.start as usize, default.span.end as usize),
            message,
        );
        if let Some(edits) = annotated(function, &all) {
            found.review_fix("Make it the annotation", edits);
        }
    }
}

fn is_constant(function: &DeviceContext<'_>, default: &Expr) -> bool {
    let base = match &default.kind {
        ExprKind::Subscript { value, .. } => value,
        ExprKind::Name(_) | ExprKind::Attribute { .. } => default,
        _ => return false,
    };
    (function.module.api(base)).is_some_and(|name| name == "Constant")
}

/// The edits that make annotations of all these default values at once: one alone could leave a
/// parameter without a default value after one with.
fn annotated<'a>(function: &DeviceContext<'a>, all: &[&Param]) -> Option<Edits<'a>> {
    let last = all.iter().map(|p| p.name.span.start).max()?;
    let kept = |p: &Param| {
        let given = p
            .default
            .as_ref()
            .is_some_and(|d| !is_constant(function, d));
        given && !p.keyword_only && p.name.span.start < last
    };
    if function.def.params.iter().any(kept) {
        return None;
    }
    let mut edits = Edits::new(function.text);
    for param in all {
        let default = param.default.as_ref()?;
        let name = param.name.span;
        let span = Span::new(name.start as usize, default.span.end as usize);
        let text = format!("{}: {}", param.name.name, function.source(default.span));
        edits = edits.replace(span, text);
    }
    Some(edits)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, fixes, good};

    const BODY: &str = "    ct.store(x, (0,), ct.load(x, (0,), (8,)) * a)\n";

    #[test]
    fn every_form_becomes_an_annotation() {
        for (params, fixed) in [
            ("x, a=ct.Constant[int]", "x, a: ct.Constant[int]"),
            ("x, a = ct.Constant[int]", "x, a: ct.Constant[int]"),
            ("x, a: int = ct.Constant[int]", "x, a: ct.Constant[int]"),
            ("x, a=ct.Constant", "x, a: ct.Constant"),
            ("x, a=ConstInt", "x, a: ConstInt"),
            (
                "x, a=ct.Constant[int], b=ct.Constant[bool], c=1",
                "x, a: ct.Constant[int], b: ct.Constant[bool], c=1",
            ),
            (
                "x, *, b=1, a=ct.Constant[int]",
                "x, *, b=1, a: ct.Constant[int]",
            ),
        ] {
            let whole = |params: &str, mark: &str| {
                format!(
                    "import cuda.tile as ct\nConstInt = ct.Constant[int]\n\n@ct.kernel\ndef k({params}):{mark}\n{BODY}"
                )
            };
            fixes(&RULE, &whole(params, "  # TP203"), &whole(fixed, ""));
        }
    }

    #[test]
    fn no_fix_that_would_not_parse() {
        let code = format!("@ct.kernel\ndef k(x, n=1, a=ct.Constant[int]):  # TP203\n{BODY}");
        let (_, found) = bad(&RULE, &code);
        assert!(found[0].fixes.is_empty());
    }

    #[test]
    fn annotations_and_values_are_left_alone() {
        for params in [
            "x, a: ct.Constant[int]",
            "x, a: ct.Constant[int] = 2",
            "x, a=2",
            "x, a=other.Constant[int]",
            "x, a=DEFAULT",
        ] {
            let code = format!(
                "import cuda.tile as ct\nDEFAULT = 2\n\n@ct.kernel\ndef k({params}):\n{BODY}"
            );
            good(&RULE, &code);
        }
        good(&RULE, "def host(kind=ct.Constant[int]):\n    return kind\n");
    }
}
