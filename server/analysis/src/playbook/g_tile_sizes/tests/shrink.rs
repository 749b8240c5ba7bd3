//! What recorded searches drop from a space, and what they do not.

use crate::playbook::g_tile_sizes::OPTIMIZATION;
use crate::playbook::testing::{after, offered, variants};
use crate::playbook::{Action, Numerics};
use crate::rewrite;
use crate::target::Target;

/// A kernel that is searched over this space, and what was recorded of that.
fn code(space: &str, recorded: &[&str]) -> String {
    let recorded: String = (recorded.iter())
        .map(|line| format!("# Searched: {line}\n"))
        .collect();
    format!(
        "{recorded}from types import SimpleNamespace\nimport cuda.tile as ct\nimport torch\nfrom cuda.tile.tune import exhaustive_search\n\n\
         @ct.kernel\ndef k(x, y, t: ct.Constant[int], n: ct.Constant[int]):\n    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (t,)) * n)\n\n\
         {space}\n\n\
         def tune(x, y, s, grid_fn, args_fn, hints_fn):\n    return exhaustive_search(list(configs()), s, grid_fn, k, args_fn, hints_fn)\n"
    )
}

/// The same for two different arguments.
fn twice(measured: &str) -> [String; 2] {
    [
        format!("sm_90 128, {measured}"),
        format!("sm_90 4096, {measured}"),
    ]
}

fn shrinks(space: &str, recorded: &[&str]) -> Vec<Action> {
    let mut all = offered(&code(space, recorded), &Target::default());
    all.retain(|action| action.variant.starts_with("shrink="));
    all
}

const BRANCH: &str = "def configs():\n    if torch.cuda.get_device_capability()[0] == 9:\n        ";

/// A space's own branch, and as it is without what is bad: `t` 3 and 4.
fn becomes(before: &str, wanted: &str) {
    let recorded = twice("t=1 20, t=2 10, t=3 12, t=4 10.6, t=5 10.4");
    let recorded: Vec<&str> = recorded.iter().map(String::as_str).collect();
    let space = |own: &str| {
        format!(
            "{BRANCH}{}\n    else:\n        yield SimpleNamespace(t=9)",
            own.replace('\n', "\n        ")
        )
    };
    let (before, wanted) = (
        code(&space(before), &recorded),
        code(&space(wanted), &recorded),
    );
    let action = after(&OPTIMIZATION, &before, "shrink=sm_90", &wanted);
    assert_eq!(
        action.title.replace("t=4 and t=3", "t=3 and t=4"),
        "Search on sm_90 without t=3 and t=4, 2 of 5 configurations in `configs`: at least 6 % slower than the best in 2 recorded searches on 2 different arguments"
    );
    assert!(!action.shows_in_code() && action.numerics == Numerics::Same);
    assert_eq!(action.premises.len(), 2, "{:?}", action.premises);
}

#[test]
fn every_way_to_write_it() {
    let made = |t: u32| format!("SimpleNamespace(t={t})");
    let yields = |all: &[u32]| {
        let all = all.iter().map(|t| format!("yield {}", made(*t)));
        all.collect::<Vec<_>>().join("\n")
    };
    becomes(&yields(&[1, 2, 3, 4, 5]), &yields(&[1, 2, 5]));
    becomes(&yields(&[1, 3, 4, 5, 2]), &yields(&[1, 5, 2]));
    for (before, wanted) in [
        ("(1, 2, 3, 4, 5)", "(1, 2, 5)"),
        ("[1, 3, 2, 4, 5]", "[1, 2, 5]"),
        ("(1, 2, 5, 3, 4)", "(1, 2, 5)"),
        ("(1, 2, 5, 3, 4,)", "(1, 2, 5,)"),
        (
            "(\n    1,\n    2,  # two\n    3,  # three\n    4,\n    5,\n)",
            "(\n    1,\n    2,  # two\n    5,\n)",
        ),
        ("(\n    1, 2,\n    3, 4, 5\n)", "(\n    1, 2, 5\n)"),
        (
            "(\n    1,\n    2,\n    5,\n    3,\n    4\n)",
            "(\n    1,\n    2,\n    5,\n)",
        ),
    ] {
        let all = |rows: &str| format!("for t in {rows}:\n    yield SimpleNamespace(t=t)");
        becomes(&all(before), &all(wanted));
        let all = |rows: &str| format!("yield from [SimpleNamespace(t=t) for t in {rows}]");
        if !before.contains('\n') {
            becomes(&all(before), &all(wanted));
        }
    }
    // Rows of several values.
    let rows = |rows: &str| format!("for t, _ in ({rows}):\n    yield SimpleNamespace(t=t)");
    becomes(
        &rows("(1, 0), (2, 0), (3, 0), (4, 0), (5, 0)"),
        &rows("(1, 0), (2, 0), (5, 0)"),
    );
}

/// As searches are generated: a list by architecture, and a loop over whichever it is.
#[test]
fn a_list_with_a_name() {
    let space = |own: &str, read: &str| {
        format!(
            "def configs():\n    yield SimpleNamespace(t=7, o=None)\n    major = torch.cuda.get_device_capability()[0]\n    \
             if major == 9:\n        space = [\n            # t, o\n{own}        ]\n    \
             else:\n        space = [\n            (1, 8),\n            (2, 8),\n            (3, 8),\n            (6, 8),\n        ]\n{read}    \
             for t, o in space:\n        yield SimpleNamespace(t=t, o=o)"
        )
    };
    let row = |t: u32| format!("            ({t}, 4),\n");
    let rows = |all: &[u32]| all.iter().map(|t| row(*t)).collect::<String>();
    let recorded = twice("t=7 o=None 20, t=1 o=4 20, t=2 o=4 10, t=3 o=4 12, t=6 o=4 10.1");
    let recorded: Vec<&str> = recorded.iter().map(String::as_str).collect();
    let before = space(&rows(&[1, 2, 3, 6]), "");
    let wanted = space(&rows(&[2, 6]), "");
    let action = after(
        &OPTIMIZATION,
        &code(&before, &recorded),
        "shrink=sm_90",
        &code(&wanted, &recorded),
    );
    assert!(
        action.title.contains(", 2 of 5 configurations"),
        "{}",
        action.title
    );
    // What else reads the list may change it.
    for read in [
        "    space.append((5, 4))\n",
        "    print(space)\n",
        "    space += [(5, 4)]\n",
    ] {
        let before = space(&rows(&[1, 2, 3, 6]), read);
        assert!(shrinks(&before, &recorded).is_empty(), "{read}");
    }
    // The same rows on every card: what only one was asked about stays.
    let both = space(&rows(&[1, 2, 3, 6]).replace(", 4)", ", 8)"), "");
    let recorded = recorded.iter().map(|line| line.replace("o=4", "o=8"));
    let recorded: Vec<String> = recorded.collect();
    let recorded: Vec<&str> = recorded.iter().map(String::as_str).collect();
    assert!(shrinks(&both, &recorded).is_empty());
}

#[test]
fn a_tuple_of_one_stays_one() {
    let recorded = twice("t=1 10, t=2 20, t=3 30, t=9 9.9");
    let recorded: Vec<&str> = recorded.iter().map(String::as_str).collect();
    for (before, wanted) in [
        ("(1, 2, 3)", "(1,)"),
        ("(1, 2, 3,)", "(1,)"),
        ("[1, 2, 3]", "[1]"),
        (
            "(\n            1,\n            2,\n            3\n        )",
            "(\n            1,\n        )",
        ),
    ] {
        let space = |rows: &str| {
            format!(
                "{BRANCH}for t in {rows}:\n            yield SimpleNamespace(t=t)\n    else:\n        yield SimpleNamespace(t=9)"
            )
        };
        after(
            &OPTIMIZATION,
            &code(&space(before), &recorded),
            "shrink=sm_90",
            &code(&space(wanted), &recorded),
        );
    }
}

#[test]
fn lists_that_a_function_returns() {
    let recorded = twice("t=1 10, t=2 20, t=3 10.1");
    let recorded: Vec<&str> = recorded.iter().map(String::as_str).collect();
    let space = |own: &str| format!("{BRANCH}return [{own}]\n    return [SimpleNamespace(t=9)]");
    for (before, wanted) in [
        (
            "SimpleNamespace(t=1), SimpleNamespace(t=2), SimpleNamespace(t=3)",
            "SimpleNamespace(t=1), SimpleNamespace(t=3)",
        ),
        (
            "\n            SimpleNamespace(t=1),\n            SimpleNamespace(t=2),\n            SimpleNamespace(t=3),\n        ",
            "\n            SimpleNamespace(t=1),\n            SimpleNamespace(t=3),\n        ",
        ),
        (
            "SimpleNamespace(t=t) for t in (1, 2, 3)",
            "SimpleNamespace(t=t) for t in (1, 3)",
        ),
    ] {
        after(
            &OPTIMIZATION,
            &code(&space(before), &recorded),
            "shrink=sm_90",
            &code(&space(wanted), &recorded),
        );
    }
}

const SPACE: &str = "def configs():\n    if torch.cuda.get_device_capability()[0] == 9:\n        for t in (1, 2, 3):\n            yield SimpleNamespace(t=t)\n    else:\n        yield SimpleNamespace(t=1)";

#[test]
fn what_was_not_seen_to_lose_stays() {
    let bad = "sm_90 128, t=1 11, t=2 10, t=3 20";
    for (recorded, drops) in [
        (&[bad, "sm_90 4096, t=1 11, t=2 10, t=3 10.6"][..], true),
        // The same arguments twice, those of a test, or not known.
        (&[bad, bad], false),
        (&[bad, "sm_90 64, t=1 11, t=2 10, t=3 20"], false),
        (&[bad, "sm_90 ?, t=1 11, t=2 10, t=3 20"], false),
        // It was good once: in the benchmark, in a test, as far as can be told.
        (&[bad, "sm_90 4096, t=1 11, t=2 10, t=3 10.4"], false),
        (&[bad, "sm_90 4096, t=1 11, t=2 10, t=3 10.6 0.2"], false),
        (
            &[
                bad,
                "sm_90 4096, t=1 11, t=2 10, t=3 20",
                "sm_90 64, t=2 10, t=3 9",
            ],
            false,
        ),
        // It failed, or another space was searched.
        (&[bad, "sm_90 4096, t=1 11, t=2 10"], false),
        (
            &[
                "sm_90 128, t=1 11, t=2 10, t=3 n=1 20",
                "sm_90 4096, t=1 11, t=2 10, t=3 n=1 20",
            ],
            false,
        ),
        // Another card.
        (&[bad, "sm_100 4096, t=1 11, t=2 10, t=3 20"], false),
        // The first stays although it is slow.
        (
            &[
                "sm_90 128, t=1 30, t=2 10, t=3 10",
                "sm_90 4096, t=1 30, t=2 10, t=3 10",
            ],
            false,
        ),
    ] {
        assert_eq!(!shrinks(SPACE, recorded).is_empty(), drops, "{recorded:?}");
    }
}

#[test]
fn only_what_is_written_out_and_not_shared() {
    let recorded = twice("t=1 10, t=2 20, t=3 30, n=1 t=1 10, n=1 t=2 30, n=2 t=1 30, n=2 t=2 30");
    let recorded: Vec<&str> = recorded.iter().map(String::as_str).collect();
    let of = |space: &str| shrinks(space, &recorded).len();
    assert_eq!(of(SPACE), 1);
    for space in [
        // All architectures share it.
        "def configs():\n    for t in (1, 2, 3):\n        yield SimpleNamespace(t=t)",
        // Two loops: a value of one goes with all of the other.
        &SPACE.replace("for t in (1, 2, 3):\n            yield SimpleNamespace(t=t)", "for t in (1, 2):\n            for n in (1, 2):\n                yield SimpleNamespace(t=t, n=n)"),
        &SPACE.replace("(1, 2, 3)", "range(1, 4)"),
        &SPACE.replace("(1, 2, 3)", "(1, *(2, 3))"),
        // A test in the loop.
        &SPACE.replace("            yield", "            if t != 2:\n                yield"),
        &SPACE.replace("yield SimpleNamespace(t=t)\n", "yield SimpleNamespace(t=t)\n            yield SimpleNamespace(t=t + 9)\n"),
    ] {
        let offered = shrinks(space, &recorded);
        assert_eq!(offered.len(), 0, "{offered:?} for\n{space}");
    }
    // Without an import of torch too: the branch is there.
    let device = code(SPACE, &recorded)
        .replace("import torch\n", "from torch import cuda\n")
        .replace("torch.cuda.get", "cuda.get");
    assert_eq!(variants(&OPTIMIZATION, &device), ["shrink=sm_90"]);
}

#[test]
fn what_another_kernel_searches_stays() {
    let recorded = twice("t=1 10, t=2 20, t=3 30");
    let recorded: Vec<&str> = recorded.iter().map(String::as_str).collect();
    let text = code(SPACE, &recorded);
    assert_eq!(variants(&OPTIMIZATION, &text), ["shrink=sm_90"]);
    let again = text.replace(
        "\n\n@ct.kernel\ndef k(",
        "\n\n@ct.kernel\ndef other(x):\n    pass\n\n@ct.kernel\ndef k(",
    );
    assert_eq!(variants(&OPTIMIZATION, &again), ["shrink=sm_90"]);
    let again = format!(
        "{again}\ndef more(s, f):\n    exhaustive_search(list(configs()), s, f, other, f)\n"
    );
    assert_eq!(variants(&OPTIMIZATION, &again), [""; 0]);
}

#[test]
fn other_branches_are_as_they_were() {
    let recorded = [
        "sm_120 128, t=1 10, t=2 20",
        "sm_120 256, t=1 10, t=2 20",
        "sm_90 128, t=1 10, t=3 20",
        "sm_90 256, t=1 10, t=3 20",
    ];
    let space = "def configs():\n    major = torch.cuda.get_device_capability()[0]\n    if major == 12:\n        rows = [SimpleNamespace(t=1), SimpleNamespace(t=2)]\n    elif major == 9:\n        rows = [SimpleNamespace(t=1), SimpleNamespace(t=2), SimpleNamespace(t=3)]\n    else:\n        rows = [SimpleNamespace(t=1)]\n    return rows";
    let text = code(space, &recorded);
    for (variant, from, to) in [
        ("shrink=sm_90", ", SimpleNamespace(t=3)]", "]"),
        ("shrink=sm_120", "t=1), SimpleNamespace(t=2)]", "t=1)]"),
    ] {
        let all = shrinks(space, &recorded);
        let action = all.iter().find(|a| a.variant == variant).unwrap();
        let applied = rewrite::apply(&text, &action.edits).unwrap();
        assert_eq!(applied, text.replacen(from, to, 1));
    }
}
