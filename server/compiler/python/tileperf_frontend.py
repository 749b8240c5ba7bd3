"""Answer the ``frontend`` request: execute the slices, compile the kernel, say what went wrong."""

from __future__ import annotations

import base64
import contextlib
import importlib
import inspect
import io
import os
import tempfile
import time
import warnings
from types import FunctionType, ModuleType
from typing import Any


def _quiet() -> None:
    """Leave out what cuTile would write to files, and give it a place for what it must."""
    for variable in ("CUDA_TILE_LOGS", "CUDA_TILE_DUMP_BYTECODE", "CUDA_TILE_DUMP_TILEIR"):
        os.environ.pop(variable, None)
    os.environ["CUDA_TILE_ENABLE_CRASH_DUMP"] = "0"
    # The folder that this process was given, not one that outlives it when it is killed.
    os.environ["CUDA_TILE_TEMP_DIR"] = os.getcwd()
    # No GPU is asked for anything.
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    # Numpy would start a thread for each core.
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"


_quiet()

import cuda.tile as ct  # noqa: E402
from cuda.tile.compilation import KernelSignature, export_kernel  # noqa: E402

from tileperf_guard import RefusedError, refusing  # noqa: E402
from tileperf_problem import Place, Problem, of_exception  # noqa: E402
from tileperf_signatures import constant, signature  # noqa: E402
from tileperf_slices import Slices, Source  # noqa: E402


class Frontend:
    """cuTile's frontend in this process."""

    def __init__(self) -> None:
        self.version: str = ct.__version__
        # Slices may import it; it takes longest, and threads, which are forbidden later.
        with contextlib.suppress(ImportError):
            importlib.import_module("numpy")
        self.bytecode_version = _newest_bytecode()

    def compile(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request. Raises a `Problem`."""
        sources = [Source(m["name"], m["path"], m["text"]) for m in request["modules"]]
        entry, name = request["entry"], request["kernel"]
        if not any(source.name == entry for source in sources):
            raise ValueError(f"no module is named {entry!r}")
        values = {key: constant(value) for key, value in (request.get("globals") or {}).items()}
        slices = Slices(sources)
        began = time.perf_counter()
        try:
            with warnings.catch_warnings(record=True) as warned, slices.visible(), refusing():
                warnings.simplefilter("always")
                kernel = _kernel(slices, slices.execute(entry, values), name)
                loaded = time.perf_counter()
                answer = self._compile(kernel, request, slices)
        except Problem as problem:
            problem.failures = slices.failures
            raise
        finally:
            _forget()
        return {
            **answer,
            "seconds": round(time.perf_counter() - began, 6),
            "load_seconds": round(loaded - began, 6),
            "warnings": [str(one.message) for one in warned],
            "failures": [failure.as_json() for failure in slices.failures],
        }

    def _compile(self, kernel: Any, request: dict[str, Any], slices: Slices) -> dict[str, Any]:
        try:
            if hints := request.get("hints"):
                kernel = kernel.replace_hints(**hints)
            wanted = _signature(kernel, request)
        except Exception as error:
            raise of_exception(error, "signature") from error
        bytecode = io.BytesIO()
        try:
            # A writer that must not be closed: the function closes nothing that it did not open.
            export_kernel(
                kernel,
                [wanted],
                bytecode,
                gpu_code=request["arch"],
                output_format="tileir_bytecode",
                bytecode_version=request.get("bytecode_version") or self.bytecode_version,
            )
        except Exception as error:
            raise _frontend_problem(error, slices) from error
        encoded = base64.b64encode(bytecode.getvalue()).decode("ascii")
        return {"symbol": wanted.symbol, "bytecode": encoded}


def _signature(kernel: Any, request: dict[str, Any]) -> KernelSignature:
    entries, function = request["signature"], kernel._pyfunc
    parameters = inspect.signature(function).parameters
    if len(entries) != len(parameters):
        raise ValueError(f"the kernel has {len(parameters)} parameters, not {len(entries)}")
    return signature(entries, request.get("convention"), function.__name__)


def _kernel(slices: Slices, module: ModuleType, name: str) -> Any:
    """Return the kernel of that name, made one if its decorator was a stand-in."""
    found = vars(module).get(name)
    if isinstance(found, ct.kernel):
        return found
    if isinstance(found, FunctionType):
        try:
            return ct.kernel(found)
        except Exception as error:
            raise of_exception(error, "load", slices.paths) from error
    # Its definition raised; the last failure is that, or what it rests on came before.
    if found is None and slices.failures:
        raise slices.failures[-1]
    what = "nothing" if found is None else f"a {type(found).__name__}, not a kernel"
    raise Problem("load", f"after the slice was executed `{name}` is {what}")


def _frontend_problem(error: Exception, slices: Slices) -> Problem:
    location = getattr(error, "loc", None)
    if location is None:
        # Of cuTile's own checks of parameters, by their only common trait.
        if isinstance(error, TypeError) and str(error).startswith("Invalid "):
            return of_exception(error, "signature")
        kind = "refused" if isinstance(error, RefusedError) else "internal"
        return of_exception(error, kind, slices.paths)
    # The end is of an error within, whose place is this one's.
    message = getattr(error, "message", str(error)).removesuffix("\nUnknown location")
    problem = Problem("frontend", message, type(error).__name__)
    problem.place = _place(location)
    cause = error.__cause__
    if isinstance(cause, RefusedError):
        problem.kind, problem.message = "refused", str(cause)
    while (caller := location.call_site) is not None:
        problem.chain.append(_place(caller))
        location = caller
    return problem


def _place(location: Any) -> Place:
    if location.is_unknown():
        return Place()
    return Place(
        location.filename,
        location.line,
        location.col,
        location.last_line,
        location.end_col,
        getattr(location.function, "name", None),
    )


def _newest_bytecode() -> str | None:
    """Return the newest bytecode that the installed tileiras reads, else that cuTile writes.

    Asking takes a process, which is why it happens once, before processes are forbidden.
    """
    from cuda.tile import _compile
    from cuda.tile._cext import dev_features_enabled

    # These are internals of cuTile; without them it decides itself.
    with (
        contextlib.suppress(Exception),
        tempfile.TemporaryDirectory() as folder,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        ask = _compile._get_max_supported_bytecode_version
        return str(ask(folder, allow_dev=dev_features_enabled()).as_string())
    with contextlib.suppress(Exception):
        return str(_compile._SUPPORTED_VERSIONS[-1].as_string())
    return None


def _forget() -> None:
    """Let go of the kernels that cuTile remembers, for their texts will change."""
    from cuda.tile._passes import ast2hir

    clear = getattr(getattr(ast2hir, "get_function_hir", None), "cache_clear", None)
    if clear is not None:
        clear()
