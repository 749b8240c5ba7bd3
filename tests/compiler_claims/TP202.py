# Texts in kernels. Above each kernel: what is expected of it, and its arguments.
import cuda.tile as ct

def helper(t, mode: ct.Constant[str]):
    return ct.exp(t) if mode == "exp" else t

# expect: ok
# args: float32[1], 16
@ct.kernel
def inside(x, T: ct.Constant[int]):
    ct.store(x, (0,), helper(ct.load(x, (0,), (T,)), "exp"))


# expect: error
# args: float32[1], 16, "exp"
@ct.kernel
def passed(x, T: ct.Constant[int], mode: ct.Constant[str]):
    ct.store(x, (0,), helper(ct.load(x, (0,), (T,)), mode))
