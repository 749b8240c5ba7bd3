# Tiles made anew in each iteration against tiles made once. Above each kernel: what is expected of it, and its arguments. `same` and `differs`: the compiled code, compared with that of the kernel before.
import cuda.tile as ct

# expect: base
# args: float32[1], float32[1], int32, 1024
@ct.kernel
def inside(x, y, n, T: ct.Constant[int]):
    for i in range(n):
        offs = ct.arange(T, dtype=ct.int32)
        mask = offs < n
        t = ct.load(x, (i,), (T,))
        ct.store(y, (i,), ct.where(mask, t, 0.0))


# expect: same
# args: float32[1], float32[1], int32, 1024
@ct.kernel
def outside(x, y, n, T: ct.Constant[int]):
    offs = ct.arange(T, dtype=ct.int32)
    mask = offs < n
    for i in range(n):
        t = ct.load(x, (i,), (T,))
        ct.store(y, (i,), ct.where(mask, t, 0.0))


