//! Launches that become searches, and those that must not.

mod examples;
mod forms;
mod in_place;
mod stays;
mod tiles;
mod triton;
mod triton_elements;
mod triton_elsewhere;
mod triton_forms;
mod triton_rows;

use tileperf_syntax::FileParser;

use crate::playbook::Action;
use crate::playbook::testing::offered;
use crate::rewrite;
use crate::rules::testing::findings;
use crate::target::Target;

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

/// It works in place, for an autograd function.
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
        ctx.save_for_backward(cos, sin)
        return q

    @staticmethod
    def backward(ctx, grad):
        cos, sin = ctx.saved_tensors
        return rotated(grad, cos, -sin), None, None
";

/// What the file's kernels are offered by this optimization.
fn searches(text: &str) -> Vec<Action> {
    let mut actions = offered(text, &Target::default());
    actions.retain(|a| a.optimization.id == "C");
    actions
}

/// The only search that is offered, and the file with it.
fn tuned(text: &str) -> (Action, String) {
    let mut actions = searches(text);
    assert_eq!(actions.len(), 1, "{} searches for\n{text}", actions.len());
    let action = actions.remove(0);
    let applied = rewrite::apply(text, &action.edits).unwrap();
    assert!(
        FileParser::default().parse(&applied).is_clean(),
        "{applied}"
    );
    (action, applied)
}

/// Lines of a text that another does not have, in order.
fn missing<'t>(text: &'t str, other: &str) -> Vec<&'t str> {
    let mut rest = other.lines();
    let mut out = Vec::new();
    for line in text.lines() {
        let before = rest.clone();
        if !rest.any(|l| l == line) {
            rest = before;
            out.push(line);
        }
    }
    out
}

fn codes(text: &str) -> Vec<&'static str> {
    findings(text).iter().map(|f| f.rule.code).collect()
}

/// It is tuned like that; nothing but these lines goes; no rule has anything new to say.
fn becomes(text: &str, variant: &str, gone: &[&str], has: &[&str]) -> Action {
    let (action, applied) = tuned(text);
    assert_eq!(action.variant, variant, "{applied}");
    assert_eq!(missing(text, &applied), gone, "{applied}");
    for part in has {
        assert!(applied.contains(part), "no {part:?} in\n{applied}");
    }
    let mut before = codes(text);
    for code in codes(&applied) {
        let known = before.iter().position(|b| *b == code);
        let known = known.unwrap_or_else(|| panic!("{code} is found in\n{applied}"));
        assert!(
            !code.starts_with("TP1") && code != "TP403",
            "{code} is found in\n{applied}"
        );
        before.remove(known);
    }
    assert_eq!(searches(&applied), [], "again, for\n{applied}");
    action
}

/// A kernel that copies, and what launches it.
fn copies(decorator: &str, host: &str) -> String {
    format!(
        "import cuda.tile as ct\nimport torch\n\n\n{decorator}\ndef copy(x, y, T: ct.Constant[int]):\n    i = ct.bid(0)\n    ct.store(y, (i,), ct.load(x, (i,), (T,)))\n\n\n{host}"
    )
}

/// A function that launches it like this.
fn launched(launch: &str) -> String {
    let launch = launch.replace('\n', "\n    ");
    copies(
        "@ct.kernel",
        &format!("def run(x, y, s, grid, n):\n    {launch}\n    return y\n"),
    )
}
