"""What the tests of the process share: a real one, and requests to it.

They need an interpreter with ``cuda.tile``; no GPU.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).resolve().parent.parent / "tileperf_compiler.py"
SECONDS = 60

# A kernel that copies, with a place for more before it.
COPY = """
import cuda.tile as ct
{before}
@ct.kernel
def copy(x, y, TILE: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(y, (i,), {value})
"""
LOAD = "ct.load(x, (i,), (TILE,))"


def copy(before: str = "", value: str = LOAD) -> str:
    """Return a module with a kernel ``copy(x, y, TILE)``; ``before`` stands on lines 3 and on."""
    return COPY.lstrip("\n").format(before=textwrap.dedent(before).strip("\n"), value=value)


def array(dtype: str = "float16", ndim: int = 1, **more: Any) -> dict[str, Any]:
    """Return a contiguous array."""
    stride = [None] * (ndim - 1) + [1]
    return {"kind": "array", "dtype": dtype, "ndim": ndim, "stride": stride, **more}


def constant(value: Any) -> dict[str, Any]:
    """Return a constant."""
    return {"kind": "constant", "value": value}


COPY_SIGNATURE = (array(), array(), constant(64))


class Process:
    """A process that compiles, in an empty folder of its own."""

    def __init__(self, *options: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        self.process = subprocess.Popen(
            [sys.executable, "-B", str(PROGRAM), *options],
            cwd=self.folder,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def send(self, request: dict[str, Any] | str) -> dict[str, Any] | None:
        """Send a request and return the answer, ``None`` if the process has ended instead."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        line = request if isinstance(request, str) else json.dumps(request)
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        return json.loads(answer) if answer else None

    def close(self) -> tuple[int, str]:
        """End it; return its status and what it printed to standard error."""
        said = self.process.communicate(timeout=SECONDS)[1]
        self._folder.cleanup()
        return self.process.returncode, said


class Case(unittest.TestCase):
    """Tests that share one process."""

    process: Process
    _next = 0

    @classmethod
    def setUpClass(cls) -> None:
        """Start it."""
        cls.process = Process()

    @classmethod
    def tearDownClass(cls) -> None:
        """End it."""
        status, said = cls.process.close()
        assert status == 0, said

    def compile(
        self,
        text: str | dict[str, str],
        *signature: dict[str, Any],
        kernel: str = "copy",
        process: Process | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """Compile a kernel of a module, the first of several; return the answer."""
        texts = {"pkg.main": text} if isinstance(text, str) else text
        modules = [
            {"name": name, "path": path_of(name), "text": text} for name, text in texts.items()
        ]
        Case._next += 1
        request = {
            "id": Case._next,
            "op": "frontend",
            "modules": modules,
            "entry": next(iter(texts)),
            "kernel": kernel,
            "signature": list(signature or COPY_SIGNATURE),
            "arch": "sm_90",
            **more,
        }
        answer = (process or self.process).send(request)
        assert answer is not None, "the process has ended"
        self.assertEqual(answer["id"], Case._next)
        return answer

    def compiled(self, *arguments: Any, **named: Any) -> dict[str, Any]:
        """Compile what must compile, and do no more than that."""
        answer = self.compile(*arguments, **named)
        self.assertTrue(answer["ok"], answer)
        self.assertEqual(base64.b64decode(answer["bytecode"])[1:7], b"TileIR")
        return answer

    def refused(self, *arguments: Any, **named: Any) -> dict[str, Any]:
        """Compile what must not compile; return the error."""
        answer = self.compile(*arguments, **named)
        self.assertFalse(answer["ok"], answer)
        error: dict[str, Any] = answer["error"]
        return error


def path_of(module: str) -> str:
    """Return the path that the tests give a module: that of no file. ``+`` marks a package."""
    path = "/nowhere/" + module.replace(".", "/")
    return f"{path}/__init__.py" if module in PACKAGES else f"{path}.py"


# Modules of the tests that are packages.
PACKAGES = {"pkg", "lib"}
