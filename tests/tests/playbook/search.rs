//! Fixed launches that become searches: a reduction, a matrix multiplication, a kernel that works in
//! place. The kernels still compile to the same machine code, and the functions around them, run with
//! stand-ins for torch, the search and the launch, do what they did.

use std::path::Path;
use std::process::Command;

use tileperf_tests::project::Project;

use super::command::{rows, text, tileperf};
use super::python;

/// A persistent kernel: as many blocks as fit.
const RMS: &str = "\
import cuda.tile as ct
import torch


@ct.kernel(occupancy=4)
def _rms_norm(x, weight, y, TILE: ct.Constant[int], eps: ct.Constant[float]):
    rows, cols = x.shape[0], x.shape[1]
    w = ct.astype(ct.load(weight, index=(0,), shape=(TILE,), padding_mode=ct.PaddingMode.ZERO), ct.float32)
    for row in range(ct.bid(0), rows, ct.num_blocks(0)):
        t = ct.load(x, index=(row, 0), shape=(1, TILE), padding_mode=ct.PaddingMode.ZERO)
        t = ct.astype(t, ct.float32)
        scale = ct.rsqrt(ct.sum(t * t, axis=1, keepdims=True) / cols + eps)
        out = t * scale * ct.reshape(w, (1, TILE))
        ct.store(y, index=(row, 0), tile=ct.astype(out, y.dtype))


def rms_norm(x, weight, eps=1e-6):
    y = torch.empty_like(x)
    rows, cols = x.shape
    num_sms = torch.cuda.get_device_properties(x.device).multi_processor_count
    grid = (min(num_sms * 4, rows), 1, 1)
    tile = 1 << (cols - 1).bit_length()
    ct.launch(torch.cuda.current_stream(), grid, _rms_norm, (x, weight, y, tile, eps))
    return y
";

const GEMM: &str = "\
import math

import cuda.tile as ct
import torch


@ct.kernel(occupancy=2)
def gemm_kernel(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, index=(i, j), tile=ct.astype(acc, c.dtype))


def gemm(a, b):
    rows, cols = a.shape[0], b.shape[1]
    c = torch.empty((rows, cols), device=a.device, dtype=a.dtype)
    tile_m, tile_n = 128, 128
    grid = (math.ceil(rows / tile_m), ct.cdiv(cols, tile_n))
    ct.launch(
        torch.cuda.current_stream(),
        grid,
        gemm_kernel,
        (a, b, c, tile_m, tile_n, 64),  # rows, columns, sum
    )
    return c
";

/// It works in place, in an autograd function.
const ROPE: &str = "\
import cuda.tile as ct
import torch


@ct.kernel
def _rope(q, cos, sin, HALF: ct.Constant[int]):
    row = ct.bid(0)
    c = ct.load(cos, index=(row, 0), shape=(1, HALF))
    s = ct.load(sin, index=(row, 0), shape=(1, HALF))
    a = ct.load(q, index=(row, 0), shape=(1, HALF))
    b = ct.load(q, index=(row, 1), shape=(1, HALF))
    ct.store(q, index=(row, 0), tile=ct.astype(a * c - b * s, q.dtype))
    ct.store(q, index=(row, 1), tile=ct.astype(b * c + a * s, q.dtype))


class Rope(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, cos, sin):
        half = q.shape[-1] // 2
        flat = q.view(-1, q.shape[-1])
        stream = torch.cuda.current_stream()
        ct.launch(stream, (flat.shape[0],), _rope, (flat, cos, sin, half))
        return q
";

/// As much of torch as the functions use.
const TORCH: &str = "\
class Tensor:
    copies = 0

    def __init__(self, shape, dtype='float16'):
        self.shape, self.dtype, self.device = tuple(shape), dtype, 'cuda:0'

    def view(self, *shape):
        return self

    def clone(self):
        Tensor.copies += 1
        return Tensor(self.shape, self.dtype)


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
        return (10, 0)

    @staticmethod
    def get_device_properties(device):
        return type('Properties', (), {'multi_processor_count': 100})


class autograd:
    class Function:
        pass
";

/// Runs the three functions twice with the search and twice without. The search takes the last of its
/// configurations.
const RUN: &str = "\
import os
import sys

import cuda.tile as ct
import cuda.tile.tune
import torch

launches = []
searches = []


def launch(stream, grid, kernel, args):
    assert stream == 'stream'
    launches.append((tuple(grid), kernel._compiler_options, args))


def exhaustive_search(space, stream, grid_fn, kernel, args_fn, hints_fn):
    trials = [(grid_fn(c), args_fn(c), hints_fn(c)) for c in space]
    searches.append(trials)
    for _, _, hints in trials:
        kernel.replace_hints(**hints)
    return type('Result', (), {'best': type('Best', (), {'config': space[-1]})})


ct.launch = launch
cuda.tile.tune.exhaustive_search = exhaustive_search
sys.path.insert(0, '.')
import matmul
import norm
import rope

T = torch.Tensor


def both():
    launches.clear()
    x = T((1000, 500))
    norm.rms_norm(x, T((500,)))
    matmul.gemm(T((1000, 512)), T((512, 300)))
    q = T((64, 128))
    rope.Rope.forward(None, q, T((64, 64)), T((64, 64)))
    assert launches[2][2][0] is q, 'the launch itself is in place'
    return [(grid, o.occupancy, o.num_ctas, [a for a in args if isinstance(a, int)]) for grid, o, args in launches]


os.environ['DISABLE_AUTOTUNE'] = '1'
fixed = [((400, 1, 1), 4, None, [512]), ((8, 3), 2, None, [128, 128, 64]), ((64,), None, None, [64])]
assert both() == both() == fixed, both()
assert not searches

del os.environ['DISABLE_AUTOTUNE']
tuned = [((800, 1, 1), 8, None, [512]), ((4, 2), 1, 2, [256, 256, 64]), ((64,), 8, None, [64])]
assert both() == tuned, both()
assert [len(s) for s in searches] == [4, 9, 5], searches
assert T.copies == 1, 'a copy for all trials'
assert len({id(args[0]) for _, args, _ in searches[2]}) == 1
assert [grid[0] for grid, _, _ in searches[0]] == [100, 200, 400, 800]
# What was fixed is one of the configurations.
assert ((8, 3), (128, 128, 64)) in [(grid, args[3:]) for grid, args, _ in searches[1]]
assert both() == tuned and len(searches) == 3, 'once for each case'
norm.rms_norm(T((2000, 500)), T((500,)))
assert len(searches) == 4, 'again for another shape'
";

const FILES: [(&str, &str, &str); 3] = [
    ("norm.py", RMS, "occupancy"),
    ("matmul.py", GEMM, "full"),
    ("rope.py", ROPE, "occupancy"),
];

/// Where the kernels are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kernels {
    /// Beside what launches them.
    Beside,
    /// In files of their own.
    Apart,
}

impl Kernels {
    const BOTH: [Kernels; 2] = [Kernels::Beside, Kernels::Apart];

    /// The files of one of [`FILES`], that of the kernel first.
    fn of(self, name: &str, code: &str) -> Vec<(String, String)> {
        if self == Kernels::Beside {
            return vec![(name.to_owned(), code.to_owned())];
        }
        let (imports, rest) = code.split_once("\n\n\n@").expect("a kernel");
        let (kernel, host) = rest.split_once("\n\n\n").expect("a function");
        let named = kernel
            .split("def ")
            .nth(1)
            .and_then(|r| r.split('(').next());
        let named = named.expect("a name");
        let module = format!("{}_kernels", name.trim_end_matches(".py"));
        vec![
            (
                format!("{module}.py"),
                format!("{imports}\n\n\n@{kernel}\n"),
            ),
            (
                name.to_owned(),
                format!("{imports}\nfrom {module} import {named}\n\n\n{host}"),
            ),
        ]
    }

    /// A project with all three as they are given.
    fn project(self) -> Project {
        let project = Project::empty();
        for (name, code, _) in FILES {
            for (name, code) in self.of(name, code) {
                project.write(&name, &code);
            }
        }
        project
    }

    /// A project in which all three are tuned.
    fn tuned(self) -> Project {
        let project = self.project();
        for (name, code, variant) in FILES {
            let files = self.of(name, code);
            let output = tileperf(&project, &["apply", "C", &files[0].0, "--variant", variant]);
            assert!(output.status.success(), "{output:?}");
            let is_said = text(&output.stdout).contains(&format!("{name} is changed with it."));
            assert_eq!(is_said, self == Kernels::Apart, "{output:?}");
            let own = std::fs::read_to_string(project.folder().join(&files[0].0));
            let own = own.expect("the kernel's file");
            assert!(!own.contains("@ct.kernel("), "hints are left in\n{own}");
        }
        project
    }
}

#[test]
fn no_rule_finds_anything_new() {
    let found = |project: &Project| -> Vec<String> {
        let output = tileperf(project, &["check", ".", "--format", "json"]);
        let lines = text(&output.stdout);
        let rows = lines.lines().map(serde_json::from_str::<serde_json::Value>);
        rows.map(|row| row.expect("JSON")["code"].to_string())
            .collect()
    };
    for kernels in Kernels::BOTH {
        let mut known = found(&kernels.project());
        for code in found(&kernels.tuned()) {
            assert!(!code.contains("TP1") && !code.contains("TP403"), "{code}");
            let at = known.iter().position(|k| *k == code);
            known.remove(at.unwrap_or_else(|| panic!("{code} is new, kernels {kernels:?}")));
        }
    }
}

#[test]
fn the_functions_do_what_they_did() {
    let Some(python) = python() else { return };
    for kernels in Kernels::BOTH {
        let project = kernels.tuned();
        project.write("torch.py", TORCH);
        project.write("run.py", RUN);
        let mut command = Command::new(&python);
        let output = command.arg("run.py").current_dir(project.folder()).output();
        let output = output.expect("Python runs");
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

#[test]
fn the_kernels_still_compile() {
    let Some(python) = python() else { return };
    for kernels in Kernels::BOTH {
        let project = kernels.tuned();
        for (name, code, _) in FILES {
            let after = hashes(&project, &python, &kernels.of(name, code)[0].0);
            assert!(!after.is_empty());
        }
    }
}

/// The machine code of a file's kernels.
fn hashes(project: &Project, python: &Path, file: &str) -> Vec<String> {
    let setting = format!("python.path={}", python.display());
    let output = tileperf(
        project,
        &[
            "compile", file, "--arch", "sm_90", "--trust", "--format", "json", "--config", &setting,
        ],
    );
    let rows = rows(&output);
    let hash = |row: &serde_json::Value| {
        assert!(row["error"].is_null(), "{row}");
        row["code_hash"].as_str().expect("a hash").to_owned()
    };
    rows.iter().map(hash).collect()
}
