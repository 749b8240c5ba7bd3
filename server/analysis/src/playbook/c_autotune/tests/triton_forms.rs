//! Ways to write a Triton list.

use super::triton::{THREE, listed, ported, searched};

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
