//! Python that kernels cannot have, by version of cuda-tile.

use super::RULE;
use crate::rules::testing::{bad, bad_for, good, good_for};
use crate::target::{Target, Version};

fn kernel(body: &str) -> String {
    format!(
        "@ct.kernel\ndef k(x, y, n, T: ct.Constant[int]):\n    t = ct.load(x, (0,), (T,))\n    {}\n    ct.store(y, (0,), t)\n",
        body.replace('\n', "\n    ")
    )
}

fn before(minor: u32) -> Target {
    Target {
        cuda_tile: Some(Version::new(1, minor - 1, 0)),
        ..Target::default()
    }
}

#[test]
fn every_form() {
    for body in [
        "try:  # TP214\n    t = t + 1\nfinally:\n    pass",
        "assert n > 0  # TP214",
        "del t  # TP214",
        "import math  # TP214",
        "from math import pi  # TP214",
        "global G  # TP214",
        "match n:  # TP214\n    case 1:\n        t = t + 1",
        "class A:  # TP214\n    pass",
        "raise ValueError(n)  # TP214",
        "for i in range(n):\n    t = t + 1\nelse:\n    t = t * 2  # TP214",
        "while n > 0:\n    n = n - 1\nelse:\n    t = t * 2  # TP214",
        "for i in ct.static_iter(range(4)):\n    break  # TP214",
        "for i in ct.static_iter(range(4)):\n    if i == 2:\n        continue  # TP214",
        "z = [1, 2]  # TP214",
        "z = pair[0]([1])  # TP214",
        "z = {1: 2}  # TP214",
        "z = {1, 2}  # TP214",
        "z = [i for i in range(4)]  # TP214",
        "z = sum(i for i in range(4))  # TP214",
        "if (m := n) > 0:  # TP214\n    t = t + m",
        "async def g():  # TP214\n    pass",
        "@twice  # TP214\ndef g(a):\n    return a",
        "yield t  # TP214",
        // Behind a condition that does not hold.
        "if T < 0:\n    assert n  # TP214",
    ] {
        bad(&RULE, &kernel(body));
    }
}

#[test]
fn in_helpers_that_are_surely_compiled() {
    bad(
        &RULE,
        "def helper(x):\n    assert x  # TP214\n    return ct.load(x, (0,), (8,))\n\n@ct.kernel\ndef k(x):\n    ct.store(x, (0,), helper(x))\n",
    );
    // Called within static_eval, it is plain Python.
    good(
        &RULE,
        "def widths(n):\n    assert n\n    return [n, n]\n\n@ct.kernel\ndef k(x, T: ct.Constant[int]):\n    w = ct.static_eval(widths(T))\n    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))\n",
    );
    good(
        &RULE,
        "def run(x):\n    try:\n        import torch\n    except ImportError:\n        return [1 for i in x]\n    ct.launch(0, (1,), k, (x,))\n\n@ct.kernel\ndef k(x):\n    ct.store(x, (0,), ct.zeros((8,), dtype=ct.float32))\n",
    );
}

#[test]
fn by_version() {
    let stop = "for i in range(n):\n    if i > 3:\n        break  # TP214";
    bad_for(&RULE, &kernel(stop), &before(6));
    good(&RULE, &kernel(&stop.replace("  # TP214", "")));
    let start = "z = ct.arange(T, dtype=ct.int32, start=4)  # TP214";
    bad_for(&RULE, &kernel(start), &before(5));
    good(&RULE, &kernel(&start.replace("  # TP214", "")));
    let step = "z = ct.arange(T, step=2, dtype=ct.int32)  # TP214";
    bad_for(&RULE, &kernel(step), &before(5));
    good_for(
        &RULE,
        &kernel("z = helper(t, start=1)\nz = ct.arange(T, dtype=ct.int32)"),
        &before(5),
    );
    let all = "z = tuple(i for i in ct.static_iter(range(4)))  # TP214";
    bad_for(&RULE, &kernel(all), &before(5));
    good(&RULE, &kernel(&all.replace("  # TP214", "")));
    let while_ = "while n > 0:\n    if n > 4:\n        break\n    n = n - 1";
    good_for(&RULE, &kernel(while_), &before(6));
}

#[test]
fn silent_on_the_subset() {
    for body in [
        "\"\"\"Says [what] it does.\"\"\"",
        "[a, b] = (t, t)",
        "a, (b, c) = t, (t, t)",
        "def g(a, b=1):\n    return a + b\nt = g(t)",
        "t = ct.reduce(t, 0, lambda a, b: a + b, 0)",
        "ct.static_assert(T in [8, 16], f\"{[T]}\")",
        "z = ct.static_eval([i for i in range(T)][0])",
        "for i in ct.static_iter([1, 2]):\n    t = t + i",
        "if T > 64:\n    raise ct.static_exception(ValueError([T]))",
        "while n > 0:\n    n = n - 1\n    continue",
        "for i in pair:\n    break",
        "z: int = 4",
        "print(f\"{n}\")",
        "z = t if T > 8 else t * 2",
        "z = 1 if n in (1, 2) and n is not None else 2",
        "with scope(n):\n    t = t + 1",
        "return",
        "pass",
        "{{body}}",
    ] {
        good(&RULE, &kernel(body));
    }
}

#[test]
fn targets_are_looked_at() {
    for body in [
        "for x.a in range(n):  # TP214\n    t = t + 1",
        "x.a = 1  # TP214",
        "(a, x.b) = (1, 2)  # TP214",
        "(a, *b) = (1, 2)  # TP214",
    ] {
        bad(&RULE, &kernel(body));
    }
}
