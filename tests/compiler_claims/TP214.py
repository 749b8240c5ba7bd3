# Python that cuTile does not compile. Above each kernel: what is expected of it, and its arguments.
import cuda.tile as ct

# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def tries(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    try:
        t = t + 1
    finally:
        pass
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def asserts(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    assert n > 0
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def deletes(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    u = t
    del u
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def imports(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    import math
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def imports_from(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    from math import pi
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def globals_(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    global G
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def matches(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    match n:
        case 1:
            t = t + 1
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def classes(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    class A:
        pass
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def raises(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    raise ValueError(n)
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def for_else(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    for i in range(n):
        t = t + 1
    else:
        t = t * 2
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def while_else(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    while n > 0:
        n = n - 1
    else:
        t = t * 2
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def static_break(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    for i in ct.static_iter(range(4)):
        break
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def static_continue(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    for i in ct.static_iter(range(4)):
        if i == 2:
            continue
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def lists(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = [1, 2]
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def list_index(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    t = ct.load(x, [0], [T])
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def dictionaries(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = {1: 2}
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def sets(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = {1, 2}
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def list_comprehensions(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = [i for i in range(4)]
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def generators(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = sum(i for i in range(4))
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def walrus(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    if (m := n) > 0:
        t = t + m
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def async_nested(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    async def g():
        pass
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def decorated_nested(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    @ct.function
    def g(a):
        return a
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def yields(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    yield t
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def dead(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    if T < 0:
        assert n
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def starred_target(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    a, *b = (1, 2, 3)
    ct.store(y, (0,), t)


# expect: error
# args: float32[1], float32[1], int32, 16
@ct.kernel
def attribute_target(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    t.name = 1
    ct.store(y, (0,), t)


# expect: ok
# args: float32[1], float32[1], int32, 16
@ct.kernel
def lambdas(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    t = ct.reduce(t, 0, lambda a, b: a + b, 0, keepdims=True)
    ct.store(y, (0,), t)


# expect: ok
# args: float32[1], float32[1], int32, 16
@ct.kernel
def breaks(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    for i in range(n):
        if i > 3:
            break
        t = t + 1
    ct.store(y, (0,), t)


# expect: ok
# args: float32[1], float32[1], int32, 16
@ct.kernel
def brackets_target(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    [a, b] = (t, t)
    ct.store(y, (0,), t)


# expect: ok
# args: float32[1], float32[1], int32, 16
@ct.kernel
def nested(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    def g(a, b=1):
        return a + b
    t = g(t)
    ct.store(y, (0,), t)


# expect: ok
# args: float32[1], float32[1], int32, 16
@ct.kernel
def static_eval(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = ct.static_eval([i for i in range(T)][0])
    ct.store(y, (0,), t)


# expect: ok
# args: float32[1], float32[1], int32, 16
@ct.kernel
def static_assert(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    ct.static_assert(T in [8, 16], f"{[T]}")
    ct.store(y, (0,), t)


# expect: ok
# args: float32[1], float32[1], int32, 16
@ct.kernel
def static_list(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    for i in ct.static_iter([1, 2]):
        t = t + i
    ct.store(y, (0,), t)


# expect: ok
# args: float32[1], float32[1], int32, 16
@ct.kernel
def static_raise(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    if T > 64:
        raise ct.static_exception(ValueError([T]))
    ct.store(y, (0,), t)


# expect: ok
# args: float32[1], float32[1], int32, 16
@ct.kernel
def continues(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    for i in range(n):
        if i == 3:
            continue
        t = t + 1
    ct.store(y, (0,), t)


# expect: ok
# args: float32[1], float32[1], int32, 16
@ct.kernel
def tuples(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = tuple(i for i in ct.static_iter(range(4)))
    ct.store(y, (0,), t)


# expect: ok
# args: float32[1], float32[1], int32, 16
@ct.kernel
def annotated(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z: int = 4
    ct.store(y, (0,), t)


# expect: ok
# args: float32[1], float32[1], int32, 16
@ct.kernel
def conditional(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    t = t if n > 8 else t * 2
    ct.store(y, (0,), t)


# expect: ok
# args: float32[1], float32[1], int32, 16
@ct.kernel
def contained(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = 1 if T in (1, 16) and n is not None else 2
    ct.store(y, (0,), t)


# expect: ok
# args: float32[1], float32[1], int32, 16
@ct.kernel
def docstring(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    """Says [what] it does."""
    ct.store(y, (0,), t)


# expect: ok
# args: float32[1], float32[1], int32, 16
@ct.kernel
def arange_start(x, y, n, T: ct.Constant[int]):
    t = ct.load(x, (0,), (T,))
    z = ct.arange(T, dtype=ct.int32, start=4, step=2)
    ct.store(y, (0,), t)


