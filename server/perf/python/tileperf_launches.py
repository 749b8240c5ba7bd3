"""Record what was launched, compiled and chosen through ``cuda.tile``.

``cuda.tile`` offers no callback, so its functions are wrapped once it has been imported, before
anybody else can bind them by name. A distinct launch is written when it is first seen, and how
often each was launched at exit; finding out that a launch is known costs microseconds::

    {"event": "cutile", "version", "file", "pid"}
    {"event": "launch", "id", "kernel", "qualname", "module", "file", "line", "inside", "hints",
     "grid", "args": [...], "caller": {"file", "line"}, "pid"}
    {"event": "compile", "kernel" ... "hints", "symbol", "seconds", "cubin_sha256",
     "cubin_bytes", "arch", "pid"}
    {"event": "search", "api", "kernel" ... "args", "best": {"config", "mean_us"},
     "candidates": [{"config", "mean_us", "error_us"}, ...], "failures", "pid"}
    {"event": "count", "launches": [[id, count, failed], ...], "dropped", "pid"}

``line`` is the first line of the kernel's decorators. An argument is, with its ``name``,
``{"shape", "dtype", "strides", "align"}`` (strides in elements; ``align`` the largest power of
two up to 16 that divides the address, of the first launch), ``{"scalar": value}``,
``{"constant": value}``, ``{"items": [...]}`` or ``{"object": type}``. The ``args`` of a search are
those of the first configuration it tried, nothing of ``autotune_launch``; ``error_us`` is half the
95 % confidence interval of ``mean_us``, where the version of ``cuda.tile`` says it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import inspect
import itertools
import sys
import time
import weakref
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from tileperf_recorder import Recorder, hide_frame
from tileperf_values import describe_arguments, key_of, plain

# A search of more configurations is written without the rest; the best is written on its own.
MAX_MEASURED = 256


class Launches:
    """Wraps ``cuda.tile`` and counts what passes."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        # What is known of a kernel object, by its id while it lives.
        self._kernels: dict[int, tuple[Any, int]] = {}
        # Number and description of each distinct (function, hints).
        self._kinds: dict[Any, tuple[int, dict[str, Any]]] = {}
        # [id, count, failed] of each distinct launch.
        self._seen: dict[Any, list[int]] = {}
        self._ids = itertools.count()
        # Counts nothing: for a launch that is not recorded.
        self._unrecorded = [-1, 0, 0]

    def wrap(self, module: ModuleType) -> None:
        """Wrap what there is to wrap in one of the modules of ``WRAPPED``."""
        if module.__name__ == "cuda.tile":
            self._wrap_tile(module)
        elif module.__name__ == "cuda.tile.tune":
            self._wrap_search(module, "exhaustive_search", "cuda.tile.tune._tune", _searched)
        else:
            inner = "cuda.tile_experimental._autotuner"
            self._wrap_search(module, "autotune_launch", inner, _autotuned)

    def forked(self) -> None:
        """Forget the launches of the parent in a forked child."""
        self._seen.clear()

    def report_counts(self) -> None:
        """Write how often each distinct launch happened."""
        entries = list(self._seen.values())
        for start in range(0, len(entries), 2000):
            part = entries[start : start + 2000]
            self._recorder.write(
                {"event": "count", "launches": part, "dropped": self._recorder.dropped}
            )

    # What gets wrapped.

    def _wrap_tile(self, module: ModuleType) -> None:
        version = getattr(module, "__version__", None)
        self._recorder.write(
            {
                "event": "cutile",
                "version": version if isinstance(version, str) else None,
                "file": getattr(module, "__file__", None),
            }
        )
        original = module.launch
        if not hasattr(original, "_tileperf"):
            wrapped = self._launch(original)
            extension = sys.modules.get("cuda.tile._cext")
            if extension is not None and getattr(extension, "launch", None) is original:
                extension.launch = wrapped  # type: ignore[attr-defined]
            module.launch = wrapped  # type: ignore[attr-defined]
        kernel = getattr(module, "kernel", None)
        compiler = getattr(kernel, "_compile", None)
        if isinstance(compiler, FunctionType) and not hasattr(compiler, "_tileperf"):
            kernel._compile = self._compile(compiler)  # type: ignore[union-attr]

    def _wrap_search(
        self,
        module: ModuleType,
        api: str,
        inner: str,
        read: Callable[[Any], dict[str, Any] | None],
    ) -> None:
        original = getattr(module, api, None)
        if original is None or hasattr(original, "_tileperf"):
            return
        wrapped = self._search(original, api, read)
        setattr(module, api, wrapped)
        origin = sys.modules.get(inner)
        if origin is not None and getattr(origin, api, None) is original:
            setattr(origin, api, wrapped)

    # The wrappers. Each calls the original with exactly what it got, but for the ``args_fn`` of a
    # search, and takes its own frame out of the traceback of whatever the original raises.

    def _launch(self, original: Callable[..., Any]) -> Callable[..., Any]:
        recorder, note, unrecorded = self._recorder, self._note_launch, self._unrecorded

        def launch(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            entry = unrecorded
            if len(args) == 4:
                try:
                    entry = note(args[1], args[2], args[3])
                except Exception as error:
                    recorder.fault("launch", error)
            entry[1] += 1
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                entry[2] += 1
                hide_frame(error)
                raise

        return _dressed(launch, original)

    def _compile(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def _compile(kernel: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            began = time.perf_counter()
            try:
                result = original(kernel, *args, **kwargs)
            except BaseException as error:
                hide_frame(error)
                raise
            seconds = time.perf_counter() - began
            try:
                self._note_compile(kernel, result, seconds)
            except Exception as error:
                self._recorder.fault("compile", error)
            return result

        return _dressed(_compile, original)

    def _search(
        self, original: Callable[..., Any], api: str, read: Callable[[Any], dict[str, Any] | None]
    ) -> Callable[..., Any]:
        def search(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            heard: list[Any] = []
            if api == "exhaustive_search":
                args, kwargs = self._overhear(original, args, kwargs, heard)
            try:
                result = original(*args, **kwargs)
            except BaseException as error:
                hide_frame(error)
                raise
            try:
                if (choice := read(result)) is not None:
                    bound = inspect.signature(original).bind(*args, **kwargs)
                    kernel = self._kind(bound.arguments.get("kernel"))[1]
                    event = {"event": "search", "api": api, **kernel}
                    self._recorder.keep({**event, "args": heard[0] if heard else None, **choice})
            except Exception as error:
                self._recorder.fault("search", error)
            return result

        return _dressed(search, original)

    def _overhear(
        self, original: Callable[..., Any], args: Any, kwargs: Any, heard: list[Any]
    ) -> tuple[Any, Any]:
        """Let a search's ``args_fn`` describe, once, what it gives; the search has no other way.

        Calling it for that alone would allocate the user's tensors once more.
        """
        try:
            bound = inspect.signature(original).bind(*args, **kwargs)
        except TypeError:
            return args, kwargs  # the original says what is wrong with the call
        given, kernel = bound.arguments.get("args_fn"), bound.arguments.get("kernel")
        if not callable(given):
            return args, kwargs
        recorder = self._recorder

        def args_fn(*config: Any, **named: Any) -> Any:
            __tracebackhide__ = True
            try:
                values = given(*config, **named)
            except BaseException as error:
                hide_frame(error)
                raise
            if not heard and isinstance(values, (tuple, list)):
                try:
                    heard.append(describe_arguments(kernel, values))
                except Exception as error:
                    heard.append(None)
                    recorder.fault("search", error)
            return values

        bound.arguments["args_fn"] = args_fn
        return bound.args, bound.kwargs

    # What is noted.

    def _note_launch(self, grid: Any, kernel: Any, values: Any) -> list[int]:
        known = self._kernels.get(id(kernel))
        number = known[1] if known is not None else self._kind(kernel)[0]
        key = (number, grid if type(grid) is tuple else tuple(grid), key_of(values))
        entry = self._seen.get(key)
        return entry if entry is not None else self._first(key, grid, kernel, values)

    def _first(self, key: Any, grid: Any, kernel: Any, values: Any) -> list[int]:
        if self._recorder.full():
            return self._unrecorded
        number = next(self._ids)
        event = {
            "event": "launch",
            "id": number,
            **self._kind(kernel)[1],
            "grid": [plain(extent) for extent in grid],
            "args": describe_arguments(kernel, values),
            "caller": _caller(),
        }
        self._recorder.keep(event)
        entry = self._seen[key] = [number, 0, 0]
        return entry

    def _note_compile(self, kernel: Any, result: Any, seconds: float) -> None:
        parts = result if isinstance(result, tuple) else (result,)
        symbol = next((part for part in parts if isinstance(part, str)), None)
        cubin = next((bytes(p) for p in parts if isinstance(p, (bytes, bytearray))), None)
        event = {"event": "compile", **self._kind(kernel)[1], "symbol": symbol, "seconds": seconds}
        if cubin is not None:
            event["cubin_sha256"] = hashlib.sha256(cubin).hexdigest()
            event["cubin_bytes"] = len(cubin)
            if cubin[:4] == b"\x7fELF" and len(cubin) > 0x34:
                # The second byte of the ELF header's flags is the architecture.
                event["arch"] = f"sm_{cubin[0x31]}"
        self._recorder.keep(event)

    def _kind(self, kernel: Any) -> tuple[int, dict[str, Any]]:
        """Number and describe what a kernel object is: its function and its hints."""
        function = getattr(kernel, "_pyfunc", None) or inspect.unwrap(kernel)
        code = getattr(function, "__code__", None)
        file = getattr(code, "co_filename", None)
        line = getattr(code, "co_firstlineno", None)
        qualname = getattr(function, "__qualname__", type(kernel).__qualname__)
        hints = _hints(kernel)
        key = (file, line, qualname, repr(hints))
        kind = self._kinds.get(key)
        if kind is None:
            description = {
                "kernel": getattr(function, "__name__", qualname),
                "qualname": qualname,
                "module": getattr(function, "__module__", None),
                "file": file,
                "line": line,
                "inside": self._recorder.inside(file),
                "hints": hints,
            }
            kind = self._kinds[key] = (len(self._kinds), description)
            self._recorder.scan()
        self._remember(kernel, kind[0])
        return kind

    def _remember(self, kernel: Any, number: int) -> None:
        """Know a kernel object by its id, until it dies and the id may be another's."""
        address = id(kernel)
        if address in self._kernels:
            return
        kernels = self._kernels

        def forget(_: Any) -> None:
            kernels.pop(address, None)

        # A kernel that takes no weak reference is described anew at each launch.
        with contextlib.suppress(TypeError):
            kernels[address] = (weakref.ref(kernel, forget), number)


def _dressed(wrapper: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    """Let a wrapper look like what it wraps."""
    functools.update_wrapper(wrapper, original)
    wrapper._tileperf = True  # type: ignore[attr-defined]
    return wrapper


def _hints(kernel: Any) -> dict[str, Any]:
    options = getattr(kernel, "_compiler_options", None)
    if not dataclasses.is_dataclass(options):
        return {}
    return {
        field.name: plain(getattr(options, field.name)) for field in dataclasses.fields(options)
    }


def _caller() -> dict[str, Any] | None:
    """Say where the launch is written, past the frames of this file."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back  # type: ignore[assignment]
    return {"file": frame.f_code.co_filename, "line": frame.f_lineno} if frame else None


def _searched(result: Any) -> dict[str, Any]:
    measured = [
        {
            "config": plain(one.config),
            "mean_us": plain(one.mean_us),
            "error_us": plain(getattr(one, "error_margin_us", None)),
        }
        for one in result.successes
    ]
    best = result.best
    return {
        "best": {"config": plain(best.config), "mean_us": plain(best.mean_us)},
        "candidates": measured[:MAX_MEASURED],
        "failures": len(result.failures),
    }


def _autotuned(result: Any) -> dict[str, Any] | None:
    if result.cache_hit:
        return None
    best = plain(result.tuned_config)
    measured = [
        {"config": plain(config), "mean_us": plain(milliseconds * 1000)}
        for config, milliseconds in result.tuning_record
    ]
    mean = next((one["mean_us"] for one in measured if one["config"] == best), None)
    return {
        "best": {"config": best, "mean_us": mean},
        "candidates": measured[:MAX_MEASURED],
        "failures": 0,
    }
