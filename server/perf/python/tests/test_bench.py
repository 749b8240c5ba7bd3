"""Launches that tests make are repeated and timed, with their own arguments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from ast import literal_eval
from pathlib import Path
from typing import Any

import pytest

from support import install_helper, write

CUDA_TILE = """
    import time

    class kernel:
        def __init__(self, function):
            self._pyfunc = function

    def launch(stream, grid, kernel, kernel_args, /, *, programmatic_dependent_launch=False):
        kernel._pyfunc(*kernel_args)
"""
KERNELS = """
    import cuda.tile as ct
    import time

    @ct.kernel
    def slow(seconds, out):
        out.append(seconds)
        time.sleep(seconds)

    @ct.kernel
    def other(out):
        out.append(0)
"""
TESTS = """
    import cuda.tile as ct
    from kernels import other, slow
    from cuda.tile import launch
    import pytest

    @pytest.mark.parametrize("seconds", [0.002, 0.004])
    def test_op(seconds):
        out = []
        for _ in range(3):
            launch(None, (1,), slow, (seconds, out))
        launch(None, (1,), other, (out,))
        ct.launch(None, (2,), slow, (seconds, out), programmatic_dependent_launch=True)
        assert out == [seconds] * 3 + [0, seconds]

    def test_nothing(record_property):
        record_property("own", 1)

    def test_wrong():
        launch(None, (1,), slow, (0, []))
        raise AssertionError("wrong")
"""


@pytest.fixture(name="timed")
def _timed(tmp_path: Path) -> dict[str, dict[str, Any]]:
    helper = install_helper(tmp_path / "helper")
    write(tmp_path / "cuda" / "__init__.py", "")
    write(tmp_path / "cuda" / "tile" / "__init__.py", CUDA_TILE)
    write(tmp_path / "kernels.py", KERNELS)
    write(tmp_path / "test_it.py", TESTS)
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("TILEPERF_", "PYTEST_"))},
        "PYTHONPATH": f"{helper}{os.pathsep}{tmp_path}",
        "TILEPERF_BENCH_KERNEL": "slow",
        "TILEPERF_BENCH_SECONDS": "0.01",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tileperf_bench", "test_it.py"]
    command += ["-o", "junit_family=xunit1", "--junitxml=out.xml"]
    ended = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "1 failed, 3 passed" in ended.stdout, ended.stdout + ended.stderr
    cases = ElementTree.parse(tmp_path / "out.xml").iter("testcase")
    return {
        case.attrib["name"]: {
            p.attrib["name"]: literal_eval(p.attrib["value"]) for p in case.iter("property")
        }
        for case in cases
    }


def test_each_distinct_launch_of_the_kernel_is_timed(timed: dict[str, dict[str, Any]]) -> None:
    """The other kernel is not, and launches with the same arguments are one."""
    for seconds in (0.002, 0.004):
        times = timed[f"test_op[{seconds}]"]["benchmark"]["cutile"]
        assert list(times) == ["forward", "launch 2"], json.dumps(times)
        for numbers in times.values():
            assert seconds * 1e3 <= numbers["min"] <= numbers["median"] <= numbers["max"]
            assert numbers["nrep"] >= 10


def test_what_launches_nothing_or_fails_has_no_time(timed: dict[str, dict[str, Any]]) -> None:
    """Its own properties stay."""
    assert timed["test_nothing"] == {"own": 1}
    assert timed["test_wrong"] == {}
