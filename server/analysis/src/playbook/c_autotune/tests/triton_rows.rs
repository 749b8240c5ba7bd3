//! Triton lists of kernels that reduce rows: each by itself, or tile by tile.

use super::*;
use crate::playbook::Numerics;

/// A kernel on rows, with a list above it.
fn rows(kernel: &str, launch: &str) -> String {
    format!(
        "import cuda.tile as ct
import triton


def square(v):
    return v * v


def own_sum(v):
    return ct.sum(v)


@triton.autotune(configs=[triton.Config({{'BLOCK_SIZE': b}}) for b in (256, 512)], key=['N'])
@triton.jit
def _norm_triton(x, y, N, BLOCK_SIZE):
    pass


@ct.kernel(occupancy=2)
def norm(x, y, w, n, TILE: ct.Constant[int], FAST: ct.Constant[bool]):
    {}


def run(x, y, w, s):
    {}
",
        kernel.replace('\n', "\n    "),
        launch.replace('\n', "\n    ")
    )
}

const WALK: &str =
    "TILE = 1024\nct.launch(s, (x.shape[0],), norm, (x, y, w, x.shape[1], TILE, True))";
const BLOCKS: &str = "TILE = 16\nct.launch(s, (ct.cdiv(x.shape[0], TILE),), norm, (x, y, w, x.shape[1], TILE, True))";

/// Numerics and premises of what is offered.
fn offered_for(kernel: &str, launch: &str) -> Option<(Numerics, Vec<String>)> {
    let text = rows(kernel, launch);
    let action = searches(&text)
        .into_iter()
        .find(|a| a.variant == "triton")?;
    let applied = rewrite::apply(&text, &action.edits).unwrap();
    assert!(
        FileParser::default().parse(&applied).is_clean(),
        "{applied}"
    );
    assert!(applied.contains("(256, 1),"), "{applied}");
    Some((action.numerics, action.premises))
}

#[test]
fn rows_that_are_walked_tile_by_tile() {
    for kernel in [
        // A mean of lanes, then each element.
        "row = ct.bid(0)\nacc = ct.zeros((1, TILE), dtype=ct.float32)\nfor j in range(ct.num_tiles(x, axis=1, shape=(1, TILE))):\n    acc += ct.astype(ct.load(x, (row, j), (1, TILE), padding_mode=ct.PaddingMode.ZERO), ct.float32)\nmean = ct.sum(acc, axis=1, keepdims=True) / n\nfor j in range(ct.num_tiles(x, axis=1, shape=(1, TILE))):\n    t = ct.load(x, (row, j), (1, TILE))\n    ct.store(y, (row, j), ct.astype(t - mean, y.dtype))",
        // Numbers, by offsets, in a persistent kernel.
        "count = ct.cdiv(n, TILE)\nfor row in range(ct.bid(0), x.shape[0], ct.num_blocks(0)):\n    s = ct.full((1, 1), 0, dtype=ct.float32)\n    for j in range(0, count):\n        t = ct.load(x, (row, j), (1, TILE))\n        s = s + ct.sum(t * t, axis=1, keepdims=True)\n    r = ct.rsqrt(s / n + 1e-6)\n    for j in range(0, count):\n        t = ct.load(x, (row, j), (1, TILE))\n        ct.store(y, (row, j), square(t) * r * ct.reshape(ct.load(w, (j,), (TILE,)), (1, TILE)))",
        // The largest, then shares.
        "row = ct.bid(0)\nm = ct.full((1, 1), -1e30, dtype=ct.float32)\nfor j in range(ct.cdiv(n, TILE)):\n    cols = j * TILE + ct.arange(TILE, dtype=ct.int32)\n    t = ct.where(ct.reshape(cols, (1, TILE)) < n, ct.load(x, (row, j), (1, TILE)), -1e30)\n    m = ct.maximum(m, ct.max(t, axis=1, keepdims=True))\ns = ct.zeros((1, 1), dtype=ct.float32)\nfor j in range(ct.cdiv(n, TILE)):\n    e = ct.exp(ct.load(x, (row, j), (1, TILE)) - m)\n    s += ct.sum(e, axis=1, keepdims=True)\nct.store(y, (row, 0), s)",
    ] {
        let (numerics, premises) = offered_for(kernel, WALK).unwrap_or_else(|| panic!("{kernel}"));
        assert_eq!(numerics, Numerics::Different, "{kernel}");
        assert!(
            premises[0].starts_with("the kernel is right for every tile"),
            "{premises:?}"
        );
    }
}

#[test]
fn rows_that_are_reduced_each_by_itself() {
    let kernel = "i = ct.bid(0)\nt = ct.load(x, (i, 0), (TILE, 64))\ns = ct.sum(t, axis=1, keepdims=True)\nct.store(y, (i, 0), t / s)";
    let (numerics, premises) = offered_for(kernel, BLOCKS).unwrap();
    assert_eq!(numerics, Numerics::Different);
    assert!(
        premises[0].starts_with("nothing depends on whether elements behind"),
        "{premises:?}"
    );
    // A loop over something else, lane by lane.
    let kernel = "i = ct.bid(0)\nacc = ct.zeros((TILE,), dtype=ct.float32)\nfor j in range(n):\n    acc = acc + ct.reshape(ct.load(x, (i, j), (TILE, 1)), (TILE,))\nct.store(y, (i,), acc)";
    assert_eq!(offered_for(kernel, BLOCKS).unwrap().0, Numerics::Same);
}

#[test]
fn kernels_whose_tiles_matter() {
    const BEGIN: &str = "row = ct.bid(0)\ns = ct.zeros((1, 1), dtype=ct.float32)\nm = ct.full((1, 1), 1.0, dtype=ct.float32)\nacc = ct.zeros((1, TILE), dtype=ct.float32)\nones = ct.full((1, TILE), 1.0, dtype=ct.float32)\nlast = s\nfor j in range(ct.cdiv(n, TILE)):\n    t = ct.load(x, (row, j), (1, TILE))\n    ";
    for (rest, launch) in [
        // A scale for each tile; each tile by its own sum.
        (
            "ct.store(y, (row, j), ct.max(t, axis=1, keepdims=True))",
            WALK,
        ),
        (
            "ct.store(y, (row, j), t / ct.sum(t, axis=1, keepdims=True))",
            WALK,
        ),
        (
            "c = ct.max(t, axis=1, keepdims=True)\n    ct.store(y, (row, j), t / c)",
            WALK,
        ),
        ("ct.store(y, (row, j), t / own_sum(t))", WALK),
        // What was added up so far.
        (
            "s += ct.sum(t, axis=1, keepdims=True)\n    ct.store(y, (row, j), t + s)",
            WALK,
        ),
        (
            "s = s * 2 + ct.sum(t, axis=1, keepdims=True)\nct.store(y, (row, 0), s)",
            WALK,
        ),
        // A largest that is added up; one for each tile; ones for each lane; the last tile's.
        (
            "s += ct.max(t, axis=1, keepdims=True)\nct.store(y, (row, 0), s)",
            WALK,
        ),
        ("s += m\nct.store(y, (row, 0), s)", WALK),
        ("s += 1\nct.store(y, (row, 0), s)", WALK),
        (
            "ones += t\nct.store(y, (row, 0), ct.sum(ones, axis=1, keepdims=True))",
            WALK,
        ),
        (
            "last = ct.sum(t, axis=1, keepdims=True)\nct.store(y, (row, 0), last)",
            WALK,
        ),
        (
            "pass\nct.store(y, (row, 0), ct.sum(t, axis=1, keepdims=True))",
            WALK,
        ),
        // Something that every lane begins with.
        (
            "pass\nif FAST:\n    acc = ct.full((1, TILE), 1.0, dtype=ct.float32)\nelse:\n    acc = ct.zeros((1, TILE), dtype=ct.float32)\nfor j in range(ct.cdiv(n, TILE)):\n    acc += ct.load(x, (row, j), (1, TILE))\nct.store(y, (row, 0), ct.sum(acc, axis=1, keepdims=True))",
            WALK,
        ),
        (
            "pass\nacc += 1.0\nfor j in range(ct.cdiv(n, TILE)):\n    acc += ct.load(x, (row, j), (1, TILE))\nct.store(y, (row, 0), ct.sum(acc, axis=1, keepdims=True))",
            WALK,
        ),
        (
            "s += ct.sum(t, axis=1, keepdims=True)\nfor j in range(ct.cdiv(n, TILE)):\n    s += ct.load(x, (row, j), (1, TILE))\nct.store(y, (row, 0), ct.sum(s, axis=1, keepdims=True))",
            WALK,
        ),
        // Lanes that are not added up, or otherwise.
        ("acc += t\nct.store(y, (row, 0), acc)", WALK),
        (
            "acc += t\nct.store(y, (row, 0), ct.max(acc, axis=1, keepdims=True))",
            WALK,
        ),
        (
            "acc = ct.maximum(acc, t)\nct.store(y, (row, 0), ct.sum(acc, axis=1, keepdims=True))",
            WALK,
        ),
        (
            "acc += t\nfor i in range(ct.cdiv(n, TILE)):\n    ct.store(y, (row, i), acc)",
            WALK,
        ),
        // Which tile it is; not all of them; twice.
        ("ct.store(y, (row, j), t * j)", WALK),
        ("if j == 0:\n        ct.store(y, (row, j), t)", WALK),
        (
            "if FAST:\n        break\n    ct.store(y, (row, j), t)",
            WALK,
        ),
        (
            "for i in range(ct.cdiv(n, TILE)):\n        s += ct.sum(t, axis=1, keepdims=True)\nct.store(y, (row, 0), s)",
            WALK,
        ),
        // Something of the row's beginning with each tile.
        ("ct.store(y, (row, j), t * ct.load(w, (0,), (TILE,)))", WALK),
        // The grid has blocks for each tile as well.
        ("ct.store(y, (row, j), t)", BLOCKS),
    ] {
        let kernel = format!("{BEGIN}{rest}");
        assert!(offered_for(&kernel, launch).is_none(), "{kernel}");
    }
    for kernel in [
        // All rows of a block together, or one more for each of them.
        "i = ct.bid(0)\nt = ct.load(x, (i, 0), (TILE, 64))\nct.store(y, (i, 0), t / ct.sum(t, axis=0, keepdims=True))",
        "i = ct.bid(0)\nt = ct.load(x, (i, 0), (TILE, 64))\nct.store(y, (i, 0), t / ct.sum(t))",
        "i = ct.bid(0)\nt = ct.load(x, (i, 0), (TILE, 64))\nct.store(y, (i, 0), ct.reshape(t, (64, TILE)))",
        // Pairs.
        "i = ct.bid(0)\na = ct.load(x, (i, 0), (TILE, 1))\nb = ct.load(w, (0, i), (1, TILE))\nct.store(y, (i, i), a + b)",
        "i = ct.bid(0)\na = ct.load(x, (i,), (TILE,))\nb = ct.reshape(a, (TILE, 1))\nct.store(y, (i,), ct.sum(a * b, axis=1))",
        // How many blocks there are.
        "i = ct.bid(0)\nfor j in range(ct.num_blocks(0)):\n    ct.store(y, (i, 0), ct.load(x, (i, 0), (TILE, 64)))",
    ] {
        assert!(offered_for(kernel, BLOCKS).is_none(), "{kernel}");
    }
}
