# Kernels called by device code. Above each kernel: what is expected of it, and its arguments.
import cuda.tile as ct

@ct.kernel
def square(t):
    return t * t


def helper(t):
    return square(t)


def plain(t):
    return t * t


wrapped = ct.kernel(plain)

# expect: error
# args: float32[1], 16
@ct.kernel
def calls_kernel(x, T: ct.Constant[int]):
    ct.store(x, (0,), square(ct.load(x, (0,), (T,))))


# expect: error
# args: float32[1], 16
@ct.kernel
def through_helper(x, T: ct.Constant[int]):
    ct.store(x, (0,), helper(ct.load(x, (0,), (T,))))


# expect: ok
# args: float32[1], 16
@ct.kernel
def calls_wrapped(x, T: ct.Constant[int]):
    ct.store(x, (0,), plain(ct.load(x, (0,), (T,))))
