//! Remaking a kernel at every call of its launcher.

use super::tuning::remake;
use crate::model::HintContext;
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings};

rule! {
    /// A kernel is remade with other hints at every call of a function that launches it.
    ///
    /// `replace_hints` gives a new kernel object with a compile cache of its own, so each launch
    /// compiles anew, or at best looks the compiled code up on disk: TileGym's guide reports launches
    /// 100 to 500 times slower. Remake the kernel once, when its configuration is found, and keep it
    /// beside the configuration, on the path without tuning as well.
    ///
    /// ```python bad
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel
    /// def scale(x, BLOCK: ct.Constant[int]):
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (BLOCK,)) * 2)
    ///
    ///
    /// _tuned = {}
    ///
    ///
    /// def run(x, stream, configs, trial):
    ///     key = (x.shape, x.dtype, str(x.device))
    ///     if key not in _tuned:
    ///         result = exhaustive_search(configs, stream, (64,), scale, trial)
    ///         _tuned[key] = result.best.config
    ///     cfg = _tuned[key]
    ///     ct.launch(stream, (64,), scale.replace_hints(occupancy=cfg.occupancy), (x, 128))  # TP101
    /// ```
    ///
    /// ```python fixed
    /// import cuda.tile as ct
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel
    /// def scale(x, BLOCK: ct.Constant[int]):
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (BLOCK,)) * 2)
    ///
    ///
    /// _tuned = {}
    ///
    ///
    /// def run(x, stream, configs, trial):
    ///     key = (x.shape, x.dtype, str(x.device))
    ///     if key not in _tuned:
    ///         result = exhaustive_search(configs, stream, (64,), scale, trial)
    ///         cfg = result.best.config
    ///         _tuned[key] = (cfg, scale.replace_hints(occupancy=cfg.occupancy))
    ///     cfg, tuned_kernel = _tuned[key]
    ///     ct.launch(stream, (64,), tuned_kernel, (x, 128))
    /// ```
    ///
    /// ```python good
    /// import functools
    /// import cuda.tile as ct
    ///
    /// @ct.kernel
    /// def scale(x, BLOCK: ct.Constant[int]):
    ///     ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), (BLOCK,)) * 2)
    ///
    /// @functools.cache
    /// def tuned(occupancy):
    ///     return scale.replace_hints(occupancy=occupancy)
    ///
    /// def run(x, stream, occupancy):
    ///     ct.launch(stream, (64,), tuned(occupancy), (x, 128))
    /// ```
    TP101 "replace-hints-hot-path" Warning,
    File(check)
}

fn check(file: &FileContext<'_>, out: &mut Findings<'_>) {
    for hints in &file.model.hint_uses {
        if hints.context != HintContext::Hot
            || hints.stale
            || is_in_test(file, hints.span)
            || !remake::changes_hints(file, hints)
        {
            continue;
        }
        let remade = remake::once_only(file, hints);
        let described = out.push(
            hints.callee_span,
            format!(
                "`{}` is remade with other hints at every call; keep the remade kernel beside its configuration",
                hints.kernel_text
            ),
        );
        if let Some(remade) = remade {
            described.safe_fix(remade.title, remade.edits);
        }
    }
}

/// A test runs once.
fn is_in_test(file: &FileContext<'_>, span: tileperf_syntax::Span) -> bool {
    let around = file.functions_around(span);
    around.iter().any(|f| f.node.name.name.starts_with("test_"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, fixes, good};

    const HEAD: &str = "import functools\nimport cuda.tile as ct\n\n\n@ct.kernel\n\
        def scale(x, y, N: ct.Constant[int]):\n    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (N,)))\n\n\n";

    fn with(code: &str) -> String {
        format!("{HEAD}{code}")
    }

    #[test]
    fn constant_hints_move_to_the_module() {
        for (hints, name) in [
            ("occupancy=4", "_scale_occupancy4"),
            ("occupancy=4, num_ctas=1", "_scale_tuned"),
            ("occupancy=ct.ByTarget(sm_100=4, default=2)", "_scale_tuned"),
            ("occupancy=OCC", "_scale_tuned"),
        ] {
            let code = |before: &str, kernel: &str, mark: &str| {
                with(&format!(
                    "OCC = 4\n\n\n{before}# Runs it.\ndef run(x, s):\n    ct.launch(s, (1,), {kernel}, (x, x, 8)){mark}\n"
                ))
            };
            let call = format!("scale.replace_hints({hints})");
            fixes(
                &RULE,
                &code("", &call, "  # TP101"),
                &code(&format!("{name} = {call}\n\n\n"), name, ""),
            );
        }
    }

    #[test]
    fn a_method_s_kernel_moves_before_its_class() {
        let code = "class Op:\n    @staticmethod\n    def forward(x, s):\n        kernel = ct.kernel(scale._pyfunc, occupancy=2)  # TP101\n        \
            ct.launch(s, (1,), kernel, (x, x, 8))\n";
        let fixed = "_scale_occupancy2 = ct.kernel(scale._pyfunc, occupancy=2)\n\n\nclass Op:\n    @staticmethod\n    def forward(x, s):\n        \
            kernel = _scale_occupancy2\n        ct.launch(s, (1,), kernel, (x, x, 8))\n";
        fixes(&RULE, &with(code), &with(fixed));
    }

    #[test]
    fn the_path_without_tuning_keeps_its_kernel() {
        let code = "def run(x, s, cfg):\n    if is_autotune_disabled():\n        \
            kernel = scale.replace_hints(num_ctas=cfg.num_ctas, occupancy=cfg.occupancy)  # TP101\n        \
            ct.launch(s, (1,), kernel, (x, x, 8))\n";
        let fixed = "_scale_by_hints = {}\n\n\ndef run(x, s, cfg):\n    if is_autotune_disabled():\n        \
            hints_key = (cfg.num_ctas, cfg.occupancy)\n        if hints_key not in _scale_by_hints:\n            \
            _scale_by_hints[hints_key] = scale.replace_hints(num_ctas=cfg.num_ctas, occupancy=cfg.occupancy)\n        \
            kernel = _scale_by_hints[hints_key]\n        ct.launch(s, (1,), kernel, (x, x, 8))\n";
        fixes(&RULE, &with(code), &with(fixed));
    }

    #[test]
    fn keys_are_hashable_and_no_longer_than_needed() {
        for (hints, key) in [
            ("occupancy=occ", "occ"),
            ("occupancy=occ, num_ctas=2", "occ"),
            ("occupancy=ct.ByTarget(sm_100=occ, default=1)", "occ"),
            ("**{'occupancy': occ, 'num_ctas': 1}", "occ"),
        ] {
            let code = |lines: &str, kernel: &str, mark: &str, dict: &str| {
                with(&format!(
                    "{dict}def run(x, s, occ):\n{lines}    ct.launch(s, (1,), {kernel}, (x, x, 8)){mark}\n"
                ))
            };
            let call = format!("scale.replace_hints({hints})");
            let kept = format!("_scale_by_hints[{key}]");
            let lines = format!("    if {key} not in _scale_by_hints:\n        {kept} = {call}\n");
            fixes(
                &RULE,
                &code("", &call, "  # TP101", ""),
                &code(&lines, &kept, "", "_scale_by_hints = {}\n\n\n"),
            );
        }
        let code = "def run(kernel, x, s, hints):\n    return kernel.replace_hints(**hints)  # TP101\n\n\n\
            def go(x, s):\n    ct.launch(s, (1,), run(scale, x, s, {}), (x, x, 8))\n";
        let fixed = "_kernel_by_hints = {}\n\n\ndef run(kernel, x, s, hints):\n    hints_key = (kernel, tuple(sorted(hints.items())))\n    \
            if hints_key not in _kernel_by_hints:\n        _kernel_by_hints[hints_key] = kernel.replace_hints(**hints)\n    \
            return _kernel_by_hints[hints_key]\n\n\ndef go(x, s):\n    ct.launch(s, (1,), run(scale, x, s, {}), (x, x, 8))\n";
        fixes(&RULE, &with(code), &with(fixed));
    }

    #[test]
    fn a_tuned_kernel_moves_beside_its_configuration() {
        let code = "_tuned = {}\n\n\ndef run(x, s, key):\n    if key not in _tuned:\n        best = find(x)\n        _tuned[key] = best\n    \
            cfg = _tuned[key]\n    kernel = scale.replace_hints(\n        occupancy=cfg.occupancy,  # found\n    )\n    \
            ct.launch(s, cfg.grid, kernel, (x, x, 8))\n";
        let fixed = "_tuned = {}\n\n\ndef run(x, s, key):\n    if key not in _tuned:\n        best = find(x)\n        \
            _tuned[key] = (best, scale.replace_hints(\n        occupancy=best.occupancy,  # found\n    ))\n    \
            cfg, kernel = _tuned[key]\n    ct.launch(s, cfg.grid, kernel, (x, x, 8))\n";
        let marked = code.replace("scale.replace_hints(\n", "scale.replace_hints(  # TP101\n");
        fixes(&RULE, &with(&marked), &with(fixed));
        // Somebody else reads the cache.
        let shared = format!("{marked}\n\ndef look(key):\n    return _tuned[key]\n");
        let (_, found) = bad(&RULE, &with(&shared));
        assert_eq!(
            found[0].fixes[0].title,
            "Keep the remade kernel by its hints"
        );
    }

    #[test]
    fn other_line_ends_and_indentation_are_kept() {
        let code = "def run(x, s, cfg):\n\tkernel = scale.replace_hints(\n\t\toccupancy=cfg.o)  # TP101\n\tct.launch(s, (1,), kernel, (x, x, 8))\n";
        let fixed = "_scale_by_hints = {}\n\n\ndef run(x, s, cfg):\n\tif cfg.o not in _scale_by_hints:\n\t    _scale_by_hints[cfg.o] = scale.replace_hints(\n\t    \toccupancy=cfg.o)\n\tkernel = _scale_by_hints[cfg.o]\n\tct.launch(s, (1,), kernel, (x, x, 8))\n";
        let marked = code
            .replace("  # TP101", "")
            .replace("replace_hints(\n", "replace_hints(  # TP101\n");
        fixes(&RULE, &with(&marked), &with(fixed));
        let (text, found) = bad(&RULE, &with(&marked).replace('\n', "\r\n"));
        let changed = crate::rewrite::apply(&text, &found[0].fixes[0].edits);
        assert!(changed.is_ok_and(|t| t.matches('\n').count() == t.matches("\r\n").count()));
    }

    #[test]
    fn only_whole_statements_are_changed() {
        for line in [
            "if x: return scale.replace_hints(occupancy=x)  # TP101",
            "return [scale.replace_hints(occupancy=o) for o in x]  # TP101",
            "return scale if x else scale.replace_hints(occupancy=x)  # TP101",
            "return (lambda o: scale.replace_hints(occupancy=o))(x)  # TP101",
        ] {
            let (_, found) = bad(&RULE, &with(&format!("def run(x):\n    {line}\n")));
            assert!(found[0].fixes.is_empty(), "{line}");
        }
        // Another kernel at each call: nothing can be kept.
        let (_, found) = bad(
            &RULE,
            "def run(x, s, occ):\n    @ct.kernel\n    def inner(x):\n        pass\n    \
             ct.launch(s, (1,), inner.replace_hints(occupancy=occ), (x,))  # TP101\n",
        );
        assert!(found[0].fixes.is_empty());
    }

    #[test]
    fn other_tests_are_no_cache() {
        for test in [
            "force or x.numel() > 4",
            "force",
            "x in (1, 2)",
            "force and key",
        ] {
            bad(
                &RULE,
                &with(&format!(
                    "def run(x, s, key, force):\n    if {test}:\n        tuned = scale.replace_hints(occupancy=x)  # TP101\n    ct.launch(s, (1,), tuned, (x, x, 8))\n"
                )),
            );
        }
    }

    #[test]
    fn not_at_every_call() {
        let launch = "    ct.launch(s, (1,), tuned, (x, x, 8))\n";
        for body in [
            "    if key not in cache:\n        cache[key] = scale.replace_hints(occupancy=2)\n    tuned = cache[key]\n",
            "    tuned = cache.get(key)\n    if tuned is None:\n        tuned = cache[key] = scale.replace_hints(occupancy=2)\n",
            "    if key in cache:\n        return cache[key]\n    tuned = scale.replace_hints(occupancy=2)\n",
            "    try:\n        tuned = cache[key]\n    except KeyError:\n        tuned = scale.replace_hints(occupancy=2)\n",
            "    tuned = cached_replace_hints(scale, occupancy=2)\n",
            "    if force or key not in cache:\n        cache[key] = scale.replace_hints(occupancy=2)\n    tuned = cache[key]\n",
            "    if not force and key in cache:\n        tuned = cache[key]\n    else:\n        tuned = scale.replace_hints(occupancy=2)\n",
        ] {
            good(
                &RULE,
                &with(&format!(
                    "cache = {{}}\n\n\ndef run(x, s, key):\n{body}{launch}"
                )),
            );
        }
        good(
            &RULE,
            &with(
                "tuned = scale.replace_hints(occupancy=2)\n\n\ndef run(x, s):\n    ct.launch(s, (1,), tuned, (x, x, 8))\n",
            ),
        );
        for memo in ["functools.cache", "functools.lru_cache(maxsize=None)"] {
            good(
                &RULE,
                &with(&format!(
                    "@{memo}\ndef tuned(o):\n    return scale.replace_hints(occupancy=o)\n"
                )),
            );
        }
        good(
            &RULE,
            &with(
                "def test_it(x, s):\n    ct.launch(s, (1,), scale.replace_hints(occupancy=2), (x, x, 8))\n",
            ),
        );
        // The only caller asks first.
        good(
            &RULE,
            &with(
                "cache = {}\n\n\ndef remake(o):\n    return scale.replace_hints(occupancy=o)\n\n\n\
            def run(x, s, key):\n    if key not in cache:\n        cache[key] = remake(key)\n    ct.launch(s, (1,), cache[key], (x, x, 8))\n",
            ),
        );
        good(
            &RULE,
            &with("def run(x):\n    return x.replace('a', 'b')\n"),
        );
        // A copy with a cache of its own, no other hints.
        good(
            &RULE,
            &with("def fresh():\n    return ct.kernel(scale._pyfunc)\n"),
        );
    }
}
