//! A search at every call of a launcher.

use tileperf_syntax::Item;
use tileperf_syntax::ast::FunctionDef;

use super::tuning::search_call::{SearchCall, all_functions, is_test};
use crate::body::walk;
use crate::model::{HintContext, SearchApi};
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, Links};

rule! {
    /// A search runs at every call of a function that launches the kernel, not only when a cache
    /// misses.
    ///
    /// A search compiles and times every configuration: seconds to minutes, each time.
    /// `exhaustive_search` keeps nothing, unlike the old `autotune_launch`. Keep its result, and the
    /// kernel remade with it, in a dictionary whose key is what the best configuration depends on.
    /// A function that only searches and returns the result is left alone: its caller decides.
    ///
    /// ```python bad
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// def run(x, stream, grid, kernel, configs, args):
    ///     best = exhaustive_search(configs, stream, grid, kernel, args).best.config  # TP110
    ///     ct.launch(stream, grid(best), kernel, args(best))
    /// ```
    ///
    /// ```python good
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// _tuned = {}
    ///
    /// def run(x, stream, grid, kernel, configs, args):
    ///     key = (x.shape, x.dtype, str(x.device))
    ///     if key not in _tuned:
    ///         _tuned[key] = exhaustive_search(configs, stream, grid, kernel, args).best.config
    ///     best = _tuned[key]
    ///     ct.launch(stream, grid(best), kernel, args(best))
    /// ```
    TP110 "search-on-hot-path" Warning,
    Workspace(check)
}

/// How many callers up a launch is looked for.
const CALLERS: u32 = 3;

fn check(file: &FileContext<'_>, _: &dyn Links, out: &mut Findings<'_>) {
    if is_test(file) {
        return;
    }
    for search in &file.model.searches {
        if search.api != SearchApi::ExhaustiveSearch || search.context != HintContext::Hot {
            continue;
        }
        let Some(call) = SearchCall::of(file, search) else {
            continue;
        };
        let Some(function) = call.around.last() else {
            continue;
        };
        if call.around.iter().any(|d| is_measurement(d)) {
            continue;
        }
        let all = all_functions(file);
        if !launches(file, &all, (call.item, function), CALLERS) {
            continue;
        }
        out.push(
            search.callee_span,
            format!(
                "the search runs at every call of `{}`; keep its result in a dictionary by shape, dtype and device",
                function.name.name
            ),
        );
    }
}

/// A test or benchmark searches as often as it likes.
fn is_measurement(def: &FunctionDef) -> bool {
    let name = def.name.name.as_str();
    ["test", "bench", "_test", "_bench", "_run_bench"]
        .iter()
        .any(|p| name.starts_with(p))
        || name == "main"
}

/// Whether a function launches, or one that calls it.
fn launches<'a>(
    file: &FileContext<'a>,
    all: &[(&'a Item, &'a FunctionDef)],
    (item, def): (&'a Item, &'a FunctionDef),
    hops: u32,
) -> bool {
    let place = item.place(def.def_span);
    if file.model.launches.iter().any(|l| place.contains(l.span)) {
        return true;
    }
    let Some(hops) = hops.checked_sub(1) else {
        return false;
    };
    all.iter().any(|(other, caller)| {
        let within = other.place(caller.def_span).contains(place);
        !within
            && !is_measurement(caller)
            && calls(caller, &def.name.name)
            && launches(file, all, (other, caller), hops)
    })
}

fn calls(caller: &FunctionDef, name: &str) -> bool {
    let mut found = false;
    walk(&caller.body, &mut |expr, _| {
        if let tileperf_syntax::ast::ExprKind::Call { func, .. } = &expr.kind {
            found |= func.last_ident().is_some_and(|i| i.name == name);
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    const HEAD: &str = "from cuda.tile.tune import exhaustive_search\nimport cuda.tile as ct\nimport functools\n\n";

    #[test]
    fn in_the_function_that_launches_or_below_it() {
        bad(
            &RULE,
            &format!(
                "{HEAD}def best(c, s, g, k, a):\n    return exhaustive_search(c, s, g, k, a)  # TP110\n\n\
                 def run(x, c, s, g, k, a):\n    b = best(c, s, g, k, a)\n    ct.launch(s, g(b), k, a(b))\n"
            ),
        );
        bad(
            &RULE,
            &format!(
                "{HEAD}def run(c, s, g, k, a, config=None):\n    if config is None:\n        \
                 config = exhaustive_search(c, s, g, k, a)  # TP110\n    ct.launch(s, g(config), k, a)\n"
            ),
        );
        bad(
            &RULE,
            "import cuda.tile as ct\n\nclass Op:\n    def forward(self, c, s, g, k, a):\n        \
             with ct.compiler_timeout(5):\n            r = ct.tune.exhaustive_search(c, s, g, k, a)  # TP110\n        \
             ct.launch(s, g, k, a)\n",
        );
    }

    #[test]
    fn the_launch_is_callers_away() {
        let chain = |calls: &[&str]| {
            let mut text = format!(
                "{HEAD}def f0(c, s, g, k, a):\n    return exhaustive_search(c, s, g, k, a)"
            );
            let mut rest = String::new();
            for (number, call) in calls.iter().enumerate() {
                rest += &format!(
                    "\n\ndef f{}(c, s, g, k, a):\n    r = {call}(c, s, g, k, a)\n    return r\n",
                    number + 1
                );
            }
            let last = rest.trim_end().to_owned() + "\n    ct.launch(s, g, k, a)\n";
            let last = last.replace("return r\n    ct.launch", "ct.launch");
            text += "  # TP110\n";
            text + &last
        };
        bad(&RULE, &chain(&["f0", "f1"]));
        bad(&RULE, &chain(&["f0", "f1", "f2"]));
        bad(&RULE, &chain(&["mod.f0"]));
        good(&RULE, &chain(&["g0"]).replace("  # TP110", ""));
    }

    #[test]
    fn behind_a_miss() {
        let launch = "    ct.launch(s, g, tuned, a)\n";
        for body in [
            "    if key not in cache:\n        cache[key] = exhaustive_search(c, s, g, k, a)\n    tuned = cache[key]\n",
            "    tuned = cache.get(key)\n    if tuned is None:\n        tuned = exhaustive_search(c, s, g, k, a)\n",
            "    if key in cache:\n        return cache[key]\n    tuned = exhaustive_search(c, s, g, k, a)\n",
            "    try:\n        tuned = cache[key]\n    except KeyError:\n        tuned = exhaustive_search(c, s, g, k, a)\n",
            "    if (tuned := cache.get(key)) is None:\n        tuned = exhaustive_search(c, s, g, k, a)\n",
        ] {
            good(
                &RULE,
                &format!("{HEAD}cache = {{}}\n\ndef run(key, c, s, g, k, a):\n{body}{launch}"),
            );
        }
        good(
            &RULE,
            &format!(
                "{HEAD}@functools.lru_cache\ndef best(c, s, g, k, a):\n    return exhaustive_search(c, s, g, k, a)\n\n\
                 def run(c, s, g, k, a):\n    ct.launch(s, g, best(c, s, g, k, a), a)\n"
            ),
        );
        good(
            &RULE,
            &format!(
                "{HEAD}def best(c, s, g, k, a):\n    return exhaustive_search(c, s, g, k, a)\n\n\
                 cache = {{}}\n\ndef run(key, c, s, g, k, a):\n    if key not in cache:\n        \
                 cache[key] = best(c, s, g, k, a)\n    ct.launch(s, g, cache[key], a)\n"
            ),
        );
    }

    #[test]
    fn a_tuner_by_itself_a_script_and_a_test() {
        good(
            &RULE,
            &format!(
                "{HEAD}def tune(c, s, g, k, a):\n    return exhaustive_search(c, s, g, k, a)\n\n\
                 def run(s, g, k, a):\n    ct.launch(s, g, k, a)\n\n\
                 if __name__ == '__main__':\n    best = tune(1, 2, 3, 4, 5)\n    run(best, 1, 2, 3)\n"
            ),
        );
        for name in ["test_it", "bench_it", "main"] {
            good(
                &RULE,
                &format!(
                    "{HEAD}def {name}(c, s, g, k, a):\n    r = exhaustive_search(c, s, g, k, a)\n    ct.launch(s, g, k, a)\n"
                ),
            );
        }
        good(
            &RULE,
            &format!(
                "{HEAD}import pytest\n\ndef run(c, s, g, k, a):\n    r = exhaustive_search(c, s, g, k, a)\n    ct.launch(s, g, k, a)\n"
            ),
        );
        good(
            &RULE,
            &format!("{HEAD}r = exhaustive_search(c, s, g, k, a)\nct.launch(s, g, k, a)\n"),
        );
    }
}
