//! Hints that a search found and a launch drops: what is found, what is not, what the fixes make of it.

use super::RULE;
use crate::rules::testing::{bad, good};

const HEAD: &str = "import cuda.tile as ct\nfrom cuda.tile.tune import exhaustive_search\n@ct.kernel\ndef k(x):\n    pass\n\n@ct.kernel\ndef other(x):\n    pass\n\n";

fn code(body: &str) -> String {
    format!("{HEAD}{body}")
}

#[test]
fn launches_that_drop_them() {
    // In a script, with a function for the hints.
    bad(
        &RULE,
        &code(
            "def hints(c):\n    return {'num_ctas': c.n}\n\nr = exhaustive_search(cs, s, g, k, a, hints_fn=hints)\nct.launch(s, (1,), k, (x,))  # TP115\n",
        ),
    );
    // The search in a function of its own.
    let (_, found) = bad(
        &RULE,
        &code(
            "def best(x):\n    r = exhaustive_search(cs, s, g, k, a, lambda c: {'occupancy': c.o})\n    return r.best.config\n\ndef run(x):\n    c = best(x)\n    ct.launch(s, (c.n,), k, (x,))  # TP115\n",
        ),
    );
    assert!(found[0].message.contains("`occupancy`"));
}

/// A cache of configurations, as the fix knows it.
fn cached(hints: &str, after: &str) -> String {
    code(&format!(
        "def run(x):\n    if x not in C:\n        r = exhaustive_search(cs, s, g, k, a, {hints})\n        C[x] = r.best.config\n    c = C[x]\n    ct.launch(s, (1,), k, (x,))  # TP115\n{after}"
    ))
}

#[test]
fn fixes_for_one_shape_only() {
    let hints = "lambda c: {'occupancy': c.o, 'num_ctas': c.n}";
    let (text, found) = bad(&RULE, &cached(hints, ""));
    let fixed = crate::rewrite::apply(&text, &found[0].fixes[0].edits).unwrap();
    let kept = "C[x] = (r.best.config, k.replace_hints(occupancy=r.best.config.o, num_ctas=r.best.config.n))";
    assert!(
        fixed.contains(kept) && fixed.contains("c, tuned_kernel = C[x]"),
        "{fixed}"
    );
    assert!(
        fixed.contains("ct.launch(s, (1,), tuned_kernel, (x,))"),
        "{fixed}"
    );
    // A name of several words is a name; a call would be made twice.
    for (name, fixes) in [("best_of_all", 1), ("copied(r)", 0)] {
        let code = cached(hints, "").replace("= r.best", &format!("= {name}.best"));
        let (_, found) = bad(&RULE, &code);
        assert_eq!(found[0].fixes.len(), fixes, "{name}");
    }
    for (hints, after) in [
        // Hints that are not the configuration's fields, or not written out.
        ("lambda c: {'occupancy': 4}", ""),
        ("lambda c: {'occupancy': other.o}", ""),
        ("lambda c: {name: c.o}", ""),
        ("lambda c: make(c)", ""),
        ("lambda c, d: {'occupancy': c.o}", ""),
        ("hints", ""),
        // The cache is read elsewhere, or the name is taken.
        (hints, "    print(C[x].o)\n"),
        (hints, "    tuned_kernel = 1\n"),
    ] {
        let (_, found) = bad(&RULE, &cached(hints, after));
        assert!(found[0].fixes.is_empty(), "{hints} {after}");
    }
}

#[test]
fn kernels_that_are_remade() {
    for remade in [
        "t = k.replace_hints(occupancy=r.best.config.o)\n    ct.launch(s, (1,), t, (x,))",
        "t = ct.kernel(k._pyfunc, occupancy=r.best.config.o)\n    ct.launch(s, (1,), t, (x,))",
        "t = cached_replace_hints(k, occupancy=r.best.config.o)\n    ct.launch(s, (1,), t, (x,))",
        "ct.launch(s, (1,), k.replace_hints(occupancy=1), (x,))",
        "t = with_hints(k, r)\n    ct.launch(s, (1,), k, (x,))\n\ndef with_hints(kernel, r):\n    return kernel.replace_hints(occupancy=r.best.config.o)",
    ] {
        good(
            &RULE,
            &code(&format!(
                "def run(x):\n    r = exhaustive_search(cs, s, g, k, a, lambda c: {{'occupancy': c.o}})\n    {remade}\n"
            )),
        );
    }
}

#[test]
fn other_launches() {
    // A fixed path before the search, another kernel, another function.
    good(
        &RULE,
        &code(
            "def run(x, off):\n    if off:\n        ct.launch(s, (1,), k, (x,))\n        return\n    r = exhaustive_search(cs, s, g, k, a, lambda c: {'occupancy': c.o})\n    ct.launch(s, (1,), other, (x,))\n\ndef plain(x):\n    ct.launch(s, (1,), k, (x,))\n",
        ),
    );
    // No hints are tuned.
    for hints in ["None", "lambda c: {}", "lambda c: None"] {
        good(
            &RULE,
            &code(&format!(
                "r = exhaustive_search(cs, s, g, k, a, {hints})\nct.launch(s, (1,), k, (x,))\n"
            )),
        );
    }
    // It launches what it tuned.
    good(
        &RULE,
        &code(
            "from cuda.tile_experimental import autotune_launch\ndef run(x):\n    autotune_launch(s, g, k, a, hints_fn=lambda c: {'occupancy': c.o}, search_space=cs)\n    ct.launch(s, (1,), k, (x,))\n",
        ),
    );
}

#[test]
fn another_kernel_that_is_remade_changes_nothing() {
    for other in [
        "other.replace_hints(occupancy=2)",
        "imported.replace_hints(occupancy=2)",
    ] {
        let body = format!(
            "from ops import imported\n\ndef first(c):\n    return {{'num_ctas': c.n}}\n\ndef hints(c):\n    return {{'occupancy': c.o}}\n\n\
             fast = {other}\nr = exhaustive_search(cs, s, g, k, a, hints_fn=hints)\nct.launch(s, (1,), k, (x,))  # TP115\n"
        );
        let (_, found) = bad(&RULE, &code(&body));
        // Of the function that is given, not of another one.
        assert!(found[0].message.contains("`occupancy` of `k`"), "{found:?}");
    }
}
