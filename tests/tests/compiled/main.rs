//! What the compiler makes of kernels, on the command line and in an editor, with the real tool
//! chain where `TILEPERF_TEST_TILEIRAS` names a Python that has it.

mod check;
mod command;
mod editor;
mod faults;
mod inert;
mod local_gpu;
mod lock;
mod signatures;
mod space;
mod timing;
mod trust;

use std::path::PathBuf;

use serde_json::{Value, json};
use tileperf_tests::client::{Client, Options};
use tileperf_tests::project::Project;

/// A Python with cuda-tile and tileiras.
fn python() -> Option<PathBuf> {
    std::env::var_os("TILEPERF_TEST_TILEIRAS").map(PathBuf::from)
}

/// A helper in a file of its own, imported by [`KERNELS`].
const HELPERS: &str = "\
import cuda.tile as ct


def row(x, i, n: ct.Constant[int]):
    return ct.load(x, index=(i, 0), shape=(16, n), padding_mode=ct.PaddingMode.NEG_INF)
";

/// Two kernels, of which one is compiled with help from another file. What stands around them would
/// leave a mark if it were run.
const KERNELS: &str = "\
import cuda.tile as ct
import torch

from .helpers import row

open('mark', 'w').close()


@ct.kernel(occupancy=2)
def scale(x, y, N: ct.Constant[int]):
    i = ct.bid(0)
    é = ct.load(y, index=(i, 0), shape=(16, N))
    ct.store(y, index=(i, 0), tile=row(x, i, N) * 2 + é)


@ct.kernel
def gemm(a, b, c, T: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.zeros((T, T), dtype=ct.float32)
    for k in range(ct.num_tiles(a, 1, (T, T))):
        total = ct.mma(ct.load(a, (i, k), (T, T)), ct.load(b, (k, j), (T, T)), total)
    ct.store(c, (i, j), ct.astype(total, ct.float16))


def run(a, b, c, stream):
    ct.launch(stream, (64, 64), gemm, (a, b, c, 64))
    torch.cuda.synchronize()
";

/// A project with these kernels.
fn project() -> Project {
    let project = Project::empty();
    project.write(
        "pkg/__init__.py",
        "raise SystemExit('a package is not run')\n",
    );
    project.write("pkg/helpers.py", HELPERS);
    project.write("pkg/kernels.py", KERNELS);
    project
}

/// An editor in a project that is trusted or not, with a cache of its own in the project's folder.
fn editor(project: &Project, python: &std::path::Path, trusted: bool) -> Client {
    editor_with(project, python, trusted, Value::Null)
}

/// The same, with what the editor says of itself under `experimental`. What the user's own runs have
/// left is nothing to it.
fn editor_with(
    project: &Project,
    python: &std::path::Path,
    trusted: bool,
    experimental: Value,
) -> Client {
    let settings = json!({"python": {"path": python}, "compile": {"archs": ["sm_90"]}});
    Client::start(Options {
        capabilities: json!({"workspace": {
            "codeLens": {"refreshSupport": true},
            "inlayHint": {"refreshSupport": true},
        }, "experimental": experimental}),
        initialization_options: json!({"trusted": trusted, "settings": settings}),
        folder: Some(project.folder().to_owned()),
        environment: vec![
            ("TILEPERF_CACHE".to_owned(), project.folder().join(".cache")),
            (
                "CUDA_TILE_CACHE_DIR".to_owned(),
                project.folder().join(".cutile"),
            ),
        ],
        ..Options::default()
    })
    .0
}

/// The labels of the inlay hints of a whole document, with their lines from 0.
fn hints(client: &mut Client, uri: &str) -> Vec<(u64, String)> {
    let range =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 9999, "character": 0}});
    let params = json!({"textDocument": {"uri": uri}, "range": range});
    let hints = client.ask("textDocument/inlayHint", params);
    let hints = hints.as_array().cloned().unwrap_or_default();
    let label = |hint: &Value| {
        let line = hint["position"]["line"].as_u64()?;
        Some((line, hint["label"].as_str()?.trim().to_owned()))
    };
    hints.iter().filter_map(label).collect()
}

/// The titles of the lenses of a document.
fn lenses(client: &mut Client, uri: &str) -> Vec<String> {
    let lenses = client.ask(
        "textDocument/codeLens",
        json!({"textDocument": {"uri": uri}}),
    );
    let lenses = lenses.as_array().cloned().unwrap_or_default();
    let title = |lens: &Value| lens["command"]["title"].as_str().map(str::to_owned);
    lenses.iter().filter_map(title).collect()
}
