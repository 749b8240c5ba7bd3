"""Kernels for the product of two matrices: one for large ones, one for a few rows."""

import cuda.tile as ct


@ct.kernel(
    num_ctas=ct.ByTarget(sm_100=2, sm_103=2, default=1),
    occupancy=ct.ByTarget(sm_90=1, default=2),
)
def matmul_kernel(
    a,
    b,
    c,
    TILE_M: ct.Constant[int],
    TILE_N: ct.Constant[int],
    TILE_K: ct.Constant[int],
):
    """One block computes a TILE_M by TILE_N tile of `c = a @ b`."""
    m, n = ct.bid(0), ct.bid(1)
    total = ct.zeros((TILE_M, TILE_N), ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(TILE_M, TILE_K))):
        left = ct.load(a, index=(m, k), shape=(TILE_M, TILE_K), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(b, index=(k, n), shape=(TILE_K, TILE_N), padding_mode=ct.PaddingMode.ZERO)
        total = ct.mma(left, right, total)
    ct.store(c, index=(m, n), tile=ct.astype(total, c.dtype))


@ct.kernel(occupancy=4)
def few_rows_kernel(a, b, c, TILE_N: ct.Constant[int], TILE_K: ct.Constant[int]):
    """One block computes TILE_N columns for one row of `a`: too little for the tensor cores."""
    row, n = ct.bid(0), ct.bid(1)
    total = ct.zeros((TILE_N,), ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(1, TILE_K))):
        left = ct.load(a, index=(row, k), shape=(1, TILE_K), padding_mode=ct.PaddingMode.ZERO)
        right = ct.load(b, index=(k, n), shape=(TILE_K, TILE_N), padding_mode=ct.PaddingMode.ZERO)
        left = ct.reshape(ct.astype(left, ct.float32), (TILE_K, 1))
        total = total + ct.sum(left * ct.astype(right, ct.float32), axis=0)
    ct.store(c, index=(row, n), tile=ct.reshape(ct.astype(total, c.dtype), (1, TILE_N)))
