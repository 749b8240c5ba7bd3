//! Triton lists that become the searches of their ports: the kernels still compile with every
//! configuration's tiles, and the functions around them, run with stand-ins for torch, the search and
//! the launch, do what they did.

use std::process::Command;

use tileperf_tests::project::Project;

use super::command::{rows, text, tileperf};
use super::python;

/// A product and a list by whether Triton runs on this vendor's cards.
const GEMM: &str = "\
import cuda.tile as ct
import torch
import triton
import triton.language as tl


def is_hip():
    return triton.runtime.driver.active.get_current_target().backend == \"hip\"


def get_configs():
    if is_hip():
        return [triton.Config({\"BLOCK_M\": 16, \"BLOCK_N\": 16}, num_warps=2)]
    return [
        triton.Config({\"BLOCK_M\": m, \"BLOCK_N\": n}, num_warps=w, num_stages=3)
        for m in (64, 128)
        for n in (64, 128)
        for w in (4, 8)
    ]


@triton.autotune(configs=get_configs(), key=[\"M\", \"N\"])
@triton.jit
def outer_triton(a, b, c, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    pass


@ct.kernel(occupancy=2)
def outer_kernel(a, b, c, tile_m: ct.Constant[int], tile_n: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    x = ct.load(a, (i, 0), (tile_m, 64), padding_mode=ct.PaddingMode.ZERO)
    y = ct.load(b, (0, j), (64, tile_n), padding_mode=ct.PaddingMode.ZERO)
    acc = ct.mma(x, y, ct.zeros((tile_m, tile_n), dtype=ct.float32))
    ct.store(c, (i, j), ct.astype(acc, c.dtype))


def outer(a, b):
    c = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    tm, tn = 64, 64  # größer wird's nicht
    grid = (ct.cdiv(a.shape[0], tm), ct.cdiv(b.shape[1], tn))
    ct.launch(torch.cuda.current_stream(), grid, outer_kernel, (a, b, c, tm, tn))
    return c
";

/// Sums of elements and their original, in folders of their own; the list is made in a third file.
const LISTS: &str = "\
import triton

SIZES = [256, 512, 1024, 2048]


def elementwise_configs(least):
    return [triton.Config({\"BLOCK_SIZE\": size}, num_warps=4) for size in SIZES if size >= least]
";

const ADD_TRITON: &str = "\
import triton
import triton.language as tl

from ..lists import elementwise_configs


@triton.autotune(configs=elementwise_configs(512), key=[\"n\"])
@triton.jit
def add_kernel(x, y, z, n, BLOCK_SIZE: tl.constexpr):
    pass
";

const ADD: &str = "\
import cuda.tile as ct
import torch


@ct.kernel
def add(x, y, z, TILE: ct.Constant[int]):
    i = ct.bid(0)
    total = ct.load(x, (i,), (TILE,), padding_mode=ct.PaddingMode.ZERO)
    total = total + ct.load(y, (i,), (TILE,), padding_mode=ct.PaddingMode.ZERO)
    ct.store(z, (i,), total)


def added(x, y):
    z = torch.empty_like(x)
    TILE = 1024
    ct.launch(torch.cuda.current_stream(), (ct.cdiv(x.numel(), TILE), 1, 1), add, (x, y, z, TILE))
    return z
";

/// Rows that are walked over tile by tile.
const NORM: &str = "\
import cuda.tile as ct
import torch


@ct.kernel
def rms_norm_kernel(x, w, y, n, TILE: ct.Constant[int]):
    row = ct.bid(0)
    acc = ct.zeros((1, TILE), dtype=ct.float32)
    for j in range(ct.num_tiles(x, axis=1, shape=(1, TILE))):
        t = ct.astype(ct.load(x, (row, j), (1, TILE), padding_mode=ct.PaddingMode.ZERO), ct.float32)
        acc += t * t
    scale = ct.rsqrt(ct.sum(acc, axis=1, keepdims=True) / n + 1e-6)
    for j in range(ct.num_tiles(x, axis=1, shape=(1, TILE))):
        t = ct.astype(ct.load(x, (row, j), (1, TILE), padding_mode=ct.PaddingMode.ZERO), ct.float32)
        weight = ct.load(w, (j,), (TILE,), padding_mode=ct.PaddingMode.ZERO)
        out = t * scale * ct.reshape(ct.astype(weight, ct.float32), (1, TILE))
        ct.store(y, (row, j), ct.astype(out, y.dtype))


def rms_norm(x, w):
    y = torch.empty_like(x)
    ct.launch(torch.cuda.current_stream(), (x.shape[0],), rms_norm_kernel, (x, w, y, x.shape[1], 1024))
    return y
";

/// A project with both, in which other files have lists that are not theirs.
fn pair() -> Project {
    let project = Project::empty();
    for folder in ["ops", "ops/triton_ops", "ops/cutile_ops"] {
        project.write(&format!("{folder}/__init__.py"), "");
    }
    project.write("ops/lists.py", LISTS);
    project.write("ops/triton_ops/add.py", ADD_TRITON);
    project.write("ops/cutile_ops/add.py", ADD);
    let other = ADD_TRITON
        .replace("add_kernel", "scale_kernel")
        .replace("(512)", "(2048)");
    project.write("ops/triton_ops/scale.py", &other);
    project
}

/// As much of torch as the functions use.
const TORCH: &str = "\
class Tensor:
    def __init__(self, shape, dtype='float16'):
        self.shape, self.dtype, self.device = tuple(shape), dtype, 'cuda:0'

    def numel(self):
        return self.shape[0]


def empty(shape, device=None, dtype=None):
    return Tensor(shape, dtype)


def empty_like(x):
    return Tensor(x.shape, x.dtype)


class cuda:
    @staticmethod
    def current_stream():
        return 'stream'

    @staticmethod
    def get_device_capability():
        return (9, 0)
";

/// Triton's decorators do nothing; its lists are made.
const TRITON: &str = "\
import types


def jit(fn):
    return fn


def autotune(configs, key):
    assert len(configs) > 0
    return lambda fn: fn


def Config(kwargs, num_warps=4, num_stages=3):
    return kwargs


target = types.SimpleNamespace(backend='cuda')
active = types.SimpleNamespace(get_current_target=lambda: target)
runtime = types.SimpleNamespace(driver=types.SimpleNamespace(active=active))
";

/// Stand-ins for the launch and for a search that takes the last configuration.
const STANDINS: &str = "\
import os
import sys

import cuda.tile as ct
import cuda.tile.tune
import torch

launches = []
searches = []


def launch(stream, grid, kernel, args):
    assert stream == 'stream'
    numbers = [a for a in args if isinstance(a, int)]
    o = kernel._compiler_options
    launches.append((tuple(grid), o.occupancy, o.num_ctas, numbers))


def exhaustive_search(space, stream, grid_fn, kernel, args_fn, hints_fn):
    assert isinstance(space, list)
    searches.append([(tuple(grid_fn(c)), [a for a in args_fn(c) if isinstance(a, int)], hints_fn(c)) for c in space])
    for _, _, hints in searches[-1]:
        kernel.replace_hints(**hints)
    return type('Result', (), {'best': type('Best', (), {'config': space[-1]})})


ct.launch = launch
cuda.tile.tune.exhaustive_search = exhaustive_search
sys.path.insert(0, '.')
T = torch.Tensor
";

/// Runs a Python text in a project, with stand-ins.
fn run(project: &Project, code: &str) {
    let Some(python) = python() else { return };
    project.write("torch.py", TORCH);
    project.write("triton/__init__.py", TRITON);
    project.write("triton/language.py", "constexpr = int\n");
    project.write("run.py", format!("{STANDINS}\n{code}"));
    let mut command = Command::new(&python);
    let output = command.arg("run.py").current_dir(project.folder()).output();
    let output = output.expect("Python runs");
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// The real frontend takes a file's kernels, and no rule finds what it did not find in `before`.
fn holds(project: &Project, file: &str, before: &Project) {
    let found = |project: &Project| -> Vec<String> {
        let output = tileperf(project, &["check", file, "--format", "json"]);
        let lines = text(&output.stdout);
        let rows = lines.lines().map(serde_json::from_str::<serde_json::Value>);
        rows.map(|row| row.expect("JSON")["code"].to_string())
            .collect()
    };
    let known = found(before);
    for code in found(project) {
        let is_old = known.contains(&code) && !code.contains("TP1") && !code.contains("TP403");
        assert!(is_old, "{code} is new in {file}");
    }
    let Some(python) = python() else { return };
    let setting = format!("python.path={}", python.display());
    let args = [
        "compile", file, "--arch", "sm_90", "--trust", "--space", "--format", "json", "--config",
        &setting,
    ];
    let compiled = rows(&tileperf(project, &args));
    assert!(!compiled.is_empty(), "{file}");
    for row in compiled {
        assert!(row["error"].is_null(), "{row}");
    }
}

/// What is offered of Triton lists for a path: kernel and title.
fn offered(project: &Project, path: &str) -> Vec<(String, String)> {
    let listed = rows(&tileperf(project, &["actions", path, "--format", "json"]));
    let of_triton = listed.iter().filter(|row| row["variant"] == "triton");
    let word = |row: &serde_json::Value, key: &str| row[key].as_str().expect("a text").to_owned();
    (of_triton.map(|row| (word(row, "kernel"), word(row, "title")))).collect()
}

fn apply(project: &Project, path: &str) -> String {
    let output = tileperf(project, &["apply", "C", path, "--variant", "triton"]);
    assert!(output.status.success(), "{output:?}");
    let file = path.split(':').next().expect("a path");
    text(&std::fs::read(project.folder().join(file)).expect("the file is there"))
}

#[test]
fn a_list_of_the_same_file() {
    let project = Project::empty();
    project.write("gemm.py", GEMM);
    let before = Project::empty();
    before.write("gemm.py", GEMM);
    let offered = offered(&project, "gemm.py");
    assert_eq!(offered.len(), 1, "{offered:?}");
    let applied = apply(&project, "gemm.py:outer_kernel");
    // All that was there is there.
    for line in GEMM.lines().filter(|line| !line.contains("ct.launch(")) {
        let line = line.replace("@ct.kernel(occupancy=2)", "@ct.kernel");
        assert!(applied.contains(&line), "no {line:?} in\n{applied}");
    }
    assert!(!applied.contains("(16, 16,"), "{applied}");
    holds(&project, "gemm.py", &before);
    run(
        &project,
        "\
import gemm
os.environ['DISABLE_AUTOTUNE'] = '1'
gemm.outer(T((1000, 64)), T((64, 300)))
assert launches == [((16, 5), 2, None, [64, 64])] and not searches, launches
del os.environ['DISABLE_AUTOTUNE']
for _ in range(2):
    gemm.outer(T((1000, 64)), T((64, 300)))
assert len(searches) == 1, 'once for each case'
assert launches[1:] == [((8, 3), 2, 1, [128, 128])] * 2, launches
trials = searches[0]
assert trials[0] == ((16, 5), [64, 64], {'occupancy': 2, 'num_ctas': None}), trials[0]
assert {tuple(t) for _, t, _ in trials} == {(64, 64), (64, 128), (128, 64), (128, 128)}
assert all(grid == (-(-1000 // t[0]), -(-300 // t[1])) for grid, t, _ in trials)
gemm.outer(T((2000, 64)), T((64, 300)))
assert len(searches) == 2, 'again for another shape'
",
    );
}

#[test]
fn a_list_of_the_file_beside() {
    let (project, before) = (pair(), pair());
    let path = "ops/cutile_ops/add.py";
    let offered = offered(&project, path);
    let [(kernel, title)] = offered.as_slice() else {
        panic!("{offered:?}");
    };
    assert_eq!(kernel, "add");
    assert_eq!(
        title,
        "Tune `add` over the Triton list of `add_kernel` in ops/triton_ops/add.py: search 13 configurations once, cache, launch"
    );
    let applied = apply(&project, path);
    let note = "    # The tiles of the Triton list of `add_kernel` in ops/triton_ops/add.py, each once, where they fit.\n";
    assert!(applied.contains(note), "{applied}");
    holds(&project, path, &before);
    run(
        &project,
        "\
from ops.cutile_ops import add
os.environ['DISABLE_AUTOTUNE'] = '1'
add.added(T((5000,)), T((5000,)))
assert launches == [((5, 1, 1), None, None, [1024])] and not searches, launches
del os.environ['DISABLE_AUTOTUNE']
for _ in range(2):
    add.added(T((5000,)), T((5000,)))
assert len(searches) == 1, 'once for each case'
assert launches[1:] == [((3, 1, 1), 8, None, [2048])] * 2, launches
trials = searches[0]
assert trials[0] == ((5, 1, 1), [1024], {'occupancy': None}), trials[0]
assert {t[0] for _, t, _ in trials} == {512, 1024, 2048}
assert all(grid[0] == -(-5000 // t[0]) for grid, t, _ in trials)
",
    );
}

#[test]
fn rows_that_are_walked_tile_by_tile() {
    let project = Project::empty();
    project.write("norm.py", NORM);
    let list = ADD_TRITON.replace("from ..lists", "from lists");
    let list = list
        .replace("add_kernel", "_rms_norm_fwd")
        .replace("\"n\"", "\"N\"");
    project.write("lists.py", LISTS);
    project.write("norm_triton.py", &list);
    let before = Project::empty();
    before.write("norm.py", NORM);
    let listed = rows(&tileperf(
        &project,
        &["actions", "norm.py", "--format", "json"],
    ));
    let row = listed
        .iter()
        .find(|row| row["variant"] == "triton")
        .expect("it is offered");
    assert_eq!(row["numerics"], "different");
    let applied = apply(&project, "norm.py");
    assert!(
        applied.contains("`_rms_norm_fwd` in norm_triton.py, each once"),
        "{applied}"
    );
    holds(&project, "norm.py", &before);
    run(
        &project,
        "\
import norm
for _ in range(2):
    norm.rms_norm(T((7, 3000)), T((3000,)))
assert launches == [((7,), 8, None, [3000, 2048])] * 2, launches
assert len(searches) == 1 and {t[1] for _, t, _ in searches[0]} == {512, 1024, 2048}
",
    );
}

/// The nearest has it; of two as near nobody has it.
#[test]
fn which_file_is_the_original() {
    let path = "ops/cutile_ops/add.py";
    let far = |project: &Project| {
        project.write(
            "legacy/add_triton.py",
            ADD_TRITON.replace("..lists", "ops.lists"),
        )
    };
    let project = pair();
    far(&project);
    let titles = offered(&project, path);
    assert!(
        titles[0].1.contains("in ops/triton_ops/add.py"),
        "{titles:?}"
    );
    project.write("ops/cutile_ops/add_triton.py", ADD_TRITON);
    assert_eq!(offered(&project, path), [], "two lie beside it");
    // Without them the far one is, as its kernel has that name.
    let project = pair();
    far(&project);
    std::fs::remove_file(project.folder().join("ops/triton_ops/add.py")).expect("it was there");
    let titles = offered(&project, path);
    assert!(
        titles[0].1.contains("in legacy/add_triton.py"),
        "{titles:?}"
    );
    // Nothing is known of a list that is not in the workspace.
    std::fs::remove_file(project.folder().join("ops/lists.py")).expect("it was there");
    assert_eq!(offered(&project, path), []);
}
