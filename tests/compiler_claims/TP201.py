# `None` for a parameter. Above each kernel: what is expected of it, and its arguments.
import cuda.tile as ct

# expect: error
# args: float32[1], None, 16
@ct.kernel
def constant(x, y: ct.Constant, T: ct.Constant[int]):
    ct.store(x, (0,), ct.load(x, (0,), (T,)))
