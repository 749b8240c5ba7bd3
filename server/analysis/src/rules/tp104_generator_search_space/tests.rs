//! A generator as a search space: what is found, what is not, what the fixes make of it.

use super::RULE;
use crate::rules::testing::{bad, bad_beside, fixes, good};

const HEAD: &str = "from cuda.tile.tune import exhaustive_search\nimport itertools\n\
        from types import SimpleNamespace as C\n\n";

fn tuned(before: &str, space: &str) -> String {
    format!(
        "{HEAD}{before}\ndef tune(s, g, k, a):\n    return exhaustive_search({space}, s, g, k, a)"
    )
}

const GENERATOR: &str = "def configs(n=1):\n    for o in (1, 2):\n        yield C(occupancy=o)\n";

#[test]
fn whatever_has_no_length() {
    for (before, space, becomes) in [
        (
            "",
            "(C(o=o) for o in (1, 2))",
            "list((C(o=o) for o in (1, 2)))",
        ),
        ("", "map(C, (1, 2))", "list(map(C, (1, 2)))"),
        (
            "",
            "itertools.product((1, 2), (3,))",
            "list(itertools.product((1, 2), (3,)))",
        ),
        (GENERATOR, "configs(3)", "list(configs(3))"),
        (
            GENERATOR,
            "search_space=configs()",
            "search_space=list(configs())",
        ),
        (GENERATOR, "configs", "list(configs())"),
        (
            "def configs():\n    yield from [1, 2]\n",
            "configs()",
            "list(configs())",
        ),
        (
            "def configs():\n    return (o for o in (1, 2))\n",
            "configs()",
            "list(configs())",
        ),
        (
            GENERATOR,
            "configs() if s else [1]",
            "list(configs()) if s else [1]",
        ),
    ] {
        let mark = |t: String| t + "  # TP104\n";
        let text = mark(tuned(before, space));
        fixes(&RULE, &text, &(tuned(before, becomes) + "\n"));
    }
}

#[test]
fn a_method_and_a_name() {
    let class = "class T:\n    @staticmethod\n    def configs():\n        yield 1\n";
    bad(&RULE, &(tuned(class, "T.configs()") + "  # TP104\n"));
    let code = format!(
        "{HEAD}{GENERATOR}\ndef tune(s, g, k, a):\n    space = configs()\n    \
             return exhaustive_search(space, s, g, k, a)  # TP104\n"
    );
    let fixed = code.replace("space = configs()", "space = list(configs())");
    fixes(&RULE, &code, &fixed.replace("  # TP104", ""));
    let module = "SPACE = (o for o in (1, 2))\n";
    let fixed = tuned("SPACE = list((o for o in (1, 2)))\n", "SPACE") + "\n";
    fixes(&RULE, &(tuned(module, "SPACE") + "  # TP104\n"), &fixed);
}

#[test]
fn through_a_parameter() {
    let code = |first: &str, second: &str, mark: &str| {
        format!(
            "{HEAD}{GENERATOR}\ndef tune(s, space, g):\n    return exhaustive_search(space, s, g, g, g){mark}\n\n\
                 def one(s, g):\n    return tune(s, {first}, g)\n\ndef two(s, g):\n    return tune(s, g=g, space={second})\n"
        )
    };
    fixes(
        &RULE,
        &code("configs()", "(o for o in (1, 2))", "  # TP104"),
        &code("list(configs())", "list((o for o in (1, 2)))", ""),
    );
    good(&RULE, &code("configs()", "[1, 2]", ""));
    good(&RULE, &code("configs()", "s", ""));
}

#[test]
fn sequences_are_fine() {
    for (before, space) in [
        (GENERATOR, "list(configs())"),
        (GENERATOR, "tuple(configs())"),
        (GENERATOR, "sorted(configs(), key=str)"),
        (GENERATOR, "[c for c in configs()]"),
        (GENERATOR, "[*configs()]"),
        ("def configs():\n    return [C(o=1)]\n", "configs()"),
        (
            "def listed(f):\n    return f\n\n@listed\ndef configs():\n    yield 1\n",
            "configs()",
        ),
        ("from elsewhere import configs\n", "configs()"),
        ("from elsewhere import filter\n", "filter([1])"),
        ("", "itertools.tee([1, 2])"),
        ("", "make(o for o in (1, 2))"),
        (
            "def configs():\n    yield 1\n\ndef configs():\n    return [1]\n",
            "configs",
        ),
        ("def configs(n):\n    yield n\n", "configs"),
        ("def zip(*a):\n    return [1]\n", "zip([1])"),
        ("", "space"),
        ("", "range(4)"),
        ("", "dict(a=1)"),
        ("SPACE = [o for o in (1, 2)]\n", "SPACE"),
    ] {
        good(&RULE, &(tuned(before, space) + "\n"));
    }
    let remade = format!(
        "{HEAD}{GENERATOR}\ndef tune(s, g, k, a):\n    space = configs()\n    \
             space = list(space)\n    return exhaustive_search(space, s, g, k, a)\n"
    );
    good(&RULE, &remade);
    let param = format!(
        "{HEAD}def tune(configs, s, g, k, a):\n    return exhaustive_search(configs, s, g, k, a)\n"
    );
    good(&RULE, &param);
}

#[test]
fn the_old_search_takes_a_generator() {
    let text = "from cuda.tile_experimental import autotune_launch\n\ndef run(s, g, k, a):\n    \
             autotune_launch(s, g, k, a, search_space=(o for o in (1, 2)))\n";
    good(&RULE, text);
}

#[test]
fn generators_of_other_files_under_another_name() {
    let others = [("spaces", GENERATOR)];
    for import in [
        "from spaces import configs",
        "from spaces import configs as cfgs",
    ] {
        let name = import.rsplit(' ').next().unwrap();
        bad_beside(
            &RULE,
            &others,
            &(tuned(import, &format!("{name}()")) + "  # TP104\n"),
        );
    }
}
