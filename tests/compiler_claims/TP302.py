# Tiles that no block can hold compile, and use the stack. Above each kernel: what is expected of it,
# and its arguments.
# Seen with cuda-tile 1.7.0, tileiras 13.4.92, bytes of stack a thread: 256x256x64 on sm_80 3,280,
# sm_90 6,392, sm_120 1,216, sm_100 0; 512x256x64 on sm_100 10,416 (64 s); 128x128x64 on sm_90 0.
import cuda.tile as ct

# expect: ok
# args: float16[2], float16[2], float16[2], 256, 256, 64
@ct.kernel
def matmul(a, b, c, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    i = ct.bid(0)
    j = ct.bid(1)
    acc = ct.zeros((M, N), ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(M, K))):
        x = ct.load(a, (i, k), (M, K), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, j), (K, N), padding_mode=ct.PaddingMode.ZERO)
        acc = ct.mma(x, y, acc)
    ct.store(c, (i, j), acc.astype(c.dtype))
