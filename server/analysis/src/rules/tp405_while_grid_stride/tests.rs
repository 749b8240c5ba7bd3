//! Loops over the grid by hand: how they are written, which can be a `for`.

use super::RULE;
use crate::rules::testing::{bad, fixes, good};

fn code(body: &str) -> String {
    format!(
        "@ct.kernel\ndef k(x, n, B: ct.Constant[int]):\n    i = ct.bid(0)\n    step = ct.num_blocks(0)\n{body}"
    )
}

#[test]
fn every_way_to_write_it() {
    for step in [
        "i += step",
        "i = i + ct.num_blocks(0)",
        "i = step + i",
        "i += ct.num_blocks(0) * B",
        "i += 2 * step",
    ] {
        bad(
            &RULE,
            &code(&format!(
                "    while i < n:  # TP405\n        ct.store(x, (i,), 1)\n        {step}\n"
            )),
        );
    }
    bad(
        &RULE,
        &code(
            "    if B:\n        while n > i:  # TP405\n            ct.store(x, (i,), 1)\n            i += step\n",
        ),
    );
    // In a helper.
    bad(
        &RULE,
        "def each(x, i, n):\n    while i < n:  # TP405\n        ct.store(x, (i,), 1)\n        i += ct.num_blocks(1)\n",
    );
}

#[test]
fn the_start_moves_into_the_range_if_it_stands_before() {
    fixes(
        &RULE,
        &code(
            "    # every block\n    while i < n:  # TP405\n        # its rows\n        ct.store(x, (i,), 1)\n        i += step\n    ct.store(x, (0,), 2)\n",
        ),
        &code(
            "    # every block\n    for i in range(i, n, step):\n        # its rows\n        ct.store(x, (i,), 1)\n    ct.store(x, (0,), 2)\n",
        ),
    );
}

#[test]
fn what_reads_the_counter_before_does_not_matter() {
    fixes(
        &RULE,
        &code(
            "    ct.store(x, (i,), 0)\n    while i < n:  # TP405\n        ct.store(x, (i,), 1)\n        i += step\n",
        ),
        &code(
            "    ct.store(x, (i,), 0)\n    for i in range(i, n, step):\n        ct.store(x, (i,), 1)\n",
        ),
    );
}

#[test]
fn no_fix_where_more_depends_on_it() {
    for body in [
        // The counter is read afterwards.
        "    while i < n:  # TP405\n        ct.store(x, (i,), 1)\n        i += step\n    ct.store(x, (i,), 2)\n",
        // The step is not the last thing done.
        "    while i < n:  # TP405\n        ct.store(x, (i,), 1)\n        i += step\n        ct.store(x, (i,), 2)\n",
        // The end moves.
        "    while i < n:  # TP405\n        n = n - 1\n        i += step\n",
        // The step has a comment.
        "    while i < n:  # TP405\n        ct.store(x, (i,), 1)\n        i += step  # next\n    ct.store(x, (0,), 1)\n",
        "    while i < n:  # TP405\n        if B:\n            continue\n        i += step\n",
        "    for j in range(3):\n        while i < n:  # TP405\n            ct.store(x, (j,), 1)\n            i += step\n",
        "    while (i < n):  # TP405\n        ct.store(x, (i,), 1)\n        i += step\n",
    ] {
        let (_, found) = bad(&RULE, &code(body));
        assert!(found[0].fixes.is_empty(), "{body}");
    }
}

#[test]
fn other_loops() {
    for body in [
        "    while i < n and B:\n        i += step\n",
        "    while i < n:\n        i += 1\n",
        "    while i < n:\n        i += step\n        i += 1\n",
        "    while i < n:\n        if B:\n            i += step\n",
        "    while i != n:\n        i += step\n",
        "    while i < n:\n        i -= step\n",
        "    while B:\n        i += step\n",
        "    for i in range(i, n, step):\n        ct.store(x, (i,), 1)\n",
    ] {
        good(&RULE, &code(body));
    }
    // On the host a `while` is a `while`.
    good(
        &RULE,
        "def host(i, n, step):\n    while i < n:\n        i += step\n",
    );
}

#[test]
fn the_counter_is_read_after_it() {
    let walk = |mark: &str| {
        format!("    while i < n:{mark}\n        ct.store(x, (i,), 1)\n        i += step\n")
    };
    for (after, fixes) in [
        ("", 1),
        // Bound anew, not read.
        ("    i = 0\n    ct.store(x, (0,), 1)\n", 1),
        ("    ct.store(x, (i,), 2)\n", 0),
    ] {
        let (_, found) = bad(&RULE, &code(&format!("{}{after}", walk("  # TP405"))));
        assert_eq!(found[0].fixes.len(), fixes, "{after}");
    }
}

#[test]
fn the_counter_is_read_before_it() {
    let walk = "    i = ct.bid(0)\n    while i < n:  # TP405\n        ct.store(x, (i,), 1)\n        i += step\n";
    let read = "    for j in range(3):\n        ct.store(x, (i, j), 0)\n";
    // In a loop that has ended: `while` left nothing for it.
    let (_, found) = bad(&RULE, &code(&format!("{read}{walk}")));
    assert_eq!(found[0].fixes.len(), 1);
    // In the loop around: what `while` left is read the next time.
    let inner = walk.replace("    i = ", "        i = ");
    let inner = inner.replace("    while", "        while");
    let inner = inner.replace("        ct.store", "            ct.store");
    let inner = inner.replace("        i +=", "            i +=");
    let (_, found) = bad(&RULE, &code(&format!("{read}{inner}")));
    assert!(found[0].fixes.is_empty());
}
