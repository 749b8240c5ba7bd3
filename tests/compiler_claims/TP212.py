# What tiles and arrays have, and what only tensors have. Above each kernel: what is expected of it, and its arguments.
import cuda.tile as ct

NEW = None

# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_0(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t.to(ct.float16)
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_1(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t.cast(ct.float16)
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_2(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t.float()
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_3(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t.view(16, 8)
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_4(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t.sum(0)
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_5(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t.unsqueeze(0)
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_6(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t.T
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_7(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t.contiguous()
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_8(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = x.T
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_9(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = x.view(-1)
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_10(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = x.size(0)
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_11(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = x.stride(1)
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_12(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = x.numel()
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_13(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = x.dim()
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_14(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = x.to(ct.float32)
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_15(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = x[i]
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_16(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = x[0, 1]
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_17(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = x[0:4]
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_18(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    x[i] = 1
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_19(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[0]
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_20(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[i]
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_21(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[T]
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_22(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[-1]
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_23(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[0, :]
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_24(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[:4]
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_25(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[1:, None]
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_26(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[t > 0]
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def tensors_27(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    t[0] = 1
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def theirs_0(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t.astype(ct.float16).reshape((16, 8)).permute((1, 0)).transpose()
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def theirs_1(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t.transpose()
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def theirs_2(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t.extract((0, 0), (1, 1)).item()
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def theirs_3(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[:, None]
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def theirs_4(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[None]
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def theirs_5(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[..., None]
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def theirs_6(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[:, None, :]
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def theirs_7(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[NEW]
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def theirs_8(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = x.shape[0] + x.strides[1] + x.ndim
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def theirs_9(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t.reshape((-1,))
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def bare_slice(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[:]
    ct.store(x, (i, 0), t)


# expect: error
# args: float32[2], int32, 16
@ct.kernel
def bare_ellipsis(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[...]
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def slice_in_tuple(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[:,]
    ct.store(x, (i, 0), t)


# expect: ok
# args: float32[2], int32, 16
@ct.kernel
def ellipsis_in_tuple(x, n, T: ct.Constant[int]):
    i = ct.bid(0)
    t = ct.load(x, (i, 0), (8, 16))
    u = t[..., ]
    ct.store(x, (i, 0), t)
