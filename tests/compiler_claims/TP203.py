# Constants as default values. Above each kernel: what is expected of it, and its arguments.
import cuda.tile as ct

# expect: error
# args: float32[1], int32
@ct.kernel
def default(x, T=ct.Constant[int]):
    ct.store(x, (0,), ct.load(x, (0,), (T,)))


# expect: ok
# args: float32[1], 16
@ct.kernel
def annotation(x, T: ct.Constant[int]):
    ct.store(x, (0,), ct.load(x, (0,), (T,)))
