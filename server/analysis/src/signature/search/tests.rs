//! Searches written as text, and the configurations that the compiler sees.

use super::*;
use crate::slice::Written;

const KERNEL: &str = "
import cuda.tile as ct
from types import SimpleNamespace
from cuda.tile.tune import exhaustive_search
@ct.kernel
def k(x, n, A: ct.Constant[int], B: ct.Constant[int]):
    ct.store(x, (0, 0), ct.zeros((A, B), ct.float32))
def configs():
    for a in (64, 128):
        for c in (1, 2):
            yield SimpleNamespace(A=a, num_ctas=c)
";

fn of(text: &str) -> Configurations {
    let workspace = Written::new(text);
    let model = workspace.model();
    let kernel = model.kernels.last().unwrap();
    let search = model.searches.first().unwrap();
    configurations(&workspace, ModuleId(0), search, kernel, Arch::Sm90).unwrap()
}

/// The configurations as `A=64 | A: 64 | num_ctas 1`.
fn shown(found: &Configurations) -> Vec<String> {
    let one = |config: &Configuration| {
        let fields = config
            .fields
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let constants = config
            .constants
            .iter()
            .map(|(at, value)| format!("{at}: {value}"));
        let hints = config
            .hints
            .iter()
            .map(|(name, value)| format!("{name} {value}"));
        [
            fields.collect::<Vec<_>>().join(" "),
            constants.collect::<Vec<_>>().join(" "),
            hints.collect::<Vec<_>>().join(" "),
        ]
        .join(" | ")
    };
    found.all.iter().map(one).collect()
}

const ALL: [&str; 4] = [
    "A=64 num_ctas=1 | 2: 64 | num_ctas 1",
    "A=64 num_ctas=2 | 2: 64 | num_ctas 2",
    "A=128 num_ctas=1 | 2: 128 | num_ctas 1",
    "A=128 num_ctas=2 | 2: 128 | num_ctas 2",
];

#[test]
fn callbacks_say_what_becomes_of_a_configuration() {
    let hints = "lambda c: {'num_ctas': c.num_ctas}";
    for (before, args, hints) in [
        ("", "lambda c: (x, 7, c.A, 16)", hints),
        (
            "",
            "lambda c: (x, 7, int(c.A), 16)",
            "lambda c: dict(num_ctas=c.num_ctas)",
        ),
        (
            "    def args(cfg):\n        a = cfg.A\n        return (x, x.n, a, 16)\n    \
             def hints(cfg):\n        return {'num_ctas': cfg.num_ctas}\n",
            "args",
            "hints",
        ),
        ("    args = lambda c: (x, 7, c.A, 16)\n", "args", hints),
        ("", "lambda c: (x, 7, c.A) + rest", hints),
        // Nothing can be said of these: the names count.
        ("", "make(x)", "hints"),
    ] {
        let text = format!(
            "{KERNEL}\ndef run(x, s, make, rest, hints):\n{before}    \
             exhaustive_search(list(configs()), s, lambda c: (1,), k, {args}, {hints})\n"
        );
        let found = of(&text);
        assert_eq!(shown(&found), ALL, "{before}{args} {hints}");
        assert!((found.complete, found.unknown) == (true, 0), "{found:?}");
    }
}

#[test]
fn what_is_computed_is_left_to_the_signature() {
    let search = |args: &str, hints: &str| {
        of(&format!(
            "{KERNEL}\ndef run(x, s):\n    \
             exhaustive_search(list(configs()), s, lambda c: (1,), k, {args}, {hints})\n"
        ))
    };
    // No hint is tuned, and no constant that is known.
    let found = search("lambda c: (x, 7, c.A * 2, 16)", "None");
    let fields = ["A=64 num_ctas=1 |  | ", "A=64 num_ctas=2 |  | "];
    assert_eq!(shown(&found)[..2], fields);
    // A hint that is computed makes the configuration unknown.
    let found = search(
        "lambda c: (x, 7, c.A, 16)",
        "lambda c: {'num_ctas': c.num_ctas * 2}",
    );
    assert_eq!((shown(&found).len(), found.unknown), (0, 4));
}

#[test]
fn plain_values_tuples_and_dictionaries_are_configurations() {
    for (space, args, expected) in [
        (
            "[64, 128]",
            "lambda c: (x, 7, c, 16)",
            ["=64 | 2: 64 | ", "=128 | 2: 128 | "],
        ),
        (
            "[(64, 1), (128, 2)]",
            "lambda c: (x, c[1], c[0], 16)",
            [" | 2: 64 | ", " | 2: 128 | "],
        ),
        (
            "[{'t': 64}, {'t': 128}]",
            "lambda c: (x, 7, c['t'], 16)",
            ["t=64 | 2: 64 | ", "t=128 | 2: 128 | "],
        ),
    ] {
        let text = format!(
            "{KERNEL}\ndef run(x, s):\n    exhaustive_search({space}, s, lambda c: (1,), k, {args})\n"
        );
        assert_eq!(shown(&of(&text)), expected, "{space}");
    }
}

#[test]
fn a_configuration_that_is_not_known_is_counted() {
    let text = format!(
        "{KERNEL}\ndef run(x, s):\n    space = [SimpleNamespace(A=a) for a in (64, x.n)]\n    \
         exhaustive_search(space, s, lambda c: (1,), k, lambda c: (x, 7, c.A, 16))\n"
    );
    let found = of(&text);
    assert_eq!(
        (shown(&found), found.unknown),
        (vec!["A=64 | 2: 64 | ".to_owned()], 1)
    );
}
