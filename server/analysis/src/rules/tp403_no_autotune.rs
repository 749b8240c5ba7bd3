//! Hints that somebody chose once.

use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, Links};

rule! {
    /// A kernel's hints are fixed at its decorator and nothing searches for better ones. Playbook C
    /// adds a search: tune once, cache, launch.
    ///
    /// The best `occupancy` or `num_ctas` differs with card, shape and compiler: on an H200 one
    /// shipped layer norm ran 1.18 times faster with another occupancy, while wrong values cost up to
    /// 1.8 times. A search over four occupancies takes seconds, once for each shape.
    ///
    /// ```python bad
    /// @ct.kernel(occupancy=4)
    /// def scale(x):  # TP403
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (128,)) * 2)
    ///
    /// def run(x, stream):
    ///     ct.launch(stream, (64,), scale, (x,))
    /// ```
    ///
    /// ```python good
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel(occupancy=4)
    /// def scale(x):
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (128,)) * 2)
    ///
    /// def tune(x, configs, stream, grid, args, hints):
    ///     return exhaustive_search(configs, stream, grid, scale, args, hints)
    ///
    /// def run(x, stream):
    ///     ct.launch(stream, (64,), scale, (x,))
    /// ```
    TP403 "no-autotune" Hint,
    Workspace(check)
}

fn check(file: &FileContext<'_>, links: &dyn Links, out: &mut Findings<'_>) {
    for (number, kernel) in file.model.kernels.iter().enumerate() {
        let fixed: Vec<String> = (kernel.hints.iter())
            .filter(|hint| matters(&hint.name) && is_fixed(&hint.text))
            .map(|hint| format!("`{}={}`", hint.name, hint.text))
            .collect();
        if kernel.stale || fixed.is_empty() {
            continue;
        }
        let uses = links.uses(number);
        // One that is remade is tuned by other means, or by hand for each case.
        if uses.launches == 0 || uses.searches > 0 || uses.remade > 0 {
            continue;
        }
        out.push(
            kernel.name_span,
            format!(
                "`{}` has {} fixed, and no search tries others (playbook C)",
                kernel.name,
                fixed.join(", ")
            ),
        );
    }
}

/// Hints whose best value is a matter of measuring.
fn matters(name: &str) -> bool {
    matches!(name, "occupancy" | "num_ctas" | "num_worker_warps")
}

/// Whether a hint's value is written out: a number, or numbers by architecture.
fn is_fixed(text: &str) -> bool {
    text.trim().parse::<i64>().is_ok() || text.contains("ByTarget(")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn code(hints: &str, rest: &str) -> String {
        format!(
            "import cuda.tile as ct\n@ct.kernel{hints}\ndef k(x):  # TP403\n    pass\n\n{rest}\n"
        )
    }

    const LAUNCH: &str = "ct.launch(s, (1,), k, (x,))";

    #[test]
    fn fixed_and_launched() {
        for hints in [
            "(occupancy=2)",
            "(num_ctas=ct.ByTarget(sm_100=2, default=1))",
            "(num_worker_warps=8, opt_level=3)",
        ] {
            bad(&RULE, &code(hints, LAUNCH));
        }
    }

    #[test]
    fn searched_remade_or_free() {
        let silent = |hints: &str, rest: &str| {
            good(&RULE, &code(hints, rest).replace("  # TP403", ""));
        };
        silent("", LAUNCH);
        silent("(opt_level=3)", LAUNCH);
        silent("(occupancy=OCC)", LAUNCH);
        silent("(occupancy=2)", "");
        silent(
            "(occupancy=2)",
            &format!("{LAUNCH}\nt = k.replace_hints(occupancy=4)"),
        );
        silent(
            "(occupancy=2)",
            &format!(
                "from cuda.tile.tune import exhaustive_search\nexhaustive_search([1], s, g, k, a)\n{LAUNCH}"
            ),
        );
    }
}
