# Tiles whose shape is known only when the kernel runs. Above each kernel: what is expected of it, and its arguments.
import cuda.tile as ct

# expect: error
# args: float32[1], int32, 16
@ct.kernel
def array_shape(x, n: int, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = ct.zeros(x.shape, dtype=ct.float32)
    ct.store(x, (0,), t)


# expect: error
# args: float32[1], int32, 16
@ct.kernel
def array_extent(x, n: int, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = ct.zeros((x.shape[0],), ct.float32)
    ct.store(x, (0,), t)


# expect: error
# args: float32[1], int32, 16
@ct.kernel
def parameter(x, n: int, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = ct.ones((T, n), dtype=ct.float32)
    ct.store(x, (0,), t)


# expect: error
# args: float32[1], int32, 16
@ct.kernel
def arithmetic(x, n: int, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = ct.full(shape=(n * 2,), fill_value=0, dtype=ct.float32)
    ct.store(x, (0,), t)


# expect: error
# args: float32[1], int32, 16
@ct.kernel
def arange(x, n: int, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = ct.arange(n, dtype=ct.int32)
    ct.store(x, (0,), t)


# expect: error
# args: float32[1], int32, 16
@ct.kernel
def block(x, n: int, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = ct.zeros((ct.bid(0),), dtype=ct.float32)
    ct.store(x, (0,), t)


# expect: error
# args: float32[1], int32, 16
@ct.kernel
def through_name(x, n: int, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    m = x.shape[0]
    z = ct.zeros((m,), dtype=ct.float32)
    ct.store(x, (0,), t)


# expect: error
# args: float32[1], int32, 16
@ct.kernel
def cdiv(x, n: int, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = ct.zeros((ct.cdiv(n, T),), dtype=ct.float32)
    ct.store(x, (0,), t)


# expect: error
# args: float32[1], int32, 16
@ct.kernel
def loaded(x, n: int, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = ct.zeros((ct.load(x, 0, shape=()),), dtype=ct.float32)
    ct.store(x, (0,), t)


# expect: ok
# args: float32[1], int32, 16
@ct.kernel
def constant(x, n: int, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = ct.zeros((T, T * 2), dtype=ct.float32)
    ct.store(x, (0,), t)


# expect: ok
# args: float32[1], int32, 16
@ct.kernel
def tile_shape(x, n: int, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = ct.zeros(t.shape, dtype=ct.float32)
    ct.store(x, (0,), t)


# expect: ok
# args: float32[1], int32, 16
@ct.kernel
def scalar(x, n: int, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = ct.zeros((), dtype=ct.float32)
    ct.store(x, (0,), t)


# expect: ok
# args: float32[1], int32, 16
@ct.kernel
def runtime_value(x, n: int, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = ct.full((T,), n, dtype=ct.int32)
    ct.store(x, (0,), t)


