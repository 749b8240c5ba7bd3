# Parameters that are not read. Above each kernel: what is expected of it, and its arguments.
import cuda.tile as ct

# expect: base
# args: float32[1], int32, 16
@ct.kernel
def read(x, n, T: ct.Constant[int]):
    ct.store(x, (0,), ct.load(x, (0,), (T,)) * n)


# expect: ok
# args: float32[1], int32, 16
@ct.kernel
def unread(x, n, T: ct.Constant[int]):
    ct.store(x, (0,), ct.load(x, (0,), (T,)))
