# Extents of tiles that are no powers of two. Above each kernel: what is expected of it, and its arguments.
import cuda.tile as ct

# expect: error
# args: float32[2], int32, 16
@ct.kernel
def load(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.load(x, (i, 0), (1, 96))
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def load_zero(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.load(x, (i, 0), (1, 0))
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def zeros(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.zeros((3, 8), dtype=ct.float32)
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def ones(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.ones(3, dtype=ct.float32)
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def full(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.full((8, 12), 0.0, ct.float32)
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def arange(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.arange(100, dtype=ct.int32)
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def broadcast_to(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.broadcast_to(t, (8, 8, 24))
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def reshape(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.reshape(t, (3, -1))
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def reshape_method(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t.reshape((3, -1))
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def extract(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.extract(t, (0, 0), (3, 16))
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def num_tiles(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.num_tiles(x, 0, (96, 1))
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tiled_view(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = x.tiled_view((96, 1))
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def reshape_rest(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.reshape(t, (2, -1))
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def steps(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = x.tiled_view((64, 1), traversal_steps=(96, 1))
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def slice_(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = x.slice(axis=0, start=0, stop=96)
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def start(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.arange(128, dtype=ct.int32, start=96, step=3)
    ct.store(x, (i, 0), t)
