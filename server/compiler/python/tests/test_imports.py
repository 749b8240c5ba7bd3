"""Slices see each other, what computes only, and stand-ins for everything else."""

from __future__ import annotations

import textwrap
import unittest

from support import LOAD, Case, copy

HELPER = """
    import cuda.tile as ct
    FACTOR = 2
    def scale(tile):
        return tile * FACTOR
"""


class Imports(Case):
    """Imports in slices."""

    def test_modules_of_the_request(self) -> None:
        """By every form of import, as Python resolves it."""
        forms = [
            ("from pkg.helper import scale", "scale"),
            ("from .helper import scale as s", "s"),
            ("from . import helper", "helper.scale"),
            ("import pkg.helper", "pkg.helper.scale"),
            ("import pkg.helper as h", "h.scale"),
            ("from pkg import helper as h", "h.scale"),
            ("from .helper import *", "scale"),
            ("if True:\n    from .helper import scale", "scale"),
            ("try:\n    from .helper import scale\nexcept ImportError:\n    scale = None", "scale"),
        ]
        for statement, name in forms:
            with self.subTest(statement):
                texts = {
                    "pkg.main": copy(statement, f"{name}({LOAD})"),
                    "pkg.helper": textwrap.dedent(HELPER),
                }
                self.assertEqual(self.compiled(texts)["failures"], [])

    def test_packages_that_import_in_turn(self) -> None:
        """An `__init__` of the request runs; relative imports in it start from the package."""
        texts = {
            "pkg.main": copy("from lib import scale", f"scale({LOAD})"),
            "lib": "from .deep.helper import scale\n",
            "lib.deep.helper": textwrap.dedent(HELPER),
        }
        self.assertEqual(self.compiled(texts)["failures"], [])

    def test_a_circle(self) -> None:
        """Two modules that import each other."""
        texts = {
            "pkg.main": copy("N = 1\nfrom .helper import scale", f"scale({LOAD})"),
            "pkg.helper": "from . import main\n" + textwrap.dedent(HELPER),
        }
        self.compiled(texts)

    def test_names_of_real_modules(self) -> None:
        """A module of the request wins over one of Python's with its name."""
        texts = {
            "pkg.main": copy("from statistics import scale", f"scale({LOAD})"),
            "statistics": textwrap.dedent(HELPER),
        }
        self.assertEqual(self.compiled(texts)["failures"], [])
        import_real = copy("import statistics\nN = statistics.mean([2, 2])", f"{LOAD} * N")
        self.assertEqual(self.compiled(import_real)["failures"], [])

    def test_nothing_stays_from_one_request_to_the_next(self) -> None:
        """A module is the text of its request."""
        for factor in (2, 3):
            helper = textwrap.dedent(HELPER).replace("2", str(factor))
            check = f"from .helper import FACTOR\nassert FACTOR == {factor}"
            answer = self.compiled({"pkg.main": copy(check), "pkg.helper": helper})
            self.assertEqual(answer["failures"], [])
        self.assertNotEqual(self.compile(copy(check))["failures"], [])

    def test_what_only_computes_is_real(self) -> None:
        """Its results are constants of kernels."""
        before = """
            from __future__ import annotations
            import dataclasses, enum, functools, math, operator
            from typing import NamedTuple

            class Mode(enum.IntEnum):
                FAST = 2

            @dataclasses.dataclass(frozen=True)
            class Config:
                n: int = 4

            class Pair(NamedTuple):
                a: int

            N = math.prod([Mode.FAST, Config().n, Pair(2).a]) + functools.reduce(operator.add, [1])
            assert N == 17
        """
        self.assertEqual(self.compiled(copy(before, f"{LOAD} * N"))["failures"], [])

    def test_dtypes_of_torch_are_those_of_cutile(self) -> None:
        """Kernels cast to them."""
        for name in ("float32", "bfloat16", "int64", "half", "float8_e4m3fn"):
            with self.subTest(name):
                text = copy(
                    f"import torch\nDT = torch.{name}",
                    f"ct.astype(ct.astype({LOAD}, DT), ct.float16)",
                )
                self.assertEqual(self.compiled(text)["failures"], [])

    def test_everything_else_is_a_stand_in(self) -> None:
        """It can be used as modules of the host's are used, and does nothing."""
        uses = [
            "import torch\nx: torch.Tensor | None = None",
            "import torch, torch.nn.functional as F\nclass M(torch.nn.Module, F.x):\n    a = 1",
            "import triton\n@triton.jit\ndef f(): pass\nassert f.__name__ == 'f'",
            "import logging\nlogging.getLogger(__name__).info('x')",
            "import os\nN = int(os.environ.get('N', '4'))\nassert N == 4",
            "import os\nassert os.getenv('HOME') is None",
            "import torch\nif torch.cuda.is_available() and torch.__doc__:\n    raise SystemError",
            "import torch\nV = tuple(int(v) for v in torch.version.split('.'))\nassert V < (2,)",
            "from a.b import c\nwith c.d() as e:\n    e[1].f(2).g = 3\nfor _ in c: pass",
            "import subprocess\nsubprocess.run(['false'], check=True)",
            "import sys\nassert sys.version_info >= (3, 10)\nsys.exit(1)",
            "from cuda.bindings import driver\ndriver.cuInit(0)",
        ]
        for use in uses:
            with self.subTest(use):
                self.assertEqual(self.compiled(copy(use))["failures"], [])


if __name__ == "__main__":
    unittest.main()
