//! A search that cannot be switched off.

use tileperf_syntax::ast::{Expr, ExprKind, Stmt, StmtKind};

use super::tuning::search_call::{SearchCall, is_test};
use crate::rules::rule::rule;
use crate::rules::{FileContext, Findings, Links};

rule! {
    /// A search has no switch that makes the code fall back to a fixed configuration.
    ///
    /// With such a switch tests run in seconds, a profiler sees the kernel and not dozens of trial
    /// launches, and a wrong result can be told from a wrong configuration. TileGym's operators call
    /// `tilegym.autotune.is_autotune_disabled()`, which reads `TILEGYM_DISABLE_AUTOTUNE`; older code
    /// reads `DISABLE_AUTOTUNE` or `DISABLE_CUTILE_TUNE`. A search in a test or benchmark file is
    /// left alone, and so is code whose switch is a parameter such as `use_autotune`.
    ///
    /// ```python bad
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// _tuned = {}
    ///
    /// def run(x, stream, grid, kernel, configs, args):
    ///     key = (x.shape, x.dtype, str(x.device))
    ///     if key not in _tuned:
    ///         _tuned[key] = exhaustive_search(configs, stream, grid, kernel, args)  # TP109
    ///     return _tuned[key]
    /// ```
    ///
    /// ```python good
    /// import os
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// _tuned = {}
    ///
    /// def run(x, stream, grid, kernel, configs, args):
    ///     if os.environ.get("DISABLE_AUTOTUNE", "0") == "1":
    ///         return configs[0]
    ///     key = (x.shape, x.dtype, str(x.device))
    ///     if key not in _tuned:
    ///         _tuned[key] = exhaustive_search(configs, stream, grid, kernel, args)
    ///     return _tuned[key]
    /// ```
    TP109 "disable-autotune-missing" Hint,
    Workspace(check)
}

fn check(file: &FileContext<'_>, _: &dyn Links, out: &mut Findings<'_>) {
    if file.model.searches.is_empty() || is_test(file) || has_switch(file) {
        return;
    }
    for search in &file.model.searches {
        let Some(call) = SearchCall::of(file, search) else {
            continue;
        };
        let whose = match call.around.last() {
            Some(def) => format!("in `{}`", def.name.name),
            None => "here".to_owned(),
        };
        out.push(
            search.callee_span,
            format!(
                "the search {whose} has no switch: read a variable such as `TILEGYM_DISABLE_AUTOTUNE` and fall back to a fixed configuration"
            ),
        );
    }
}

/// Whether any code of the file names a switch.
fn has_switch(file: &FileContext<'_>) -> bool {
    let mut found = false;
    for item in &file.file.items {
        in_block(&item.facts.body, &mut found);
    }
    found
}

fn in_block(body: &[Stmt], found: &mut bool) {
    for stmt in body {
        if *found {
            return;
        }
        let docstring =
            matches!(&stmt.kind, StmtKind::Expr(e) if matches!(e.kind, ExprKind::Str(_)));
        if !docstring {
            stmt.own_exprs(&mut |e| e.walk(&mut |e| *found |= names_switch(e)));
        }
        for inner in stmt.blocks() {
            in_block(inner, found);
        }
    }
}

fn names_switch(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(name) => is_switch(name),
        ExprKind::Attribute { attr, .. } => is_switch(&attr.name),
        ExprKind::Str(text) => is_switch(text),
        _ => false,
    }
}

/// `TILEGYM_DISABLE_AUTOTUNE`, `is_autotune_enabled`, `use_autotune`.
fn is_switch(word: &str) -> bool {
    if word.len() > 60 || word.contains(char::is_whitespace) {
        return false;
    }
    let word = word.to_ascii_lowercase();
    (word.contains("tune") || word.contains("tuning"))
        && (["disab", "enabl", "use_", "skip"]
            .iter()
            .any(|w| word.contains(w))
            || word.starts_with("no_")
            || word.contains("_no_"))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::rules::testing::{bad, good};

    fn search(before: &str, first: &str) -> String {
        format!(
            "import os\nfrom cuda.tile.tune import exhaustive_search\n{before}\n\
             def run(x, s, g, k, c, a, **options):\n    {first}\n    \
             return exhaustive_search(c, s, g, k, a)"
        )
    }

    #[test]
    fn a_docstring_and_other_words_are_no_switch() {
        for first in [
            "'DISABLE_AUTOTUNE is not read'",
            "disable_tuner = 1",
            "pass",
        ] {
            let first = first.replace("disable_tuner", "fortune_teller");
            bad(&RULE, &(search("", &first) + "  # TP109\n"));
        }
        bad(
            &RULE,
            &(search("'''DISABLE_AUTOTUNE'''", "pass") + "  # TP109\n"),
        );
        for first in [
            "print('DISABLE_AUTOTUNE is not read')",
            "tune = 1",
            "enabled = 1",
            "retuned = use_it()",
        ] {
            bad(&RULE, &(search("", first) + "  # TP109\n"));
        }
    }

    #[test]
    fn the_old_search_counts_too() {
        bad(
            &RULE,
            "from cuda.tile_experimental import autotune_launch\n\ndef run(s, g, k, a, c):\n    \
             autotune_launch(s, g, k, a, search_space=c)  # TP109\n",
        );
    }

    #[test]
    fn at_module_level() {
        bad(
            &RULE,
            "from cuda.tile.tune import exhaustive_search\nbest = exhaustive_search([1], s, g, k, a)  # TP109\n",
        );
    }

    #[test]
    fn every_kind_of_switch() {
        for (before, first) in [
            ("", "if os.getenv('TILEGYM_DISABLE_AUTOTUNE'): return c[0]"),
            (
                "",
                "if os.environ['DISABLE_CUTILE_TUNE'] == '1': return c[0]",
            ),
            (
                "from tilegym.autotune import is_autotune_disabled",
                "if is_autotune_disabled(): return c[0]",
            ),
            (
                "import tilegym.autotune as t",
                "if not t.is_autotune_enabled(): return c[0]",
            ),
            ("", "if not options.get('use_autotune', True): return c[0]"),
            ("DISABLE_AUTOTUNE = False", "pass"),
            ("", "if options.get('skip_tuning'): return c[0]"),
            ("", "if x.tuning_no_search: return c[0]"),
            ("def bench_run():\n    run(1)\n", "pass"),
            ("NO_TUNING = os.getenv('X')", "pass"),
            ("def test_run():\n    run(1)\n", "pass"),
            ("import pytest", "pass"),
        ] {
            good(&RULE, &(search(before, first) + "\n"));
        }
    }
}
