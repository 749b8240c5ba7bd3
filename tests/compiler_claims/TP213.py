# Arithmetic on indices by functions and by operators. Above each kernel: what is expected of it, and its arguments.
import cuda.tile as ct

# expect: base
# args: float32[1], int32, 16
@ct.kernel
def operators(x, n, T: ct.Constant[int]):
    at = ct.bid(0) * T + ct.arange(T, dtype=ct.int32) - n
    ct.scatter(x, at, ct.gather(x, at) * 2)


# expect: same
# args: float32[1], int32, 16
@ct.kernel
def functions(x, n, T: ct.Constant[int]):
    at = ct.sub(ct.add(ct.mul(ct.bid(0), T), ct.arange(T, dtype=ct.int32)), n)
    ct.scatter(x, at, ct.gather(x, at) * 2)
