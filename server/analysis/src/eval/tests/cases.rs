//! Counts, case by case.

use super::{said, space};
use crate::arch::Arch;

/// Checks counts: one for every architecture, or one each for sm_80, sm_90, sm_100, sm_120.
fn check(text: &str, wanted: &str) {
    let archs = [Arch::Sm80, Arch::Sm90, Arch::Sm100, Arch::Sm120];
    let counts: Vec<String> = archs.iter().map(|arch| said(&space(text, *arch))).collect();
    let counts = if counts.iter().all(|c| *c == counts[0]) {
        counts[0].clone()
    } else {
        counts.join(" ")
    };
    assert_eq!(counts, wanted, "\n{text}");
}

#[test]
fn literals() {
    check("search([1, 2, 3])", "3");
    check("search((1, 2))", "2");
    check("search([])", "0");
    check("C = [1, 2]\nsearch(C + C[:1])", "3");
    check("search([*range(3), 9])", "4");
}

#[test]
fn loops() {
    check(
        "def configs():\n    for a in [1, 2]:\n        for b in range(3):\n            yield a, b\n",
        "6",
    );
    check(
        "def configs(n):\n    for a in range(n):\n        yield a\n",
        "0..",
    );
    check(
        "def configs(n):\n    for a in (1, 2):\n        if a < n: yield a\n",
        "0..2",
    );
}

#[test]
fn the_device_decides() {
    check(
        "import torch\ndef configs():\n    cap = torch.cuda.get_device_capability()\n    if cap in [(12, 0), (12, 1)]:\n        yield 1\n    elif cap[0] < 9:\n        yield 1\n        yield 2\n    else:\n        yield from (1, 2, 3)\n",
        "2 3 3 1",
    );
}
