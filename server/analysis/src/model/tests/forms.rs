//! The cases: title, text, facts.

pub(super) const CASES: &[(&str, &str, &str)] = &[
    (
        "import aliases and decorator forms",
        "
import cuda.tile
import cuda.tile as ct
from cuda.tile import kernel as k, launch as go, Constant
from cuda import tile
ConstInt = ct.Constant[int]

@ct.kernel
def a(x, N: ct.Constant[int], M: ct.Constant, B: ConstInt, C: Constant[bool], plain: int): pass

@ct.kernel(occupancy=2, num_ctas=ct.ByTarget(sm_100=2, default=1))
def b(x): pass

@k
def c(x): pass

@cuda.tile.kernel()
def d(x): pass

@tile.kernel
def e(x): pass

go(s, (1,), c, ())
tile.launch(s, (1,), kernel=d, args=())
",
        "kernel a const:N const:M const:B const:C
         kernel b occupancy=2 num_ctas=ct.ByTarget(sm_100=2, default=1)
         kernel c
         kernel d
         kernel e
         launch c -> c
         launch d -> d",
    ),
    (
        "below and above other decorators, static, nested, in branches",
        "
import cuda.tile as ct
from functools import partial

@experimental_kernel
@ct.kernel
@other(1)
def a(x): pass

class Ops:
    @staticmethod
    @ct.kernel
    def b(x): pass

    def run(self, s):
        ct.launch(s, (1,), self.b, ())
        ct.launch(s, (1,), Ops.b, ())

def factory(n):
    @ct.kernel
    def c(x): pass
    return c

try:
    import cuda.tile as ct2
except ImportError:
    ct2 = None
else:
    @ct2.kernel
    def d(x): pass

@partial(ct.kernel, occupancy=4)
def e(x): pass

made = factory(3)
ct.launch(s, (1,), made, ())
",
        "kernel a
         kernel Ops.b
         kernel factory.<locals>.c
         kernel d
         kernel e occupancy=4
         launch self.b -> b
         launch Ops.b -> b
         launch made -> c",
    ),
    (
        "kernels made by a call",
        "
import cuda.tile as ct

def body(x): pass
def other(x): pass
fast = ct.kernel(body, occupancy=2)
slow = ct.kernel(num_ctas=2)(other)
ct.launch(s, (1,), fast, ())
ct.launch(s, (1,), slow, ())
ct.launch(s, (1,), ct.kernel(body), ())
",
        "kernel body occupancy=2
         kernel other num_ctas=2
         launch fast -> body
         launch slow -> other
         launch ct.kernel(body) -> body",
    ),
    (
        "launches through everything",
        "
import cuda.tile as ct
from cuda.tile import launch

@ct.kernel
def a(x): pass
@ct.kernel
def b(x): pass

TABLE = {'a': a, 'b': b}
l = launch

def conditional(s, f):
    ct.launch(s, (1,), a if f else b, ())

def alias(s, f):
    k = a
    if f:
        k = b
    l(s, (1,), k, ())

def table(s, name):
    kernel = TABLE[name]
    ct.launch(s, (1,), kernel, ())

def loop(s):
    for kernel, n in ((a, 1), (b, 2)):
        ct.launch(s, (n,), kernel, ())

def by_lambda(s):
    run = lambda x: ct.launch(s, (1,), a, (x,))
    run(1)

def helper(s, kernel, x=None):
    ct.launch(s, (1,), kernel, (x,))

def caller(s):
    helper(s, a)
    helper(s, x=1, kernel=b)

def unpacked(s):
    best = (1.0, a, {})
    _, kernel, cfg = best
    ct.launch(s, (1,), kernel, ())

def walrus(s):
    if (k := a):
        ct.launch(s, (1,), k, ())

def either(s, given):
    ct.launch(s, (1,), given or b, ())
",
        "kernel a
         kernel b
         launch a if f else b -> a,b
         launch k -> a,b
         launch kernel -> a,b
         launch kernel -> a,b
         launch a -> a
         launch kernel -> a,b,param:helper.kernel@1
         launch kernel -> a
         launch k -> a
         launch given or b -> b,param:either.given@1",
    ),
    (
        "tuned kernels out of a cache",
        "
import cuda.tile as ct
from cuda.tile.tune import exhaustive_search

@ct.kernel
def a(x): pass

_cache = {}

def space(n):
    for o in (1, 2):
        yield o

def run(s, key):
    if key not in _cache:
        result = exhaustive_search(list(space(key)), s, lambda c: (1,), a, lambda c: (), lambda c: {})
        _cache[key] = (result.best.config, a.replace_hints(occupancy=2))
    cfg, tuned = _cache[key]
    ct.launch(s, (1,), tuned, ())
",
        "kernel a
         launch tuned -> a
         search exhaustive_search a -> a in space:Generator
         hints a guarded -> a",
    ),
    (
        "a kernel chosen by configuration",
        "
import cuda.tile as ct
import cuda.tile.tune as tune

@ct.kernel
def a(x): pass
@ct.kernel
def b(x): pass

class Tuner:
    configs = [1, 2, 3]

    def go(self, s):
        tune.exhaustive_search(self.configs, s, g, lambda c: a if c.small else b, f)

def loops(s):
    for kernel, configs in ((a, [1]), (b, [1, 2])):
        tune.exhaustive_search(configs, s, g, kernel, f)

def inline(s):
    tune.exhaustive_search([c for c in made() if c], s, g, a, f)

def made():
    return [1, 2]
",
        "kernel a
         kernel b
         search exhaustive_search lambda c: a if c.small else b -> a,b in configs:List
         search exhaustive_search kernel -> a,b in :List,:List
         search exhaustive_search a -> a in made:Function",
    ),
    (
        "registrations",
        "
import cuda.tile as ct
from tilegym.backend import register_impl

@ct.kernel
def a(x): pass

def _launch(s):
    ct.launch(s, (1,), a, ())

@register_impl('op_a', backend='cutile')
def op(x):
    return _launch(x)

class F(Function):
    @staticmethod
    def forward(ctx, x):
        _launch(x)

def second(x):
    return F.apply(x)

register_impl('op_b', 'cutile')(second)
",
        "kernel a
         launch a -> a
         register op_a cutile op -> a
         register op_b cutile second -> a",
    ),
    (
        "when hints are replaced",
        "
import functools
import cuda.tile as ct

@ct.kernel
def a(x): pass

at_import = a.replace_hints(occupancy=2)
_cache = {}

def hot(s):
    ct.launch(s, (1,), a.replace_hints(occupancy=2), ())

def disabled(s, off, key):
    if off:
        k = a.replace_hints(occupancy=1)
    else:
        k = _cache[key]

@functools.lru_cache(maxsize=None)
def memoised(n):
    return a.replace_hints(occupancy=n)

def by_get(key):
    k = _cache.get(key)
    if k is None:
        k = a.replace_hints(occupancy=2)
        _cache[key] = k
    return k

def early(key):
    if key in _cache:
        return _cache[key]
    return a.replace_hints(occupancy=2)

def by_error(key):
    try:
        return _cache[key]
    except KeyError:
        return a.replace_hints(occupancy=2)

def only_called_guarded():
    return a.replace_hints(occupancy=2)

def caller(key):
    if key not in _cache:
        _cache[key] = only_called_guarded()

def library(n):
    return cached_replace_hints(a, occupancy=n)

def rewrapped(n):
    return ct.kernel(a._pyfunc, occupancy=n)

def literal(mode):
    if mode not in ('x', 'y'):
        a.replace_hints(occupancy=2)
",
        "kernel a
         launch a.replace_hints(occupancy=2) -> a
         hints a module -> a
         hints a hot -> a
         hints a hot -> a
         hints a cached -> a
         hints a guarded -> a
         hints a guarded -> a
         hints a guarded -> a
         hints a guarded -> a
         hints a cached -> a
         hints a hot -> a
         hints a hot -> a",
    ),
    (
        "the deprecated search and JAX",
        "
import cuda.tile as ct
import cuda.tile_experimental as ct_experimental
from cuda.tile.jax import cutile_call

@ct.kernel
def a(x): pass

def configs():
    return [1, 2]

ct_experimental.autotune_launch(s, g, a, f, search_space=configs)
cutile_call((1,), a, (x,))
",
        "kernel a
         launch a -> a
         search autotune_launch a -> a in configs:Function",
    ),
    (
        "pytest marks and context managers",
        "
import cuda.tile as ct
import pytest
from contextlib import contextmanager

@ct.kernel
def a(x): pass
@ct.kernel
def b(x): pass

@contextmanager
def fresh(k):
    yield ct.kernel(k._pyfunc)

@pytest.mark.parametrize('kernel, n', [(a, 1), pytest.param(b, 2)])
def test_both(kernel, n):
    ct.launch(s, (n,), kernel, ())

def test_fresh():
    with fresh(a) as k:
        ct.launch(s, (1,), k, ())
",
        "kernel a
         kernel b
         launch kernel -> a,b,param:test_both.kernel@0
         launch k -> a
         hints k hot -> a,param:fresh.k@0",
    ),
    (
        "imported kernels stay symbolic",
        "
import cuda.tile as ct
from ..kernels import far
from . import near
import pkg.deep.mod

ct.launch(s, (1,), far, ())
ct.launch(s, (1,), near.k, ())
ct.launch(s, (1,), pkg.deep.mod.k, ())
ct.launch(s, (1,), near.make(3), ())
",
        "launch far -> import:pkg.kernels.far
         launch near.k -> import:pkg.ops.near.k
         launch pkg.deep.mod.k -> import:pkg.deep.mod.k
         launch near.make(3) -> call:pkg.ops.near.make",
    ),
    (
        "no false friends",
        "
import cuda.lang as cl
import cuda.tile as ct
from somewhere import kernel, launch
import torch

@cl.kernel
def a(x): pass

@kernel
def b(x): pass

@torch.library.custom_op('x::y')
def c(x): pass

cl.launch(s, (1,), a, ())
launch(s, (1,), b, ())
app.launch(s, (1,), b, ())
browser.launch(headless=True)

text = 'ct.launch(s, (1,), b, ())'
# ct.launch(s, (1,), b, ())

def annotated(k: ct.kernel, f: 'ct.kernel' = None) -> ct.kernel:
    \"\"\"@ct.kernel\"\"\"
    x: ct.kernel = None
    return k

exhaustive_search([1], s, g, b, f)
torch.library.register_impl('x::y', 'cpu')(c)
",
        "",
    ),
    (
        "assigned names that shadow",
        "
import cuda.tile as ct

@ct.kernel
def k(x): pass

def shadowed(s, ct):
    ct.launch(s, (1,), k, ())

def local(s):
    launch = other
    launch(s, (1,), k, ())
",
        "kernel k",
    ),
];
