//! Which changes get a gate, and by what.

use super::OPTIMIZATION;
use crate::playbook::Numerics;
use crate::playbook::testing::{after, none, none_for, offered, variants};
use crate::rewrite;
use crate::rules::testing::{findings, whole};
use crate::target::Target;

fn code(tried: &str, host: &str) -> String {
    let host = host.replace('\n', "\n    ");
    format!(
        "# Tried: {tried}\n@ct.kernel(occupancy=2)\ndef k(x, y, TILE: ct.Constant[int]):\n    row = ct.bid(0)\n    for j in range(4):\n        # Ends here.\n        ct.store(y, (row, j), ct.exp(ct.astype(ct.load(x, (row, j), (1, TILE)), ct.float32)))\n\n\ndef run(x, s):\n    {host}\n"
    )
}

const TRIED: &str = "E latency=3, faster [8-64], slower [8-9]";
const HOST: &str = "y = torch.empty_like(x)\nct.launch(s, (x.shape[0],), k, (x, y, 8))\nreturn y";

#[test]
fn extents_that_the_function_knows() {
    for (host, wanted) in [
        (
            HOST,
            &["E,latency=3,x.shape[1]>=64", "E,latency=3,x.shape[0]>=64"][..],
        ),
        (
            "m, n = x.shape\ny = torch.empty((m, n))\nct.launch(s, (m,), k, (x, y, 8))",
            &[
                "E,latency=3,y.shape[1]>=64",
                "E,latency=3,y.shape[0]>=64",
                "E,latency=3,n>=64",
                "E,latency=3,m>=64",
            ],
        ),
        // A name that is two things is no extent.
        (
            "m, n = x.shape\nn = n * 2\ny = torch.empty_like(x)\nct.launch(s, (m,), k, (x, y, 8))",
            &["E,latency=3,m>=64"],
        ),
    ] {
        assert_eq!(
            variants(&OPTIMIZATION, &code(TRIED, host)),
            wanted,
            "{host}"
        );
    }
    let smaller = TRIED.replace("faster [8-64], slower [8-9]", "slower [8-64], faster [8-9]");
    assert_eq!(
        variants(&OPTIMIZATION, &code(&smaller, HOST))[0],
        "E,latency=3,x.shape[1]<=9"
    );
    let both = TRIED.replace("[8-9]", "[7-9]");
    assert_eq!(variants(&OPTIMIZATION, &code(&both, HOST)).len(), 4);
}

#[test]
fn both_kernels_stay() {
    let text = code(TRIED, HOST);
    let kernel = &text[text.find("@ct").unwrap()..text.find("\n\n\ndef run").unwrap()];
    let copy = kernel
        .replace("def k(", "def k_latency_3(")
        .replace("(1, TILE)),", "(1, TILE), latency=3),");
    let wanted = text
        .replace(kernel, &format!("{kernel}\n\n\n{copy}"))
        .replace("    ct.launch(", "    # Faster with x.shape[1] >= 64 only (measured: run 3).\n    kernel = k_latency_3 if x.shape[1] >= 64 else k\n    ct.launch(")
        .replace("(x.shape[0],), k,", "(x.shape[0],), kernel,");
    let action = after(&OPTIMIZATION, &text, "E,latency=3,x.shape[1]>=64", &wanted);
    assert_eq!(action.numerics, Numerics::Same);
    assert_eq!(action.premises.len(), 1);
    assert!(
        action.premises[0].contains("second number"),
        "{:?}",
        action.premises
    );
    // What a change says of itself is said of the gate.
    let other = code("H exp2, faster [8-64], slower [8-9]", HOST);
    let all = offered(&whole(&other), &Target::default());
    let known: Vec<&str> = all
        .iter()
        .filter(|a| a.optimization.id == "H")
        .map(|a| a.variant.as_str())
        .collect();
    let variant = known.first().unwrap();
    let other = code(&format!("H {variant}, faster [8-64], slower [8-9]"), HOST);
    let all = offered(&whole(&other), &Target::default());
    let gate = all
        .iter()
        .find(|a| a.optimization == &OPTIMIZATION)
        .unwrap();
    assert_eq!(gate.numerics, Numerics::Different);
}

#[test]
fn what_gets_none() {
    for (tried, host) in [
        // Nothing tells the two apart, or nothing was tried.
        ("E latency=3, faster [8-64], slower [8-64]", HOST),
        ("E latency=3, faster [8-64]", HOST),
        ("E latency=99, faster [8-64], slower [8-9]", HOST),
        ("Z latency=3, faster [8-64], slower [8-9]", HOST),
        // It changes the launch too.
        ("B per-sm=2, faster [8-64], slower [8-9]", HOST),
        ("C occupancy, faster [8-64], slower [8-9]", HOST),
        // Launched several times, or in a way that is not written out.
        (
            TRIED,
            "y = x\nct.launch(s, (8,), k, (x, y, 8))\nct.launch(s, (8,), k, (x, y, 8))",
        ),
        (TRIED, "for y in x:\n    ct.launch(s, (8,), k, (x, y, 8))"),
        (TRIED, "f = k\nct.launch(s, (8,), f, (x, x, 8))"),
    ] {
        none(&OPTIMIZATION, &code(tried, host));
    }
}

#[test]
fn no_rule_finds_anything_new() {
    let text = whole(&code(TRIED, HOST));
    let slugs = |text: &str| -> Vec<&str> { findings(text).iter().map(|f| f.rule.slug).collect() };
    let all = offered(&text, &Target::default());
    let action = all
        .iter()
        .find(|a| a.optimization == &OPTIMIZATION)
        .unwrap();
    let applied = rewrite::apply(&text, &action.edits).unwrap();
    let before = slugs(&text);
    let new: Vec<&str> = slugs(&applied)
        .into_iter()
        .filter(|s| !before.contains(s))
        .collect();
    assert!(new.is_empty(), "{new:?} in\n{applied}");
}

/// A kernel with these hints, and what was measured of it.
fn hinted(measured: &[&str], decorator: &str) -> String {
    let measured: String = measured
        .iter()
        .map(|m| format!("# Measured: {m}\n"))
        .collect();
    format!(
        "{measured}@ct.kernel{decorator}\ndef k(x, y):\n    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (8,)))\n"
    )
}

#[test]
fn a_hint_for_the_card_it_was_faster_on() {
    const FASTER: &str = "sm_90 occupancy=2 occupancy=8 faster";
    const SLOWER: &str = "sm_100 occupancy=2 occupancy=8 slower";
    const NEW: &str = "sm_90 occupancy occupancy=8 faster";
    for (measured, now, variant, after_it) in [
        // As it is kept, and as it was before.
        (
            &[FASTER, SLOWER][..],
            "(occupancy=8)",
            "occupancy=8,sm_90",
            "(occupancy=ct.ByTarget(sm_90=8, default=2))",
        ),
        (
            &[SLOWER, FASTER],
            "(occupancy=2, num_ctas=1)",
            "occupancy=8,sm_90",
            "(occupancy=ct.ByTarget(sm_90=8, default=2), num_ctas=1)",
        ),
        // Nobody has looked on the other architectures that are compiled for.
        (
            &[FASTER],
            "(occupancy=8)",
            "occupancy=8,sm_90",
            "(occupancy=ct.ByTarget(sm_90=8, default=2))",
        ),
        (
            &[FASTER, SLOWER, "sm_120 occupancy=2 occupancy=8 faster"],
            "(occupancy=2)",
            "occupancy=8,sm_90,sm_120",
            "(occupancy=ct.ByTarget(sm_90=8, sm_120=8, default=2))",
        ),
        // A hint that was not there has no value to fall back to.
        (
            &[NEW],
            "",
            "occupancy=8,sm_90",
            "(occupancy=ct.ByTarget(sm_90=8))",
        ),
        (
            &[NEW],
            "()",
            "occupancy=8,sm_90",
            "(occupancy=ct.ByTarget(sm_90=8))",
        ),
        (
            &[NEW],
            "(opt_level=3)",
            "occupancy=8,sm_90",
            "(opt_level=3, occupancy=ct.ByTarget(sm_90=8))",
        ),
    ] {
        let wanted = hinted(measured, after_it);
        let action = after(&OPTIMIZATION, &hinted(measured, now), variant, &wanted);
        assert!(!action.shows_in_code() && action.title.contains("run "));
    }
    for (measured, now) in [
        // The last word counts, and is not that it is faster.
        (
            &["sm_90 occupancy=2 occupancy=8 slower", FASTER][..],
            "(occupancy=8)",
        ),
        (&[SLOWER], "(occupancy=2)"),
        // It was taken away, or is something else by now.
        (&["sm_90 occupancy=2 occupancy faster"], ""),
        (&[FASTER], "(occupancy=4)"),
        (&[FASTER], "(occupancy=ct.ByTarget(sm_90=8, default=2))"),
        (&[NEW], "(occupancy=4)"),
    ] {
        none(&OPTIMIZATION, &hinted(measured, now));
    }
    // What was measured of other code says nothing of this.
    let remade = hinted(&[FASTER], "(occupancy=8)");
    let replaced = format!("{remade}\ndef run(x):\n    return k.replace_hints(occupancy=4)\n");
    none(&OPTIMIZATION, &replaced);
    // All that is compiled for is known.
    let only = Target {
        archs: vec![crate::arch::Arch::Sm90],
        ..Target::default()
    };
    none_for(&OPTIMIZATION, &remade, &only);
}
