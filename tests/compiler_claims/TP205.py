# Indices count tiles: that of a product with the extent compiles, and reads elsewhere. Above each kernel: what is expected of it, and its arguments.
import cuda.tile as ct

# expect: base
# args: float32[1], 16
@ct.kernel
def tiles(x, T: ct.Constant[int]):
    ct.store(x, (0,), ct.load(x, (ct.bid(0),), (T,)))


# expect: differs
# args: float32[1], 16
@ct.kernel
def elements(x, T: ct.Constant[int]):
    ct.store(x, (0,), ct.load(x, (ct.bid(0) * T,), (T,)))
