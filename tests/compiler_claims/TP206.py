# Indices and shapes of different length. Above each kernel: what is expected of it, and its arguments.
import cuda.tile as ct

# expect: error
# args: float32[2], int32, 16
@ct.kernel
def shorter_index(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.load(x, (i,), (1, T))
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def longer_index(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.load(x, (i, 0, 0), (1, T))
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def number_as_index(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.load(x, i, (1, T))
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def number_as_shape(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.load(x, (i, 0), T)
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def no_index(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.load(x, (), (1, T))
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def empty_shape(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.load(x, (i, 0), ())
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def empty_shape_of_one(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = ct.load(x, i, ())
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[1], 16
@ct.kernel
def one_axis(x, T: ct.Constant[int]):
    ct.store(x, ct.bid(0), ct.load(x, ct.bid(0), T))


# expect: ok
# args: float32[1], 16
@ct.kernel
def mixed(x, T: ct.Constant[int]):
    ct.store(x, (ct.bid(0),), ct.load(x, (ct.bid(0),), T) + ct.load(x, ct.bid(0), (T,)))
