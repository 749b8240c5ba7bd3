//! Other tile sizes: at a launch that fixes them, in a search that leaves them out, or fewer in one that
//! tries what never wins.

pub(super) mod elements;
mod fixed;
mod searched;
#[cfg(test)]
mod tests;

use super::optimization::optimization;
use super::{Actions, KernelContext};
use crate::rules::is_test;

optimization! {
    /// Launch with tiles of another size.
    ///
    /// How much a block loads and computes at once decides how often operands are read again, how many
    /// registers and how much shared memory a block takes, and how many blocks there are to fill the
    /// device. Which size is best differs with kind of kernel, card and shape: large tiles want large
    /// matrices, and where an extent has fewer than 16 tiles smaller ones fill the device better.
    ///
    /// Tried are, for matrix multiplication and attention, tiles of 64 to 256 on sm_100, 32 to 256 on
    /// sm_90, 64 to 128 on sm_120 and up to 128 on older cards, square and not; for kernels that work on
    /// each element alone half and twice, a quarter and four times the size. The number is changed
    /// where it is written, and only where nothing but the grid and what the kernel is passed follows
    /// from it: no buffer, no test, no other call. The launch may be in another file than the kernel.
    ///
    /// ```python before
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
    /// ```python after tm=128,tn=256,tk=64
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
    ///     tile_m, tile_n = 128, 256
    ///     grid = (ct.cdiv(a.shape[0], tile_m), ct.cdiv(b.shape[1], tile_n))
    ///     ct.launch(torch.cuda.current_stream(), grid, matmul, (a, b, c, tile_m, tile_n, 64))
    ///     return c
    /// ```
    ///
    /// Of a kernel that works on each element alone the results are the same, bit for bit:
    ///
    /// ```python before
    /// @ct.kernel
    /// def scale(x, y, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(y, (i,), ct.load(x, (i,), (BLOCK,)) * 2)
    ///
    /// def doubled(x):
    ///     y = torch.empty_like(x)
    ///     ct.launch(torch.cuda.current_stream(), (ct.cdiv(x.numel(), 1024),), scale, (x, y, 1024))
    ///     return y
    /// ```
    ///
    /// ```python after BLOCK=2048
    /// @ct.kernel
    /// def scale(x, y, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(y, (i,), ct.load(x, (i,), (BLOCK,)) * 2)
    ///
    /// def doubled(x):
    ///     y = torch.empty_like(x)
    ///     ct.launch(torch.cuda.current_stream(), (ct.cdiv(x.numel(), 2048),), scale, (x, y, 2048))
    ///     return y
    /// ```
    ///
    /// A search that has no branch for an architecture gets one, and what it has stays for the others:
    ///
    /// ```python before
    /// from types import SimpleNamespace
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
    /// def configs():
    ///     yield SimpleNamespace(tm=256, tn=256, tk=64, num_ctas=2, occupancy=1)
    ///     yield SimpleNamespace(tm=128, tn=256, tk=64, num_ctas=1, occupancy=2)
    ///
    /// def tune(a, b, c, stream, grid_fn, args_fn, hints_fn):
    ///     return exhaustive_search(list(configs()), stream, grid_fn, matmul, args_fn, hints_fn)
    /// ```
    ///
    /// ```python after arch=sm_90
    /// from types import SimpleNamespace
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
    /// def configs():
    ///     if torch.cuda.get_device_capability()[0] == 9:
    ///         for tm, tn, tk, num_ctas, occupancy in (
    ///             # As it was first before.
    ///             (256, 256, 64, 2, 1),
    ///             (128, 128, 64, 1, 1),
    ///             (128, 128, 64, 1, 2),
    ///             (128, 64, 64, 1, 2),
    ///             (64, 128, 64, 1, 2),
    ///             (64, 256, 64, 1, 1),
    ///             (64, 64, 64, 1, 4),
    ///         ):
    ///             yield SimpleNamespace(tm=tm, tn=tn, tk=tk, num_ctas=num_ctas, occupancy=occupancy)
    ///         return
    ///     yield SimpleNamespace(tm=256, tn=256, tk=64, num_ctas=2, occupancy=1)
    ///     yield SimpleNamespace(tm=128, tn=256, tk=64, num_ctas=1, occupancy=2)
    ///
    /// def tune(a, b, c, stream, grid_fn, args_fn, hints_fn):
    ///     return exhaustive_search(list(configs()), stream, grid_fn, matmul, args_fn, hints_fn)
    /// ```
    ///
    /// One that has a branch for it but a single value for a tile, the occupancy or (on sm_100)
    /// `num_ctas` gets another value for each of these, in that branch.
    ///
    /// Where `tileperf compile --space` compiled all configurations of a space, those that the compiler
    /// refuses, and those that are the same machine code as an earlier one and differ from it in nothing
    /// that the grid or the arguments are made with, can be left out (`compiled`): a search compiles and
    /// times them for nothing. What other architectures get as well goes only if it is of no use on each
    /// of them, so compile for all that count. In the example a comment says what was compiled:
    ///
    /// ```python before
    /// # Compiled: sm_90 f16, t=64 occupancy=1 a, t=64 occupancy=2 a, t=128 occupancy=2 b
    /// from types import SimpleNamespace
    /// import cuda.tile as ct
    /// import torch
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel
    /// def copy(x, y, t: ct.Constant[int]):
    ///     ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (t,)))
    ///
    /// def configs():
    ///     if torch.cuda.get_device_capability()[0] == 9:
    ///         yield SimpleNamespace(t=64, occupancy=1)
    ///         yield SimpleNamespace(t=64, occupancy=2)
    ///         yield SimpleNamespace(t=128, occupancy=2)
    ///     else:
    ///         yield SimpleNamespace(t=64, occupancy=2)
    ///
    /// def tune(x, y, stream):
    ///     return exhaustive_search(
    ///         list(configs()),
    ///         stream,
    ///         lambda cfg: (ct.cdiv(x.shape[0], cfg.t),),
    ///         copy,
    ///         lambda cfg: (x, y, cfg.t),
    ///         lambda cfg: {"occupancy": cfg.occupancy},
    ///     )
    /// ```
    ///
    /// ```python after compiled
    /// # Compiled: sm_90 f16, t=64 occupancy=1 a, t=64 occupancy=2 a, t=128 occupancy=2 b
    /// from types import SimpleNamespace
    /// import cuda.tile as ct
    /// import torch
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel
    /// def copy(x, y, t: ct.Constant[int]):
    ///     ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (t,)))
    ///
    /// def configs():
    ///     if torch.cuda.get_device_capability()[0] == 9:
    ///         yield SimpleNamespace(t=64, occupancy=1)
    ///         yield SimpleNamespace(t=128, occupancy=2)
    ///     else:
    ///         yield SimpleNamespace(t=64, occupancy=2)
    ///
    /// def tune(x, y, stream):
    ///     return exhaustive_search(
    ///         list(configs()),
    ///         stream,
    ///         lambda cfg: (ct.cdiv(x.shape[0], cfg.t),),
    ///         copy,
    ///         lambda cfg: (x, y, cfg.t),
    ///         lambda cfg: {"occupancy": cfg.occupancy},
    ///     )
    /// ```
    ///
    /// Where sessions of the experiment loop recorded searches of the kernel as it is now, in the
    /// benchmark on at least two different arguments, configurations that took over 5 % longer than the
    /// best in each of them are dropped, on the architecture that was measured. Those that won once stay,
    /// so does the first, what failed or was not measured, what other architectures run as well, and a
    /// space that another kernel is searched over. (The comments stand for records, in microseconds.)
    ///
    /// ```python before
    /// # Searched: sm_90 1024, occupancy=1 14.1, occupancy=2 10.0, occupancy=4 10.3, occupancy=8 12.9
    /// # Searched: sm_90 8192, occupancy=1 95.0, occupancy=2 84.4, occupancy=4 80.2, occupancy=8 99.0
    /// from types import SimpleNamespace
    /// import cuda.tile as ct
    /// import torch
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel
    /// def scale(x, y, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(y, (i,), ct.load(x, (i,), (BLOCK,)) * 2)
    ///
    /// def configs():
    ///     if torch.cuda.get_device_capability()[0] == 9:
    ///         for occupancy in (1, 2, 4, 8):
    ///             yield SimpleNamespace(occupancy=occupancy)
    ///     else:
    ///         yield SimpleNamespace(occupancy=1)
    ///
    /// def tune(x, y, stream, grid_fn, args_fn, hints_fn):
    ///     return exhaustive_search(list(configs()), stream, grid_fn, scale, args_fn, hints_fn)
    /// ```
    ///
    /// ```python after shrink=sm_90
    /// # Searched: sm_90 1024, occupancy=1 14.1, occupancy=2 10.0, occupancy=4 10.3, occupancy=8 12.9
    /// # Searched: sm_90 8192, occupancy=1 95.0, occupancy=2 84.4, occupancy=4 80.2, occupancy=8 99.0
    /// from types import SimpleNamespace
    /// import cuda.tile as ct
    /// import torch
    /// from cuda.tile.tune import exhaustive_search
    ///
    /// @ct.kernel
    /// def scale(x, y, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     ct.store(y, (i,), ct.load(x, (i,), (BLOCK,)) * 2)
    ///
    /// def configs():
    ///     if torch.cuda.get_device_capability()[0] == 9:
    ///         for occupancy in (1, 2, 4):
    ///             yield SimpleNamespace(occupancy=occupancy)
    ///     else:
    ///         yield SimpleNamespace(occupancy=1)
    ///
    /// def tune(x, y, stream, grid_fn, args_fn, hints_fn):
    ///     return exhaustive_search(list(configs()), stream, grid_fn, scale, args_fn, hints_fn)
    /// ```
    ///
    /// A tile that covers a whole row stays, and so does one whose blocks give partial results: with
    /// another size the results would be others.
    ///
    /// ```python good
    /// @ct.kernel
    /// def normalized(x, y, BLOCK: ct.Constant[int]):
    ///     row = ct.bid(0)
    ///     values = ct.load(x, (row, 0), (1, BLOCK), padding_mode=ct.PaddingMode.ZERO)
    ///     ct.store(y, (row, 0), values / ct.sum(values))
    ///
    /// @ct.kernel
    /// def sums(x, y, BLOCK: ct.Constant[int]):
    ///     i = ct.bid(0)
    ///     values = ct.load(x, (i,), (BLOCK,), padding_mode=ct.PaddingMode.ZERO)
    ///     ct.store(y, (i,), ct.sum(values, axis=0, keepdims=True))
    ///
    /// def run(x, y, z):
    ///     stream = torch.cuda.current_stream()
    ///     ct.launch(stream, (x.shape[0],), normalized, (x, y, 1024))
    ///     ct.launch(stream, (ct.cdiv(x.numel(), 1024),), sums, (x.view(-1), z, 1024))
    /// ```
    G "tile-sizes" Locality Varies offer,
    gain "5-50 %" "matrix multiplication and attention, B200" "TileGym's guides",
    gain "0 %" "elementwise kernels with blocks of 256 to 8192 other than 1024, B200" "TileGym's guides",
}

fn offer(at: &KernelContext<'_>, out: &mut Actions<'_>) {
    if is_test(at.file) {
        return;
    }
    if at.uses.searches > 0 {
        searched::offer(at, out);
    } else {
        fixed::offer(at, out);
    }
}
