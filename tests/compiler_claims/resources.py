"""Kernels that take much of a GPU: shared memory, tensor cores, stack, clusters, many registers.

What tileperf reads from their cubins is compared with cuobjdump (tests/claims/compare_cubins.py).
"""

import cuda.tile as ct


# expect: ok
# args: float16[2], float16[2], float16[2], 128, 128, 64
@ct.kernel
def matmul_large(a, b, c, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.full((M, N), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(M, K))):
        left = ct.load(a, index=(i, k), shape=(M, K))
        right = ct.load(b, index=(k, j), shape=(K, N))
        total = ct.mma(left, right, total)
    ct.store(c, index=(i, j), tile=ct.astype(total, c.dtype))


# expect: ok
# args: bfloat16[2], bfloat16[2], float32[2], 64, 64, 32
@ct.kernel(num_ctas=2, occupancy=2)
def matmul_cluster(a, b, c, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.full((M, N), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(M, K))):
        left = ct.load(a, index=(i, k), shape=(M, K))
        right = ct.load(b, index=(k, j), shape=(K, N))
        total = ct.mma(left, right, total)
    ct.store(c, index=(i, j), tile=total)


# expect: ok
# args: float32[2], float32[2], float32[2], 64, 64, 32
@ct.kernel
def matmul_tf32(a, b, c, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.full((M, N), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(M, K))):
        left = ct.astype(ct.load(a, index=(i, k), shape=(M, K)), ct.tfloat32)
        right = ct.astype(ct.load(b, index=(k, j), shape=(K, N)), ct.tfloat32)
        total = ct.mma(left, right, total)
    ct.store(c, index=(i, j), tile=total)


# expect: ok
# args: float32[2], float32[2], float32[2], 64, 64, 32
@ct.kernel
def matmul_without_tensor_cores(
    a, b, c, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]
):
    i, j = ct.bid(0), ct.bid(1)
    total = ct.full((M, N), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(M, K))):
        left = ct.load(a, index=(i, k), shape=(M, K))
        right = ct.load(b, index=(k, j), shape=(K, N))
        total = ct.mma(left, right, total)
    ct.store(c, index=(i, j), tile=total)


# expect: ok
# args: float32[2], float32[2], 4, 1024
@ct.kernel
def softmax_rows(x, y, M: ct.Constant[int], N: ct.Constant[int]):
    i = ct.bid(0)
    row = ct.load(x, index=(i, 0), shape=(M, N), padding_mode=ct.PaddingMode.NEG_INF)
    shifted = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(y, index=(i, 0), tile=shifted / ct.sum(shifted, axis=1, keepdims=True))


# expect: ok
# args: float16[2], float16[2], 8, 4096
@ct.kernel(occupancy=4)
def mean_of_rows(x, y, M: ct.Constant[int], N: ct.Constant[int]):
    i = ct.bid(0)
    row = ct.astype(ct.load(x, index=(i, 0), shape=(M, N)), ct.float32)
    mean = ct.sum(row, axis=1, keepdims=True) / N
    ct.store(y, index=(i, 0), tile=ct.astype(row - mean, y.dtype))


# expect: ok
# args: float16[2], float16[2], 64, 64
@ct.kernel
def turned(x, y, M: ct.Constant[int], N: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    tile = ct.load(x, index=(i, j), shape=(M, N))
    ct.store(y, index=(j, i), tile=ct.transpose(tile))


# expect: ok
# args: float32[1], float32[1], 2048
@ct.kernel
def running_sums(x, y, N: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(y, index=(i,), tile=ct.cumsum(ct.load(x, index=(i,), shape=(N,)), axis=0))


# expect: ok
# args: float16[2], float16[2], float16[2], float16[2], 64, 64
@ct.kernel
def attention(q, k, v, o, M: ct.Constant[int], D: ct.Constant[int]):
    i = ct.bid(0)
    queries = ct.load(q, index=(i, 0), shape=(M, D))
    total = ct.full((M, D), 0, dtype=ct.float32)
    weight = ct.full((M, 1), 0, dtype=ct.float32)
    for j in range(ct.num_tiles(k, axis=0, shape=(M, D))):
        keys = ct.load(k, index=(j, 0), shape=(M, D))
        scores = ct.mma(queries, ct.transpose(keys), ct.full((M, M), 0, dtype=ct.float32))
        scores = ct.exp(scores)
        weight = weight + ct.sum(scores, axis=1, keepdims=True)
        values = ct.load(v, index=(j, 0), shape=(M, D))
        total = ct.mma(ct.astype(scores, ct.float16), values, total)
    ct.store(o, index=(i, 0), tile=ct.astype(total / weight, o.dtype))
