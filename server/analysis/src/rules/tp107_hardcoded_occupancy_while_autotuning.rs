//! A hint fixed at the decorator that a search tunes as well.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::tuning::search_call::{Given, SearchCall, is_test, returns};
use crate::model::{Hint, Kernel};
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, Links};

rule! {
    /// The kernel's decorator fixes a hint that a search tunes as well.
    ///
    /// The search overrides the decorator, so the fixed value says something that does not hold, and
    /// any launch of the kernel that forgets to use the tuned one silently runs with it. (Seen with
    /// cuda-tile 1.7: with and without `occupancy=2` at its decorator a matmul is the same program
    /// after `replace_hints(occupancy=8)`.) Keep the value as one configuration of the space and as
    /// the fallback's, not at the decorator. A `ByTarget` is left alone: it states defaults by
    /// architecture.
    ///
    /// ```python bad
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel(occupancy=4, opt_level=3)
    /// def copy(x, y, BLOCK: ct.Constant[int]):  # TP107
    ///     ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (BLOCK,)))
    ///
    /// def tune(x, y, stream, grid, configs):
    ///     return exhaustive_search(
    ///         configs, stream, grid, copy, lambda cfg: (x, y, 128),
    ///         lambda cfg: {"occupancy": cfg.occupancy},
    ///     )
    /// ```
    ///
    /// ```python fixed
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel(opt_level=3)
    /// def copy(x, y, BLOCK: ct.Constant[int]):
    ///     ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (BLOCK,)))
    ///
    /// def tune(x, y, stream, grid, configs):
    ///     return exhaustive_search(
    ///         configs, stream, grid, copy, lambda cfg: (x, y, 128),
    ///         lambda cfg: {"occupancy": cfg.occupancy},
    ///     )
    /// ```
    ///
    /// ```python good
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel(num_ctas=2)
    /// def copy(x, y, BLOCK: ct.Constant[int]):
    ///     ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (BLOCK,)))
    ///
    /// def tune(x, y, stream, grid, configs):
    ///     return exhaustive_search(
    ///         configs, stream, grid, copy, lambda cfg: (x, y, 128),
    ///         lambda cfg: {"occupancy": cfg.occupancy},
    ///     )
    /// ```
    TP107 "hardcoded-occupancy-while-autotuning" Warning,
    Workspace(check)
}

fn check(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    if is_test(file) {
        return;
    }
    let mut seen: Vec<(Span, SmolStr)> = Vec::new();
    for search in &file.model.searches {
        let Some(call) = SearchCall::of(file, search) else {
            continue;
        };
        let tuned = tuned_hints(&call, links);
        if tuned.is_empty() {
            continue;
        }
        let here: Vec<Span> = (links.kernels(&search.candidates).iter())
            .filter_map(|k| k.here)
            .collect();
        for kernel in file.model.kernels.iter().filter(|k| here.contains(&k.span)) {
            for hint in &kernel.hints {
                let known = (kernel.span, hint.name.clone());
                let by_target = hint.text.contains("ByTarget");
                if !tuned.contains(&hint.name) || by_target || seen.contains(&known) {
                    continue;
                }
                seen.push(known);
                report(&call, kernel, hint, out);
            }
        }
    }
}

fn report(call: &SearchCall<'_>, kernel: &Kernel, hint: &Hint, out: &mut Findings<'_>) {
    let described = out
        .push(
            kernel.name_span,
            format!(
                "`{}` fixes {}={} at its decorator, which a search tunes",
                kernel.name, hint.name, hint.text
            ),
        )
        .related(hint.span, "fixed here")
        .related(call.search.callee_span, "tuned here");
    if let Some(edits) = without(&call.file, kernel, hint) {
        described.review_fix(format!("Take `{}` off the decorator", hint.name), edits);
    }
}

/// Hints that the search's `hints_fn` gives.
fn tuned_hints(call: &SearchCall<'_>, links: &dyn Links) -> Vec<SmolStr> {
    let mut out = Vec::new();
    let Some(hints) = call.arg(Given::Hints) else {
        return out;
    };
    for given in call.gives(hints) {
        collect(call, given.value, true, &mut out);
    }
    if let Some(name) = call.follow(hints).name() {
        // A dictionary filled step by step with what the configuration has.
        let mut filled = Vec::new();
        for (_, def) in call.functions(name) {
            fills(&def.body, &mut filled);
        }
        if !filled.is_empty() {
            let fields = fields(call, links);
            out.extend(filled.into_iter().filter(|f| fields.contains(f)));
        }
    }
    out
}

/// `hints["occupancy"] = cfg.occupancy`
fn fills(body: &[Stmt], out: &mut Vec<SmolStr>) {
    for stmt in body {
        if let StmtKind::Assign { targets, .. } = &stmt.kind {
            out.extend(targets.iter().filter_map(|t| match &t.kind {
                ExprKind::Subscript { index, .. } => match &index.first()?.kind {
                    ExprKind::Str(name) => Some(SmolStr::from(name.as_str())),
                    _ => None,
                },
                _ => None,
            }));
        }
        stmt.blocks().into_iter().for_each(|b| fills(b, out));
    }
}

/// The fields that the search's configurations have.
fn fields(call: &SearchCall<'_>, links: &dyn Links) -> Vec<SmolStr> {
    let spaces = call.search.spaces.iter().filter_map(|s| links.space(s));
    let by_arch = spaces.flat_map(|s| s.by_arch);
    by_arch
        .flat_map(|(_, space)| space.fields().into_iter().map(|f| f.name))
        .collect()
}

fn collect(call: &SearchCall<'_>, value: &Expr, follow: bool, out: &mut Vec<SmolStr>) {
    match &value.kind {
        ExprKind::Dict(pairs) => {
            for (key, _) in pairs {
                if let Some(ExprKind::Str(name)) = key.as_ref().map(|k| &k.kind) {
                    out.push(name.as_str().into());
                }
            }
        }
        ExprKind::Conditional { body, orelse, .. } => {
            collect(call, body, follow, out);
            collect(call, orelse, follow, out);
        }
        ExprKind::Call { func, args } => {
            let Some(name) = func.name() else { return };
            if name == "dict" {
                out.extend(
                    args.iter()
                        .filter_map(|a| Some(a.name.as_ref()?.name.clone())),
                );
            } else if follow {
                for (_, def) in call.functions(name) {
                    for value in returns(&def.body) {
                        collect(call, value, false, out);
                    }
                }
            }
        }
        _ => {}
    }
}

/// The decorator without a hint.
fn without<'t>(file: &FileContext<'t>, kernel: &Kernel, hint: &Hint) -> Option<Edits<'t>> {
    let decorator = file.expr(kernel.decorator_span)?;
    decorator.without_argument(Edits::new(file.text), &hint.name)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{fixes, good};

    /// A kernel with this decorator, searched with these hints.
    fn tuned(decorator: &str, hints: &str, mark: &str) -> String {
        format!(
            "from cuda.tile.tune import exhaustive_search, other\nimport cuda.tile as ct\n\n{decorator}\n\
             def copy(x, y):{mark}\n    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (64,)))\n\n\
             def hints_of(cfg):\n    if cfg:\n        return {{'occupancy': cfg}}\n    return dict(num_ctas=1)\n\n\
             def tune(x, y, s, g, c):\n    return exhaustive_search(c, s, g, copy, lambda cfg: (x, y), {hints})\n"
        )
    }

    #[test]
    fn every_form_of_hints() {
        for hints in [
            "lambda cfg: {'occupancy': cfg.o, 'num_ctas': 1}",
            "lambda cfg: dict(occupancy=cfg.o)",
            "lambda cfg: {'occupancy': cfg.o} if cfg.o else {}",
            "hints_of",
            "lambda cfg: hints_of(cfg)",
            "hints_fn=lambda cfg: {'occupancy': cfg.o}",
        ] {
            fixes(
                &RULE,
                &tuned("@ct.kernel(occupancy=2)", hints, "  # TP107"),
                &tuned("@ct.kernel", hints, ""),
            );
        }
    }

    #[test]
    fn each_hint_goes_with_its_comma() {
        let hints = "lambda cfg: {'occupancy': cfg.o, 'num_ctas': 1}";
        for (before, after) in [
            ("@ct.kernel(occupancy=2, num_ctas=1)", "@ct.kernel"),
            (
                "@ct.kernel(opt_level=2, occupancy=OCC)",
                "@ct.kernel(opt_level=2)",
            ),
            ("@ct.kernel(\n    occupancy=2,\n)", "@ct.kernel"),
        ] {
            fixes(
                &RULE,
                &tuned(before, hints, "  # TP107"),
                &tuned(after, hints, ""),
            );
        }
    }

    #[test]
    fn hints_filled_step_by_step() {
        let code = |fields: &str, mark: &str| {
            format!(
                "from cuda.tile.tune import exhaustive_search\nimport cuda.tile as ct\nfrom types import SimpleNamespace as C\n\n\
                 @ct.kernel(occupancy=4)\ndef copy(x, y):{mark}\n    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (64,)))\n\n\
                 def hints(cfg):\n    out = {{}}\n    if getattr(cfg, 'occupancy', None):\n        out['occupancy'] = cfg.occupancy\n    return out\n\n\
                 def tune(x, y, s, g):\n    space = [C({fields}=w) for w in (4, 8)]\n    \
                 return exhaustive_search(space, s, g, copy, lambda cfg: (x, y), hints)\n"
            )
        };
        crate::rules::testing::bad(&RULE, &code("occupancy", "  # TP107"));
        good(&RULE, &code("num_worker_warps", ""));
    }

    #[test]
    fn what_the_search_leaves_alone() {
        let occupancy = "lambda cfg: {'occupancy': cfg.o}";
        for (decorator, hints) in [
            ("@ct.kernel", occupancy),
            ("@ct.kernel(num_ctas=2)", occupancy),
            (
                "@ct.kernel(occupancy=ct.ByTarget(sm_90=2, default=1))",
                occupancy,
            ),
            ("@ct.kernel(occupancy=2)", "lambda cfg: {'num_ctas': 2}"),
            ("@ct.kernel(occupancy=2)", "None"),
            ("@ct.kernel(occupancy=2)", "other"),
        ] {
            good(&RULE, &tuned(decorator, hints, ""));
        }
        good(
            &RULE,
            &tuned("@ct.kernel(occupancy=2)", occupancy, "").replace("g, copy,", "g, another,"),
        );
    }
}
