"""Compile slices of kernels with cuTile's frontend: a process that stays, asked line by line.

The frontend, from Python's syntax tree to bytecode with every type error, takes about 0.1 s; the
start of a Python with ``cuda.tile`` takes three times that, so one process serves many requests.
It is started as ``python -B tileperf_compiler.py [--memory MIB] [--seconds S]`` with the
interpreter of the project, in an empty folder of its own, and ends at the end of its input.

One JSON object a line, a request on standard input, its answer on standard output; answers come in
the order of the requests. What executed code prints goes to standard error.

``{"id", "op": "hello"}``
    -> ``{"id", "ok": true, "protocol": 1, "python", "cuda_tile", "bytecode_version"}``

``{"id", "op": "frontend", "modules": [{"name", "path", "text"}], "entry", "kernel", "signature":
[...], "arch": "sm_90"}``, and optionally ``"hints": {...}``, ``"globals": {...}``, ``"convention":
"v1" | "v2"``, ``"bytecode_version": "13.4"``, ``"seconds": 30``
    -> ``{"id", "ok": true, "symbol", "bytecode": base64, "seconds", "load_seconds", "warnings":
    [text], "failures": [...]}``
    or ``{"id", "ok": false, "error": {"kind", "type", "message", "path", "line", "column",
    "end_line", "end_column", "function", "chain": [...]}, "failures": [...]}``

**Modules.** A ``text`` is a slice: the user's file with all blanked out that the kernel does not
need. Exactly these texts are executed, ``entry`` first and the others when they are imported, and
``kernel`` names a function of ``entry``'s top level. A ``path`` may exist or not; it is never read.
A path that ends in ``__init__.py`` makes a package. ``globals`` are constants, as below, that
``entry`` starts with: what a factory's parameters would have been. ``hints`` replace those of the
decorator: ``occupancy``, ``num_ctas``, ``opt_level``, ``num_worker_warps``.

**Signature.** One entry a parameter, each with a ``kind``:

- ``array``: ``dtype``, ``ndim``; optionally ``index`` (``int32``), ``stride`` and ``shape`` (known
  values, ``null`` for others), ``stride_min`` (0), ``stride_divisor`` and ``shape_divisor`` (1; in
  elements), ``base_divisor`` (1; in bytes), ``alias`` (names of groups), ``overlaps`` (false).
  What an axis has is given for each axis, or once for all.
- ``scalar``: ``dtype``.
- ``constant``: ``value``, of those that the installed ``cuda.tile`` takes (1.7: boolean, whole
  number, float); for what JSON cannot write, ``"float": "inf" | "-inf" | "nan"`` in its place.
- ``tuple``: ``items``. ``list``: ``element`` (an array), ``alias``, ``elements_alias``.

**Places** are those of the user's file: lines from 1, columns in bytes of UTF-8 from 0, ends
exclusive; ``null`` where unknown. An error stands where cuTile puts it; ``chain`` has the calls
that led there, innermost first, each with ``function``.

**Kinds of error.** ``syntax``: Python cannot parse a slice. ``load``: a slice does not define the
kernel. ``frontend``: cuTile's own, ``type`` is its class. ``signature``: the signature does not
fit the kernel. ``refused``: executed code asked for a file, a process or the network. ``time`` and
``memory``: over a limit; after ``time`` the process ends. ``cuda_tile``: no usable ``cuda.tile``.
``internal``: an exception of cuTile that is none of its errors. ``request``: not understood.
``failures`` are top-level statements of slices that raised something: reported, for they may
explain an error, but no error if the kernel compiles.

A process that ends without an answer was over a limit that it could not report itself.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from typing import Any, TextIO

from tileperf_guard import TIME_IS_UP, Watchdog, limit_process
from tileperf_problem import Problem, of_exception

PROTOCOL = 1


class Channel:
    """Standard input and output, taken away from whatever else runs in this process."""

    def __init__(self) -> None:
        self._requests: TextIO = os.fdopen(os.dup(0), "r", encoding="utf-8")
        self._answers: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def read(self) -> str | None:
        """Return the next request, ``None`` at the end."""
        return self._requests.readline() or None

    def write(self, answer: dict[str, Any]) -> None:
        """Send an answer."""
        self._answers.write(json.dumps(answer, allow_nan=False) + "\n")
        self._answers.flush()


class Worker:
    """Answers requests one by one."""

    def __init__(self, channel: Channel, seconds: float) -> None:
        self._channel = channel
        self._seconds = seconds
        self._id: Any = None
        self._watchdog = Watchdog(self._expired)
        try:
            import tileperf_frontend

            self._frontend: Any = tileperf_frontend.Frontend()
            self._missing: Problem | None = None
        except Exception as error:
            self._missing = of_exception(error, "cuda_tile")

    def run(self) -> None:
        """Answer until the end of the input."""
        while (line := self._channel.read()) is not None:
            if line.strip():
                self._channel.write(self._answer(line))

    def _answer(self, line: str) -> dict[str, Any]:
        self._id = None
        try:
            request = json.loads(line)
            if not isinstance(request, dict):
                raise TypeError("a request is an object")
            self._id = request.get("id")
            return {"id": self._id, "ok": True, **self._do(request)}
        except Problem as problem:
            return {"id": self._id, "ok": False, **problem.answer()}
        except (KeyError, TypeError, ValueError) as error:
            return {"id": self._id, "ok": False, **of_exception(error, "request").answer()}

    def _do(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._missing is not None:
            raise self._missing
        match request.get("op"):
            case "hello":
                return {
                    "protocol": PROTOCOL,
                    "python": platform.python_version(),
                    "cuda_tile": self._frontend.version,
                    "bytecode_version": self._frontend.bytecode_version,
                }
            case "frontend":
                seconds = float(request.get("seconds") or self._seconds)
                with self._watchdog.limit(seconds):
                    answer: dict[str, Any] = self._frontend.compile(request)
                return answer
            case other:
                raise ValueError(f"no such op: {other!r}")

    def _expired(self, seconds: float) -> None:
        """Answer for a request that takes too long, from another thread, and end."""
        problem = Problem("time", f"not compiled within {seconds:g} seconds")
        self._channel.write({"id": self._id, "ok": False, **problem.answer()})
        os._exit(TIME_IS_UP)


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(description="Compiles kernels for tileperf.")
    parser.add_argument("--memory", type=int, default=4096, help="address space, MiB")
    parser.add_argument("--seconds", type=float, default=60.0, help="for one request")
    options = parser.parse_args()
    sys.dont_write_bytecode = True
    channel = Channel()
    worker = Worker(channel, options.seconds)
    limit_process(options.memory)
    worker.run()


if __name__ == "__main__":
    main()
