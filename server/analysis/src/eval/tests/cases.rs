//! Counts, case by case. A count is for every architecture, or four are for sm_80, sm_90, sm_100 and
//! sm_120; `a..b` is a range over all inputs, `a..` has no upper bound, `-` is never reached.

use super::{said, space};
use crate::arch::Arch;

pub(super) fn check(cases: &[(&str, &str)]) {
    let archs = [Arch::Sm80, Arch::Sm90, Arch::Sm100, Arch::Sm120];
    for (text, wanted) in cases {
        let counts: Vec<String> = archs.iter().map(|arch| said(&space(text, *arch))).collect();
        let same = counts.iter().all(|c| *c == counts[0]);
        let got = if same {
            counts[0].clone()
        } else {
            counts.join(" ")
        };
        assert_eq!(got, *wanted, "\n{text}");
    }
}

#[test]
fn literals() {
    check(&[
        (
            r#"
search([1, 2, 3])
"#,
            "3",
        ),
        (
            r#"
search((1, 2))
"#,
            "2",
        ),
        (
            r#"
search([])
"#,
            "0",
        ),
        (
            r#"
search({1: 2, 3: 4})
"#,
            "2",
        ),
        (
            r#"
search({1, 1, 2})
"#,
            "2",
        ),
        (
            r#"
search([*range(3), 9])
"#,
            "4",
        ),
        (
            r#"
C = [1, 2]
search(C + C[:1])
"#,
            "3",
        ),
        (
            r#"
C = [1, 2] * 3
search(C)
"#,
            "6",
        ),
        (
            r#"
A, *B = 1, 2, 3
search(B)
"#,
            "2",
        ),
    ]);
}

#[test]
fn loops() {
    check(&[
        (
            r#"
def configs():
    for a in [1, 2]:
        for b in range(3):
            yield a, b
"#,
            "6",
        ),
        (
            r#"
def configs(n):
    for a in range(n):
        yield a
"#,
            "0..",
        ),
        (
            r#"
def configs(n):
    for a in (1, 2):
        if a < n:
            yield a
"#,
            "0..2",
        ),
        (
            r#"
def configs():
    for a in range(10):
        if a == 3:
            continue
        if a > 6:
            break
        yield a
"#,
            "6",
        ),
        (
            r#"
def configs():
    for a in range(3):
        yield a
    else:
        yield 9
"#,
            "4",
        ),
        (
            r#"
def configs():
    for a in range(3):
        break
    else:
        yield 9
"#,
            "0",
        ),
        (
            r#"
def configs():
    b = 1
    while b < 100:
        yield b
        b *= 2
"#,
            "7",
        ),
        (
            r#"
def configs(n):
    b = 1
    while b < n:
        yield b
        b *= 2
"#,
            "0..",
        ),
        (
            r#"
def configs(n: int):
    b = 1
    while True:
        b *= 2
        if b > n:
            break
    yield b
    yield 1
"#,
            "2",
        ),
        (
            r#"
def configs(xs):
    for x in xs:
        yield x
        yield x
"#,
            "0..",
        ),
        (
            r#"
def configs(xs):
    yield 0
    for x in xs:
        if x:
            break
        yield x
"#,
            "1..",
        ),
        (
            r#"
def configs(xs):
    out = []
    for x in xs:
        out = [x, x]
    return [1, 2, 3] + out
"#,
            "3..5",
        ),
        (
            r#"
def configs():
    for i, (a, b) in enumerate([(1, 2), (3, 4)]):
        for c in range(i):
            yield c
"#,
            "1",
        ),
        (
            r#"
def configs():
    for a, b in zip([1, 2, 3], (4, 5)):
        yield a
"#,
            "2",
        ),
    ]);
}

#[test]
fn standard_tools() {
    check(&[
        (
            r#"
import itertools
search(list(itertools.product([1, 2], (3, 4, 5), repeat=1)))
"#,
            "6",
        ),
        (
            r#"
from itertools import product as p
search([a for a in p([1, 2], repeat=3)])
"#,
            "8",
        ),
        (
            r#"
import itertools as it
search(list(it.chain([1], it.chain.from_iterable([[2, 3], (4,)]))))
"#,
            "4",
        ),
        (
            r#"
from itertools import permutations, combinations
search(list(permutations([1, 2, 3])) + list(combinations(range(5), 2)))
"#,
            "16",
        ),
        (
            r#"
from itertools import islice, count
search(list(islice(count(), 5)))
"#,
            "5",
        ),
        (
            r#"
from itertools import count
search(list(zip(count(), [1, 2])))
"#,
            "2",
        ),
        (
            r#"
from itertools import product
def configs(n):
    return [c for c in product([1, 2], [3, 4]) if c[0] * c[1] <= n]
"#,
            "0..4",
        ),
        (
            r#"
import random
C = list(range(20))
search(random.sample(C, 8))
"#,
            "8",
        ),
        (
            r#"
import random
def configs(n):
    return random.sample([1, 2, 3], min(2, n))
"#,
            "0..2",
        ),
        (
            r#"
import random
C = [1, 2, 3]
random.shuffle(C)
search(C[:2])
"#,
            "2",
        ),
        (
            r#"
import functools
def f(a, b):
    return list(range(a * b))
g = functools.partial(f, b=2)
search(g(3))
"#,
            "6",
        ),
        (
            r#"
import math
search([2 ** i for i in range(int(math.log2(16)), math.ceil(7.5))])
"#,
            "4",
        ),
    ]);
}

#[test]
fn sets_order_and_slices() {
    check(&[
        (
            r#"
search(list(set([1, 2, 2, 1.0])))
"#,
            "2",
        ),
        (
            r#"
search(list(dict.fromkeys([1, 2, 1])))
"#,
            "2",
        ),
        (
            r#"
def configs(n: int):
    return sorted({n // 2, n, n * 2})
"#,
            "1..3",
        ),
        (
            r#"
def configs(n: int):
    return sorted({8, max(16, n)})
"#,
            "2",
        ),
        (
            r#"
def configs():
    seen = set()
    for a in [1, 2, 3, 4, 5]:
        key = (a % 2, 0)
        if key in seen:
            continue
        seen.add(key)
        yield a
"#,
            "2",
        ),
        (
            r#"
search(sorted([3, 1, 2], key=lambda x: -x)[1:])
"#,
            "2",
        ),
        (
            r#"
search([1, 2, 3, 4, 5][::2])
"#,
            "3",
        ),
        (
            r#"
search([1, 2, 3, 4, 5][-2:])
"#,
            "2",
        ),
        (
            r#"
def configs(n):
    return [1, 2, 3, 4][:n]
"#,
            "0..4",
        ),
        (
            r#"
def configs(xs):
    return list(xs)[:3]
"#,
            "0..3",
        ),
        (
            r#"
search({1, 2} | {2, 3})
"#,
            "3",
        ),
        (
            r#"
search(list({1, 2, 3} - {2}))
"#,
            "2",
        ),
    ]);
}

#[test]
fn functions() {
    check(&[
        (
            r#"
def f(k, b=3):
    return [k] * b
search(f(1) + f(1, 2) + f(k=1, b=1))
"#,
            "6",
        ),
        (
            r#"
def f(*a, **k):
    return list(a) + list(k)
search(f(1, 2, x=3))
"#,
            "3",
        ),
        (
            r#"
def f():
    yield 1
    yield 2
search(f())
"#,
            "2",
        ),
        (
            r#"
def f():
    yield 1
g = f()
list(g)
search(list(g))
"#,
            "0",
        ),
        (
            r#"
def f():
    yield from g()
    yield from (x for x in (1, 2) if x > 1)
def g():
    yield 1
    return
    yield 2
search(list(f()))
"#,
            "2",
        ),
        (
            r#"
def f(n):
    if n <= 0:
        return []
    return [n] + f(n - 1)
search(f(4))
"#,
            "4",
        ),
        (
            r#"
def f(n):
    return f(n + 1)
search(f(1))
"#,
            "0..",
        ),
        (
            r#"
import functools
@functools.lru_cache(maxsize=None)
def f():
    return [1, 2]
search(f())
"#,
            "2",
        ),
        (
            r#"
def twice(f):
    def g():
        return f() + f()
    return g
@twice
def f():
    return [1, 2]
search(f())
"#,
            "4",
        ),
        (
            r#"
from elsewhere import listify
@listify
def f():
    return [1, 2]
search(f())
"#,
            "0..",
        ),
        (
            r#"
def configs(n):
    def inner(k):
        return [k] * 2
    return inner(1) + inner(n)
"#,
            "4",
        ),
        (
            r#"
search(list(map(lambda x: x, [1, 2])) + list(filter(lambda x: x > 1, [1, 2])))
"#,
            "3",
        ),
        (
            r#"
search(list(filter(None, [0, 1, 2])))
"#,
            "2",
        ),
        (
            r#"
def f():
    return lambda: [1, 2, 3]
search(f()())
"#,
            "3",
        ),
        (
            r#"
def spaces():
    return {"a": [1, 2], "b": [3]}
search(spaces()["a"])
"#,
            "2",
        ),
        (
            r#"
def f(x, acc=[]):
    return acc + [x]
search(f(1))
"#,
            "1",
        ),
        (
            r#"
async def f():
    return [1]
search(f())
"#,
            "0..",
        ),
    ]);
}

#[test]
fn what_depends_on_inputs() {
    check(&[
        (
            r#"
def configs(page=None):
    if page is None:
        yield 1
        yield 2
    if page is not None:
        yield 3
"#,
            "1..2",
        ),
        (
            r#"
def configs(flag):
    if flag:
        yield 1
    if not flag:
        yield 2
"#,
            "1",
        ),
        (
            r#"
def configs(n: int):
    if n > 128:
        yield 1
    if n > 64:
        yield 2
    elif n <= 64:
        yield 3
"#,
            "1..2",
        ),
        (
            r#"
def configs(n):
    for t in [16, 32, 64]:
        if n % t == 0:
            yield t
    if n % 16 != 0:
        yield 1
"#,
            "1..3",
        ),
        (
            r#"
def configs(n):
    if n == 4:
        yield from range(n)
    else:
        yield 0
"#,
            "1..4",
        ),
        (
            r#"
T = {64: [1, 2], 128: [1, 2, 3]}
def configs(n):
    return T.get(n, [0])
"#,
            "1..3",
        ),
        (
            r#"
A = {64: [1, 2], 128: [1]}
B = {64: [1, 2], 128: [1]}
def configs(n):
    for a in A.get(n, [1, 2, 3]):
        for b in B.get(n, [1, 2, 3]):
            yield a, b
"#,
            "1..9",
        ),
        (
            r#"
A = {64: [1, 2], 128: [1]}
B = {64: [1], 128: [1, 2]}
def configs(n):
    return A[n] + B[n]
"#,
            "3",
        ),
        (
            r#"
def configs(n):
    k = 2 if n else 3
    return [0] * k
"#,
            "2..3",
        ),
        (
            r#"
def configs(n, m):
    a = n > 4 and m > 4
    return [1] * (3 if a else 1)
"#,
            "1..3",
        ),
        (
            r#"
def configs(m):
    cfgs = [1, 2, 4, 8]
    kept = [c for c in cfgs if c <= m]
    return kept if kept else cfgs
"#,
            "1..4",
        ),
        (
            r#"
def configs(m):
    cfgs = [c for c in [1, 2, 4] if c <= m]
    if not cfgs:
        cfgs.append(0)
    return cfgs
"#,
            "1..3",
        ),
        (
            r#"
def configs(m):
    return [c for c in [1, 2] if m.ok(c)] or [3]
"#,
            "1..2",
        ),
        (
            r#"
def configs(m):
    out = []
    for c in [1, 2, 3]:
        if m.ok(c):
            out.append(c)
        else:
            out.extend([c, c])
    return out
"#,
            "3..6",
        ),
        (
            r#"
def configs(n: int):
    lo = min(8, n)
    for t in (16, 32):
        if t <= lo:
            yield t
    yield 1
"#,
            "1",
        ),
        (
            r#"
import os
def configs():
    if os.environ.get("QUICK") == "1":
        return [1]
    return [1, 2, 3]
"#,
            "1..3",
        ),
        (
            r#"
def configs(x):
    if isinstance(x, int):
        return [x]
    return x
"#,
            "0..",
        ),
        (
            r#"
def configs(n):
    assert n > 4
    if n > 2:
        yield 1
    else:
        yield 1
        yield 2
"#,
            "1",
        ),
        (
            r#"
def configs(n):
    if n > 4:
        raise ValueError
    if n > 8:
        yield 1
    yield 2
"#,
            "1",
        ),
        (
            r#"
def configs(n):
    match n:
        case 1:
            yield 1
        case _:
            yield 2
            yield 3
"#,
            "0..2",
        ),
        (
            r#"
def configs(n):
    x = n
    if (y := x + 1) > 3:
        yield y
    yield 0
"#,
            "1..2",
        ),
    ]);
}

#[test]
fn exceptions() {
    check(&[
        (
            r#"
def configs():
    try:
        yield 1
        raise ValueError
    except ValueError:
        yield 2
    yield 3
"#,
            "3",
        ),
        (
            r#"
def check(c):
    assert c < 3
def configs():
    for c in range(5):
        try:
            check(c)
        except AssertionError:
            continue
        yield c
"#,
            "3",
        ),
        (
            r#"
def configs(n):
    for c in range(5):
        try:
            n.check(c)
        except Exception:
            continue
        yield c
"#,
            "0..5",
        ),
        (
            r#"
try:
    import fast
    C = [1]
except ImportError:
    C = [1, 2]
search(C)
"#,
            "1..2",
        ),
        (
            r#"
D = {1: [1]}
def configs():
    try:
        return D[2]
    except KeyError:
        return [1, 2]
"#,
            "2",
        ),
        (
            r#"
import contextlib
def configs(n):
    with contextlib.suppress(KeyError):
        yield n[0]
    yield 1
"#,
            "1..2",
        ),
        (
            r#"
def configs(lock):
    with lock as l:
        yield 1
    try:
        yield 2
    finally:
        yield 3
"#,
            "3",
        ),
    ]);
}

#[test]
fn records_and_classes() {
    check(&[
        (
            r#"
from types import SimpleNamespace
def configs():
    base = [SimpleNamespace(a=a, b=2) for a in (1, 2, 4)]
    for c in base:
        if c.a * c.b > 2:
            yield SimpleNamespace(**vars(c), d=1)
"#,
            "2",
        ),
        (
            r#"
from dataclasses import dataclass, replace
@dataclass(frozen=True)
class C:
    a: int
    b: int = 4
search([c for c in [C(1), C(2, b=8), replace(C(1), b=9)] if c.b > 4])
"#,
            "2",
        ),
        (
            r#"
from typing import NamedTuple
class C(NamedTuple):
    a: int
    b: int = 1
search([a for a, b in [C(1), C(2, 3)] if b > 1])
"#,
            "1",
        ),
        (
            r#"
from collections import namedtuple
C = namedtuple("C", "a b")
search([c for c in (C(1, 2), C(a=3, b=4)) if c.b == 4])
"#,
            "1",
        ),
        (
            r#"
C = [dict(a=1), {"a": 2, "b": 1}]
search([c for c in C if c.get("b", 0)])
"#,
            "1",
        ),
        (
            r#"
from triton import Config
search([c for c in [Config(n=1), Config(n=2)] if c.n > 1])
"#,
            "1",
        ),
        (
            r#"
class S:
    def __init__(self, xs):
        self.xs = xs
    def __iter__(self):
        for x in self.xs:
            yield x
search(list(S([1, 2])))
"#,
            "2",
        ),
        (
            r#"
class S:
    SIZES = [1, 2, 3]
    @staticmethod
    def some():
        return S.SIZES[:2]
    @classmethod
    def all(cls):
        return cls.SIZES
search(S.some() + S.all())
"#,
            "5",
        ),
        (
            r#"
class Op:
    SIZES = [1, 2, 3]
    def _space(self):
        return [s for s in self.SIZES if s > 1]
    def run(self, x):
        configs = self._space()
        search(configs)
"#,
            "2",
        ),
        (
            r#"
class Op:
    @property
    def space(self):
        return [1, 2]
    def run(self):
        search(self.space)
"#,
            "2",
        ),
        (
            r#"
class Op:
    def __init__(self):
        self.space = [1]
    def grow(self):
        self.space.append(2)
    def run(self):
        search(self.space)
"#,
            "0..",
        ),
    ]);
}

#[test]
fn modules() {
    check(&[
        (
            r#"
C = []
for a in (1, 2):
    C.append(a)
    for b in (1, 2):
        C.append(b)
search(C)
"#,
            "6",
        ),
        (
            r#"
A, B = [], []
for a in (1, 2):
    A.append(a)
    B.extend([a, a])
search(A + B)
"#,
            "6",
        ),
        (
            r#"
C = []
def register(c):
    C.append(c)
search(C)
"#,
            "0..",
        ),
        (
            r#"
C = {}
def get(k):
    if k not in C:
        C[k] = [k, k]
    return C[k]
search(get(1))
"#,
            "2",
        ),
        (
            r#"
_C = None
def get():
    global _C
    if _C is None:
        _C = [1, 2, 3]
    return _C
search(get())
"#,
            "3",
        ),
        (
            r#"
_ON = False
def enable():
    global _ON
    _ON = True
def configs():
    return [1] if _ON else [1, 2]
"#,
            "1..2",
        ),
        (
            r#"
from .parts import SIZES, space
search([s for s in space(SIZES)])
#- parts
from .more import *
def space(xs):
    for x in xs:
        yield x
        yield x
#- more
SIZES = [1, 2, 3]
"#,
            "6",
        ),
        (
            r#"
import pkg.parts as p
search(p.SIZES)
#- pkg
x = 1
#- pkg.parts
SIZES = (1, 2)
"#,
            "2",
        ),
        (
            r#"
from pkg import parts
search(parts.f())
#- pkg
#- pkg.parts
from pkg.base import N
def f():
    return range(N)
#- pkg.base
N = 1 << 3
"#,
            "8",
        ),
        (
            r#"
from nowhere import SIZES
search([s for s in SIZES])
"#,
            "0..",
        ),
        (
            r#"
import a
search(a.X)
#- a
import b
X = b.Y
#- b
import a
Y = [1, 2]
"#,
            "2",
        ),
    ]);
}

#[test]
fn where_the_search_stands() {
    check(&[
        (
            r#"
def run(x):
    n = x.shape[0]
    out = make(n)
    if x.is_cuda:
        out.zero_()
    configs = list(space(n))
    search(configs)
    return out
def space(n):
    for t in (1, 2, 3):
        if t * 2 <= n:
            yield t
    yield 0
"#,
            "1..4",
        ),
        (
            r#"
def run(n):
    configs = [c for c in (1, 2, 4) if c <= n]
    if not configs:
        raise ValueError
    search(configs)
"#,
            "1..3",
        ),
        (
            r#"
def run(n):
    configs = [c for c in (1, 2, 4) if c <= n]
    assert configs, "empty"
    search(configs)
"#,
            "0..3",
        ),
        (
            r#"
def run(n):
    if n > 8:
        configs = [1]
    else:
        configs = [1, 2]
    if n > 16:
        search(configs)
"#,
            "1",
        ),
        (
            r#"
def run(n):
    for k, configs in (("a", [1, 2]), ("b", [1, 2, 3])):
        try:
            search(configs)
        except Exception:
            continue
"#,
            "2..3",
        ),
        (
            r#"
def outer(n):
    base = [1, 2]
    def inner(m):
        search(base + [m])
    inner(n)
"#,
            "3",
        ),
        (
            r#"
CACHE = {}
def run(key, n):
    if key not in CACHE:
        search([1, 2][:1])
    return CACHE[key]
"#,
            "1",
        ),
        (
            r#"
def run():
    return
    search([1])
"#,
            "-",
        ),
        (
            r#"
def run(n):
    f = lambda: search([n] * 2)
    return f
"#,
            "2",
        ),
        (
            r#"
def run(n):
    configs = space
    search(configs)
def space():
    yield 1
    yield 2
"#,
            "2",
        ),
        (
            r#"
def run(n):
    out = [1]
    try:
        first = [1][5]
        other = n
    except IndexError:
        out.append(2)
    search(out)
"#,
            "2",
        ),
        (
            r#"
def run(n, m):
    out = []
    for x in (1, 2, 3):
        if m.skips(x):
            continue
        out.append(x)
    search(out)
"#,
            "0..3",
        ),
        (
            r#"
def run(n):
    for x in (8, 16, 32):
        if x > 10:
            search([x] * (x // 16))
"#,
            "1..2",
        ),
        (
            r#"
def run(n):
    out = []
    i = 0
    while i < 9:
        i += 1
        j = i * 2
        if j > 6:
            break
        out.append(i)
    search(out)
"#,
            "3",
        ),
        (
            r#"
def run(n):
    try:
        search([1, 2])
    except Exception:
        search([])
"#,
            "2",
        ),
        (
            r#"
class Op:
    def __init__(self, n):
        self.n = n
        self.space = [1, 2]
    def run(self):
        search(self.space)
"#,
            "2",
        ),
        (
            r#"
@decorated
class Op:
    class Inner:
        def run(self):
            def deeper():
                configs = [1]
                search(configs)
            deeper()
"#,
            "1",
        ),
    ]);
}

#[test]
fn values() {
    check(&[
        (
            r#"
search("a,b,c".split(","))
"#,
            "3",
        ),
        (
            r#"
def configs():
    for t in ["fp8_a", "bf16"]:
        if t.startswith("fp8"):
            yield t
"#,
            "1",
        ),
        (
            r#"
search([x for x in [1, 2.5, "a", None, (1,)] if isinstance(x, (int, str))])
"#,
            "2",
        ),
        (
            r#"
search([0] * (7 // 2 + -7 // 2 + 7 % 3 + (-7) % 3 + (1 << 2) - (6 & 3) + (5 ^ 1)))
"#,
            "8",
        ),
        (
            r#"
search([0] * (9223372036854775807 * 2 - 9223372036854775807 * 2 + 3))
"#,
            "0..",
        ),
        (
            r#"
search([x for x in range(6) if 1 < x <= 4 and not x == 3 or x == 0])
"#,
            "3",
        ),
        (
            r#"
search([x for x in range(4) if any(x == y for y in (1, 2)) or all(x > y for y in (2,))])
"#,
            "3",
        ),
        (
            r#"
search([0] * sum([1, 2]) + [0] * max([1, 4], key=abs) + [0] * len("ab"))
"#,
            "6..9",
        ),
        (
            r#"
search([0] * (1 // 0))
"#,
            "0..",
        ),
        (
            r#"
x = [1, 2, 3]
x.pop()
x.insert(0, 9)
x.remove(9)
x += [4]
del x[0]
search(x)
"#,
            "2",
        ),
        (
            r#"
d = {"a": 1}
d.update(b=2)
d["c"] = 3
d.setdefault("a", 4)
d.pop("b")
search(list(d.items()))
"#,
            "2",
        ),
        (
            r#"
search([a for a, b in {"x": 1, "y": 2}.items() if b > 1])
"#,
            "1",
        ),
    ]);
}

#[test]
fn bounds() {
    check(&[
        (
            r#"
def configs():
    for a in range(1000):
        for b in range(1000):
            yield a, b
"#,
            "1000000",
        ),
        (
            r#"
import itertools
R = range(100)
search(list(itertools.product(R, R, R, R, R, R, R, R, R)))
"#,
            "1000000000000000000",
        ),
        (
            r#"
import itertools
R = range(100)
search(list(itertools.product(R, R, R, R, R, R, R, R, R, R)))
"#,
            "18446744073709551615..",
        ),
        (
            r#"
def configs():
    for a in range(1 << 40):
        yield a
"#,
            "1099511627776",
        ),
        (
            r#"
def configs():
    while True:
        yield 1
"#,
            "0..",
        ),
        (
            r#"
def configs(xs):
    for x in xs:
        for y in xs:
            for z in xs:
                if x.a and y.b or z.c:
                    yield x
                    yield y
"#,
            "0..",
        ),
    ]);
}

#[test]
fn the_device_decides() {
    check(&[
        (
            r#"
import torch
def configs():
    cap = torch.cuda.get_device_capability()
    if cap in [(12, 0), (12, 1)]:
        yield 1
    elif cap[0] < 9:
        yield 1
        yield 2
    else:
        yield from (1, 2, 3)
"#,
            "2 3 3 1",
        ),
        (
            r#"
import torch
def configs():
    major, minor = torch.cuda.get_device_capability("cuda")
    return [0] * (major * 10 + minor)
"#,
            "80 90 100 120",
        ),
        (
            r#"
import torch
P = torch.cuda.get_device_properties(0)
search([0] * (P.major - 7))
"#,
            "1 2 3 5",
        ),
        (
            r#"
import torch
def configs():
    sms = torch.cuda.get_device_properties("cuda").multi_processor_count
    if sms > 0:
        yield 1
    if sms > 100:
        yield 2
"#,
            "1..2",
        ),
        (
            r#"
from .dev import is_hopper as h, arch
def configs():
    if h():
        yield 1
    if arch() >= 100:
        yield 2
        yield 3
#- dev
import torch
def arch():
    a, b = torch.cuda.get_device_capability()
    return a * 10 + b
def is_hopper():
    return arch() // 10 == 9
"#,
            "0 1 2 2",
        ),
        (
            r#"
import torch
N = 2 if torch.cuda.get_device_capability() >= (9, 0) else 1
search([c for c in (1, 2, 4) if c <= N])
"#,
            "1 2 2 2",
        ),
        (
            r#"
import torch
T = {8: [1], 9: [1, 2], 10: [1, 2, 3]}
search(T.get(torch.cuda.get_device_capability()[0], []))
"#,
            "1 2 3 0",
        ),
        (
            r#"
import torch
def run():
    if torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 10:
        search([1, 2])
"#,
            "- - 2 2",
        ),
        (
            r#"
import torch
def configs():
    for n in [1, 2, 4]:
        if n > 1 and torch.cuda.get_device_capability()[0] < 9:
            continue
        yield n
"#,
            "1 3 3 3",
        ),
    ]);
}
