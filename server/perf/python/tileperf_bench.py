"""A benchmark for a project that has none: times the launches that its own tests make.

Loaded by ``-p tileperf_bench`` beside a project's correctness tests. Each test runs as it is; then
every distinct launch of the kernel that it made is repeated with the very same arguments, so grid,
tile sizes and hints are those that the code under test chose. The times become the test's
``benchmark`` property, in milliseconds, as TileGym's benchmarks report theirs.

``TILEPERF_BENCH_KERNEL``   the kernel's name; without it, launches of every kernel are timed
``TILEPERF_BENCH_SECONDS``  how long each launch is repeated, 0.05 if not set

Small tests give short launches, which say little; a real benchmark of real shapes is better.
PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import functools
import os
import statistics
import time
from collections.abc import Callable, Generator
from typing import Any

import pytest

# Launches timed for one test; a loop over shapes may make hundreds.
MOST_LAUNCHES = 8
FEWEST_SAMPLES = 10
MOST_SAMPLES = 1000
# Between two samples a buffer of this size is overwritten, so that each finds a cold L2 cache.
FLUSH_BYTES = 256 << 20

Launch = Callable[[], Any]


def pytest_configure(config: pytest.Config) -> None:
    """Watch launches, in the process that runs the tests."""
    import cuda.tile as tile  # type: ignore[import-not-found,unused-ignore]

    config.pluginmanager.register(Timer(tile), "tileperf-timer")


class Timer:
    """Keeps the launches of a test and repeats them after it."""

    def __init__(self, tile: Any) -> None:
        self._launch: Callable[..., Any] = tile.launch
        self._kernel = os.environ.get("TILEPERF_BENCH_KERNEL")
        self._seconds = float(os.environ.get("TILEPERF_BENCH_SECONDS", "0.05"))
        self._seen: dict[str, Launch] | None = None
        self._flush: Any = None
        tile.launch = self._watched

    def _watched(
        self, stream: Any, grid: Any, kernel: Any, kernel_args: Any, /, **options: Any
    ) -> Any:
        result = self._launch(stream, grid, kernel, kernel_args, **options)
        seen = self._seen
        if seen is not None and len(seen) < MOST_LAUNCHES and self._is_ours(kernel):
            arguments = (stream, grid, kernel, kernel_args)
            again = functools.partial(self._launch, *arguments, **options)
            seen.setdefault(_key(grid, kernel, kernel_args), again)
        return result

    def _is_ours(self, kernel: Any) -> bool:
        return self._kernel is None or self._kernel.split(".")[-1] == _name(kernel)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Run the test, then time what it launched."""
        self._seen = {}
        try:
            result = yield
            launches, self._seen = list(self._seen.values()), None
        finally:
            self._seen = None
        times = {}
        for number, launch in enumerate(launches):
            name = "forward" if number == 0 else f"launch {number + 1}"
            times[name] = self._time(launch)
        if times:
            item.user_properties.append(("benchmark", {"cutile": times}))
        return result

    def _time(self, launch: Launch) -> dict[str, float]:
        once = self._clock()
        for _ in range(3):
            once(launch)
        samples: list[float] = []
        began = time.perf_counter()
        while len(samples) < MOST_SAMPLES and (
            len(samples) < FEWEST_SAMPLES or time.perf_counter() - began < self._seconds
        ):
            samples.append(once(launch))
        return {
            "mean": statistics.fmean(samples),
            "median": statistics.median(samples),
            "std": statistics.pstdev(samples),
            "min": min(samples),
            "max": max(samples),
            "nrep": len(samples),
        }

    def _clock(self) -> Callable[[Launch], float]:
        try:
            import torch  # type: ignore[import-not-found,unused-ignore]
        except ImportError:
            return self._wall
        if not torch.cuda.is_available():
            return self._wall
        if self._flush is None:
            self._flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")

        def sample(launch: Launch) -> float:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            self._flush.zero_()
            start.record()
            launch()
            end.record()
            torch.cuda.synchronize()
            return float(start.elapsed_time(end))

        return sample

    def _wall(self, launch: Launch) -> float:
        began = time.perf_counter()
        launch()
        return (time.perf_counter() - began) * 1e3


def _name(kernel: Any) -> str:
    for part in (getattr(kernel, "_pyfunc", None), kernel):
        name = getattr(part, "__name__", None)
        if isinstance(name, str):
            return name
    return type(kernel).__name__


def _key(grid: Any, kernel: Any, args: Any) -> str:
    described = []
    for value in args:
        shape = getattr(value, "shape", None)
        if shape is not None:
            described.append(f"{tuple(shape)}{getattr(value, 'dtype', '')}")
        elif isinstance(value, int | float | str | None):
            described.append(repr(value)[:80])
        else:
            described.append(type(value).__name__)
    return f"{_name(kernel)}{tuple(grid)}{described}"
