# Sums of 16-bit floats: in 16 bits against in 32. Above each kernel: what is expected of it, and its arguments. `same` and `differs`: the compiled code, compared with that of the kernel before.
import cuda.tile as ct

# expect: base
# args: float16[1], float16[1], 1024
@ct.kernel
def half(x, y, T: ct.Constant[int]):
    ct.store(y, (0,), ct.sum(ct.load(x, (0,), (T,)), keepdims=True))


# expect: differs
# args: float16[1], float16[1], 1024
@ct.kernel
def single(x, y, T: ct.Constant[int]):
    ct.store(y, (0,), ct.astype(ct.sum(ct.astype(ct.load(x, (0,), (T,)), ct.float32), keepdims=True), ct.float16))


