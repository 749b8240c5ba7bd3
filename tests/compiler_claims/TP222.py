# Names that only some branches bind. Above each kernel: what is expected of it, and its arguments.
import cuda.tile as ct

# expect: error undefined
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def no_else(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    if i == 0:
        a = 1.0
    ct.store(y, 0, a)


# expect: error undefined
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def else_without(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    if i > 0:
        a = 1.0
    else:
        pass
    ct.store(y, 0, a)


# expect: error undefined
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def elif_without(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    if i == 0:
        a = 1.0
    elif i == 1:
        b = 1.0
    else:
        a = 2.0
    ct.store(y, 0, a)


# expect: error undefined
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def by_memory(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    if v > 0:
        a, b = 1.0, 2.0
    ct.store(y, 0, b)


# expect: error undefined
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def by_scalar(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    if n > 0:
        a = 1.0
    ct.store(y, 0, a)


# expect: error undefined
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def through_and(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    if not (i == 0 and v > 1):
        a = 1.0
    ct.store(y, 0, a)


# expect: error undefined
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def in_loop(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    for j in range(n):
        if j == 0:
            a = 1.0
        ct.store(y, 0, a)


# expect: error undefined
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def same_condition(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    if i == 0:
        a = 1.0
    if i == 0:
        ct.store(y, 0, a)


# expect: error undefined
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def augmented(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    if i == 0:
        a = 1.0
    a += 1.0
    ct.store(y, 0, a)


# expect: error undefined
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def constant_and_runtime(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    if F and i == 0:
        a = 1.0
    ct.store(y, 0, a)


# expect: error undefined
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def bound_by_loop(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    for j in range(n):
        a = 1.0
    ct.store(y, 0, a)


# expect: error undefined
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def const_range_loop(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    for j in range(4):
        a = 1.0
    ct.store(y, 0, a)


# expect: ok
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def before(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    a = 0.0
    if i > 0:
        a = 1.0
    ct.store(y, 0, a)


# expect: ok
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def both(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    if i > 0:
        a = 1.0
    else:
        a = 2.0
    ct.store(y, 0, a)


# expect: ok
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def leaves(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    if i > 0:
        a = 1.0
    else:
        return
    ct.store(y, 0, a)


# expect: ok
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def continues(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    for j in range(n):
        if j > 3:
            continue
        else:
            a = 1.0
        ct.store(y, 0, a)


# expect: ok
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def within(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    if i > 0:
        a = 1.0
        ct.store(y, 0, a)


# expect: ok
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def constant(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    if F:
        a = 1.0
    ct.store(y, 0, a)


# expect: ok
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def dtype(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    if x.dtype == ct.float32:
        a = 1.0
    ct.store(y, 0, a)


# expect: ok
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def constant_or(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    if F or i > 0:
        a = 1.0
    ct.store(y, 0, a)


# expect: ok
# args: float32[1], float32[1], int32, True, 16
@ct.kernel
def static_loop(x, y, n, F: ct.Constant[bool], T: ct.Constant[int]):
    i = ct.bid(0)
    v = ct.load(x, i, shape=())
    for j in ct.static_iter(range(4)):
        if j == 0:
            a = 1.0
        ct.store(y, 0, a)


