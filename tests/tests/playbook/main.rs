//! The playbook on the command line and in an editor, with the real tool chain where
//! `TILEPERF_TEST_TILEIRAS` names a Python that has it.

mod apart;
mod command;
mod editor;
mod launched;
mod recorded;
mod search;
mod templates;
mod triton;
mod workspace;

use std::path::PathBuf;

use tileperf_tests::project::Project;

/// A Python with cuda-tile and tileiras.
fn python() -> Option<PathBuf> {
    std::env::var_os("TILEPERF_TEST_TILEIRAS").map(PathBuf::from)
}

/// Two kernels: a float32 product, which tensor cores do not take, and shares of rows, whose loop reads
/// ahead and stores by TMA. Comments and characters of several bytes stand where edits are made.
const KERNELS: &str = "\
import cuda.tile as ct


@ct.kernel
def product(a, b, c):
    # Quadratic, größer wird's nicht.
    x = ct.astype(ct.load(a, (ct.bid(0), 0), (64, 64)), ct.float32)
    y = ct.astype(ct.load(b, (0, ct.bid(1)), (64, 64)), ct.float32)
    é = ct.mma(x, y, ct.zeros((64, 64), dtype=ct.float32))  # 漢字
    ct.store(c, (ct.bid(0), ct.bid(1)), é)


@ct.kernel
def share(x, y, n: int, TILE: ct.Constant[int]):
    for i in range(ct.bid(0), n, ct.num_blocks(0)):
        ü = ct.load(x, (i, 0), (16, TILE))
        ct.store(
            y,
            index=(i, 0),
            tile=ü / ct.sum(ü, axis=1, keepdims=True),
        )
";

/// A project with these kernels.
fn project() -> Project {
    let project = Project::empty();
    project.write("pkg/kernels.py", KERNELS);
    project
}
