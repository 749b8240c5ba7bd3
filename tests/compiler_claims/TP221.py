# Matrix products without an accumulator. Above each kernel: what is expected of it, and its arguments.
import cuda.tile as ct

# expect: error
# args: float16[2], float16[2], float32[2], 16
@ct.kernel
def missing(a, b, c, M: ct.Constant[int]):
    x = ct.load(a, (0, 0), (M, 16))
    y = ct.load(b, (0, 0), (16, 32))
    ct.store(c, (0, 0), ct.mma(x, y))


# expect: error
# args: float16[2], float16[2], float32[2], 16
@ct.kernel
def missing_with_keyword(a, b, c, M: ct.Constant[int]):
    x = ct.load(a, (0, 0), (M, 16))
    y = ct.load(b, (0, 0), (16, 32))
    ct.store(c, (0, 0), ct.mma(x, y, use_fast_acc=True))


# expect: ok
# args: float16[2], float16[2], float32[2], 16
@ct.kernel
def positional(a, b, c, M: ct.Constant[int]):
    x = ct.load(a, (0, 0), (M, 16))
    y = ct.load(b, (0, 0), (16, 32))
    ct.store(c, (0, 0), ct.mma(x, y, ct.zeros((M, 32), dtype=ct.float32)))


# expect: ok
# args: float16[2], float16[2], float32[2], 16
@ct.kernel
def keyword(a, b, c, M: ct.Constant[int]):
    x = ct.load(a, (0, 0), (M, 16))
    y = ct.load(b, (0, 0), (16, 32))
    ct.store(c, (0, 0), ct.mma(x, y, acc=ct.zeros((M, 32), dtype=ct.float32)))


# expect: ok
# args: float16[2], float16[2], float32[2], 16
@ct.kernel
def matmul(a, b, c, M: ct.Constant[int]):
    x = ct.load(a, (0, 0), (M, 16))
    y = ct.load(b, (0, 0), (16, 32))
    ct.store(c, (0, 0), ct.astype(ct.matmul(x, y), ct.float32))


