//! Lists of Triton kernels that become the spaces of their ports.

use super::*;

/// A Triton kernel with its list, to be put above its port.
fn ported(configs: &str) -> String {
    let triton = format!(
        "import triton\nimport triton.language as tl\n\n\n{configs}\n@triton.jit\ndef gemm_triton(a, b, c, M, N, K, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr):\n    pass\n\n\n@ct.kernel(occupancy=2)"
    );
    GEMM.replace("@ct.kernel(occupancy=2)", &triton)
}

fn listed(configs: &str) -> String {
    ported(&format!(
        "@triton.autotune(configs={configs}, key=[\"M\", \"N\", \"K\"])"
    ))
}

/// What is offered for the list, applied.
fn searched(text: &str) -> Option<(Action, String)> {
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

const THREE: &str = "triton.Config({\"BLOCK_SIZE_M\": 128, \"BLOCK_SIZE_N\": 256, \"BLOCK_SIZE_K\": 64, \"GROUP_SIZE_M\": 8}, num_stages=3, num_warps=8)";

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
fn configurations_written_in_other_ways() {
    const WANTED: [&str; 1] = ["(256, 128, 32, 1, 1)"];
    const ONE: &str = "{'BLOCK_M': 256, 'BLOCK_N': 128, 'BLOCK_K': 32}";
    const OTHER: &str = "{'BLOCK_M': 16, 'BLOCK_N': 16, 'BLOCK_K': 16}";
    for (before, list) in [
        ("", "[triton.Config(kwargs=ONE, num_warps=8)]"),
        ("", "[triton.Config(ONE, 8, 3, pre_hook=hook)]"),
        (
            "",
            "[Config(ONE, pre_hook=lambda nargs: nargs['c'].zero_())]",
        ),
        ("BASE = [triton.Config(ONE)]\n", "BASE"),
        (
            "BASE = [triton.Config(ONE)]\n",
            "BASE + [triton.Config(ONE, num_warps=2)]",
        ),
        (
            "def made(w):\n    return Config(ONE, num_warps=w)\n",
            "[made(w) for w in (4, 8)]",
        ),
        (
            "ALL = [Config(ONE), Config(OTHER)]\n",
            "[c for c in ALL if c.kwargs['BLOCK_M'] > 16]",
        ),
        (
            "def keep(c):\n    return c.kwargs['BLOCK_M'] * c.num_warps >= 256\nALL = [Config(ONE), Config(OTHER)]\n",
            "list(filter(keep, ALL))",
        ),
        // Those of the other vendor.
        (
            "def is_hip():\n    return triton.runtime.driver.active.get_current_target().backend == 'hip'\n",
            "[Config(OTHER)] if is_hip() else [Config(ONE)]",
        ),
        (
            "from .utils import is_cuda\n",
            "[Config(ONE)] if is_cuda() else [Config(OTHER)]",
        ),
        (
            "if torch.version.hip is not None:\n    ALL = [Config(OTHER)]\nelse:\n    ALL = [Config(ONE)]\n",
            "ALL",
        ),
        (
            "def hip():\n    return [Config(OTHER)]\ndef cuda():\n    return [Config(ONE)]\ndef either():\n    if torch.version.hip:\n        return hip()\n    else:\n        return cuda()\n",
            "either()",
        ),
    ] {
        let decorated = format!(
            "import torch\nfrom triton import Config\n{before}\n@triton.autotune({list}, key=['M'])"
        );
        let text = ported(&decorated)
            .replace("ONE", ONE)
            .replace("OTHER", OTHER);
        let (_, applied) = searched(&text).unwrap_or_else(|| panic!("nothing for\n{text}"));
        let rows = table(&applied, "    else:\n        space = [");
        assert_eq!(rows, WANTED, "{applied}");
    }
}

#[test]
fn decorators_written_in_other_ways() {
    let list = format!("configs=[{THREE}], key=['M']");
    for (decorator, after) in [
        (
            format!("from triton import autotune as at\n@at({list})"),
            "",
        ),
        (
            format!("from triton.runtime.autotuner import autotune\n@autotune({list})"),
            "",
        ),
        (format!("import triton as t\n@t.autotune({list})"), ""),
        (format!("tuned = triton.autotune({list})\n\n@tuned"), ""),
        (
            String::new(),
            "\n\ntuned = triton.autotune(LIST)(gemm_triton)\n",
        ),
        // Two lists of one kernel, a name that is bound twice.
    ] {
        let text = ported(&decorator) + &after.replace("LIST", &list);
        assert!(searched(&text).is_some(), "{text}");
    }
    for decorator in [
        format!("tuned = triton.autotune({list})\ntuned = None\n\n@tuned"),
        format!("@triton.autotune({list})\n@triton.autotune({list})"),
        format!("@triton.autotune(**{{{list:?}: 1}})"),
    ] {
        let text = ported(&decorator);
        assert!(searched(&text).is_none(), "{text}");
    }
}

#[test]
fn lists_by_more_than_the_kind_of_architecture() {
    // sm_80 alone has other stages: the same tiles. What tiles it has alone are tried on its kind.
    let by_stage = ported(
        "import torch\n\n@triton.autotune([triton.Config({'BLOCK_M': 64, 'BLOCK_N': 256, 'BLOCK_K': 32, 'ws': w}) for w in ([False] if torch.cuda.get_device_capability() == (8, 0) else [True, False])], key=[])",
    );
    let (_, applied) = searched(&by_stage).unwrap();
    assert_eq!(
        table(&applied, "    else:\n        space = ["),
        ["(64, 256, 32, 1, 1)", "(64, 256, 32, 2, 1)"]
    );
    let by_tile = by_stage.replace("'BLOCK_K': 32, 'ws': w", "'BLOCK_K': 32 if w else 16");
    let (_, applied) = searched(&by_tile).unwrap();
    assert_eq!(
        table(&applied, "    else:\n        space = [").len(),
        4,
        "{applied}"
    );
}

#[test]
fn occupancies_of_a_list_are_its_own() {
    let text = listed(
        "[triton.Config({'BLOCK_M': 64, 'BLOCK_N': 128, 'BLOCK_K': 64, 'occupancy': o}) for o in (2, 8)]",
    );
    let (_, applied) = searched(&text).unwrap();
    let rows = table(&applied, "    else:\n        space = [");
    assert_eq!(
        rows,
        ["(64, 128, 64, 2, 1)", "(64, 128, 64, 8, 1)"],
        "{applied}"
    );
    assert!(!applied.contains("dropped: "), "{applied}");
}

/// The rows of a table that begins so.
fn table<'t>(applied: &'t str, begin: &str) -> Vec<&'t str> {
    let from = applied
        .find(begin)
        .unwrap_or_else(|| panic!("no {begin:?} in\n{applied}"));
    let lines = applied[from..]
        .lines()
        .skip_while(|line| !line.trim().starts_with("# t"));
    let rows = lines
        .skip(1)
        .take_while(|line| !line.trim().starts_with(']'));
    rows.map(|line| line.trim().trim_end_matches(',')).collect()
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
