//! A search space that is empty: what is found, what is not, what the fixes make of it.

use super::RULE;
use crate::rules::Severity;
use crate::rules::testing::{bad, bad_beside, fixes, good, good_beside};

const HEAD: &str = "from cuda.tile.tune import exhaustive_search\nimport torch\n\
    from types import SimpleNamespace as C\n\n";

fn searched(before: &str, space: &str) -> String {
    format!(
        "{HEAD}{before}\ndef tune(s, g, k, a):\n    return exhaustive_search({space}, s, g, k, a)\n"
    )
}

const HOPPER: &str = "def configs():  # TP102\n    if torch.cuda.get_device_capability()[0] == 9:\n        \
    yield C(n=64, num_ctas=2)\n";

#[test]
fn architectures_without_a_branch() {
    let (_, found) = bad(&RULE, &searched(HOPPER, "list(configs())"));
    assert!(
        found[0].message.contains("== 9` does not hold there"),
        "{found:?}"
    );
    assert!(
        !found[0].archs.contains(&crate::arch::Arch::Sm90),
        "{found:?}"
    );
    bad(
        &RULE,
        &searched(
            "def configs():  # TP102\n    cap = torch.cuda.get_device_capability()\n    \
        out = []\n    if cap == (10, 0):\n        out.append(C(n=1))\n    return out\n",
            "configs()",
        ),
    );
    bad(
        &RULE,
        &searched(
            "def configs():  # TP102\n    cap = torch.cuda.get_device_capability()\n    \
        for n in (2, 4):\n        if n > 1 and cap[0] < 9:\n            continue\n        yield C(n=n)\n",
            "list(configs())",
        ),
    );
}

#[test]
fn the_missing_branch_is_added() {
    let fixed = HOPPER.replace("  # TP102", "") + "    else:\n        yield C(n=64, num_ctas=1)\n";
    fixes(
        &RULE,
        &searched(HOPPER, "list(configs())"),
        &searched(&fixed, "list(configs())"),
    );
    let loops = "def configs():  # TP102\n    cap = torch.cuda.get_device_capability()\n    \
        for n in (2, 4):\n        if cap[0] < 9:\n            continue\n        yield C(n=n)\n";
    fixes(
        &RULE,
        &searched(loops, "list(configs())"),
        &searched(
            &loops.replace("  # TP102", ""),
            "list(configs()) or [C(n=2)]",
        ),
    );
}

#[test]
fn a_branch_is_no_help_if_a_filter_leaves_nothing() {
    let code = "def configs():  # TP102\n    if torch.cuda.get_device_capability()[0] < 20:\n        for c in (1, 2):\n            \
        if torch.cuda.get_device_capability()[0] > 8:\n                yield C(num_ctas=c)\n";
    let fixed = searched(
        &code.replace("  # TP102", ""),
        "list(configs()) or [C(num_ctas=1)]",
    );
    fixes(&RULE, &searched(code, "list(configs())"), &fixed);
}

#[test]
fn something_guards_the_search() {
    let quiet = HOPPER.replace("  # TP102", "");
    for space in [
        "list(configs()) or [C(n=1)]",
        "list(configs()) if s else [C(n=1)]",
    ] {
        good(&RULE, &searched(&quiet, space));
    }
    for guard in [
        "if not space:\n        return None",
        "if space:\n        pass",
        "assert space, 'nothing to try'",
        "if len(space) == 0:\n        return None",
        "space = space or [C(n=1)]",
        "found = bool(space)",
        "first = space[0] if space else None",
        "ok = s and space",
    ] {
        good(
            &RULE,
            &format!(
                "{HEAD}{quiet}\ndef tune(s, g, k, a):\n    space = list(configs())\n    {guard}\n    \
             return exhaustive_search(space, s, g, k, a)\n"
            ),
        );
    }
    good(
        &RULE,
        &format!(
            "{HEAD}{quiet}\ndef tune(s, g, k, a):\n    try:\n        return exhaustive_search(list(configs()), s, g, k, a)\n    \
         except ValueError:\n        return None\n"
        ),
    );
    // The function itself.
    good(
        &RULE,
        &searched(
            "def configs():\n    out = []\n    if torch.cuda.get_device_capability()[0] == 9:\n        \
        out.append(C(n=1))\n    if not out:\n        out.append(C(n=2))\n    return out\n",
            "configs()",
        ),
    );
}

#[test]
fn for_some_inputs() {
    let sized = "def configs(n):MARK\n    for b in (32, 64):\n        if b <= n:\n            yield C(b=b)\n";
    let (_, found) = bad(
        &RULE,
        &searched(&sized.replace("MARK", "  # TP102"), "list(configs(s))"),
    );
    assert!(found[0].message.contains("`b <= n`"), "{found:?}");
    assert_eq!(found[0].severity, Severity::Warning);
    assert!(found[0].fixes.is_empty());
    let quiet = sized.replace("MARK", "");
    // Checked before; guarded; by something unknown.
    for check in ["assert n >= 32", "if n < 32:\n        raise ValueError(n)"] {
        good(
            &RULE,
            &format!(
                "{HEAD}{quiet}\ndef tune(n, s, g, k, a):\n    {check}\n    return exhaustive_search(list(configs(n)), s, g, k, a)\n"
            ),
        );
    }
    good(&RULE, &searched(&quiet, "list(configs(s)) or [C(b=32)]"));
    good(
        &RULE,
        &searched(
            &quiet.replace("if b <= n", "if fits(b, n)"),
            "list(configs(s))",
        ),
    );
    good(
        &RULE,
        &searched(&quiet.replace("(32, 64)", "n.sizes"), "list(configs(s))"),
    );
}

#[test]
fn not_surely_empty() {
    good(
        &RULE,
        &searched(
            &(HOPPER.replace("  # TP102", "") + "    else:\n        yield C(n=1)\n"),
            "list(configs())",
        ),
    );
    good(
        &RULE,
        &searched(
            "def configs():\n    if torch.cuda.get_device_capability()[0] != 9:\n        \
        raise NotImplementedError\n    yield C(n=1)\n",
            "list(configs())",
        ),
    );
    good(
        &RULE,
        &searched("from other import configs\n", "list(configs())"),
    );
}

#[test]
fn spaces_of_other_files() {
    let other = format!(
        "import torch\nfrom types import SimpleNamespace as C\n\n{}\ndef whole():\n    yield C(n=1)\n",
        HOPPER.replace("  # TP102", "")
    );
    let others = [("pkg.spaces", &*other)];
    let code = |import: &str, space: &str, mark: &str| {
        format!(
            "{HEAD}{import}\n\ndef tune(s, g, k, a):\n    return exhaustive_search({space}, s, g, k, a){mark}\n"
        )
    };
    for (import, space) in [
        ("from pkg.spaces import configs", "list(configs())"),
        ("from pkg.spaces import configs as cfgs", "list(cfgs())"),
        ("from pkg import spaces", "[c for c in spaces.configs()]"),
    ] {
        let (_, found) = bad_beside(&RULE, &others, &code(import, space, "  # TP102"));
        assert!(
            !found[0].archs.contains(&crate::arch::Arch::Sm90),
            "{found:?}"
        );
        assert_eq!(found[0].severity, Severity::Error);
        assert_eq!(found[0].archs.len(), 7);
    }
    for (import, space) in [
        ("from pkg.spaces import whole", "list(whole())"),
        ("from pkg.spaces import missing", "list(missing())"),
        (
            "from pkg.spaces import configs",
            "list(configs()) or [C(n=1)]",
        ),
        (
            "from pkg.spaces import configs",
            "[c for c in configs() if c.n > 8]",
        ),
    ] {
        good_beside(&RULE, &others, &code(import, space, ""));
    }
    let asked = code("from pkg.spaces import configs", "space", "").replace(
        "    return",
        "    space = list(configs())\n    assert space\n    return",
    );
    good_beside(&RULE, &others, &asked);
}

#[test]
fn what_the_message_says_of_space_and_architectures() {
    let (_, found) = bad(&RULE, &searched(HOPPER, "list(configs())"));
    assert!(
        found[0].message.starts_with("`configs` has no") && found[0].archs.len() == 7,
        "{found:?}"
    );
    let inline = format!(
        "{HEAD}def tune(s, g, k, a):\n    return exhaustive_search([C(n=n) for n in (1, 2) if torch.cuda.get_device_capability()[0] == 9], s, g, k, a)  # TP102\n"
    );
    let (_, found) = bad(&RULE, &inline);
    assert!(
        found[0].message.starts_with("the search space has no"),
        "{found:?}"
    );
    let (_, found) = bad(
        &RULE,
        &searched(
            "def configs():  # TP102\n    for n in ():\n        yield C(n=n)\n",
            "list(configs())",
        ),
    );
    assert!(found[0].archs.is_empty(), "{found:?}");
}

#[test]
fn what_guards_nothing() {
    // A name that nobody asks about, and a `try` around something else.
    for lines in [
        "space = list(configs())\n    print(s)\n    return exhaustive_search(space, s, g, k, a)",
        "try:\n        log(s)\n    except ValueError:\n        pass\n    return exhaustive_search(list(configs()), s, g, k, a)",
    ] {
        bad(
            &RULE,
            &format!("{HEAD}{HOPPER}\ndef tune(s, g, k, a):\n    {lines}\n"),
        );
    }
    let sized = "def configs(n):  # TP102\n    for b in (32, 64):\n        if max(b, 48) <= n:\n            yield C(b=b)\n";
    bad(&RULE, &searched(sized, "list(configs(s))"));
}
