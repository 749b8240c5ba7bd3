"""Tests and benchmark of `scale`."""

import statistics
import time
from collections.abc import Callable

import pytest
from gym.ops.cutile.scale import scale


def record(call: Callable[[], object], repetitions: int = 3) -> dict:
    """Time a call as TileGym does, in milliseconds: those of this thread alone."""
    times = []
    for _ in range(repetitions):
        began = time.thread_time()
        call()
        times.append((time.thread_time() - began) * 1e3)
    return {"median": statistics.median(times), "min": min(times), "nrep": repetitions}


@pytest.mark.parametrize("backend", ["cutile"])
@pytest.mark.parametrize("factor", [2, 3])
def test_op(backend: str, factor: int) -> None:
    """Every value is multiplied."""
    assert scale([1, 2], factor) == [factor, 2 * factor]


@pytest.mark.parametrize("backend", ["cutile"])
@pytest.mark.parametrize("size", [16, 128])
def test_perf(
    backend: str, size: int, record_property: Callable[[str, object], None]
) -> None:
    """Time a small and a large input."""
    values = [1.0] * size
    record_property(
        "benchmark", {backend: {"forward": record(lambda: scale(values, 3))}}
    )
