//! The texts.

/// Title, workspace, kernel, and the lines of its slice.
pub(super) const CASES: &[(&str, &str, &str, &str)] = &[
    (
        "helpers, constants and imports that are reached, and nothing else",
        r#"
        """A module."""
        import math
        import torch
        import cuda.tile as ct
        from typing import Any
        Const = ct.Constant[int]
        LOG2E = 1 / math.log(2)
        OTHER = torch.zeros(1 << 40)

        def helper(t):
            return inner(t) * LOG2E

        def inner(t):
            return t

        @ct.kernel(occupancy=2)
        def k(x, N: Const):
            t = ct.load(x, (0,), (N,))
            ct.store(x, (0,), helper(t))

        def launch(x):
            ct.launch(0, (1,), k, (x, 16))

        launch(torch.zeros(4))
        "#,
        "k",
        r#"
        import math
        import cuda.tile as ct
        Const = ct.Constant[int]
        LOG2E = 1 / math.log(2)
        def helper(t):
            return inner(t) * LOG2E
        def inner(t):
            return t
        @ct.kernel(occupancy=2)
        def k(x, N: Const):
            t = ct.load(x, (0,), (N,))
            ct.store(x, (0,), helper(t))
        "#,
    ),
    (
        "names of functions' own are not those of the file",
        r#"
        import cuda.tile as ct
        t = load_everything()
        n = load_everything()
        @ct.kernel
        def k(x):
            t = ct.load(x, (0,), (16,))
            f = lambda n: n + 1
            g = [n for n in (1, 2)]
            ct.store(x, (0,), t)
        "#,
        "k",
        r#"
        import cuda.tile as ct
        @ct.kernel
        def k(x):
            t = ct.load(x, (0,), (16,))
            f = lambda n: n + 1
            g = [n for n in (1, 2)]
            ct.store(x, (0,), t)
        "#,
    ),
    (
        "imports are narrowed to what is needed, however they are written",
        r#"
        from __future__ import annotations
        import os, cuda.tile as ct, sys
        from .a import one, two as TWO, three
        from .a import (
            four,  # the fourth
            five,
            six,
        )
        from .a import seven, \
            eight, nine
        @ct.kernel
        def k(x):
            ct.store(x, (TWO, five, nine), one)
        #- pkg.a
        one = 1
        two = 2
        three = os.system("three")
        five = 5
        nine = 9
        "#,
        "k",
        r#"
        from __future__ import annotations
        import     cuda.tile as ct
        from .a import one, two as TWO
        from .a import (
            five
               ,
        )
        from .a import        \
                   nine
        @ct.kernel
        def k(x):
            ct.store(x, (TWO, five, nine), one)
        #- pkg.a
        one = 1
        two = 2
        five = 5
        nine = 9
        "#,
    ),
    (
        "modules, submodules, packages that import in turn, and stars",
        r#"
        import cuda.tile as ct
        import lib.deep
        from . import near
        from lib import given
        from .stars import *
        from cuda.tile import *
        @ct.kernel
        def k(x):
            lib.deep.f(near.g(given(x)), starred, bid(0))
        #- pkg.near
        def g(x): return x
        def not_g(x): return x
        #- pkg.stars
        starred = 1
        unstarred = 2
        #- lib/
        from .impl import given, taken
        import lib.setup
        #- lib.impl
        def given(x): return x
        def taken(x): return x
        #- lib.deep
        def f(x): return h(x)
        def h(x): return x
        "#,
        "k",
        r#"
        import cuda.tile as ct
        import lib.deep
        from . import near
        from lib import given
        from .stars import *
        from cuda.tile import *
        @ct.kernel
        def k(x):
            lib.deep.f(near.g(given(x)), starred, bid(0))
        #- pkg.stars
        starred = 1
        #- lib
        from .impl import given
        #- lib.impl
        def given(x): return x
        #- pkg.near
        def g(x): return x
        #- lib.deep
        def f(x): return h(x)
        def h(x): return x
        "#,
    ),
    (
        "branches keep what binds",
        r#"
        import os
        import cuda.tile as ct
        if os.environ.get("FAST"):
            print("fast")
            N = 64  # fast
            M = 1
        elif ct:
            print("neither")
        else:
            N = 32
        try:
            from fast import lib
        except ImportError:
            print("slow")
            lib = None
        else:
            log()
        for i in range(3):
            Q = i
        while True:
            break
        with open("x") as f:
            P = f.read()
        @ct.kernel
        def k(x):
            ct.store(x, (0,), N if lib is None else Q)
        "#,
        "k",
        r#"
        import os
        import cuda.tile as ct
        if os.environ.get("FAST"):
            N = 64
        elif ct:
            0
        else:
            N = 32
        try:
            from fast import lib
        except ImportError:
            lib = None
        else:
            0
        for i in range(3):
            Q = i
        @ct.kernel
        def k(x):
            ct.store(x, (0,), N if lib is None else Q)
        "#,
    ),
    (
        "classes, and containers that are filled at the top",
        r#"
        import enum
        import cuda.tile as ct
        class Mode(enum.IntEnum):
            A = 1
        TABLE = {}
        TABLE["a"] = Mode.A
        TABLE.update(b=2)
        TABLE.get("a")
        show(TABLE)
        ct.settings["fast"] = True
        LIST = []
        LIST.append(1)
        @ct.kernel
        def k(x):
            ct.store(x, (0,), TABLE["a"])
        "#,
        "k",
        r#"
        import enum
        import cuda.tile as ct
        class Mode(enum.IntEnum):
            A = 1
        TABLE = {}
        TABLE["a"] = Mode.A
        TABLE.update(b=2)
        @ct.kernel
        def k(x):
            ct.store(x, (0,), TABLE["a"])
        "#,
    ),
    (
        "statements of one line",
        r#"
        import cuda.tile as ct; import os
        A = 1; os.remove("x"); B = 2; C = 3
        ö = "ä"; D = A
        @ct.kernel
        def k(x): y = 1; ct.store(x, (B,), D)
        "#,
        "k",
        r#"
        import cuda.tile as ct; 0
        A = 1; 0             ; B = 2; 0
        0        ; D = A
        @ct.kernel
        def k(x): y = 1; ct.store(x, (B,), D)
        "#,
    ),
    (
        "annotations, also those written as texts",
        r#"
        import cuda.tile as ct
        Const = ct.Constant[int]
        Text = ct.Constant[str]
        class T: pass
        def helper(x: T, y=DEFAULT) -> T:
            return x
        DEFAULT = 1
        @ct.kernel
        def k(x: "T", n: "Const"):
            helper(x)
        "#,
        "k",
        r#"
        import cuda.tile as ct
        Const = ct.Constant[int]
        class T: pass
        def helper(x: T, y=DEFAULT) -> T:
            return x
        DEFAULT = 1
        @ct.kernel
        def k(x: "T", n: "Const"):
            helper(x)
        "#,
    ),
    (
        "a kernel of a factory",
        r#"
        import cuda.tile as ct
        import torch
        N = 4
        @torch.no_grad()
        def make(block, x, *, flag=True):
            """Makes it."""
            twice = block * 2
            rows = x.shape[0]
            if flag:
                kind = "a"
            else:
                kind = "b"
            print(block)
            def helper(t):
                return t + twice + M
            M = N

            @ct.kernel
            def k(x):
                ct.store(x, (rows,), helper(kind))
            return k
        "#,
        "make.<locals>.k",
        r#"
        import cuda.tile as ct
        N = 4
        if 1:
            twice = block * 2
            if flag:
                kind = "a"
            else:
                kind = "b"
            def helper(t):
                return t + twice + M
            M = N
            @ct.kernel
            def k(x):
                ct.store(x, (rows,), helper(kind))
        "#,
    ),
    (
        "a kernel of a class, a branch, a handler",
        r#"
        import cuda.tile as ct
        if ct.new:
            class A(Base):
                size = 3
                @staticmethod
                @ct.kernel
                def k(x):
                    ct.store(x, (0,), 1)
        else:
            try:
                import nothing
            except ImportError as e:
                @ct.kernel
                def j(x):
                    ct.store(x, (0,), 2)
        "#,
        "A.k",
        r#"
        import cuda.tile as ct
        if 1:
            if 1:
                @staticmethod
                @ct.kernel
                def k(x):
                    ct.store(x, (0,), 1)
        "#,
    ),
    (
        "the second of two, in an else and an except",
        r#"
        import cuda.tile as ct
        if ct.new:
            @ct.kernel
            def k(x):
                ct.store(x, (0,), 1)
        else:
            try:
                import nothing
            except ImportError as e:
                @ct.kernel
                def k(x):
                    ct.store(x, (0,), 2)
        "#,
        "k",
        r#"
        import cuda.tile as ct
        if 1:
            if 1:
                @ct.kernel
                def k(x):
                    ct.store(x, (0,), 2)
        "#,
    ),
    (
        "within a try",
        r#"
        import cuda.tile as ct
        try:
            import fast
            A = fast.A
            @ct.kernel
            def k(x):
                ct.store(x, (0,), A)
        except ImportError:
            A = 2
        finally:
            print(1)
        "#,
        "k",
        r#"
        import cuda.tile as ct
        try:
            import fast
            A = fast.A
            @ct.kernel
            def k(x):
                ct.store(x, (0,), A)
        except ImportError:
            0
        "#,
    ),
    (
        "a function that is made a kernel by a call",
        r#"
        import cuda.tile as ct
        def plain(x):
            ct.store(x, (0,), 1)
        fast = ct.kernel(occupancy=2)(plain)
        "#,
        "plain",
        r#"
        import cuda.tile as ct
        def plain(x):
            ct.store(x, (0,), 1)
        fast = ct.kernel(occupancy=2)(plain)
        "#,
    ),
    (
        "two modules that need each other",
        r#"
        import cuda.tile as ct
        from pkg import other
        N = 1
        @ct.kernel
        def k(x):
            other.f(x)
        #- pkg.other
        from . import main
        from pkg.main import N as M
        def f(x): return x + M + main.N
        "#,
        "k",
        r#"
        import cuda.tile as ct
        from pkg import other
        N = 1
        @ct.kernel
        def k(x):
            other.f(x)
        #- pkg.other
        from . import main
        from pkg.main import N as M
        def f(x): return x + M + main.N
        "#,
    ),
];

/// Title, workspace, and the names that `make.<locals>.k` takes from around it.
pub(super) const CAPTURED: &[(&str, &str, &[&str])] = &[
    (
        "arguments",
        r#"
        import cuda.tile as ct
        def make(a, b, c):
            @ct.kernel
            def k(x): ct.store(x, (a,), b)
        "#,
        &["a", "b"],
    ),
    (
        "what needs an argument's attributes, items or result",
        r#"
        import cuda.tile as ct
        def make(a, b, c, d):
            e = a.shape[0]
            f = b[0]
            g = c()
            h = d + 1
            @ct.kernel
            def k(x): ct.store(x, (e, f, g), h)
        "#,
        &["d", "e", "f", "g"],
    ),
    (
        "what loops and contexts bind",
        r#"
        import cuda.tile as ct
        def make(a):
            for n in range(4):
                m = n
            with a as w:
                pass
            @ct.kernel
            def k(x): ct.store(x, (n, m), w)
        "#,
        &["m", "n", "w"],
    ),
    (
        "arguments of several functions around it",
        r#"
        import cuda.tile as ct
        class A: pass
        def make(a):
            b = 2
            @ct.kernel
            def k(x, y=a): ct.store(x, (b, y), A)
        "#,
        &["a"],
    ),
];

/// A kernel that needs a constant.
pub(super) const USES_X: &str = r#"
    import cuda.tile as ct
    @ct.kernel
    def k(x):
        ct.store(x, (0,), X)
"#;

/// A line before [`USES_X`], and what executing it is said to run.
pub(super) const RUNS: &[(&str, &[&str])] = &[
    ("X = 1", &[]),
    ("X = int(max(1, 2))", &[]),
    ("import math\nX = math.log(2)", &[]),
    (
        "import torch\nX = torch.cuda.get_device_properties(0).total_memory",
        &[],
    ),
    ("Y = {}\nY.update(a=1)\nX = Y.get('a')", &[]),
    (
        "class C:\n    def __init__(self): self.a = 1\nX = C().a",
        &[],
    ),
    (
        "def f(): return max(g(), 1)\ndef g(): return 2\nX = f()",
        &[],
    ),
    ("def f(): return f()\nX = f()", &[]),
    ("def deco(fn): return fn\n@deco\ndef X(): pass", &[]),
    (
        "def deco(fn):\n    fn()\n    return fn\n@deco\ndef X(): pass",
        &[],
    ),
    ("X = open('x').read()", &["calls `open`"]),
    ("def f(): return eval('1')\nX = f()", &["calls `f`"]),
    ("def f():\n    while True: pass\nX = f()", &["calls `f`"]),
    (
        "import torch\nf = torch.compile(1)\nX = f()",
        &["calls `f`"],
    ),
    ("for i in range(3): X = i", &["loops"]),
    (
        "with open('x') as X: pass",
        &["enters a context", "calls `open`"],
    ),
    ("X = lambda: open('x')", &[]),
    ("def X(a=input()): pass", &["calls `input`"]),
    ("class X:\n    a = exit()", &["calls `exit`"]),
];

/// Lines that must never run.
pub(super) const HALF_TYPED: &[&str] = &[
    "shutil.rmtree('/')",
    "shutil.rmtree(X)",
    "shutil.rmtree(",
    "shutil.rmtree(k",
    "os.remove(X); Y = 1",
    "Y = 1; os.remove(X)",
    "if X: shutil.rmtree('/')",
    "[shutil.rmtree(p) for p in '/']",
    "shutil.rmtree('/') if X else k",
    "assert shutil.rmtree('/')",
    "del k, shutil.rmtree",
    "for p in '/': shutil.rmtree(p)",
    "with shutil.rmtree('/'): pass",
    "shutil.rmtree.X = shutil.rmtree('/')",
    "lambda: shutil.rmtree('/')",
    "await shutil.rmtree('/')",
    "raise shutil.rmtree('/')",
    "@shutil.rmtree('/')\ndef other(): pass",
];
