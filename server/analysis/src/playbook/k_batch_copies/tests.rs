//! Which copies are gathered, and which stay.

use super::OPTIMIZATION;
use crate::playbook::testing::{after, among, none, variants};
use crate::rules::testing::findings;
use crate::rules::testing::whole;

const KERNEL: &str = "i = ct.bid(0)\nct.store(y, (i,), ct.load(x, (i,), (T,)))";
const ROW: &str = "ct.launch(s, (ct.cdiv(a.numel(), 64),), copy, (p, a, 64))\nct.launch(s, (ct.cdiv(b.numel(), 64),), copy, (q, b, 64))";
const LOOP: &str = "for x, y in zip(xs, ys):\n    n = y.numel()\n    ct.launch(s, (ct.cdiv(n, 64),), copy, (x, y, 64))\nreturn ys";

fn code(kernel: &str, host: &str) -> String {
    let (kernel, host) = (kernel.replace('\n', "\n    "), host.replace('\n', "\n    "));
    format!(
        "@ct.kernel\ndef copy(x, y, T: ct.Constant[int]):\n    {kernel}\n\n\ndef run(xs, ys, p, q, a, b, s):\n    {host}\n"
    )
}

#[test]
fn launches_one_below_the_other() {
    let wanted = "def _copy_one(x, y, T: ct.Constant[int]):\n    i = ct.bid(0)\n    ct.store(y, (i,), ct.load(x, (i,), (T,)))\n\n\n@ct.kernel\ndef copy(x_0, y_0, x_1, y_1, T: ct.Constant[int]):\n    slot = ct.bid(2)\n    if slot == 0:\n        _copy_one(x_0, y_0, T)\n    else:\n        _copy_one(x_1, y_1, T)\n\n\ndef run(xs, ys, p, q, a, b, s):\n    ct.launch(s, (max(ct.cdiv(a.numel(), 64), ct.cdiv(b.numel(), 64)), 1, 2), copy, (p, a, q, b, 64))\n    return a\n";
    let row = format!("{ROW}\nreturn a");
    let action = after(&OPTIMIZATION, &code(KERNEL, &row), "", wanted);
    assert_eq!(action.premises.len(), 2);
    // The same number of blocks whatever the arrays are.
    let same = ROW
        .replace("ct.cdiv(a.numel(), 64)", "8")
        .replace("ct.cdiv(b.numel(), 64)", "8");
    let wanted = wanted
        .replace("max(ct.cdiv(a.numel(), 64), ct.cdiv(b.numel(), 64))", "8")
        .replace("    return a\n", "");
    after(&OPTIMIZATION, &code(KERNEL, &same), "", &wanted);
}

#[test]
fn kernels_and_loops_that_copy() {
    for (kernel, host) in [
        (KERNEL, LOOP.to_owned()),
        ("i, j = ct.bid(0), ct.bid(1)\nt = ct.load(x, index=(i, j), shape=(T, 8))\nt = t.astype(y.dtype)\nct.store(y, index=(i, j), tile=t)",
         LOOP.replace("(ct.cdiv(n, 64),)", "(ct.cdiv(y.shape[0], 64), (y.shape[1] + 8 - 1) // 8, 1)").replace("(y.shape[1] + 8 - 1) // 8", "ct.cdiv(y.shape[1], 8)")),
        ("row = ct.bid(0)\nct.store(y, (row, 0), ct.astype(ct.load(x, (row, 0), (1, T)), y.dtype))",
         LOOP.replace("(ct.cdiv(n, 64),)", "(y.size(0),)")),
        (KERNEL, LOOP.replace("(ct.cdiv(n, 64),)", "(len(xs),)")),
        (KERNEL, "start = 0\nfor i, x in enumerate(xs):\n    y = a[start : start + x.numel()]\n    grid = (ct.cdiv(y.numel(), 64), 1, 1)\n    ct.launch(s, grid, copy, (x, y, 64))\n    start += x.numel()\nreturn a".to_owned()),
    ] {
        assert_eq!(variants(&OPTIMIZATION, &code(kernel, &host)), [""], "{kernel}\n{host}");
    }
}

#[test]
fn what_stays() {
    for kernel in [
        "i = ct.bid(0)\nct.store(y, (i,), ct.load(x, (i,), (T,)) + 1)",
        "i = ct.bid(0)\nct.store(y, (i,), ct.exp(ct.load(x, (i,), (T,))))",
        "i = ct.bid(0)\nct.store(y, (i,), ct.load(x, (i,), (T,)), check_bounds=False)",
        "i = ct.bid(0)\nif i < 3:\n    ct.store(y, (i,), ct.load(x, (i,), (T,)))",
        "i = ct.bid(2)\nct.store(y, (i,), ct.load(x, (i,), (T,)))",
        "i = ct.bid(0)\nct.atomic_add(y, (i,), ct.load(x, (i,), (T,)))",
        "ct.store(y, (0,), ct.load(x, (0,), (T,)))",
        // Its tile is not the grid's.
        "i = ct.bid(0)\nct.store(y, (i,), ct.load(x, (i,), (32,)))",
        "i = ct.bid(0)\nct.store(x, (i,), ct.load(y, (i,), (T,)))",
    ] {
        for host in [ROW, LOOP] {
            none(&OPTIMIZATION, &code(kernel, host));
        }
    }
    for host in [
        "ct.launch(s, (ct.cdiv(a.numel(), 64),), copy, (p, a, 64))",
        // Something happens in between.
        "for x, y in zip(xs, ys):\n    n = y.numel()\n    ct.launch(s, (ct.cdiv(n, 64),), copy, (x, y, 64))\n    x.zero_()",
        "for x, y in zip(xs, ys):\n    y = prepare(y)\n    ct.launch(s, (ct.cdiv(y.numel(), 64),), copy, (x, y, 64))",
        "for x, y in zip(xs, ys):\n    ct.launch(s, (ct.cdiv(y.numel(), 64),), copy, (x.contiguous(), y, 64))",
        "for x, y in zip(xs, ys):\n    if y is x:\n        break\n    ct.launch(s, (ct.cdiv(y.numel(), 64),), copy, (x, y, 64))",
        "for x, y in zip(xs, ys):\n    for z in xs:\n        ct.launch(s, (ct.cdiv(y.numel(), 64),), copy, (z, y, 64))",
        "for x, y in read(xs, ys):\n    ct.launch(s, (ct.cdiv(y.numel(), 64),), copy, (x, y, 64))",
        "while xs:\n    ct.launch(s, (ct.cdiv(a.numel(), 64),), copy, (p, a, 64))",
        "ct.launch(s, (ct.cdiv(a.numel(), 64),), copy, (p, a, 64))\nprint(a)\nct.launch(s, (ct.cdiv(b.numel(), 64),), copy, (q, b, 64))",
        // A grid that ends elsewhere, several constants or streams.
        "for x, y in zip(xs, ys):\n    ct.launch(s, (ct.cdiv(x.numel(), 64),), copy, (x, y, 64))",
        "for x, y in zip(xs, ys):\n    ct.launch(s, (ct.cdiv(y.numel(), 32),), copy, (x, y, 64))",
        "for x, y in zip(xs, ys):\n    ct.launch(s, (y.numel() // 64,), copy, (x, y, 64))",
        "for x, y in zip(xs, ys):\n    y = y.view(2)\n    ct.launch(s, (ct.cdiv(y.numel(), 64),), copy, (x, y, 64))",
        "for x, y in zip(xs, ys):\n    ct.launch(s, (ct.cdiv(y.numel(), 64), 1, 2), copy, (x, y, 64))",
        "for x, y in zip(xs, ys):\n    T = y.numel()\n    ct.launch(s, (1,), copy, (x, y, T))",
        "ct.launch(s, (ct.cdiv(a.numel(), 64),), copy, (p, a, 64))\nct.launch(q, (ct.cdiv(b.numel(), 64),), copy, (q, b, 64))",
        "ct.launch(s, (ct.cdiv(a.numel(), 64),), copy, (p, a, 64))\nct.launch(s, (ct.cdiv(b.numel(), 32),), copy, (q, b, 32))",
    ] {
        none(&OPTIMIZATION, &code(KERNEL, host));
    }
    // Somebody else may launch it.
    let named = |names| among(&OPTIMIZATION, &code(KERNEL, LOOP), names).len();
    assert_eq!((named(Some(&["copy"])), named(Some(&["run"]))), (0, 1));
}

#[test]
fn no_rule_finds_anything_new() {
    let slugs = |text: &str| -> Vec<&str> { findings(text).iter().map(|f| f.rule.slug).collect() };
    for host in [ROW, LOOP] {
        let text = whole(&code(KERNEL, host));
        let action = among(&OPTIMIZATION, &text, Some(&[])).remove(0);
        let applied = crate::rewrite::apply(&text, &action.edits).unwrap();
        let before = slugs(&text);
        let new: Vec<&str> = slugs(&applied)
            .into_iter()
            .filter(|s| !before.contains(s))
            .collect();
        assert!(new.is_empty(), "{new:?} in\n{applied}");
        assert_eq!(action.premises.len(), 1);
    }
}
