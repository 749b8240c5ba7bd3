# Grid-stride loops, and what the fix makes of them. Above each kernel: what is expected of it, and
# its arguments.
# Seen with cuda-tile 1.7.0, tileiras 13.4.92 on sm_90: `before` 2,304 bytes of code and 22 registers,
# both `after` 6,272 bytes and 48 registers.
import cuda.tile as ct

# expect: ok
# args: float16[2], float16[2], int32, 1024
@ct.kernel
def before(x, y, n, B: ct.Constant[int]):
    i = ct.bid(0)
    while i < n:
        ct.store(y, (i, 0), ct.load(x, (i, 0), (1, B)) * 2)
        i += ct.num_blocks(0)


# expect: ok
# args: float16[2], float16[2], int32, 1024
@ct.kernel
def after(x, y, n, B: ct.Constant[int]):
    for i in range(ct.bid(0), n, ct.num_blocks(0)):
        ct.store(y, (i, 0), ct.load(x, (i, 0), (1, B)) * 2)


# expect: ok
# args: float16[2], float16[2], int32, 1024
@ct.kernel
def after_with_start_kept(x, y, n, B: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (1, B))
    for i in range(i, n, ct.num_blocks(0)):
        ct.store(y, (i, 0), ct.load(x, (i, 0), (1, B)) * t)
