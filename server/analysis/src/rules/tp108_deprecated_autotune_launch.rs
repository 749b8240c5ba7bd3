//! The search function that is no more.

use super::tuning::old_search::Rewrite;
use super::tuning::search_call::SearchCall;
use crate::model::SearchApi;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings};

rule! {
    /// `cuda.tile_experimental.autotune_launch` is deprecated: since cuda-tile 1.3 there is
    /// `cuda.tile.tune.exhaustive_search`.
    ///
    /// The old function searched, kept its result by the shapes, dtypes and strides of the arguments
    /// and launched, all in one; it calculates that key, and takes a lock, at every launch. The new
    /// one only searches: the code keeps the configuration and the tuned kernel itself and launches
    /// with `ct.launch`. It takes a list, not a generator or a function. Functions of that name from
    /// elsewhere are left alone. The fix writes the whole pattern; look at the key it makes.
    ///
    /// ```python bad
    /// import cuda.tile as ct
    /// from cuda.tile_experimental import autotune_launch
    ///
    /// @ct.kernel
    /// def copy(x, y, BLOCK: ct.Constant[int]):
    ///     ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (BLOCK,)))
    ///
    ///
    /// def run(x, y, stream, configs):
    ///     autotune_launch(  # TP108
    ///         stream,
    ///         grid_fn=lambda cfg: (x.shape[0] // cfg.block,),
    ///         kernel=copy,
    ///         args_fn=lambda cfg: (x, y, cfg.block),
    ///         hints_fn=lambda cfg: {"occupancy": cfg.occupancy},
    ///         search_space=configs(),
    ///     )
    /// ```
    ///
    /// ```python fixed
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel
    /// def copy(x, y, BLOCK: ct.Constant[int]):
    ///     ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (BLOCK,)))
    ///
    ///
    /// _copy_tuned = {}
    ///
    ///
    /// def run(x, y, stream, configs):
    ///     cache_key = (x.shape, y.shape, x.dtype, y.dtype, str(x.device))
    ///     if cache_key not in _copy_tuned:
    ///         result = exhaustive_search(
    ///             list(configs()),
    ///             stream,
    ///             lambda cfg: (x.shape[0] // cfg.block,),
    ///             copy,
    ///             lambda cfg: (x, y, cfg.block),
    ///             lambda cfg: {"occupancy": cfg.occupancy},
    ///         )
    ///         cfg = result.best.config
    ///         _copy_tuned[cache_key] = (cfg, copy.replace_hints(occupancy=cfg.occupancy))
    ///     cfg, tuned_kernel = _copy_tuned[cache_key]
    ///     ct.launch(stream, (x.shape[0] // cfg.block,), tuned_kernel, (x, y, cfg.block))
    /// ```
    ///
    /// ```python good
    /// from my_project.tuner import autotune_launch
    ///
    /// def run(configs, kernel_fn):
    ///     autotune_launch(kernel_fn=kernel_fn, configs=configs, key=("copy",))
    /// ```
    TP108 "deprecated-autotune-launch" Warning since 1.3,
    File(check)
}

fn check(file: &FileContext<'_>, out: &mut Findings<'_>) {
    for search in &file.model.searches {
        if search.api != SearchApi::AutotuneLaunch {
            continue;
        }
        let Some(call) = SearchCall::of(file, search) else {
            continue;
        };
        let described = out.push(
            search.callee_span,
            "`autotune_launch` is deprecated: search with `cuda.tile.tune.exhaustive_search`, keep the tuned kernel, launch it with `ct.launch`",
        );
        if let Some(edits) = (Rewrite { call }).edits() {
            described.review_fix(
                "Search with `exhaustive_search` and keep what it finds",
                edits,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, fixes, good};

    const KERNEL: &str = "@ct.kernel\ndef copy(x, y, n: int):\n    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (64,)))\n\n\n";

    #[test]
    fn through_the_module_with_functions_and_a_key() {
        let code = format!(
            "import cuda.tile as ct\nimport cuda.tile_experimental as ct_experimental\n\n\n{KERNEL}\
             def run(x, y, n, stream):\n    def grid(cfg):\n        return (n,)\n\n    \
             ct_experimental.autotune_launch(  # TP108\n        stream, grid, copy, lambda c: (x, y, n),\n        \
             search_space=[1, 2], key=(n, x.dtype), compiler_time_limit_sec=5,\n    )\n"
        );
        let fixed = format!(
            "import cuda.tile as ct\nfrom cuda.tile.tune import exhaustive_search\nimport cuda.tile_experimental as ct_experimental\n\n\n{KERNEL}\
             _copy_tuned = {{}}\n\n\ndef run(x, y, n, stream):\n    def grid(cfg):\n        return (n,)\n\n    \
             cache_key = (n, x.dtype)\n    if cache_key not in _copy_tuned:\n        with ct.compiler_timeout(5):\n            \
             result = exhaustive_search(\n                [1, 2],\n                stream,\n                grid,\n                copy,\n                \
             lambda c: (x, y, n),\n            )\n        c = result.best.config\n        _copy_tuned[cache_key] = (c, copy)\n    \
             c, tuned_kernel = _copy_tuned[cache_key]\n    ct.launch(stream, grid(c), tuned_kernel, (x, y, n))\n"
        );
        fixes(&RULE, &code, &fixed);
    }

    #[test]
    fn the_key_is_made_from_the_arguments() {
        let code = format!(
            "import cuda.tile as ct\nfrom cuda.tile_experimental import autotune_launch\n\n\n{KERNEL}\
             def space():\n    yield 1\n\n\n\
             def run(x, y, n, stream):\n    autotune_launch(stream, lambda _: (n,), copy, lambda cfg: (x, y, n), lambda cfg: (x, x, n), \
             lambda c: {{'occupancy': c}}, search_space=space)  # TP108\n"
        );
        let (text, found) = bad(&RULE, &code);
        let fixed = crate::rewrite::apply(&text, &found[0].fixes[0].edits).unwrap();
        for part in [
            "cache_key = (x.shape, y.shape, x.dtype, y.dtype, str(x.device), n)",
            "        list(space()),\n",
            "(cfg, copy.replace_hints(**(lambda c: {'occupancy': c})(cfg)))",
            "ct.launch(stream, (n,), tuned_kernel, (x, x, n))",
            "from cuda.tile.tune import exhaustive_search\n",
        ] {
            assert!(fixed.contains(part), "{part} in\n{fixed}");
        }
    }

    #[test]
    fn found_but_not_rewritten() {
        for call in [
            "r = autotune_launch(s, g, k, a, search_space=c)  # TP108",
            "autotune_launch(s, g, k, a, search_space=c, seed=1)  # TP108",
            "autotune_launch(*s)  # TP108",
            "autotune_launch(s, lambda named, cfg: (1,), k, a, search_space=c, key=s)  # TP108",
            "return autotune_launch(s, g, k, a, search_space=c).tuned_config  # TP108",
        ] {
            let (_, found) = bad(
                &RULE,
                &format!(
                    "import cuda.tile as ct\nfrom cuda.tile_experimental import autotune_launch\n\ndef run(s, g, k, a, c):\n    {call}\n"
                ),
            );
            assert!(found[0].fixes.is_empty());
        }
        bad(
            &RULE,
            "import cuda.tile_experimental as e\ntune = e.autotune_launch\n\ndef run(s, g, k, a, c):\n    tune(s, g, k, a, search_space=c)  # TP108\n",
        );
    }

    #[test]
    fn others_of_that_name() {
        good(
            &RULE,
            "from tilegym.backend.cutile_rs.autotuner import autotune_launch\nautotune_launch(kernel_fn=1, configs=[2])\n",
        );
        good(
            &RULE,
            "import cuda.tile as ct\n\ndef autotune_launch(f):\n    return f()\n\nautotune_launch(print)\n",
        );
        good(
            &RULE,
            "from cuda.tile.tune import exhaustive_search\nexhaustive_search([1], s, g, k, a)\n",
        );
    }
}
