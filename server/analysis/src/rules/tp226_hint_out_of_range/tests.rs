//! Hints out of range: what is found, what is not, what the fixes make of it.

use super::RULE;
use crate::rules::testing::{bad, bad_beside, good};

const BODY: &str = "\ndef k(x):\n    ct.store(x, (ct.bid(0),), ct.zeros((8,), dtype=ct.float32))\n";

#[test]
fn every_hint_and_place() {
    for hints in [
        "occupancy=0",
        "occupancy=33",
        "occupancy=-1",
        "num_ctas=0",
        "num_ctas=3",
        "num_ctas=32",
        "opt_level=4",
        "opt_level=-1",
        "num_worker_warps=3",
        "num_worker_warps=64",
        "occupancy=ct.ByTarget(sm_90=64, default=1)",
        "num_ctas=ct.ByTarget(sm_90=1, default=6)",
        "occupancy=48 if True else 2",
    ] {
        bad(&RULE, &format!("@ct.kernel({hints})  # TP226{BODY}"));
        bad(
            &RULE,
            &format!(
                "@ct.kernel{BODY}\ndef run():\n    return k.replace_hints({hints})  # TP226\n"
            ),
        );
    }
    bad(
        &RULE,
        &format!("WIDE = 64\n@ct.kernel(occupancy=WIDE)  # TP226{BODY}"),
    );
    bad(
        &RULE,
        "import cuda.tile as ct\ndef f(x):\n    ct.store(x, (0,), 1)\nk = ct.kernel(f, occupancy=40)  # TP226\n",
    );
    bad(
        &RULE,
        &format!(
            "@ct.kernel{BODY}\ndef run(s, c, x):\n    return ct.tune.exhaustive_search(c, s, grid_fn=None, kernel=k, args_fn=None, hints_fn=lambda c: {{\"occupancy\": 64, \"num_ctas\": c.n}})  # TP226\n"
        ),
    );
    bad(
        &RULE,
        &format!(
            "@ct.kernel{BODY}\ndef run(s, c, x):\n    return ct.tune.exhaustive_search(c, s, kernel=k, hints_fn=lambda c: dict(num_ctas=5))  # TP226\n"
        ),
    );
}

#[test]
fn hints_in_a_dictionary_at_the_call() {
    for hints in [
        "**{\"occupancy\": 64}",
        "**dict(num_ctas=3)",
        "num_ctas=1, **{\"opt_level\": 7}",
    ] {
        bad(
            &RULE,
            &format!(
                "@ct.kernel{BODY}\ndef run():\n    return k.replace_hints({hints})  # TP226\n"
            ),
        );
    }
}

const HEAD: &str = "import cuda.tile as ct\nimport torch\nfrom types import SimpleNamespace as C\n\
    from cuda.tile.tune import exhaustive_search\n\n@ct.kernel\ndef k(x):\n    ct.store(x, (0,), 1)\n\n";

fn searched(space: &str, hints: &str) -> String {
    format!(
        "{HEAD}{space}\ndef tune(s, g, a):\n    return exhaustive_search(list(space()), s, g, k, a, {hints})\n"
    )
}

const SPACE: &str = "def space():  # TP226\n    for occupancy in (1, 33):\n        yield C(n=64, occupancy=occupancy, ctas=3)\n";

#[test]
fn fields_that_become_hints() {
    for hints in [
        "lambda c: {\"occupancy\": c.occupancy}",
        "hints_fn=lambda cfg: dict(num_ctas=1, occupancy=cfg.occupancy)",
        "lambda c: {\"num_ctas\": c.ctas}",
        "lambda c: {\"num_ctas\": ct.ByTarget(sm_90=c.ctas, default=1)}",
    ] {
        bad(&RULE, &searched(SPACE, hints));
    }
    let (_, found) = bad(
        &RULE,
        &searched(SPACE, "lambda c: {\"occupancy\": c.occupancy}"),
    );
    assert!(
        found[0]
            .message
            .starts_with("`space` offers `occupancy=33`"),
        "{found:?}"
    );
    assert!(found[0].archs.is_empty(), "{found:?}");
    let named = format!("{SPACE}\ndef hints(c):\n    return {{\"occupancy\": c.occupancy}}\n");
    bad(&RULE, &searched(&named, "hints"));
    // Two searches of one space, one finding.
    let twice = searched(SPACE, "lambda c: {\"occupancy\": c.occupancy}")
        + "\ndef again(s, g, a):\n    \
        return exhaustive_search(list(space()), s, g, k, a, lambda c: {\"occupancy\": c.occupancy})\n";
    assert_eq!(bad(&RULE, &twice).1.len(), 1);
    let listed = format!(
        "{HEAD}exhaustive_search([C(occ=n) for n in (0, 1)], s, g, k, a, lambda c: {{\"occupancy\": c.occ}})  # TP226\n"
    );
    bad(&RULE, &listed);
    let one = "def space():  # TP226\n    if torch.cuda.get_device_capability()[0] == 9:\n        yield C(n=3)\n    else:\n        yield C(n=2)\n";
    let (_, found) = bad(&RULE, &searched(one, "lambda c: {\"num_ctas\": c.n}"));
    assert_eq!(found[0].archs, [crate::arch::Arch::Sm90]);
}

#[test]
fn in_a_space_of_another_file() {
    let other =
        "from types import SimpleNamespace as C\n".to_owned() + &SPACE.replace("  # TP226", "");
    let code = format!(
        "{HEAD}from spaces import space\n\ndef tune(s, g, a):\n    \
        return exhaustive_search(list(space()), s, g, k, a, lambda c: {{\"occupancy\": c.occupancy}})  # TP226\n"
    );
    bad_beside(&RULE, &[("spaces", &other)], &code);
    good(&RULE, &code.replace("  # TP226", ""));
}

#[test]
fn fields_that_are_no_hints_or_are_allowed() {
    let quiet = SPACE.replace("  # TP226", "");
    for hints in [
        "lambda c: {\"occupancy\": c.n // 32}",
        "lambda c: {\"occupancy\": other.occupancy}",
        "lambda c: {\"num_ctas\": c.num_ctas}",
        "lambda c: {\"other\": c.occupancy}",
        "lambda c: {\"occupancy\": min(c.occupancy, 32)}",
        "lambda c: plan(occupancy=c.occupancy)",
        "lambda c: None",
        "unknown",
        "None",
    ] {
        good(&RULE, &searched(&quiet, hints));
    }
    let allowed = quiet.replace("33", "32");
    good(
        &RULE,
        &searched(&allowed, "lambda c: {\"occupancy\": c.occupancy}"),
    );
    let unknown = quiet.replace("(1, 33)", "(1, torch.pick())");
    good(
        &RULE,
        &searched(&unknown, "lambda c: {\"occupancy\": c.occupancy}"),
    );
}

#[test]
fn silent_on_what_is_allowed_or_unknown() {
    for hints in [
        "occupancy=1",
        "occupancy=32",
        "num_ctas=16",
        "opt_level=0",
        "opt_level=3",
        "num_worker_warps=32",
        "occupancy=None",
        "num_ctas=CTAS",
        "occupancy=ct.ByTarget(sm_100=32)",
        "other=64",
    ] {
        good(&RULE, &format!("@ct.kernel({hints}){BODY}"));
    }
    // Values and hints that something else makes of them.
    for call in [
        "k.replace_hints(occupancy=pick(64))",
        "k.replace_hints(**make({\"occupancy\": 64}))",
        "k.replace_hints(**{\"occupancy\": 4})",
        "k.replace_hints(*{\"occupancy\": 64})",
        "ct.tune.exhaustive_search(s, s, kernel=k, args_fn=lambda c: {\"occupancy\": 64}, hints_fn=None)",
        "ct.tune.exhaustive_search(s, s, kernel=k, hints_fn=lambda c: plan(occupancy=64))",
        "sweep(s, hints_fn=lambda c: {\"occupancy\": 64})",
    ] {
        good(
            &RULE,
            &format!("@ct.kernel{BODY}\ndef run(s):\n    return {call}\n"),
        );
    }
    // A parameter of the same name as a constant; another object's keyword.
    good(
        &RULE,
        &format!(
            "WIDE = 64\n@ct.kernel{BODY}\ndef run(WIDE):\n    plan(occupancy=64)\n    return k.replace_hints(occupancy=WIDE)\n"
        ),
    );
}
