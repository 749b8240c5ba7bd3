//! Names of a search's result that do not exist.

use smol_str::SmolStr;
use tileperf_syntax::Span;
use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::host;
use crate::body::values;
use crate::model::SearchApi;
use crate::rewrite::Edits;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, InItem, Links};

rule! {
    /// A search's result is asked for something that it does not have, which raises `AttributeError`.
    ///
    /// `exhaustive_search` returns a `TuningResult` with `best`, `successes` and `failures`. What was
    /// measured for the winner is one level down: `result.best.config`, `result.best.mean_us` (in
    /// microseconds), `num_samples`, `error_margin_us`. Guides and other tuners say `best_config`,
    /// `time_ms`, `timings`; those fail only when the search is over, after seconds or minutes.
    ///
    /// Source: `cuda/tile/tune/_tune.py` of cuda-tile 1.7.
    ///
    /// ```python bad
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// def tune(configs, stream, grid, kernel, args):
    ///     result = exhaustive_search(configs, stream, grid, kernel, args)
    ///     print(f"{result.best_time_us} us")  # TP118
    ///     return result.best_config  # TP118
    /// ```
    ///
    /// ```python fixed
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// def tune(configs, stream, grid, kernel, args):
    ///     result = exhaustive_search(configs, stream, grid, kernel, args)
    ///     print(f"{result.best.mean_us} us")
    ///     return result.best.config
    /// ```
    ///
    /// ```python good
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// def tune(configs, stream, grid, kernel, args):
    ///     result = exhaustive_search(configs, stream, grid, kernel, args)
    ///     print(result.summary(top_k=3), len(result.successes), len(result.failures))
    ///     best = result.best
    ///     return best.config, best.mean_us
    /// ```
    TP118 "tuning-result-attribute" Error,
    Workspace(check)
}

/// What a `TuningResult` has.
const RESULT: [&str; 4] = ["best", "successes", "failures", "summary"];
/// What a `Measurement` has.
const MEASUREMENT: [&str; 4] = ["config", "mean_us", "num_samples", "error_margin_us"];

// It walks the whole file, so it is asked when nothing is typed.
fn check(file: &FileContext<'_>, _: &dyn Links, out: &mut Findings<'_>) {
    let searches: Vec<Span> = (file.model.searches.iter())
        .filter(|s| s.api == SearchApi::ExhaustiveSearch && !s.stale)
        .map(|s| s.span)
        .collect();
    if searches.is_empty() {
        return;
    }
    let functions = host::functions(file);
    let makers: Vec<&SmolStr> = (functions.iter())
        .filter(|def| {
            let returned = host::returns(def.node);
            !returned.is_empty() && (returned.iter()).all(|e| searches.contains(&def.place(e.span)))
        })
        .map(|def| &def.node.name.name)
        .collect();
    let results = Results { searches, makers };
    results.scope(file, &host::module(file), out);
    for def in &functions {
        let body = def.with(def.node.body.as_slice());
        results.scope(file, &[body], out);
    }
}

/// Where results come from: searches, and functions that return one.
struct Results<'a> {
    searches: Vec<Span>,
    makers: Vec<&'a SmolStr>,
}

/// What a name of one scope holds.
#[derive(Clone, Copy, PartialEq)]
enum Held {
    Result,
    Measurement,
}

impl Results<'_> {
    fn scope<'a>(
        &self,
        file: &FileContext<'a>,
        scope: &[InItem<'a, [Stmt]>],
        out: &mut Findings<'_>,
    ) {
        let mut names: Vec<(&SmolStr, Held)> = Vec::new();
        host::each(scope, &mut |expr, place| {
            let Some(StmtKind::Assign { targets, value }) = place.stmt().map(|s| &s.kind) else {
                return;
            };
            if !std::ptr::eq(value, expr.node) {
                return;
            }
            for name in targets.iter().filter_map(Expr::name) {
                if let Some(held) = self.held(expr, &names)
                    && self.always(scope, name, held, &names)
                {
                    names.push((name, held));
                }
            }
        });
        host::each(scope, &mut |expr, _| {
            self.attribute(file, expr, &names, out)
        });
    }

    /// What an expression gives.
    fn held(&self, expr: InItem<'_, Expr>, names: &[(&SmolStr, Held)]) -> Option<Held> {
        match &expr.node.kind {
            ExprKind::Name(name) => {
                (names.iter().find(|(known, _)| *known == name)).map(|(_, held)| *held)
            }
            ExprKind::Call { func, .. } => {
                let made = func.name().is_some_and(|n| self.makers.contains(&n));
                let is_search = self.searches.contains(&expr.place(expr.node.span));
                (made || is_search).then_some(Held::Result)
            }
            ExprKind::Attribute { value, attr } if attr.name == "best" => {
                let base = expr.with(&**value);
                (self.held(base, names)? == Held::Result).then_some(Held::Measurement)
            }
            _ => None,
        }
    }

    /// Whether a name never holds anything else, `None` before the search left aside.
    fn always(
        &self,
        scope: &[InItem<'_, [Stmt]>],
        name: &SmolStr,
        held: Held,
        names: &[(&SmolStr, Held)],
    ) -> bool {
        scope.iter().all(|part| {
            values(part.node, name).into_iter().all(|value| {
                value.is_some_and(|node| {
                    matches!(node.kind, ExprKind::None)
                        || self.held(part.with(node), names) == Some(held)
                })
            })
        })
    }

    fn attribute(
        &self,
        file: &FileContext<'_>,
        expr: InItem<'_, Expr>,
        names: &[(&SmolStr, Held)],
        out: &mut Findings<'_>,
    ) {
        let ExprKind::Attribute { value, attr } = &expr.node.kind else {
            return;
        };
        let base = expr.with(&**value);
        let Some(held) = self.held(base, names) else {
            return;
        };
        let (has, what): (&[&str], _) = match held {
            Held::Result => (&RESULT, "a `TuningResult`"),
            Held::Measurement => (&MEASUREMENT, "the best measurement of a search"),
        };
        let name = attr.name.as_str();
        if has.contains(&name) || name.starts_with("__") {
            return;
        }
        let text = file.source(base.place(base.node.span));
        let instead = instead(held, name);
        let said = match instead {
            Some(Instead::Name(right)) => format!("write `{text}.{right}`"),
            Some(Instead::Milliseconds(right)) => format!("write `{text}.{right} / 1000`"),
            None => format!("it has {}", listed(has)),
        };
        let place = expr.place(attr.span);
        let found = out.push(place, format!("{what} has no `{name}`: {said}"));
        let edits = Edits::new(file.text);
        match instead {
            Some(Instead::Name(right)) if SAME.contains(&right) => {
                found.safe_fix(format!("Replace by `{right}`"), edits.replace(place, right));
            }
            Some(Instead::Name(right)) => {
                found.review_fix(format!("Replace by `{right}`"), edits.replace(place, right));
            }
            Some(Instead::Milliseconds(right)) => {
                let whole = expr.place(expr.node.span);
                let milliseconds = format!("({text}.{right} / 1000)");
                found.review_fix(
                    format!("Replace by `{milliseconds}`"),
                    edits.replace(whole, milliseconds),
                );
            }
            None => {}
        }
    }
}

/// Replacements that can mean nothing else.
const SAME: [&str; 4] = ["best.config", "best.mean_us", "config", "mean_us"];

#[derive(Clone, Copy)]
enum Instead {
    Name(&'static str),
    /// What was meant is in milliseconds, what there is in microseconds.
    Milliseconds(&'static str),
}

/// What a name that does not exist was meant to be.
fn instead(held: Held, name: &str) -> Option<Instead> {
    use Instead::{Milliseconds, Name};
    let result = held == Held::Result;
    let or = |of_result, of_best| if result { of_result } else { of_best };
    Some(match name {
        "best_config" | "best_cfg" | "config" | "cfg" | "configuration" | "tuned_config" => {
            Name(or("best.config", "config"))
        }
        "best_time_us" | "best_us" | "best_mean_us" | "best_latency_us" | "time_us" | "us"
        | "mean_us" | "latency_us" | "mean" => Name(or("best.mean_us", "mean_us")),
        "best_time_ms" | "best_ms" | "best_mean_ms" | "best_latency_ms" | "time_ms" | "ms"
        | "mean_ms" | "latency_ms" => Milliseconds(or("best.mean_us", "mean_us")),
        "num_samples" => Name("best.num_samples"),
        "error_margin_us" => Name("best.error_margin_us"),
        "timings" | "measurements" | "results" | "all_results" | "tuning_record" if result => {
            Name("successes")
        }
        "errors" | "failed" if result => Name("failures"),
        _ => return None,
    })
}

fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, fixes, good};

    const IMPORT: &str = "from cuda.tile.tune import exhaustive_search\n";

    #[test]
    fn every_way_to_hold_a_result() {
        bad(
            &RULE,
            "import cuda.tile as ct\nr = ct.tune.exhaustive_search([1], s, g, k, a)\nprint(r.best_config)  # TP118\n",
        );
        bad(
            &RULE,
            &format!("{IMPORT}x = exhaustive_search([1], s, g, k, a).best_config  # TP118\n"),
        );
        bad(
            &RULE,
            &format!(
                "{IMPORT}def tune():\n    return exhaustive_search([1], s, g, k, a)\n\ndef run():\n    found = tune()\n    again = found\n    return again.timings  # TP118\n"
            ),
        );
        bad(
            &RULE,
            &format!(
                "{IMPORT}def f():\n    r = None\n    r = exhaustive_search([1], s, g, k, a)\n    b = r.best\n    b.occupancy  # TP118\n    r.best.time_ms  # TP118\n    return lambda: r.whatever  # TP118\n"
            ),
        );
        bad(
            &RULE,
            "def f():\n    from cuda.tile.tune import exhaustive_search as es\n    r = es([1], s, g, k, a)\n    return r.best.cfg  # TP118\n",
        );
    }

    #[test]
    fn milliseconds_are_divided() {
        fixes(
            &RULE,
            &format!(
                "{IMPORT}def f():\n    r = exhaustive_search([1], s, g, k, a)\n    # a comment\n    print(r.best.time_ms * 2, 'x')  # TP118\n    return [t for t in r.timings]  # TP118\n"
            ),
            &format!(
                "{IMPORT}def f():\n    r = exhaustive_search([1], s, g, k, a)\n    # a comment\n    print((r.best.mean_us / 1000) * 2, 'x')\n    return [t for t in r.successes]\n"
            ),
        );
    }

    #[test]
    fn other_things_of_those_names() {
        // The name holds something else as well, or only.
        good(
            &RULE,
            &format!(
                "{IMPORT}def f(old):\n    r = exhaustive_search([1], s, g, k, a)\n    if old:\n        r = other()\n    return r.best_config\n"
            ),
        );
        good(
            &RULE,
            &format!(
                "{IMPORT}def f():\n    best = exhaustive_search([1], s, g, k, a).best.config\n    return best.time_ms, best.occupancy\n"
            ),
        );
        good(
            &RULE,
            "from tuner import exhaustive_search\ndef f():\n    r = exhaustive_search([1])\n    return r.best_config\n",
        );
        good(
            &RULE,
            "from cuda.tile_experimental import autotune_launch\ndef f():\n    r = autotune_launch(s, g, k, a, search_space=[1])\n    return r.tuned_config\n",
        );
        // A function that sometimes returns something else.
        good(
            &RULE,
            &format!(
                "{IMPORT}def tune(n):\n    if n:\n        return Fixed(n)\n    return exhaustive_search([1], s, g, k, a)\n\ndef run():\n    return tune(1).best_config\n"
            ),
        );
        good(
            &RULE,
            &format!(
                "{IMPORT}def f():\n    r = exhaustive_search([1], s, g, k, a)\n    return r.best.num_samples, r.best.error_margin_us, r.__class__\n"
            ),
        );
    }

    #[test]
    fn fixes_are_as_safe_as_the_names_are_alike() {
        use crate::rules::Safety;
        for (name, safety) in [("best_config", Safety::Safe), ("timings", Safety::Review)] {
            let code = format!(
                "{IMPORT}r = exhaustive_search([1], s, g, k, a)\nprint(r.{name})  # TP118\n"
            );
            let (_, found) = bad(&RULE, &code);
            assert_eq!(found[0].fixes[0].safety, safety, "{found:?}");
        }
    }

    #[test]
    fn a_best_one_has_no_list_of_failures() {
        for name in ["timings", "errors"] {
            let code = format!(
                "{IMPORT}r = exhaustive_search([1], s, g, k, a)\nprint(r.best.{name})  # TP118\n"
            );
            let (_, found) = bad(&RULE, &code);
            assert!(found[0].fixes.is_empty(), "{found:?}");
            let code = code.replace("r.best.", "r.");
            let (_, found) = bad(&RULE, &code);
            assert_eq!(found[0].fixes.len(), 1, "{found:?}");
        }
    }
}
