//! Ways to write launches, hints, imports and switches.

use super::*;

#[test]
fn every_form_of_launch() {
    for (launch, has) in [
        (
            "ct.launch(stream=s, grid=grid, kernel=copy, kernel_args=(x, y, n))",
            "ct.launch(stream=s, grid=grid, kernel=tuned_kernel, kernel_args=(x, y, n))",
        ),
        (
            "args = (x, y, n)\nct.launch(s, grid, copy, args)",
            "args_fn=lambda _: args,",
        ),
        (
            "if n:\n    with torch.cuda.device(x.device):\n        ct.launch(s, grid, copy, (x, y, n))  # once",
            "            ct.launch(s, grid, tuned_kernel, (x, y, n))  # once",
        ),
        (
            "cfg = 1\nct.launch(s, (cfg,), copy, (x, y, n))",
            "hints_fn=lambda cfg_2: {\"occupancy\": cfg_2.occupancy},",
        ),
        (
            "ct.launch(s, grid, copy, (x.view(-1), y.data, n))",
            "    x_arg = x.view(-1)\n    disabled = ",
        ),
        (
            "ct.launch(s, grid, copy, (x if n else y, y, n))",
            "x_arg.shape, y.shape,",
        ),
        (
            "ct.launch(s, (n,), copy, [x, y, n])",
            "args_fn=lambda _: (x, y, n),",
        ),
        (
            "ct.launch(\n    s,\n    grid,  # blocks\n    copy,\n    (\n        x,  # from\n        y,\n        n,\n    ),\n)",
            "        tuned_kernel,\n        (\n            x,  # from\n",
        ),
    ] {
        let (_, applied) = tuned(&launched(launch));
        assert!(applied.contains(has), "no {has:?} in\n{applied}");
        assert_eq!(codes(&applied), codes(&launched(launch)), "{applied}");
    }
    let windows = RMS.replace('\n', "\r\n");
    let (_, applied) = tuned(&windows);
    assert_eq!(applied, tuned(RMS).1.replace('\n', "\r\n"));
}

#[test]
fn every_form_of_hints() {
    let host = "def run(x, y, s):\n    ct.launch(s, (8,), copy, (x, y, 64))\n";
    for (decorator, left, space, original) in [
        ("@ct.kernel", "@ct.kernel", "(None, 1, 2, 4, 8)", "None"),
        ("@ct.kernel()", "@ct.kernel()", "(None, 1, 2, 4, 8)", "None"),
        (
            "@ct.kernel(occupancy=16)",
            "@ct.kernel",
            "(1, 2, 4, 8, 16)",
            "16",
        ),
        (
            "@ct.kernel(opt_level=2, occupancy=2)",
            "@ct.kernel(opt_level=2)",
            "(1, 2, 4, 8)",
            "2",
        ),
        (
            "@ct.kernel(occupancy=2, num_ctas=2)",
            "@ct.kernel(num_ctas=2)",
            "(1, 2, 4, 8)",
            "2",
        ),
        (
            "@ct.kernel(occupancy=ct.ByTarget(sm_90=4, default=2))",
            "@ct.kernel",
            "(ct.ByTarget(sm_90=4, default=2), 1, 2, 4, 8)",
            "ct.ByTarget(sm_90=4, default=2)",
        ),
    ] {
        let code = copies(decorator, host);
        let (_, applied) = tuned(&code);
        for part in [
            format!("{left}\ndef copy"),
            format!("for occupancy in {space}:"),
            format!("cfg = SimpleNamespace(occupancy={original})"),
        ] {
            assert!(applied.contains(&part), "no {part:?} in\n{applied}");
        }
        let known = codes(&code);
        assert!(
            codes(&applied)
                .iter()
                .all(|c| known.contains(c) && *c != "TP403"),
            "{applied}"
        );
    }
    // All of those that are tuned go, wherever they stand.
    for (decorator, left) in [
        ("occupancy=2, opt_level=1, num_ctas=1", "(opt_level=1)"),
        ("opt_level=1, occupancy=2, num_ctas=1", "(opt_level=1)"),
        ("occupancy=2, num_ctas=1, opt_level=1", "(opt_level=1)"),
        ("num_ctas=1, occupancy=2", ""),
    ] {
        let code = GEMM.replace("occupancy=2", decorator);
        let (_, applied) = tuned(&code);
        assert!(
            applied.contains(&format!("@ct.kernel{left}\ndef")),
            "{applied}"
        );
        assert!(
            applied.contains("tk=64, occupancy=2, num_ctas=1)"),
            "{applied}"
        );
    }
}

#[test]
fn imports_and_switches() {
    let host = "def run(x, y, s):\n    ct.launch(s, (8,), copy, (x, y, 64))\n";
    let code = copies("@ct.kernel", host);
    let with = |imports: &str| {
        let code = code.replace("import cuda.tile as ct\nimport torch\n", imports);
        tuned(&code).1
    };
    for (imports, has) in [
        (
            "import math\nfrom typing import Any\n\nimport cuda.tile as ct\nimport torch\n",
            "import math\nimport os\nfrom types import SimpleNamespace\nfrom typing import Any\n\nimport cuda.tile as ct\nimport torch\nfrom cuda.tile.tune import exhaustive_search\n",
        ),
        (
            "from __future__ import annotations\n\nimport cuda.tile as ct\nimport torch\n",
            "annotations\n\nimport os\nfrom types import SimpleNamespace\n\nimport cuda",
        ),
        (
            "import os as system\nfrom types import SimpleNamespace as Config\n\nimport cuda.tile as ct\nimport torch\nfrom cuda.tile.tune import exhaustive_search as search\n",
            "disabled = system.environ.get(\"DISABLE_AUTOTUNE\", \"0\") == \"1\"\n",
        ),
        (
            "import cuda.tile as ct\nimport torch\n\nfrom tilegym.backend import register_impl\nfrom tilegym.logger import warn\n",
            "\nfrom tilegym.autotune import is_autotune_disabled\nfrom tilegym.backend import",
        ),
        (
            "import cuda.tile as ct\nimport torch\nfrom tilegym.autotune import is_autotune_disabled as autotune_is_disabled\n",
            "    disabled = autotune_is_disabled()\n",
        ),
    ] {
        let applied = with(imports);
        assert!(applied.contains(has), "no {has:?} in\n{applied}");
        assert_eq!(codes(&applied), [""; 0], "{applied}");
    }
    let applied = with(
        "import torch\ntry:\n    import cuda.tile as ct\nexcept ImportError:\n    ct = None\nimport cuda.tile\n",
    );
    assert!(applied.contains("import cuda.tile\nfrom cuda.tile.tune import exhaustive_search\n"));
}

#[test]
fn several_launches_are_tuned_alike() {
    let host = "def run(x, y, s, grid, n):\n    if n:\n        ct.launch(s, grid, copy, (x, y, n))\n    else:\n        ct.launch(s, grid, copy, (x, y, 64))\n";
    let (_, applied) = tuned(&copies("@ct.kernel(occupancy=2)", host));
    for part in ["_copy_tuned = {}\n", "_copy_tuned_2 = {}\n"] {
        assert_eq!(applied.matches(part).count(), 1, "{applied}");
    }
    assert_eq!(applied.matches("def _copy_configs").count(), 1);
    assert_eq!(applied.matches("exhaustive_search(").count(), 2);
    assert_eq!(codes(&applied), [""; 0], "{applied}");
}

#[test]
fn grids_by_occupancy() {
    let grid = "    grid = (min(num_sms * 4, rows), 1, 1)\n";
    let scaled = "grid_fn=lambda cfg: (min(num_sms * cfg.occupancy, rows), 1, 1),";
    let kept = "grid_fn=lambda _: grid,";
    for (from, to, has) in [
        (grid, grid, scaled),
        (
            grid,
            "    occupancy = 4\n    blocks = min(num_sms * occupancy, rows)\n    grid = (blocks, 1, 1)\n",
            scaled,
        ),
        (
            grid,
            "    grid = (min(4 * torch.cuda.get_device_properties(0).multi_processor_count, rows),)\n",
            "(min(cfg.occupancy * torch.cuda.get_device_properties(0).multi_processor_count, rows),)",
        ),
        // Another number, another kernel, something else that follows.
        (grid, "    grid = (min(num_sms * 2, rows), 1, 1)\n", kept),
        (grid, "    grid = (min(4 * 4, rows), 1, 1)\n", kept),
        (
            "range(ct.bid(0), rows, ct.num_blocks(0))",
            "range(ct.bid(0), rows, 64)",
            kept,
        ),
        (
            grid,
            "    grid = (min(num_sms * 4, rows), 1, 1)\n    print(grid)\n",
            kept,
        ),
        (
            grid,
            "    grid = (min(num_sms * 4, rows), 1, 1)\n    part = torch.empty(num_sms * 4)\n",
            kept,
        ),
    ] {
        let code = RMS.replace(from, to);
        let (_, applied) = tuned(&code);
        assert!(applied.contains(has), "no {has:?} in\n{applied}");
    }
}
