//! Configurations fixed elsewhere: which a space does not offer, and which nobody can tell.

use super::RULE;
use crate::rules::testing::{bad, good};

fn code(hints: &str, space: &str, fallback: &str) -> String {
    format!(
        "import torch\nimport cuda.tile as ct\nfrom types import SimpleNamespace as C\nfrom cuda.tile.tune import exhaustive_search\n\n@ct.kernel{hints}\ndef k(x):\n    pass\n\nSPACE = {space}\n\ndef run(x, off):\n    if off:\n        config = {fallback}\n    else:\n        config = exhaustive_search(SPACE, s, g, k, a, h).best.config\n    return config\n"
    )
}

#[test]
fn what_is_fixed_and_not_offered() {
    let space = "[C(TILE=t, occupancy=o) for t in (64, 128) for o in (1, 2)]";
    let marked = format!("{space}  # TP111");
    bad(&RULE, &code("(occupancy=8)", &marked, "None"));
    bad(&RULE, &code("", &marked, "C(TILE=256, occupancy=1)"));
    bad(&RULE, &code("", &marked, "{'TILE': 64, 'occupancy': 4}"));
    // `occ` is the occupancy.
    bad(
        &RULE,
        &code("(occupancy=8)", "[C(occ=1), C(occ=2)]  # TP111", "None"),
    );
    // With more than the space has, in a function of its own.
    let function =
        "def fixed():\n    return {'TILE': 32, 'occupancy': 1, 'stages': 2, 'name': 'x'}\n";
    bad(&RULE, &format!("{}\n{function}", code("", &marked, "None")));
    // A remade kernel in place of the search.
    bad(
        &RULE,
        &code(
            "",
            "[C(occupancy=1)]  # TP111",
            "k.replace_hints(occupancy=3)",
        ),
    );
}

#[test]
fn what_is_offered_or_not_known() {
    let space = "[C(TILE=t, occupancy=o) for t in (64, 128) for o in (1, 2)]";
    for (hints, space, fallback) in [
        ("(occupancy=2)", space, "None"),
        ("(occupancy=8)", "[C(TILE=64), C(TILE=128)]", "None"),
        (
            "(occupancy=8)",
            "[C(occupancy=o) for o in OCCUPANCIES]",
            "None",
        ),
        ("(occupancy=N)", space, "None"),
        ("", space, "C(TILE=64, occupancy=2)"),
        ("", space, "SPACE[0]"),
        ("", space, "C(TILE=n, occupancy=2)"),
        ("", space, "C(rows=64, columns=2)"),
        ("(opt_level=3)", space, "None"),
        ("", "[C(occupancy=1)]", "other.replace_hints(occupancy=3)"),
        ("", "[C(occupancy=1)]", "start(occupancy=3)"),
    ] {
        good(&RULE, &code(hints, space, fallback));
    }
    // A space of other fields can have none of it.
    let rows =
        "ROWS = [C(rows=1, columns=r) for r in (1, 2)]\nexhaustive_search(ROWS, s, g, k, a, h)\n";
    let marked = format!("{space}  # TP111");
    bad(
        &RULE,
        &format!("{}\n{rows}", code("", &marked, "C(TILE=256, occupancy=1)")),
    );
    // Another kernel's space has it.
    let two = "SPACE_2 = [C(TILE=256, occupancy=o) for o in (1, 2)]\nexhaustive_search(SPACE_2, s, g, k, a, h)\n";
    good(
        &RULE,
        &format!("{}\n{two}", code("", space, "C(TILE=256, occupancy=1)")),
    );
}

#[test]
fn paths_for_one_architecture_and_configurations_left_out() {
    let gated = "import torch\nimport cuda.tile as ct\nfrom types import SimpleNamespace as C\nfrom cuda.tile.tune import exhaustive_search\n\n@ct.kernel\ndef k(x):\n    pass\n\ndef space():\n    if torch.cuda.get_device_capability()[0] < 9:\n        yield C(TILE=64, occupancy=4)\n    else:\n        yield C(TILE=64, occupancy=1)\n\ndef few():\n    for c in (C(TILE=32, occupancy=1), C(TILE=512, occupancy=1)):\n        if c.TILE < 256:\n            yield c\n\nexhaustive_search(list(space()), s, g, k, a, h)\nexhaustive_search(list(few()), s, g, other, a, h)\n";
    good(&RULE, gated);
    good(
        &RULE,
        &format!("{gated}fixed = k.replace_hints(occupancy=4)\n"),
    );
    good(
        &RULE,
        &format!("{gated}fixed = k.replace_hints(occupancy=N)\n"),
    );
}

#[test]
fn on_some_architectures_only() {
    let (_, found) = bad(
        &RULE,
        "import torch\nimport cuda.tile as ct\nfrom types import SimpleNamespace as C\nfrom cuda.tile.tune import exhaustive_search\n\n@ct.kernel(occupancy=4)\ndef k(x):\n    pass\n\ndef space():  # TP111\n    if torch.cuda.get_device_capability()[0] < 9:\n        yield C(occupancy=4)\n    else:\n        yield C(occupancy=1)\n\nexhaustive_search(list(space()), s, g, k, a, h)\n",
    );
    assert!(found[0].archs.iter().all(|a| a.sm() >= 90) && !found[0].archs.is_empty());
}

#[test]
fn where_it_is_not_offered() {
    let space = "[C(TILE=t, occupancy=o) for t in (64, 128) for o in (1, 2)]  # TP111";
    let (_, found) = bad(&RULE, &code("(occupancy=8)", space, "None"));
    assert!(
        found[0].archs.is_empty() && !found[0].message.contains(" on "),
        "{found:?}"
    );
    // Fields that the space does not have are something else's.
    good(
        &RULE,
        &code(
            "",
            &space.replace("  # TP111", ""),
            "{'TILE': 256, 'other': 4}",
        ),
    );
}

#[test]
fn a_field_that_is_one_of_two() {
    for either in ["64 if FLAG else 128", "(64, 128)[FLAG]"] {
        let space = format!("[C(TILE={either}, occupancy=1)]");
        for tile in [64, 128] {
            let fixed = format!("C(TILE={tile}, occupancy=1)");
            good(&RULE, &code("", &space, &fixed));
        }
        let marked = format!("{space}  # TP111");
        bad(&RULE, &code("", &marked, "C(TILE=256, occupancy=1)"));
    }
}
