//! Optimizations that follow from how a kernel is launched, with the real compiler.

use tileperf_tests::project::Project;

use super::command::{compiled, text, tileperf};
use super::python;

/// The sum of two vectors of whole tiles, and squares of columns from an offset in groups of 64.
const LAUNCHED: &str = "\
import cuda.tile as ct
import torch


@ct.kernel
def add(x, y, z, TILE: ct.Constant[int]):
    i = ct.bid(0)
    # Größer wird's nicht.
    ct.store(z, (i,), ct.load(x, (i,), (TILE,)) + ct.load(y, (i,), (TILE,)))


def added(x, y):
    (n,) = x.shape
    assert x.shape == y.shape
    z = torch.empty_like(x)
    ct.launch(torch.cuda.current_stream(), (n // 1024,), add, (x, y, z, 1024))
    return z


@ct.kernel
def columns(x, y, first, TILE: ct.Constant[int]):
    part = x.slice(axis=1, start=first, stop=first + TILE)
    tile = ct.load(part, (ct.bid(0), 0), (TILE, TILE))
    square = ct.mma(tile, tile, ct.zeros((TILE, TILE), dtype=ct.float32))
    ct.store(y, (ct.bid(0), 0), ct.astype(square, y.dtype))


def taken(x, first):
    if first % 64 != 0:
        raise ValueError(\"columns are taken in groups of 64\")
    y = torch.empty((x.shape[0], 64), dtype=x.dtype, device=x.device)
    ct.launch(torch.cuda.current_stream(), (x.shape[0] // 64,), columns, (x, y, first, 64))
    return y
";

#[test]
fn what_the_launch_says_the_compiler_makes_use_of() {
    let Some(python) = python() else { return };
    let project = Project::empty();
    project.write("kernels.py", LAUNCHED);
    let rows = compiled(&project, &python, "kernels.py");
    let proof = |kernel: &str, id: &str| {
        let row = rows.iter().find(|r| r["kernel"] == kernel && r["id"] == id);
        let row = row.unwrap_or_else(|| panic!("no {id} for {kernel} in {rows:#?}"));
        (
            row["proof"]["state"].clone(),
            row["proof"]["words"].to_string(),
        )
    };
    // A parameter more does not keep it from being compiled.
    assert_eq!(proof("add", "B").0, "proven", "{:?}", proof("add", "B"));
    assert_eq!(proof("add", "M").0, "proven", "{:?}", proof("add", "M"));
    let (state, words) = proof("columns", "N");
    assert_eq!(state, "proven", "{words}");
    assert!(words.contains("TMA load: 1, was 0"), "{words}");
}

#[test]
fn kernel_and_launch_change_together() {
    let project = Project::empty();
    project.write("kernels.py", LAUNCHED);
    let args = ["apply", "B", "kernels.py:add", "--variant", "per-sm=2"];
    let output = tileperf(&project, &args);
    assert!(output.status.success(), "{output:?}");
    let applied = text(&std::fs::read(project.folder().join("kernels.py")).expect("it is there"));
    let wanted = LAUNCHED
        .replace("def add(x, y, z, TILE: ct.Constant[int]):", "def add(x, y, z, TILE: ct.Constant[int], n_items):")
        .replace("    i = ct.bid(0)\n", "    for i in range(ct.bid(0), n_items, ct.num_blocks(0)):\n")
        .replace("    # Größer", "        # Größer")
        .replace("    ct.store(z,", "        ct.store(z,")
        .replace(
            "    ct.launch(torch.cuda.current_stream(), (n // 1024,), add, (x, y, z, 1024))",
            "    n_items = n // 1024\n    num_sms = torch.cuda.get_device_properties(torch.cuda.current_device()).multi_processor_count\n    ct.launch(torch.cuda.current_stream(), (min(num_sms * 2, n_items),), add, (x, y, z, 1024, n_items))",
        );
    assert_eq!(applied, wanted);
}
