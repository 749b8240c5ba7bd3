//! Which sizes are offered where, and what stays.

mod compiled;
mod shrink;

use super::OPTIMIZATION;
use crate::playbook::testing::{after, among, offered, variants};
use crate::playbook::{Action, Numerics};
use crate::rewrite;
use crate::rules::testing::whole;
use crate::target::Target;

/// An elementwise kernel and its launch: what the kernel does, and what the host does.
fn elements(kernel: &str, host: &str) -> String {
    let (kernel, host) = (kernel.replace('\n', "\n    "), host.replace('\n', "\n    "));
    format!(
        "import math\nimport cuda.tile as ct\nimport torch\n\nLIMIT = 3\n\n\
         def twice(v):\n    w = v + v\n    return w\n\n\
         def part(v):\n    return ct.sum(v)\n\n\
         @ct.kernel\ndef k(x, y, n, BLOCK: ct.Constant[int], FAST: ct.Constant[bool]):\n    {kernel}\n\n\
         def run(x, n):\n    y = torch.empty_like(x)\n    s = torch.cuda.current_stream()\n    {host}\n    return y\n"
    )
}

const KERNEL: &str = "i = ct.bid(0)\nct.store(y, (i,), ct.load(x, (i,), (BLOCK,)) * 2)";
const HOST: &str =
    "BLOCK = 1024\ngrid = (ct.cdiv(n, BLOCK), 1, 1)\nct.launch(s, grid, k, (x, y, n, BLOCK, True))";

#[test]
fn kernels_that_work_on_each_element_alone() {
    let all = ["BLOCK=256", "BLOCK=512", "BLOCK=2048", "BLOCK=4096"];
    assert_eq!(variants(&OPTIMIZATION, &elements(KERNEL, HOST)), all);
    for kernel in [
        "offs = ct.bid(0) * BLOCK + ct.arange(BLOCK, dtype=ct.int32)\nv = ct.gather(x, offs, padding_value=0)\nct.scatter(y, offs, v, check_bounds=True)",
        "start = ct.bid(0) * BLOCK\nlane = ct.arange(BLOCK, dtype=ct.int32)\noffs = start + lane\nct.scatter(y, (offs,), ct.gather(x, (offs,)))",
        "b = ct.bid(0)\noffs = ct.astype(ct.arange(BLOCK, dtype=ct.int32), ct.int64) + ct.astype(b, ct.int64) * BLOCK\nrow = offs // n\nv = ct.gather(x, (row, offs % n))\nct.scatter(y, (row, offs % n), v, mask=offs < n)",
        "i = ct.bid(0)\nv = ct.load(x, index=(i,), shape=(BLOCK,)).astype(ct.float32)\nv = ct.maximum(v, ct.zeros((BLOCK,), dtype=ct.float32)) if FAST else ct.exp(v)\nct.store(y, index=(i,), tile=ct.astype(v, y.dtype))",
        "i = ct.bid(0)\nif FAST:\n    v = ct.load(x, (i,), (BLOCK,)) * LIMIT\nelse:\n    v = ct.load(x, (i,), (BLOCK,)) * math.pi\nct.store(y, (i,), v)",
        "i = ct.bid(0)\nv = ct.reshape(ct.load(x, (i, 0), (BLOCK, 1)), (BLOCK,))\nct.store(y, (i,), v)",
        "i = ct.bid(0)\nfor j in range(4):\n    ct.store(y, (i, j), ct.load(x, (i, j), (BLOCK, 1)))",
        "i, j = ct.bid(0), ct.bid(1)\nct.store(y, (i, j), ct.load(x, (i, j), (BLOCK, 1)) + ct.load(x, (0, j), (1, 1)))",
        "offs = ct.bid(0) * BLOCK + ct.arange(BLOCK, dtype=ct.int32)\nct.scatter(y, offs, twice(ct.gather(x, offs)))",
        "offs = ct.bid(0) * BLOCK + ct.arange(BLOCK, dtype=ct.int32)\nct.scatter(x, (offs, 1), ct.gather(x, (offs, 0)))",
        "offs = ct.bid(0) * BLOCK + ct.arange(BLOCK, dtype=ct.int32)\nct.scatter(y, offs, ct.gather(x, offs + 1))",
    ] {
        assert_eq!(
            variants(&OPTIMIZATION, &elements(kernel, HOST)),
            all,
            "{kernel}"
        );
    }
}

#[test]
fn kernels_whose_blocks_matter() {
    for kernel in [
        // A result for each block.
        "i = ct.bid(0)\nct.store(y, (i,), ct.sum(ct.load(x, (i,), (BLOCK,)), axis=0, keepdims=True))",
        "i = ct.bid(0)\nv = ct.load(x, (i,), (BLOCK,))\nct.store(y, (i,), v / part(v))",
        "i = ct.bid(0)\nct.store(y, (i,), ct.cumsum(ct.load(x, (i,), (BLOCK,)), axis=0))",
        // A scale for each block.
        "i = ct.bid(0)\nct.store(y, (i,), ct.load(x, (i,), (BLOCK,)) * ct.load(x, (i,), (1,)))",
        "i = ct.bid(0)\nct.store(y, (i,), ct.load(x, (i,), (BLOCK,)) * i)",
        "i = ct.bid(0)\nct.store(y, (i,), ct.full((1,), 2, ct.float32))",
        "i = ct.bid(0)\nct.store(y, (i,), ct.load(x, (i,), (BLOCK,)) * ct.gather(x, i))",
        // The whole row.
        "i = ct.bid(0)\nct.store(y, (i, 0), ct.load(x, (i, 0), (1, BLOCK)))",
        // Where in its block an element is.
        "i = ct.bid(0)\nv = ct.load(x, (i,), (BLOCK,))\nct.store(y, (i,), v + ct.arange(BLOCK, dtype=ct.float32))",
        "offs = ct.bid(0) * BLOCK + ct.arange(BLOCK, dtype=ct.int32)\nct.scatter(y, offs, ct.gather(x, offs) * BLOCK)",
        "offs = ct.bid(0) * BLOCK + ct.arange(BLOCK, dtype=ct.int32)\nct.scatter(y, ct.bid(0) * BLOCK, ct.gather(x, offs))",
        "i = ct.bid(0)\nif BLOCK > 512:\n    ct.store(y, (i,), ct.load(x, (i,), (BLOCK,)) * 2)",
        "i = ct.bid(0)\nv = ct.load(x, (i,), (BLOCK,))\nct.store(y, (i,), ct.permute(v, (0,)))",
        // How many blocks there are, or an end in the middle.
        "i = ct.bid(0)\nct.store(y, (i,), ct.load(x, (i,), (BLOCK,)) * ct.num_blocks(0))",
        "i = ct.bid(0)\nif i > 3:\n    return\nct.store(y, (i,), ct.load(x, (i,), (BLOCK,)))",
        "i = ct.bid(0)\nfor j in range(i):\n    ct.store(y, (i,), ct.load(x, (i,), (BLOCK,)))",
        "i = ct.bid(0)\nfor j in range(BLOCK):\n    ct.store(y, (i,), ct.load(x, (i,), (BLOCK,)))",
        "i = ct.bid(0)\nwhile n > 0:\n    ct.store(y, (i,), ct.load(x, (i,), (BLOCK,)))",
        // Blocks of another size would reach further.
        "i = ct.bid(0)\nct.store(y, (i,), ct.load(x, (i,), (BLOCK,), check_bounds=False))",
        // What another block has written, or has not yet.
        "offs = ct.bid(0) * BLOCK + ct.arange(BLOCK, dtype=ct.int32)\nct.scatter(x, offs, ct.gather(x, offs + 1))",
        // Something that is not known.
        "i = ct.bid(0)\nct.store(y, (i,), unknown(ct.load(x, (i,), (BLOCK,))))",
        "i = ct.bid(0)\nct.store(y, (i,), ct.load(x, (i,), (BLOCK,)).mystery())",
        "i = ct.bid(0)\nv = ct.load(x, (i,), (BLOCK,))\nv = i\nct.store(y, (i,), v)",
        "i = ct.bid(1)\nct.store(y, (i,), ct.load(x, (i,), (BLOCK,)) * 2)",
        "i = ct.bid(0)\nct.atomic_add(y, (i,), ct.load(x, (i,), (BLOCK,)))",
    ] {
        assert_eq!(
            variants(&OPTIMIZATION, &elements(kernel, HOST)),
            [""; 0],
            "{kernel}"
        );
    }
}

#[test]
fn numbers_change_wherever_they_are_written() {
    let launch = "ct.launch(s, grid, k, (x, y, n, BLOCK, True))";
    for (host, wanted) in [
        (HOST.to_owned(), HOST.replace("1024", "2048")),
        (
            format!("BLOCK = 1024\ngrid = ((n + BLOCK - 1) // BLOCK, 1)\n{launch}"),
            format!("BLOCK = 2048\ngrid = ((n + BLOCK - 1) // BLOCK, 1)\n{launch}"),
        ),
        (
            format!("BLOCK: int = 1024\nblocks = math.ceil(n / BLOCK)\ngrid = (blocks,)\n{launch}"),
            format!("BLOCK: int = 2048\nblocks = math.ceil(n / BLOCK)\ngrid = (blocks,)\n{launch}"),
        ),
        (
            "ct.launch(s, (-(-n // 1024), 1, 1), k, (x, y, n, 1024, True))".to_owned(),
            "ct.launch(s, (-(-n // 2048), 1, 1), k, (x, y, n, 2048, True))".to_owned(),
        ),
    ] {
        let action = after(
            &OPTIMIZATION,
            &elements(KERNEL, &host),
            "BLOCK=2048",
            &elements(KERNEL, &wanted),
        );
        assert_eq!(action.numerics, Numerics::Same);
    }
    for host in [
        // Something else follows from it, or from a number like it.
        "BLOCK = 1024\nz = torch.empty(BLOCK)\nz.fill_(0)\nct.launch(s, (ct.cdiv(n, BLOCK),), k, (x, y, n, BLOCK, True))",
        "BLOCK = 1024\nassert n % BLOCK == 0\nct.launch(s, (ct.cdiv(n, BLOCK),), k, (x, y, n, BLOCK, True))",
        "BLOCK = 1024\nct.launch(s, (n // BLOCK,), k, (x, y, n, BLOCK, True))",
        "BLOCK = 1024\nct.launch(s, (ct.cdiv(n, 1024),), k, (x, y, n, BLOCK, True))",
        "BLOCK = 1024\nct.launch(s, (ct.cdiv(n, BLOCK),), k, (x, y, BLOCK, BLOCK, True))",
        "BLOCK = 1024\nct.launch(s, (ct.cdiv(n, BLOCK), BLOCK), k, (x, y, n, BLOCK, True))",
        "BLOCK = 1024\nct.launch(s, (ct.cdiv(n + BLOCK, BLOCK),), k, (x, y, n, BLOCK, True))",
        "BLOCK = 1024\nct.launch(s, (2 * ct.cdiv(n, BLOCK),), k, (x, y, n, BLOCK, True))",
        "BLOCK = 1024 if n > 5 else 512\nct.launch(s, (ct.cdiv(n, BLOCK),), k, (x, y, n, BLOCK, True))",
        "BLOCK = 1000\nct.launch(s, (ct.cdiv(n, BLOCK),), k, (x, y, n, BLOCK, True))",
        "ct.launch(s, (ct.cdiv(n, 1024),), k, (x, y, 1024, 1024, True))",
        "ct.launch(s, (ct.cdiv(n, 1024), ct.cdiv(n, 1024)), k, (x, y, n, 1024, True))",
        "ct.launch(s, ((n + 1024 - 1) // 1024,), k, (x, y, n, 1024, True))",
        "for x in xs:\n    ct.launch(s, (ct.cdiv(n, 1024),), k, (x, y, n, 1024, True))",
    ] {
        assert_eq!(
            variants(&OPTIMIZATION, &elements(KERNEL, host)),
            [""; 0],
            "{host}"
        );
    }
    // A size for each launch.
    let two = "if n > 9:\n    ct.launch(s, (ct.cdiv(n, 1024),), k, (x, y, n, 1024, True))\nelse:\n    ct.launch(s, (ct.cdiv(n, 128),), k, (x, y, n, 128, True))";
    assert_eq!(
        variants(&OPTIMIZATION, &elements(KERNEL, two)),
        [
            "BLOCK=256,launch=1",
            "BLOCK=512,launch=1",
            "BLOCK=2048,launch=1",
            "BLOCK=4096,launch=1",
            "BLOCK=256,launch=2",
            "BLOCK=512,launch=2",
        ]
    );
}

const GEMM: &str = "import cuda.tile as ct\nimport torch\n\n@ct.kernel\ndef gemm(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):\n    i, j = ct.bid(0), ct.bid(1)\n    acc = ct.zeros((tm, tn), dtype=ct.float32)\n    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):\n        x = ct.load(a, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)\n        y = ct.load(b, (k, j), (tk, tn), padding_mode=ct.PaddingMode.ZERO)\n        acc = ct.mma(x, y, acc)\n    ct.store(c, (i, j), ct.astype(acc, c.dtype))\n\n\ndef run(a, b, c, tile_k=64):\n    s = torch.cuda.current_stream()\n    tile_m, tile_n = 128, 128\n    grid = (ct.cdiv(a.shape[0], tile_m), ct.cdiv(b.shape[1], tile_n))\n    ct.launch(s, grid, gemm, (a, b, c, tile_m, tile_n, tile_k))\n";

#[test]
fn tiles_of_a_product() {
    let on = |archs: &[&str], code: &str| -> Vec<String> {
        let target = Target {
            archs: archs.iter().map(|a| a.parse().unwrap()).collect(),
            ..Target::default()
        };
        let actions = offered(&whole(code), &target).into_iter();
        let own = actions.filter(|a| a.optimization == &OPTIMIZATION);
        own.map(|a| a.variant).collect()
    };
    assert_eq!(
        on(&["sm_90"], GEMM),
        [
            "tm=128,tn=64,tk=64",
            "tm=64,tn=128,tk=64",
            "tm=64,tn=256,tk=64",
            "tm=64,tn=64,tk=64"
        ]
    );
    let large = "tm=256,tn=256,tk=64".to_owned();
    assert!(!on(&["sm_100"], GEMM).contains(&large));
    let clusters = GEMM.replace("@ct.kernel", "@ct.kernel(num_ctas=2)");
    assert!(on(&["sm_100"], &clusters).contains(&large));
    assert!(!on(&["sm_90"], &clusters).contains(&large));
    let older = on(&["sm_80", "sm_86"], GEMM);
    assert!(older.iter().all(|v| !v.contains("256")), "{older:?}");
    // A default is changed where it stands, and callers are named as what it rests on.
    let action = after(
        &OPTIMIZATION,
        GEMM,
        "tm=128,tn=64,tk=32",
        &GEMM
            .replace("128, 128", "128, 64")
            .replace("tile_k=64", "tile_k=32"),
    );
    assert_eq!(action.numerics, Numerics::Different);
    assert_eq!(action.premises.len(), 2, "{:?}", action.premises);
    for (from, to) in [
        ("tile_m), ct", "tile_m), ct.cdiv(7, tile_m) * ct"),
        ("tm: ct", "tile: ct"),
        (
            "def run(a, b, c, tile_k=64):\n",
            "def run(a, b, c, tile_k=64):\n    print(tile_k)\n    tile_m = 2\n",
        ),
        (
            "    tile_m, tile_n = 128, 128\n",
            "    tile_m, tile_n = pick()\n",
        ),
        (
            "    tile_m, tile_n = 128, 128\n",
            "    tile_m, tile_n = 128, 128\n    c = torch.empty((7, tile_n))\n",
        ),
    ] {
        let code = GEMM.replace(from, to);
        assert_ne!(code, GEMM, "{from}");
        let kept = on(&["sm_90"], &code);
        assert!(
            from.starts_with("tile_m)") || kept.is_empty(),
            "{kept:?} in\n{code}"
        );
    }
}

#[test]
fn constants_of_the_module_that_others_read_stay() {
    let code = GEMM.replace("    tile_m, tile_n = 128, 128\n", "").replace(
        "import torch\n",
        "import torch\n\ntile_m = 128\ntile_n = 128\n",
    );
    let of = |names| among(&OPTIMIZATION, &code, names);
    let unknown = of(None);
    assert!(!unknown.is_empty());
    assert!(
        unknown[0]
            .premises
            .contains(&"no other file reads `tile_m`".to_owned())
    );
    let known = of(Some(&["run"]));
    assert_eq!(known.len(), unknown.len());
    assert_eq!(known[0].premises.len() + 2, unknown[0].premises.len());
    assert_eq!(of(Some(&["tile_n"])).len(), 0);
    let wanted = |a: &&Action| a.variant == "tm=128,tn=256,tk=64";
    let action = known.iter().find(wanted).unwrap();
    let applied = rewrite::apply(&whole(&code), &action.edits).unwrap();
    assert!(
        applied.contains("tile_m = 128\ntile_n = 256\n"),
        "{applied}"
    );
    // Read twice in the file.
    let shared = format!("{code}\n\nPAD = tile_m\n");
    assert_eq!(among(&OPTIMIZATION, &shared, Some(&[])).len(), 0);
}

/// A tuned matrix multiplication with this space.
fn tuned(space: &str) -> String {
    format!(
        "from types import SimpleNamespace\nimport cuda.tile as ct\nimport torch\nfrom cuda.tile.tune import exhaustive_search\n\n{}\n\n{space}\n\ndef tune(a, b, c, s, grid_fn, args_fn, hints_fn):\n    return exhaustive_search(list(configs()), s, grid_fn, gemm, args_fn, hints_fn)\n",
        GEMM.split("\n\n\n")
            .next()
            .unwrap()
            .split("\n\n")
            .nth(1)
            .unwrap()
    )
}

const BRANCHES: &str = "def configs():\n    \"\"\"What is tried.\"\"\"\n    cap = torch.cuda.get_device_capability()\n    if cap in [(12, 0), (12, 1)]:\n        yield SimpleNamespace(tm=64, tn=64, tk=64, GROUP=8, num_ctas=1, occupancy=2)  # small\n    elif cap[0] < 9:\n        for tm in (64, 128):\n            yield SimpleNamespace(tm=tm, tn=64, tk=64, GROUP=8, num_ctas=1, occupancy=2)\n    else:\n        yield SimpleNamespace(\n            tm=256, tn=256, tk=64, GROUP=8, num_ctas=2, occupancy=1\n        )";

#[test]
fn spaces_get_branches_and_values() {
    let code = tuned(BRANCHES);
    assert_eq!(
        variants(&OPTIMIZATION, &code),
        ["arch=sm_90", "arch=sm_100", "widen=sm_120"]
    );
    let applied = |variant: &str| {
        let actions = offered(&code, &Target::default());
        let action = actions.iter().find(|a| a.variant == variant).unwrap();
        rewrite::apply(&code, &action.edits).unwrap()
    };
    // One statement a further value, behind the comment.
    let wider = applied("widen=sm_120");
    let small = "        yield SimpleNamespace(tm=64, tn=64, tk=64, GROUP=8, num_ctas=1, occupancy=2)  # small\n";
    assert!(
        wider.contains(&format!(
            "{small}        yield SimpleNamespace(tm=128, tn=64, tk=64, GROUP=8, num_ctas=1, occupancy=2)\n        yield SimpleNamespace(tm=64, tn=128, tk=64, GROUP=8, num_ctas=1, occupancy=2)\n        yield SimpleNamespace(tm=64, tn=64, tk=64, GROUP=8, num_ctas=1, occupancy=1)\n    elif"
        )),
        "{wider}"
    );
    let branch = applied("arch=sm_90");
    let at = branch
        .find("    if torch.cuda.get_device_capability()[0] == 9:\n")
        .unwrap();
    assert!(
        branch[..at].ends_with("\"\"\"What is tried.\"\"\"\n"),
        "{branch}"
    );
    assert!(
        branch
            .contains("            # As it was first before.\n            (256, 256, 64, 2, 1),\n"),
        "{branch}"
    );
    assert!(branch.contains(
        "            yield SimpleNamespace(tm=tm, tn=tn, tk=tk, GROUP=8, num_ctas=num_ctas, occupancy=occupancy)\n        return\n    cap ="
    ), "{branch}");
    // The rest is as it was.
    let new = branch.len() - code.len();
    assert_eq!(format!("{}{}", &branch[..at], &branch[at + new..]), code);
}

#[test]
fn lists_get_branches_and_values() {
    let code = tuned(
        "def configs():\n    if torch.cuda.get_device_capability()[0] == 10:\n        return [\n            SimpleNamespace(tm=128, tn=128, tk=64, num_ctas=1, occupancy=1),\n            SimpleNamespace(tm=128, tn=256, tk=64, num_ctas=1, occupancy=2),\n        ]\n    return [SimpleNamespace(tm=64, tn=64, tk=64, num_ctas=1, occupancy=2)]",
    );
    assert_eq!(
        variants(&OPTIMIZATION, &code),
        ["arch=sm_80", "arch=sm_90", "widen=sm_100", "arch=sm_120"]
    );
    let actions = offered(&code, &Target::default());
    let of = |variant: &str| {
        let action = actions.iter().find(|a| a.variant == variant).unwrap();
        rewrite::apply(&code, &action.edits).unwrap()
    };
    let wider = of("widen=sm_100");
    assert!(wider.contains("occupancy=2),\n            SimpleNamespace(tm=64, tn=128, tk=64, num_ctas=1, occupancy=1), SimpleNamespace(tm=128, tn=128, tk=64, num_ctas=2, occupancy=1),\n        ]\n"), "{wider}");
    let branch = of("arch=sm_120");
    assert!(branch.contains("    if torch.cuda.get_device_capability()[0] == 12:\n        return [\n            SimpleNamespace(tm=tm, tn=tn, tk=tk, num_ctas=num_ctas, occupancy=occupancy)\n            for tm, tn, tk, num_ctas, occupancy in (\n                # As it was first before.\n                (64, 64, 64, 1, 2),\n"), "{branch}");
}

#[test]
fn spaces_that_stay() {
    for (from, to) in [
        // What is tried follows from what it is handed, or is not known.
        ("def configs():", "def configs(n=1):"),
        (
            "tn=64, tk=64, GROUP=8, num_ctas=1, occupancy=2)  #",
            "tn=pick(), tk=64, GROUP=8, num_ctas=1, occupancy=2)  #",
        ),
        (
            "        for tm in (64, 128):\n",
            "        for tm in pick():\n",
        ),
    ] {
        let code = tuned(BRANCHES).replace(from, to);
        assert_ne!(code, tuned(BRANCHES));
        let kept = variants(&OPTIMIZATION, &code);
        assert!(
            kept.iter().all(|v| v.starts_with("arch=")),
            "{kept:?} in\n{code}"
        );
        assert!(
            from.contains("tn=64") || kept.is_empty(),
            "{kept:?} in\n{code}"
        );
    }
    // A part for all would be left out, a tile that is never another is meant to be that one, and so
    // would be what a field that is searched is not.
    let common = tuned(&format!(
        "{BRANCHES}\n    yield SimpleNamespace(tm=32, tn=32, tk=32, GROUP=8, num_ctas=1, occupancy=1)"
    ));
    assert_eq!(variants(&OPTIMIZATION, &common), [""; 0]);
    let meant = tuned(
        "def configs():\n    for tm in (64, 128, 256):\n        yield SimpleNamespace(tm=tm, tn=32, tk=64)",
    );
    assert_eq!(variants(&OPTIMIZATION, &meant).len(), 4);
    let actions = offered(&meant, &Target::default());
    let own = actions.iter().find(|a| a.variant == "arch=sm_90").unwrap();
    let applied = rewrite::apply(&meant, &own.edits).unwrap();
    assert!(
        applied.contains("yield SimpleNamespace(tm=tm, tn=32, tk=64)\n        return\n"),
        "{applied}"
    );
    let split = meant
        .replace("tk=64)", "tk=64, SPLIT=s)")
        .replace("    for tm", "    for s in (1, 2, 4):\n      for tm");
    assert_eq!(variants(&OPTIMIZATION, &split), [""; 0]);
    // Only the occupancy is searched.
    let occupancy =
        tuned("def configs():\n    for o in (1, 2):\n        yield SimpleNamespace(occupancy=o)");
    assert_eq!(variants(&OPTIMIZATION, &occupancy), [""; 0]);
    // Enough is tried.
    let wide = tuned(
        "def configs():\n    major = torch.cuda.get_device_capability()[0]\n    for tm in (64, 128):\n        for tn in (64, 128):\n            for o in (1, 2):\n                if major == 9:\n                    yield SimpleNamespace(tm=tm, tn=tn, tk=64, occupancy=o)\n                elif major < 9:\n                    yield SimpleNamespace(tm=tm, tn=tn, tk=32, occupancy=o)\n                elif major == 12:\n                    yield SimpleNamespace(tm=tm, tn=64, tk=32, occupancy=o)\n                else:\n                    yield SimpleNamespace(tm=128, tn=tn, tk=32, occupancy=o)",
    );
    assert_eq!(variants(&OPTIMIZATION, &wide), ["widen=sm_100"; 0]);
}
