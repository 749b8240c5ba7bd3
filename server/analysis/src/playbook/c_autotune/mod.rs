//! A search for hints and tiles: tune once, cache, launch.

pub(super) mod choice;
mod decorator;
mod drift;
pub(super) mod effects;
pub(super) mod flow;
mod imports;
mod loops;
mod passed;
pub(super) mod plan;
pub(super) mod space;
pub(super) mod template;
#[cfg(test)]
mod tests;
pub(super) mod tiles;
mod triton;
mod write;
pub(super) mod written;

use self::plan::{From, Plan};
use super::optimization::optimization;
use super::{Actions, KernelContext};

optimization! {
    /// Search for the best hints and tiles once for each case, keep what was found, launch with it.
    ///
    /// The best occupancy, cluster and tile differ with card, shape and compiler. On the first call with
    /// other shapes, dtypes, device or flags the launch times a few configurations, keeps the best one
    /// and the kernel made with it, and launches that; later calls look it up. What was fixed before is
    /// one of the configurations, and the only one when `DISABLE_AUTOTUNE=1` is set (in TileGym:
    /// `TILEGYM_DISABLE_AUTOTUNE`). Only the launch, the decorator's hints and new lines change.
    ///
    /// Kernels that do not multiply matrices get a search over the occupancy: nothing else helps where
    /// blocks share nothing.
    ///
    /// ```python before
    /// import cuda.tile as ct
    /// import torch
    ///
    /// @ct.kernel(occupancy=4)
    /// def scale(x, y, TILE: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(y, (i,), ct.load(x, (i,), (TILE,)) * 2)
    ///
    /// def doubled(x):
    ///     y = torch.empty_like(x)
    ///     grid = (ct.cdiv(x.shape[0], 1024),)
    ///     ct.launch(torch.cuda.current_stream(), grid, scale, (x, y, 1024))
    ///     return y
    /// ```
    ///
    /// ```python after occupancy
    /// import os
    /// from types import SimpleNamespace
    ///
    /// import cuda.tile as ct
    /// import torch
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel
    /// def scale(x, y, TILE: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(y, (i,), ct.load(x, (i,), (TILE,)) * 2)
    ///
    /// def _scale_configs():
    ///     for occupancy in (1, 2, 4, 8):
    ///         yield SimpleNamespace(occupancy=occupancy)
    ///
    ///
    /// # The best configuration and the kernel made with it, by what it depends on.
    /// _scale_tuned = {}
    ///
    ///
    /// def doubled(x):
    ///     y = torch.empty_like(x)
    ///     grid = (ct.cdiv(x.shape[0], 1024),)
    ///     disabled = os.environ.get("DISABLE_AUTOTUNE", "0") == "1"
    ///     cache_key = (x.shape, x.dtype, str(x.device), disabled)
    ///     if cache_key not in _scale_tuned:
    ///         if disabled:
    ///             cfg = SimpleNamespace(occupancy=4)
    ///         else:
    ///             cfg = exhaustive_search(
    ///                 list(_scale_configs()),
    ///                 torch.cuda.current_stream(),
    ///                 grid_fn=lambda _: grid,
    ///                 kernel=scale,
    ///                 args_fn=lambda _: (x, y, 1024),
    ///                 hints_fn=lambda cfg: {"occupancy": cfg.occupancy},
    ///             ).best.config
    ///         _scale_tuned[cache_key] = (cfg, scale.replace_hints(occupancy=cfg.occupancy))
    ///     cfg, tuned_kernel = _scale_tuned[cache_key]
    ///     ct.launch(torch.cuda.current_stream(), grid, tuned_kernel, (x, y, 1024))
    ///     return y
    /// ```
    ///
    /// Matrix multiplications whose launch passes tiles as constants get one over tiles, occupancy and
    /// `num_ctas`, at most 9 configurations an architecture; where tiles are not constants, over
    /// occupancy and `num_ctas`. Other tiles add in another order, so results may differ in the last
    /// bits, and the kernel must be right where a tile does not divide an extent.
    ///
    /// ```python before
    /// import cuda.tile as ct
    /// import torch
    ///
    /// @ct.kernel
    /// def matmul(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    ///     i, j = ct.bid(0), ct.bid(1)
    ///     acc = ct.zeros((tm, tn), dtype=ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
    ///         x = ct.load(a, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
    ///         y = ct.load(b, (k, j), (tk, tn), padding_mode=ct.PaddingMode.ZERO)
    ///         acc = ct.mma(x, y, acc)
    ///     ct.store(c, (i, j), ct.astype(acc, c.dtype))
    ///
    /// def product(a, b):
    ///     c = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    ///     tile_m, tile_n = 128, 128
    ///     grid = (ct.cdiv(a.shape[0], tile_m), ct.cdiv(b.shape[1], tile_n))
    ///     ct.launch(torch.cuda.current_stream(), grid, matmul, (a, b, c, tile_m, tile_n, 64))
    ///     return c
    /// ```
    ///
    /// ```python after full
    /// import os
    /// from types import SimpleNamespace
    ///
    /// import cuda.tile as ct
    /// import torch
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel
    /// def matmul(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    ///     i, j = ct.bid(0), ct.bid(1)
    ///     acc = ct.zeros((tm, tn), dtype=ct.float32)
    ///     for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
    ///         x = ct.load(a, (i, k), (tm, tk), padding_mode=ct.PaddingMode.ZERO)
    ///         y = ct.load(b, (k, j), (tk, tn), padding_mode=ct.PaddingMode.ZERO)
    ///         acc = ct.mma(x, y, acc)
    ///     ct.store(c, (i, j), ct.astype(acc, c.dtype))
    ///
    /// def _matmul_configs():
    ///     # As it was fixed before.
    ///     yield SimpleNamespace(tm=128, tn=128, tk=64, occupancy=None, num_ctas=None)
    ///     major = torch.cuda.get_device_capability()[0]
    ///     if major in (10, 11):
    ///         space = [
    ///             # tm, tn, tk, occupancy, num_ctas
    ///             (128, 128, 64, 1, 1),
    ///             (128, 128, 64, 2, 1),
    ///             (64, 128, 64, 2, 1),
    ///             (128, 256, 64, 1, 1),
    ///             (128, 128, 64, 1, 2),
    ///             (256, 128, 64, 1, 2),
    ///             (128, 256, 64, 1, 2),
    ///             (256, 256, 64, 1, 2),
    ///         ]
    ///     elif major == 9:
    ///         space = [
    ///             (128, 128, 64, 1, 1),
    ///             (128, 128, 64, 2, 1),
    ///             (128, 64, 64, 2, 1),
    ///             (64, 128, 64, 2, 1),
    ///             (64, 256, 64, 1, 1),
    ///             (64, 64, 64, 4, 1),
    ///         ]
    ///     elif major == 12:
    ///         space = [
    ///             (128, 128, 64, 1, 1),
    ///             (128, 64, 64, 1, 1),
    ///             (128, 64, 64, 2, 1),
    ///             (64, 128, 64, 2, 1),
    ///             (64, 64, 64, 2, 1),
    ///         ]
    ///     else:
    ///         space = [
    ///             (128, 128, 32, 1, 1),
    ///             (128, 128, 64, 1, 1),
    ///             (128, 64, 32, 2, 1),
    ///             (64, 128, 32, 2, 1),
    ///             (64, 64, 64, 2, 1),
    ///             (64, 64, 32, 4, 1),
    ///         ]
    ///     for tm, tn, tk, occupancy, num_ctas in space:
    ///         yield SimpleNamespace(tm=tm, tn=tn, tk=tk, occupancy=occupancy, num_ctas=num_ctas)
    ///
    ///
    /// # The best configuration and the kernel made with it, by what it depends on.
    /// _matmul_tuned = {}
    ///
    ///
    /// def product(a, b):
    ///     c = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    ///     tile_m, tile_n = 128, 128
    ///     grid = (ct.cdiv(a.shape[0], tile_m), ct.cdiv(b.shape[1], tile_n))
    ///     disabled = os.environ.get("DISABLE_AUTOTUNE", "0") == "1"
    ///     cache_key = (a.shape, b.shape, c.shape, a.dtype, b.dtype, c.dtype, str(a.device), disabled)
    ///     if cache_key not in _matmul_tuned:
    ///         if disabled:
    ///             cfg = SimpleNamespace(tm=128, tn=128, tk=64, occupancy=None, num_ctas=None)
    ///         else:
    ///             cfg = exhaustive_search(
    ///                 list(_matmul_configs()),
    ///                 torch.cuda.current_stream(),
    ///                 grid_fn=lambda cfg: (ct.cdiv(a.shape[0], cfg.tm), ct.cdiv(b.shape[1], cfg.tn)),
    ///                 kernel=matmul,
    ///                 args_fn=lambda cfg: (a, b, c, cfg.tm, cfg.tn, cfg.tk),
    ///                 hints_fn=lambda cfg: {"occupancy": cfg.occupancy, "num_ctas": cfg.num_ctas},
    ///             ).best.config
    ///         _matmul_tuned[cache_key] = (
    ///             cfg,
    ///             matmul.replace_hints(occupancy=cfg.occupancy, num_ctas=cfg.num_ctas),
    ///         )
    ///     cfg, tuned_kernel = _matmul_tuned[cache_key]
    ///     ct.launch(
    ///         torch.cuda.current_stream(),
    ///         (ct.cdiv(a.shape[0], cfg.tm), ct.cdiv(b.shape[1], cfg.tn)),
    ///         tuned_kernel,
    ///         (a, b, c, cfg.tm, cfg.tn, cfg.tk),
    ///     )
    ///     return c
    /// ```
    ///
    /// What is tried follows from the kind of kernel, which is told by what flows into its products, not by
    /// names. `tileperf actions` and the title say which it is:
    ///
    /// - *elementwise*, *reduction*, *in-place*: no products; the occupancy alone.
    /// - *matmul*, and *persistent matmul*, whose loop hands out tiles to blocks.
    /// - *attention*: a softmax between two products. *variable-length attention*: a loop's bounds are read from
    ///   an array; no tiles of 256.
    /// - *FP8 matmul*: scales are loaded and multiplied onto the product, or operands are 8-bit floats. Columns
    ///   and sum keep the tiles of the scales; rows and hints are chosen, no more rows than there are.
    /// - *grouped GEMM*: which matrix a tile is of is looked up, or it is one of a list.
    /// - *dual GEMM*: products of one operand, an accumulator each; less of either fits.
    /// - *fused matmul*: other products in a row; occupancies of 1 and 2, smaller tiles.
    ///
    /// Tiles stay where a number is looked up by the block of a tile, as which expert a tile's rows belong to:
    /// the table is made for the tiles of today.
    ///
    /// Where the Triton kernel that this one is a port of is still there, the configurations of its
    /// `triton.autotune` are offered as the space: each tile once, with occupancies in the place of warps
    /// and stages, which are the compiler's own here. It is looked for in the file itself, else in the
    /// file beside it, which has its name in a folder or with an ending of its own
    /// (`ops/triton/softmax.py` and `ops/cutile/softmax.py`, `softmax_triton.py` and `softmax.py`), else
    /// in files of its name elsewhere and those that it imports, if the kernels have one name. Where
    /// several may be meant nothing is offered. A list is evaluated with all that makes it,
    /// comprehensions, filters and functions of other files included, as on NVIDIA's cards; a tile that
    /// no constant of the launch means, by its name, is a reason to offer nothing. Of kernels that do not
    /// multiply matrices the tile must be proven to change no result where each element is computed
    /// alone, and nothing but the order of sums where rows are reduced each by itself or walked over tile
    /// by tile.
    ///
    /// ```python before
    /// import cuda.tile as ct
    /// import torch
    /// import triton
    ///
    /// @triton.autotune(
    ///     configs=[
    ///         triton.Config({"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": n}, num_warps=w)
    ///         for n in (64, 128)
    ///         for w in (4, 8)
    ///     ],
    ///     key=["M", "N"],
    /// )
    /// @triton.jit
    /// def outer_triton(a, b, c, M, N, BLOCK_SIZE_M, BLOCK_SIZE_N):
    ///     ...
    ///
    /// @ct.kernel
    /// def outer(a, b, c, tile_m: ct.Constant[int], tile_n: ct.Constant[int]):
    ///     i, j = ct.bid(0), ct.bid(1)
    ///     x = ct.load(a, (i, 0), (tile_m, 64))
    ///     y = ct.load(b, (0, j), (64, tile_n))
    ///     acc = ct.mma(x, y, ct.zeros((tile_m, tile_n), dtype=ct.float32))
    ///     ct.store(c, (i, j), ct.astype(acc, c.dtype))
    ///
    /// def product(a, b):
    ///     c = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    ///     tm, tn = 64, 64
    ///     grid = (ct.cdiv(a.shape[0], tm), ct.cdiv(b.shape[1], tn))
    ///     ct.launch(torch.cuda.current_stream(), grid, outer, (a, b, c, tm, tn))
    ///     return c
    /// ```
    ///
    /// ```python after triton
    /// import os
    /// from types import SimpleNamespace
    ///
    /// import cuda.tile as ct
    /// import torch
    /// import triton
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @triton.autotune(
    ///     configs=[
    ///         triton.Config({"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": n}, num_warps=w)
    ///         for n in (64, 128)
    ///         for w in (4, 8)
    ///     ],
    ///     key=["M", "N"],
    /// )
    /// @triton.jit
    /// def outer_triton(a, b, c, M, N, BLOCK_SIZE_M, BLOCK_SIZE_N):
    ///     ...
    ///
    /// @ct.kernel
    /// def outer(a, b, c, tile_m: ct.Constant[int], tile_n: ct.Constant[int]):
    ///     i, j = ct.bid(0), ct.bid(1)
    ///     x = ct.load(a, (i, 0), (tile_m, 64))
    ///     y = ct.load(b, (0, j), (64, tile_n))
    ///     acc = ct.mma(x, y, ct.zeros((tile_m, tile_n), dtype=ct.float32))
    ///     ct.store(c, (i, j), ct.astype(acc, c.dtype))
    ///
    /// def _outer_configs():
    ///     # As it was fixed before.
    ///     yield SimpleNamespace(tile_m=64, tile_n=64, occupancy=None, num_ctas=None)
    ///     # The tiles of the Triton list of `outer_triton`, each once, where they fit.
    ///     # Of no use here and dropped: num_warps.
    ///     major = torch.cuda.get_device_capability()[0]
    ///     if major in (10, 11):
    ///         space = [
    ///             # tile_m, tile_n, occupancy, num_ctas
    ///             (128, 64, 1, 1),
    ///             (128, 64, 2, 1),
    ///             (128, 64, 4, 1),
    ///             (128, 64, 1, 2),
    ///             (128, 128, 1, 1),
    ///             (128, 128, 2, 1),
    ///             (128, 128, 1, 2),
    ///         ]
    ///     else:
    ///         space = [
    ///             # tile_m, tile_n, occupancy, num_ctas
    ///             (128, 64, 1, 1),
    ///             (128, 64, 2, 1),
    ///             (128, 64, 4, 1),
    ///             (128, 128, 1, 1),
    ///             (128, 128, 2, 1),
    ///         ]
    ///     for tile_m, tile_n, occupancy, num_ctas in space:
    ///         yield SimpleNamespace(tile_m=tile_m, tile_n=tile_n, occupancy=occupancy, num_ctas=num_ctas)
    ///
    ///
    /// # The best configuration and the kernel made with it, by what it depends on.
    /// _outer_tuned = {}
    ///
    ///
    /// def product(a, b):
    ///     c = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    ///     tm, tn = 64, 64
    ///     grid = (ct.cdiv(a.shape[0], tm), ct.cdiv(b.shape[1], tn))
    ///     disabled = os.environ.get("DISABLE_AUTOTUNE", "0") == "1"
    ///     cache_key = (a.shape, b.shape, c.shape, a.dtype, b.dtype, c.dtype, str(a.device), disabled)
    ///     if cache_key not in _outer_tuned:
    ///         if disabled:
    ///             cfg = SimpleNamespace(tile_m=64, tile_n=64, occupancy=None, num_ctas=None)
    ///         else:
    ///             cfg = exhaustive_search(
    ///                 list(_outer_configs()),
    ///                 torch.cuda.current_stream(),
    ///                 grid_fn=lambda cfg: (ct.cdiv(a.shape[0], cfg.tile_m), ct.cdiv(b.shape[1], cfg.tile_n)),
    ///                 kernel=outer,
    ///                 args_fn=lambda cfg: (a, b, c, cfg.tile_m, cfg.tile_n),
    ///                 hints_fn=lambda cfg: {"occupancy": cfg.occupancy, "num_ctas": cfg.num_ctas},
    ///             ).best.config
    ///         _outer_tuned[cache_key] = (cfg, outer.replace_hints(occupancy=cfg.occupancy, num_ctas=cfg.num_ctas))
    ///     cfg, tuned_kernel = _outer_tuned[cache_key]
    ///     ct.launch(
    ///         torch.cuda.current_stream(),
    ///         (ct.cdiv(a.shape[0], cfg.tile_m), ct.cdiv(b.shape[1], cfg.tile_n)),
    ///         tuned_kernel,
    ///         (a, b, c, cfg.tile_m, cfg.tile_n),
    ///     )
    ///     return c
    /// ```
    ///
    /// Where a kernel works in place, trials run on copies that are made once before the search, and only
    /// the launch itself writes to the caller's arrays. Each configuration takes half a second to a
    /// second to compile, once a process and case.
    ///
    /// Where another file launches the kernel, and its own does not, the search goes into that file; the
    /// hints leave the decorator in its own.
    ///
    /// A kernel is left alone whose launch is in a loop or a backward pass, that is launched elsewhere
    /// with its decorator's hints, or whose trials could do something else than the launch:
    ///
    /// ```python good
    /// import cuda.tile as ct
    /// import torch
    ///
    /// @ct.kernel
    /// def scale(x, y, TILE: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(y, (i,), ct.load(x, (i,), (TILE,)) * 2)
    ///
    /// def doubled(xs, ys):
    ///     # A search for each of them, in the middle of a loop.
    ///     for x, y in zip(xs, ys):
    ///         ct.launch(torch.cuda.current_stream(), (64,), scale, (x, y, 1024))
    /// ```
    C "autotune" Parallelism Varies offer,
    gain "2-15 %" "reductions and other balanced kernels, B200" "TileGym's guides",
    gain "0-15 %" "memory-bound kernels, B200" "TileGym's guides",
    gain "5-30 %" "matrix multiplication, B200" "TileGym's guides",
    gain "5-20 %" "attention, B200" "TileGym's guides",
}

fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    push(at, From::Own, out);
    push(at, From::Triton, out);
}

fn push(at: &KernelContext<'_>, from: From, out: &mut Actions<'_>) {
    let Ok(plan) = Plan::of(at, from) else { return };
    let Ok((edits, elsewhere)) = plan.edits() else {
        return;
    };
    let mut described = out.push_in_file(plan.variant(), plan.title(), edits);
    if let Some((file, edits)) = elsewhere {
        described = described.and_elsewhere(file, edits);
    }
    described = described.in_host_code();
    if plan.gives_other_results() {
        described = described.other_results();
    }
    for premise in plan.premises() {
        described = described.if_only(premise);
    }
    if plan.may_alias() {
        described.if_only(
            "no caller passes one array both for what is read and for what is written: trials would change it",
        );
    }
}
