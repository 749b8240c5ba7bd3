# Division: `/` against `truediv` with a rounding mode. Above each kernel: what is expected of it, and its arguments. `same` and `differs`: the compiled code, compared with that of the kernel before.
import cuda.tile as ct

# expect: base
# args: float32[1], float32[1], 1024
@ct.kernel
def operator(x, y, T: ct.Constant[int]):
    ct.store(y, (0,), ct.load(x, (0,), (T,)) / ct.load(y, (0,), (T,)))


# expect: same
# args: float32[1], float32[1], 1024
@ct.kernel
def rn(x, y, T: ct.Constant[int]):
    ct.store(y, (0,), ct.truediv(ct.load(x, (0,), (T,)), ct.load(y, (0,), (T,)), rounding_mode=ct.RoundingMode.RN))


# expect: differs
# args: float32[1], float32[1], 1024
@ct.kernel
def full(x, y, T: ct.Constant[int]):
    ct.store(y, (0,), ct.truediv(ct.load(x, (0,), (T,)), ct.load(y, (0,), (T,)), rounding_mode=ct.RoundingMode.FULL))


# expect: differs
# args: float32[1], float32[1], 1024
@ct.kernel
def approx(x, y, T: ct.Constant[int]):
    ct.store(y, (0,), ct.truediv(ct.load(x, (0,), (T,)), ct.load(y, (0,), (T,)), rounding_mode=ct.RoundingMode.APPROX))


