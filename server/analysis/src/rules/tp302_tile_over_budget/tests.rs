//! Tiles that do not fit: written out or in a space, on which architectures.

use super::RULE;
use crate::rules::testing::{bad, good};

fn kernel(hints: &str, m: &str, n: &str, k: &str) -> String {
    format!(
        "import torch\nimport cuda.tile as ct\nfrom types import SimpleNamespace as C\nfrom cuda.tile.tune import exhaustive_search\n\n@ct.kernel{hints}\ndef mm(a, b, c, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):\n    acc = ct.zeros(({m}, {n}), ct.float32)\n    for k in range(9):\n        x = ct.load(a, (ct.bid(0), k), ({m}, {k}))\n        y = ct.load(b, (k, ct.bid(1)), ({k}, {n}))\n        acc = ct.mma(x, y, acc)\n    ct.store(c, (0, 0), acc)\n\n"
    )
}

fn archs(code: &str) -> Vec<u32> {
    let (_, found) = bad(&RULE, code);
    found[0].archs.iter().map(|a| a.sm()).collect()
}

#[test]
fn written_out() {
    let marked = |m: &str, n: &str, k: &str| {
        kernel("", m, n, k).replace("K: ct.Constant[int]):", "K: ct.Constant[int]):  # TP302")
    };
    assert_eq!(
        archs(&marked("256", "256", "64")),
        [80, 86, 89, 90, 120, 121]
    );
    assert_eq!(archs(&marked("512", "256", "64")).len(), 8);
    // Operands of a byte an element at the least.
    assert_eq!(archs(&marked("128", "128", "512")), [86, 89, 120, 121]);
    good(&RULE, &kernel("", "256", "128", "64"));
    good(&RULE, &kernel("", "M", "N", "K"));
    // Divided among blocks.
    good(&RULE, &kernel("(num_ctas=2)", "256", "256", "64"));
}

const ARGS: &str = "lambda c: (a, b, o, c.M, c.N, c.K)";

fn search(space: &str, args: &str) -> String {
    format!(
        "{}{space}\nexhaustive_search(SPACE, s, g, mm, {args}, h)\n",
        kernel("", "M", "N", "K")
    )
}

#[test]
fn in_a_space() {
    let marked = "SPACE = [C(M=m, N=256, K=64) for m in (64, 256)]  # TP302";
    assert_eq!(archs(&search(marked, ARGS)), [80, 86, 89, 90, 120, 121]);
    let two = "SPACE = [C(M=256, N=256, K=64, num_ctas=2)]  # TP302";
    assert_eq!(archs(&search(two, ARGS)), [80, 86, 89]);
    let by_name = "def args(c):\n    return (a, b, o, c['M'], c['N'], 64)\n\nSPACE = [dict(M=256, N=256)]  # TP302";
    assert_eq!(archs(&search(by_name, "args")).len(), 6);
}

#[test]
fn what_fits_or_is_not_known() {
    for (space, args) in [
        ("SPACE = [C(M=128, N=256, K=64)]", ARGS),
        ("SPACE = [C(M=512, N=64, K=128)]", ARGS),
        ("SPACE = [C(M=m, N=256, K=64) for m in SIZES]", ARGS),
        ("SPACE = [C(M=256, N=256, K=64)]", "make_args"),
        ("SPACE = [C(M=256, N=256, K=64)]", "lambda c: args(c)"),
        (
            "SPACE = [C(M=256, N=256, K=64, num_ctas=n) for n in MORE if n > 8]",
            "lambda c: (a, b, o, 64, 64, 64)",
        ),
    ] {
        good(&RULE, &search(space, args));
    }
    // Only where it fits.
    let gated = "def space():\n    if torch.cuda.get_device_capability()[0] == 10:\n        yield C(M=256, N=256, K=64)\n    else:\n        yield C(M=128, N=128, K=64)\n\nSPACE = list(space())";
    good(&RULE, &search(gated, ARGS));
}

#[test]
fn fields_that_are_no_extent_of_a_product() {
    let depth = kernel("", "M", "N", "64");
    let space = "SPACE = [C(M=256, N=256, K=8)]  # TP302";
    let code = format!("{depth}{space}\nexhaustive_search(SPACE, s, g, mm, {ARGS}, h)\n");
    let (_, found) = bad(&RULE, &code);
    assert!(found[0].message.contains("`M=256, N=256`"), "{found:?}");
    // What the kernel says of itself is not the space's fault.
    let fixed = kernel("", "256", "256", "64")
        .replace("K: ct.Constant[int]):", "K: ct.Constant[int]):  # TP302");
    bad(
        &RULE,
        &format!(
            "{fixed}SPACE = [C(M=1, N=1, K=8)]\nexhaustive_search(SPACE, s, g, mm, {ARGS}, h)\n"
        ),
    );
}

#[test]
fn kernels_that_multiply_nothing() {
    let code = kernel("", "256", "256", "64");
    let quiet = code.replace("ct.mma(x, y, acc)", "acc");
    assert_ne!(code, quiet, "{code}");
    good(&RULE, &quiet);
}

#[test]
fn a_space_is_told_once() {
    let space = "SPACE = [C(M=512, N=512, K=64)]  # TP302";
    let twice = format!(
        "{}exhaustive_search(SPACE, s, g, mm, {ARGS}, h)\n",
        search(space, ARGS)
    );
    assert_eq!(bad(&RULE, &twice).1.len(), 1);
    // Fields that go to other parameters.
    good(
        &RULE,
        &search(
            "SPACE = [C(M=512, N=512, K=64)]",
            "lambda c: (a, b, o, 64, 64, 32)",
        ),
    );
}
