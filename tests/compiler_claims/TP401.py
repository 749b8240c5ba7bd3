# Block accesses that replace gathers and scatters. Above each kernel: what is expected of it, and its
# arguments.
import cuda.tile as ct

# expect: ok
# args: float16[2], float16[2], 1024
@ct.kernel
def before(x, y, B: ct.Constant[int]):
    row = ct.bid(0)
    columns = ct.arange(B, dtype=ct.int32)
    ct.scatter(y, (row, columns), ct.gather(x, (row, columns)) * 2)


# expect: ok
# args: float16[2], float16[2], 1024
@ct.kernel
def after(x, y, B: ct.Constant[int]):
    row = ct.bid(0)
    ct.store(y, (row, 0), ct.load(x, (row, 0), (1, B), padding_mode=ct.PaddingMode.ZERO) * 2)
