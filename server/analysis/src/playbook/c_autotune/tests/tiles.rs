//! Tiles that a search may choose, and those that it must not.

use super::*;

#[test]
fn tiles_that_stay() {
    let tiles = "    tile_m, tile_n = 128, 128\n";
    let grid = "    grid = (math.ceil(rows / tile_m), ct.cdiv(cols, tile_n))\n";
    for (from, to) in [
        // A buffer, a test, a call, a loop, another launch follows from them.
        (
            tiles,
            "    tile_m, tile_n = 128, 128\n    c = torch.empty((rows + tile_m, cols))\n",
        ),
        (
            tiles,
            "    tile_m, tile_n = 128, 128\n    assert rows % tile_m == 0\n",
        ),
        (
            grid,
            "    grid = (math.ceil(rows / tile_m), ct.cdiv(cols, tile_n))\n    print(grid)\n",
        ),
        (
            tiles,
            "    tile_m, tile_n = 128, 128\n    for i in range(tile_m):\n        pass\n",
        ),
        (
            tiles,
            "    tile_m, tile_n = 128, 128\n    pad = lambda t: t[:tile_m]\n    c = pad(c)\n",
        ),
        (
            tiles,
            "    tile_m, tile_n = 128, 128\n\n    def inner():\n        return tile_m\n\n",
        ),
        // They are not always the same.
        (
            tiles,
            "    tile_m, tile_n = 128, 128\n    if rows < 64:\n        tile_m = 64\n",
        ),
        (tiles, "    tile_m, tile_n = pick(rows)\n"),
        ("def gemm(a, b):", "def gemm(a, b, tile_n=128):"),
        (tiles, "    tile_m, tile_n = 128, 100\n"),
        // What does not divide would be left out.
        ("math.ceil(rows / tile_m)", "rows // tile_m"),
        ("math.ceil(rows / tile_m)", "int(rows / tile_m)"),
        // Nothing follows from them: the numbers in the grid are others.
        (
            grid,
            "    grid = (math.ceil(rows / 128), ct.cdiv(cols, tile_n))\n",
        ),
        // It follows from itself.
        (
            "    grid = (math.ceil(rows / tile_m), ct.cdiv(cols, tile_n))\n",
            "    grid = (grid[0] + tile_m, tile_n)\n",
        ),
        // The array itself depends on them.
        ("(a, b, c, tile_m", "(a, b, c[:tile_m], tile_m"),
        // Their names do not tell which extents they are.
        ("tm: ct", "tile: ct"),
    ] {
        let code = GEMM.replace(from, to);
        assert_ne!(code, GEMM, "{from}");
        let (action, applied) = tuned(&code);
        assert_eq!(action.variant, "occupancy", "{applied}");
        assert!(
            applied.contains("clusters = (1, 2) if torch.cuda"),
            "{applied}"
        );
        let before = codes(&code);
        assert!(
            codes(&applied).iter().all(|c| before.contains(c)),
            "{applied}"
        );
    }
}

#[test]
fn tiles_followed_by_names() {
    for (from, to, has) in [
        (
            "    grid = (math.ceil(rows / tile_m), ct.cdiv(cols, tile_n))\n",
            "    blocks_m = (rows + tile_m - 1) // tile_m\n    blocks_n = -(-cols // tile_n)\n    grid = (blocks_m * blocks_n, 1)\n",
            "grid_fn=lambda cfg: (((rows + cfg.tm - 1) // cfg.tm) * (-(-cols // cfg.tn)), 1),",
        ),
        (
            "    tile_m, tile_n = 128, 128\n",
            "    tile_m: int = 128\n    tile_n = 256\n",
            "    yield SimpleNamespace(tm=128, tn=256, tk=64, ",
        ),
        (
            "(a, b, c, tile_m, tile_n, 64),",
            "(a, b, c, tile_m, tile_n, pick(a)),",
            "(a, b, c, cfg.tm, cfg.tn, pick(a))",
        ),
        // No loop of the kernel follows from it.
        (
            "range(ct.num_tiles(a, axis=1, shape=(tm, tk)))",
            "range(16)",
            "(a, b, c, cfg.tm, cfg.tn, 64)",
        ),
        (
            "range(ct.num_tiles(a, axis=1, shape=(tm, tk)))",
            "range(ct.cdiv(a.shape[1], tk))",
            "(a, b, c, cfg.tm, cfg.tn, cfg.tk)",
        ),
        (
            "    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):",
            "    view = a.tiled_view((tm, tk))\n    for k in range(view.num_tiles(1)):",
            "(a, b, c, cfg.tm, cfg.tn, cfg.tk)",
        ),
        // Neither do rows and columns.
        (
            "    grid = (math.ceil(rows / tile_m), ct.cdiv(cols, tile_n))\n",
            "    grid = (64,)\n",
            "clusters = (1, 2)",
        ),
    ] {
        let code = GEMM.replace(from, to);
        assert_ne!(code, GEMM, "{from}");
        let (action, applied) = tuned(&code);
        let full = !has.starts_with("clusters");
        assert_eq!(action.variant == "full", full, "{applied}");
        assert!(applied.contains(has), "no {has:?} in\n{applied}");
    }
    // A constant of the module that nobody else uses.
    let constant = GEMM.replace("    tile_m, tile_n = 128, 128\n", "").replace(
        "import torch\n",
        "import torch\n\ntile_m = 128\ntile_n = 128\n",
    );
    assert_eq!(tuned(&constant).0.variant, "full");
    let shared = format!("{constant}\n\nPAD = tile_m\n");
    assert_eq!(tuned(&shared).0.variant, "occupancy");
}
