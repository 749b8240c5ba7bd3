# Casts of the same tile in each iteration against one. Above each kernel: what is expected of it, and its arguments. `same` and `differs`: the compiled code, compared with that of the kernel before.
import cuda.tile as ct

# expect: base
# args: float16[1], float32[1], int32, 1024
@ct.kernel
def inside(x, y, n, T: ct.Constant[int]):
    w = ct.load(x, (0,), (T,))
    acc = ct.zeros((T,), dtype=ct.float32)
    for i in range(n):
        acc = acc + ct.astype(w, ct.float32) * ct.astype(ct.load(x, (i,), (T,)), ct.float32)
    ct.store(y, (0,), acc)


# expect: same
# args: float16[1], float32[1], int32, 1024
@ct.kernel
def outside(x, y, n, T: ct.Constant[int]):
    w = ct.astype(ct.load(x, (0,), (T,)), ct.float32)
    acc = ct.zeros((T,), dtype=ct.float32)
    for i in range(n):
        acc = acc + w * ct.astype(ct.load(x, (i,), (T,)), ct.float32)
    ct.store(y, (0,), acc)


