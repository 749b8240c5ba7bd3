//! Tiles made anew in a loop: which are found, what stays, what the fixes make of them.

use super::RULE;
use crate::rules::testing::{bad, fixes, good};

fn kernel(body: &str) -> String {
    format!(
        "@ct.kernel\ndef k(x, y, n: int, T: ct.Constant[int]):\n    o = ct.arange(T, dtype=ct.int32)\n    w = ct.load(y, (0,), (T,))\n    for i in range(n):\n        t = ct.load(x, (i,), (T,))\n        {}\n        ct.store(y, (i,), t)\n",
        body.replace('\n', "\n        ")
    )
}

#[test]
fn every_form_of_tile() {
    for body in [
        "z = ct.zeros((T,), dtype=ct.float32)  # TP409\nt = t + z",
        "t = t + ct.full((T,), 1.0, dtype=ct.float32)  # TP409",
        "t = t + ct.zeros(SIZES[0], dtype=ct.float32)  # TP409",
        "if n > 2:\n    t = t + ct.ones((T,), dtype=ct.float32)  # TP409",
        "m = o < n  # TP409\nt = ct.where(m, t, 0.0)",
        "t = ct.where(o + 1 < n, t, 0.0)  # TP409",
        "t = ct.where(o < n, t, ct.zeros((T,), ct.float32))  # TP409",
        "c = ct.arange(T, dtype=ct.int32)[None, :]  # TP409\nt = t + c",
        "while n > 0:\n    t = t + ct.ones((T,), dtype=ct.float32)  # TP409\n    n = n - 1",
        // A mask of what was loaded before the loop.
        "t = ct.where(w > 0, t, 0.0)  # TP409",
    ] {
        bad(&RULE, &kernel(body));
    }
}

#[test]
fn a_statement_moves_and_a_part_gets_a_name() {
    fixes(
        &RULE,
        &kernel("m = o < n  # TP409\nt = ct.where(m, t, 0.0)"),
        &kernel("t = ct.where(m, t, 0.0)").replace("    for i", "    m = o < n\n    for i"),
    );
    fixes(
        &RULE,
        &kernel("t = ct.where(o < n, t, 0.0)  # TP409"),
        &kernel("t = ct.where(mask, t, 0.0)").replace("    for i", "    mask = o < n\n    for i"),
    );
}

#[test]
fn a_statement_stays_where_its_block_would_be_empty() {
    fixes(
        &RULE,
        &kernel("if n > 2:\n    m = o < n  # TP409\nt = t + 1"),
        &kernel("if n > 2:\n    m = mask\nt = t + 1")
            .replace("    for i", "    mask = o < n\n    for i"),
    );
    fixes(
        &RULE,
        &kernel("if n > 2:\n    m = o < n  # TP409\n    t = ct.where(m, t, 0.0)"),
        &kernel("if n > 2:\n    t = ct.where(m, t, 0.0)")
            .replace("    for i", "    m = o < n\n    for i"),
    );
}

#[test]
fn several_statements_of_a_line_are_left_to_the_author() {
    let (_, found) = bad(
        &RULE,
        &kernel("m = o < n; t = ct.where(m, t, 0.0)  # TP409"),
    );
    assert!(found[0].fixes.is_empty());
}

#[test]
fn silent_on_what_changes_or_costs_nothing() {
    for body in [
        "m = o + i < n\nt = ct.where(m, t, 0.0)",
        "z = ct.full((T,), i, dtype=ct.float32)\nt = t + z",
        // Accumulators.
        "z = ct.zeros((T,), dtype=ct.float32)\nfor j in range(4):\n    z = z + t\nt = z",
        "z = ct.zeros((T,), dtype=ct.float32)\nz += t\nt = z",
        "p = ct.mma(t, t, ct.zeros((T, T), dtype=ct.float32))",
        "p = ct.mma(t, t, acc=ct.zeros((T, T), dtype=ct.float32))",
        // One element; in a loop that is spent in another.
        "t = t + ct.full((1,), 0.5, dtype=ct.float32)",
        "z = ct.full((T,), 0.5, dtype=ct.float32)\nfor j in range(n):\n    t = t + z",
        // Only looked at.
        "t = t + ct.reshape(o, (1, T))",
        "t = t + o[None, :]",
        "t = t + o",
        // Read from memory.
        "w = ct.load(x, (0,), (T,))\nt = t + w",
        "v = ct.load(x, (i,), (T,)) > 0\nt = ct.where(v, t, 0.0)",
    ] {
        good(&RULE, &kernel(body));
    }
    good(
        &RULE,
        "@ct.kernel\ndef k(x, T: ct.Constant[int]):\n    z = ct.zeros((T,), dtype=ct.float32)\n    for i in ct.static_iter(range(4)):\n        ct.store(x, (i,), z + ct.ones((T,), dtype=ct.float32))\n",
    );
}

#[test]
fn what_the_message_calls_it() {
    let (_, found) = bad(
        &RULE,
        &kernel("t = t + ct.ones((T,), dtype=ct.float32)  # TP409"),
    );
    assert!(found[0].message.starts_with("`ct.ones("), "{found:?}");
    let (_, found) = bad(
        &RULE,
        &kernel("t = t + ct.ones(  # TP409\n    (T,), dtype=ct.float32)"),
    );
    assert!(found[0].message.starts_with("The tile is"), "{found:?}");
}

#[test]
fn numbers_made_on_the_way() {
    bad(
        &RULE,
        &kernel("t = t + ct.full((T,), float(n), dtype=ct.float32)  # TP409"),
    );
    good(
        &RULE,
        &kernel("t = t + ct.full((T,), draw(n), dtype=ct.float32)"),
    );
    // A mask of what was loaded is another one in each iteration.
    good(&RULE, &kernel("t = ct.where(t > 0, t, 0.0)"));
    let (_, found) = bad(
        &RULE,
        &kernel(
            "t = t + ct.ones((T,), dtype=ct.float32) + ct.zeros((T,), dtype=ct.float32)  # TP409",
        ),
    );
    assert_eq!(found.len(), 2, "{found:?}");
}
