# What `num_ctas` changes. Above each kernel: what is expected of it, and its arguments.
# Seen with cuda-tile 1.7.0, tileiras 13.4.92: `.text` of both is the same below sm_90; from sm_90 on,
# sm_120 and sm_121 included, it differs and CTA_PER_CLUSTER is (2, 1, 1).
import cuda.tile as ct

# expect: same num_ctas=2 on sm_80
# args: float16[2], float16[2]
@ct.kernel
def copy(x, y):
    i = ct.bid(0)
    ct.store(y, (i, 0), ct.load(x, (i, 0), (1, 1024)) * 2)


# expect: same num_ctas=2 on sm_89
# args: float16[2], float16[2], float16[2], 128
@ct.kernel
def matmul(a, b, c, T: ct.Constant[int]):
    i = ct.bid(0)
    j = ct.bid(1)
    acc = ct.zeros((T, T), ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(T, 64))):
        x = ct.load(a, (i, k), (T, 64), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, j), (64, T), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, (i, j), acc.astype(c.dtype))
