//! Triton lists of kernels that work on each element alone.

use super::*;
use crate::playbook::Numerics;

/// An elementwise kernel with a list above it.
fn add(list: &str, kernel: &str, launch: &str) -> String {
    format!(
        "import cuda.tile as ct
import triton
import triton.language as tl


@triton.autotune(configs={list}, key=['n_elements'])
@triton.jit
def _add_triton(x, y, z, n_elements, BLOCK_SIZE: tl.constexpr):
    pass


@ct.kernel(occupancy=2)
def add_kernel(x, y, z, TILE: ct.Constant[int]):
{kernel}


def add(x, y, z, s):
{launch}
"
    )
}

const KERNEL: &str = "    i = ct.bid(0)
    total = ct.load(x, (i,), (TILE,)) + ct.load(y, (i,), (TILE,))
    ct.store(z, (i,), total)";

const LAUNCH: &str = "    tile = 1024
    ct.launch(s, (ct.cdiv(x.shape[0], tile),), add_kernel, (x, y, z, tile))";

const LIST: &str =
    "[triton.Config({'BLOCK_SIZE': b}, num_warps=w) for b in (512, 1024, 8192) for w in (4, 8)]";

fn of_triton(text: &str) -> Option<(Action, String)> {
    let action = searches(text).into_iter().find(|a| a.variant == "triton")?;
    let applied = rewrite::apply(text, &action.edits).unwrap();
    assert!(
        FileParser::default().parse(&applied).is_clean(),
        "{applied}"
    );
    Some((action, applied))
}

#[test]
fn the_results_are_the_same_bit_for_bit() {
    let text = add(LIST, KERNEL, LAUNCH);
    let (action, applied) = of_triton(&text).unwrap();
    assert_eq!(action.numerics, Numerics::Same);
    assert_eq!(
        action.premises,
        [
            "nothing depends on whether elements behind `x.shape[0]` are written",
            "no caller passes one array both for what is read and for what is written: trials would change it",
        ]
    );
    // It asks nothing of torch, which the file does not import. Blocks share nothing.
    for part in [
        "    # As it was fixed before.
    yield SimpleNamespace(TILE=1024, occupancy=2)
    # The tiles of the Triton list of `_add_triton`, each once, where they fit.
    # Of no use here and dropped: num_warps.
    space = [
        # TILE, occupancy
        (512, 1),
        (512, 2),
        (512, 4),
        (512, 8),
        (1024, 1),
        (1024, 4),
        (1024, 8),
        (8192, 1),
        (8192, 2),
        (8192, 4),
    ]
    for TILE, occupancy in space:
        yield SimpleNamespace(TILE=TILE, occupancy=occupancy)
",
        "grid_fn=lambda cfg: (ct.cdiv(x.shape[0], cfg.TILE),),",
        "args_fn=lambda cfg: (x, y, z, cfg.TILE),",
        "hints_fn=lambda cfg: {\"occupancy\": cfg.occupancy},",
        "    ct.launch(s, (ct.cdiv(x.shape[0], cfg.TILE),), tuned_kernel, (x, y, z, cfg.TILE))\n",
    ] {
        assert!(applied.contains(part), "no {part:?} in\n{applied}");
    }
    assert!(!applied.contains("num_ctas"), "{applied}");
    assert_eq!(searches(&applied), [], "again, for\n{applied}");
}

#[test]
fn what_most_architectures_get_is_written_once() {
    let own = "[triton.Config({'BLOCK_SIZE': 512, 'occupancy': o}) for o in (1, 4, 16)] + ";
    let list =
        format!("({own}[] if torch.cuda.get_device_capability()[0] in MAJORS else []) + {LIST}");
    for (majors, test) in [
        ("(8,)", "major == 8"),
        ("(9, 12)", "major == 9 or major == 12"),
    ] {
        let text = add(&list.replace("MAJORS", majors), KERNEL, LAUNCH);
        let text = text.replace("import triton\n", "import torch\nimport triton\n");
        let (_, applied) = of_triton(&text).unwrap();
        assert_eq!(applied.matches("space = [").count(), 2, "{applied}");
        assert!(applied.contains(&format!("    if {test}:\n")), "{applied}");
        assert_eq!(
            applied.matches("(512, 1),").count(),
            2,
            "each once in\n{applied}"
        );
        assert_eq!(applied.matches("(512, 16),").count(), 1, "{applied}");
    }
}

#[test]
fn numbers_written_at_the_launch() {
    let launch = "    ct.launch(s, (ct.cdiv(x.shape[0], 256),), add_kernel, (x, y, z, 256))";
    let (_, applied) = of_triton(&add(LIST, KERNEL, launch)).unwrap();
    for part in [
        "    yield SimpleNamespace(TILE=256, occupancy=2)\n",
        "    ct.launch(s, (ct.cdiv(x.shape[0], cfg.TILE),), tuned_kernel, (x, y, z, cfg.TILE))\n",
    ] {
        assert!(applied.contains(part), "no {part:?} in\n{applied}");
    }
}

#[test]
fn lists_that_are_left() {
    for (list, kernel, launch) in [
        // A share of a block's own sum; a sum for each block.
        (
            LIST,
            &*KERNEL.replace("total)", "total / ct.sum(total))"),
            LAUNCH,
        ),
        (
            LIST,
            &*KERNEL.replace("total)", "ct.sum(total, axis=0, keepdims=True))"),
            LAUNCH,
        ),
        // Others pass the tile; a buffer follows from it; a part is left out.
        (
            LIST,
            KERNEL,
            "    ct.launch(s, (8,), add_kernel, (x, y, z, 1024))",
        ),
        (
            LIST,
            KERNEL,
            &*LAUNCH.replace("tile = 1024", "tile = x.shape[1]"),
        ),
        (
            LIST,
            KERNEL,
            &*LAUNCH.replace("    ct.launch", "    z = z.view(-1, tile)\n    ct.launch"),
        ),
        (
            LIST,
            KERNEL,
            &*LAUNCH.replace("ct.cdiv(x.shape[0], tile)", "x.shape[0] // tile"),
        ),
        // Rows, not elements; no power of two; the tile that there is.
        (
            "[triton.Config({'BLOCK_SIZE_M': m}) for m in (2, 4, 8)]",
            KERNEL,
            LAUNCH,
        ),
        ("[triton.Config({'BLOCK_SIZE': 1000})]", KERNEL, LAUNCH),
        (
            "[triton.Config({'BLOCK_SIZE': 1024}, num_warps=w) for w in (4, 8)]",
            KERNEL,
            LAUNCH,
        ),
        // Which of the two is it?
        (
            "[triton.Config({'BLOCK_A': 512, 'BLOCK_B': 64})]",
            KERNEL,
            LAUNCH,
        ),
    ] {
        let text = add(list, kernel, launch);
        assert!(of_triton(&text).is_none(), "{text}");
    }
    // A default that callers may pass over.
    let text = add(LIST, KERNEL, &LAUNCH.replace("    tile = 1024\n", ""));
    let text = text.replace("def add(x, y, z, s):", "def add(x, y, z, s, tile=1024):");
    assert!(of_triton(&text).is_none(), "{text}");
    // A list of another kernel, where several are in the file.
    let second = "\n\n@ct.kernel\ndef other(x):\n    pass\n";
    let text = add(LIST, KERNEL, LAUNCH) + second;
    assert!(of_triton(&text).is_some(), "{text}");
    let text = text.replace("_add_triton", "_softmax");
    assert!(of_triton(&text).is_none(), "{text}");
    assert!(of_triton(&text.replace(second, "")).is_some(), "{text}");
}
