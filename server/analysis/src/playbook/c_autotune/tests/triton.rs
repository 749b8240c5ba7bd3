//! Lists of Triton kernels that become the spaces of their ports.

use super::*;

/// A Triton kernel with its list, to be put above its port.
pub(super) fn ported(configs: &str) -> String {
    let triton = format!(
        "import triton\nimport triton.language as tl\n\n\n{configs}\n@triton.jit\ndef gemm_triton(a, b, c, M, N, K, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr):\n    pass\n\n\n@ct.kernel(occupancy=2)"
    );
    GEMM.replace("@ct.kernel(occupancy=2)", &triton)
}

pub(super) fn listed(configs: &str) -> String {
    ported(&format!(
        "@triton.autotune(configs={configs}, key=[\"M\", \"N\", \"K\"])"
    ))
}

/// What is offered for the list, applied.
pub(super) fn searched(text: &str) -> Option<(Action, String)> {
    let actions = searches(text);
    assert!(
        actions.iter().any(|a| a.variant == "full"),
        "its own search is offered with or without:\n{text}"
    );
    let action = actions.into_iter().find(|a| a.variant == "triton")?;
    let applied = rewrite::apply(text, &action.edits).unwrap();
    assert!(
        FileParser::default().parse(&applied).is_clean(),
        "{applied}"
    );
    let before = codes(text);
    let new: Vec<_> = (codes(&applied).into_iter())
        .filter(|code| !before.contains(code) && (code.starts_with("TP1") || *code == "TP403"))
        .collect();
    assert!(new.is_empty(), "{new:?} in\n{applied}");
    Some((action, applied))
}

pub(super) const THREE: &str = "triton.Config({\"BLOCK_SIZE_M\": 128, \"BLOCK_SIZE_N\": 256, \"BLOCK_SIZE_K\": 64, \"GROUP_SIZE_M\": 8}, num_stages=3, num_warps=8)";

#[test]
fn lists_that_become_searches() {
    let literal = format!(
        "[{THREE}, {}, {}]",
        THREE.replace("num_stages=3", "num_stages=4"),
        THREE.replace("256", "64")
    );
    for (list, rows) in [
        // Each tile once.
        (
            literal.as_str(),
            &[
                "(128, 256, 64, 1, 1)",
                "(128, 64, 64, 1, 1)",
                "(128, 64, 64, 2, 1)",
                "(128, 64, 64, 4, 1)",
            ][..],
        ),
        (
            "[triton.Config({'BLOCK_M': m, 'BLOCK_N': n, 'BLOCK_K': 32}, num_warps=w) for m in [64, 128] for n in [256] for w in [4, 8]]",
            &[
                "(64, 256, 32, 1, 1)",
                "(64, 256, 32, 2, 1)",
                "(128, 256, 32, 1, 1)",
            ],
        ),
        // A tile that the list leaves alone stays.
        (
            "[triton.Config(dict(BM=256, BN=128), num_warps=8)]",
            &["(256, 128, 64, 1, 1)"],
        ),
    ] {
        let text = listed(list);
        let (action, applied) = searched(&text).unwrap_or_else(|| panic!("nothing for\n{text}"));
        let from = applied.find("    else:\n        space = [").unwrap();
        let to = applied[from..].find("        ]\n").unwrap() + from;
        let found: Vec<&str> = (applied[from..to].lines().skip(3))
            .map(|line| line.trim().trim_end_matches(','))
            .collect();
        assert_eq!(found, rows, "{applied}");
        assert_eq!(action.numerics, crate::playbook::Numerics::Different);
        assert_eq!(action.premises.len(), 1);
        assert!(
            action
                .title
                .contains("over the Triton list of `gemm_triton`: search "),
            "{}",
            action.title
        );
        for part in [
            "    yield SimpleNamespace(tm=128, tn=128, tk=64, occupancy=2, num_ctas=None)\n",
            "    if major in (10, 11):\n",
            "cache_key = (a.shape, b.shape, c.shape, ",
            "# The tiles of the Triton list of `gemm_triton`, each once, where they fit.\n",
        ] {
            assert!(applied.contains(part), "no {part:?} in\n{applied}");
        }
        assert_eq!(searches(&applied), [], "again, for\n{applied}");
    }
    let (_, applied) = searched(&listed(&literal)).unwrap();
    let note = "    # Of no use here and dropped: GROUP_SIZE_M, num_stages, num_warps.\n";
    assert!(applied.contains(note), "{applied}");
}

#[test]
fn lists_made_elsewhere_in_the_module() {
    let made = ported(
        "import itertools\n\n\ndef get_configs():\n    tiles = itertools.product([64, 128], [128], [32, 64])\n    return [triton.Config({'BLOCK_M': m, 'BLOCK_N': n, 'BLOCK_K': k}) for m, n, k in tiles]\n\n\n@triton.autotune(configs=get_configs(), key=['M'])",
    );
    let (_, applied) = searched(&made).unwrap();
    assert!(
        applied.contains("        (64, 128, 32, 1, 1),\n            (64, 128, 32, 2, 1),\n"),
        "{applied}"
    );
    // By the device, and with blocks that share operands.
    let by_device = ported(
        "import torch\n\n\ndef get_configs():\n    if torch.cuda.get_device_capability()[0] >= 10:\n        return [triton.Config({'BLOCK_M': 256, 'BLOCK_N': 256, 'BLOCK_K': 64}, num_ctas=2)]\n    return [triton.Config({'BLOCK_M': 64, 'BLOCK_N': 64, 'BLOCK_K': 32}, num_ctas=1)]\n\n\n@triton.autotune(configs=get_configs(), key=['M'])",
    );
    let (_, applied) = searched(&by_device).unwrap();
    for part in [
        "    if major in (10, 11):\n        space = [\n            # tm, tn, tk, occupancy, num_ctas\n            (256, 256, 64, 1, 2),\n        ]\n",
        "    else:\n        space = [\n            # tm, tn, tk, occupancy, num_ctas\n            (64, 64, 32, 1, 1),\n",
        "replace_hints(occupancy=cfg.occupancy, num_ctas=cfg.num_ctas)",
    ] {
        assert!(applied.contains(part), "no {part:?} in\n{applied}");
    }
    // From `triton` by name.
    let named = listed(&format!("[{THREE}]"))
        .replace(
            "import triton\n",
            "import triton\nfrom triton import autotune, Config\n",
        )
        .replace("@triton.autotune", "@autotune")
        .replace("triton.Config", "Config");
    assert!(searched(&named).is_some(), "{named}");
}

#[test]
fn what_triton_calls_again_for_is_in_the_key() {
    let text = listed(&format!("[{THREE}]"))
        .replace("tk: ct.Constant[int])", "tk: ct.Constant[int], k)")
        .replace("tile_n, 64)", "tile_n, 64, depth)")
        .replace("def gemm(a, b):", "def gemm(a, b, depth):");
    let (_, applied) = searched(&text).unwrap();
    assert!(
        applied.contains("str(a.device), depth, disabled)"),
        "{applied}"
    );
}

#[test]
fn lists_that_are_left() {
    let many = "[triton.Config({'BLOCK_M': m, 'BLOCK_N': n, 'BLOCK_K': k}) for m in [16, 32, 64, 128] for n in [16, 32, 64, 128] for k in [16, 32, 64]]";
    for list in [
        // No power of two; a tile that the launch has not; one that is not in all of them.
        "[triton.Config({'BLOCK_M': 96, 'BLOCK_N': 128, 'BLOCK_K': 64})]",
        "[triton.Config({'BLOCK_M': 64, 'BLOCK_N': 128, 'BLOCK_H': 64})]",
        "[triton.Config({'BLOCK_M': 64, 'BLOCK_N': 128}), triton.Config({'BLOCK_M': 64})]",
        "[triton.Config({'BLOCK_SIZE': 64})]",
        "[triton.Config({'SPLIT_K': 4})]",
        // No other tiles than there are; none that fits.
        "[triton.Config({'BLOCK_M': 128, 'BLOCK_N': 128, 'BLOCK_K': 64})]",
        "[triton.Config({'BLOCK_M': 512, 'BLOCK_N': 512, 'BLOCK_K': 64})]",
        // A hint that cuTile does not take.
        "[triton.Config({'BLOCK_M': 64, 'BLOCK_N': 64, 'occupancy': 64})]",
        // One tile by two names.
        "[triton.Config({'BLOCK_M': 64, 'TILE_M': 32, 'BLOCK_N': 64})]",
        // Nobody knows; nothing.
        "[triton.Config({'BLOCK_M': size, 'BLOCK_N': 128}) for size in sizes()]",
        "configs()",
        "[]",
        many,
    ] {
        let text = listed(list);
        assert!(searched(&text).is_none(), "{text}");
    }
    // Two lists, none of them by its name.
    let list = format!("[{THREE}]");
    let one = listed(&list);
    let second = one.replace(
        "@triton.autotune",
        &format!(
            "@triton.autotune(configs={list}, key=[])\n@triton.jit\ndef NAME(x):\n    pass\n\n\n@triton.autotune"
        ),
    );
    assert!(searched(&second.replace("NAME", "other")).is_some());
    assert!(searched(&second.replace("NAME", "gemm")).is_none());
    // Not Triton's.
    let own = one.replace("import triton\n", "import mine as triton\n");
    assert!(searched(&own).is_none());
}
