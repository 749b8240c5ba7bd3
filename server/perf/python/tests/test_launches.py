"""Launches through ``cuda.tile`` are written down, and come out as without the recorder."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from support import Workspace, has, site_of, write

# As much of the package as a program that launches needs; it behaves as the real one does.
CUDA_TILE = """
    import dataclasses, typing
    __version__ = "1.7.0"

    class ConstantAnnotation: pass
    Constant = typing.Annotated[typing.Any, ConstantAnnotation()]

    @dataclasses.dataclass(frozen=True)
    class Options:
        num_ctas: object = None
        occupancy: object = None

    class ByTarget:
        def __init__(self, *, default=None, **by_target):
            self._default, self._by_target = default, by_target

    class kernel:
        def __new__(cls, function=None, /, **hints):
            if function is None:
                return lambda function: cls(function, **hints)
            return super().__new__(cls)

        def __init__(self, function, /, **hints):
            self._pyfunc, self._compiler_options = function, Options(**hints)
            self.compiled = False

        def replace_hints(self, **hints):
            return kernel(self._pyfunc, **{**dataclasses.asdict(self._compiler_options), **hints})

        def _compile(self, signature, context):
            cubin = b"\\x7fELF" + bytes(44) + b"\\x00\\x5a\\x00\\x00" + bytes(12)
            return cubin, "symbol_Kt1", None, []

    def launch(stream, grid, kernel, kernel_args, /, *, programmatic_dependent_launch=False):
        "Queue a kernel."
        if not kernel.compiled:
            kernel._compile(None, None)
            kernel.compiled = True
        if stream == "broken":
            raise RuntimeError("no device")
        return (stream, grid, kernel, kernel_args, programmatic_dependent_launch)

    from cuda.tile import tune
"""
TUNE = """
    import types
    def exhaustive_search(search_space, stream, grid_fn, kernel, args_fn, hints_fn=None, *,
                          quiet=False):
        results = []
        for c in search_space:
            if args_fn is not None:
                args_fn(c)
            one = types.SimpleNamespace(config=c, mean_us=float(c["tile"]), error_margin_us=0.5)
            results.append(one)
        return types.SimpleNamespace(best=min(results, key=lambda r: r.mean_us),
                                     successes=results, failures=[])
"""
PRELUDE = """
import cuda.tile as ct
from cuda.tile import launch

class Tensor:
    def __init__(self, *shape, dtype="torch.float16", address=4096 + 8):
        self.shape, self.dtype, self.address = shape, dtype, address
    def stride(self):
        return tuple(self.shape[1:]) + (1,)
    def data_ptr(self):
        return self.address

@ct.kernel(occupancy=2, num_ctas=ct.ByTarget(sm_90=2, default=1))
def scale(x, factor, tile: ct.Constant):
    pass
"""


@pytest.fixture
def tile(workspace: Workspace) -> Workspace:
    """Return a workspace whose programs can import a ``cuda.tile``."""
    write(workspace.root / "lib" / "cuda" / "tile" / "__init__.py", CUDA_TILE)
    write(workspace.root / "lib" / "cuda" / "tile" / "tune.py", TUNE)
    return workspace


def run(workspace: Workspace, program: str, *, helper: bool = True, **extra: str) -> str:
    """Run a program after the prelude and return what it printed."""
    file = workspace.write("program.py", PRELUDE + program)
    env = workspace.environment(workspace.root / "lib", helper=helper)
    result = workspace.run(str(file), env={**env, **extra})
    return result.stdout + result.stderr


def test_a_launch_is_described(tile: Workspace) -> None:
    """All that is needed to launch the same kernel again is in its line."""
    out = run(tile, "launch(0, (8, 1, 1), scale, (Tensor(4, 16), 2.5, 128))\n")

    assert out == ""
    assert tile.record("fault") == []
    [launch] = tile.record("launch")
    program = str(tile.project / "program.py")
    assert (launch["kernel"], launch["qualname"], launch["file"]) == ("scale", "scale", program)
    lines = (tile.project / "program.py").read_text().splitlines()
    assert lines[launch["line"] - 1].startswith("@ct.kernel(occupancy=2")
    assert launch["grid"] == [8, 1, 1]
    assert launch["hints"] == {"num_ctas": {"sm_90": 2, "default": 1}, "occupancy": 2}
    assert launch["args"] == [
        {"name": "x", "shape": [4, 16], "dtype": "float16", "strides": [16, 1], "align": 8},
        {"name": "factor", "scalar": 2.5},
        {"name": "tile", "constant": 128},
    ]
    assert launch["caller"] == {"file": program, "line": len(lines)}
    [compiled] = tile.record("compile")
    assert (compiled["kernel"], compiled["symbol"]) == ("scale", "symbol_Kt1")
    assert (compiled["arch"], compiled["cubin_bytes"]) == ("sm_90", 64)
    [package] = tile.record("cutile")
    assert package["version"] == "1.7.0"


def test_only_distinct_launches_are_written(tile: Workspace) -> None:
    """Repeats are counted; what differs in type, value, shape or hints is another launch."""
    run(
        tile,
        """
x = Tensor(4, 16)
for _ in range(100):
    launch(0, (8,), scale, (x, 1, 128))
    ct.launch(0, (8,), scale.replace_hints(occupancy=2), (Tensor(4, 16), 1, 128))
for value in (True, 1.0, 2, float("nan"), float("nan"), None, "a"):
    launch(0, (8,), scale, (x, value, 128))
launch(0, (8,), scale, (Tensor(4, 32), 1, 128))
launch(0, (9,), scale, (x, 1, 128))
launch(0, (8,), scale.replace_hints(occupancy=4), (x, 1, 128))
launch(0, (8,), scale, ([x, x], (1, 2), object()))
""",
    )

    launches, [count] = tile.record("launch"), tile.record("count")
    assert [entry[:2] for entry in count["launches"]] == [
        [launch["id"], {0: 200, 4: 2}.get(launch["id"], 1)] for launch in launches
    ]
    assert [launch["args"][1].get("scalar") for launch in launches[:5]] == [1, True, 1.0, 2, "nan"]
    assert len(launches) == 11
    assert launches[-1]["args"][2] == {"name": "tile", "constant": "<builtins.object>"}
    assert [len(argument["items"]) for argument in launches[-1]["args"][:2]] == [2, 2]
    assert count["dropped"] == 0


def test_a_kernel_that_died_is_not_taken_for_the_next(tile: Workspace) -> None:
    """Hints replaced for every launch make short-lived kernels at the same address."""
    run(
        tile,
        """
x = Tensor(4)
for i in range(130):
    launch(0, (8,), scale.replace_hints(occupancy=i % 13), (x, 1, 128))
""",
    )
    hints = [launch["hints"]["occupancy"] for launch in tile.record("launch")]
    assert hints == list(range(13))
    assert [entry[1] for entry in tile.record("count")[0]["launches"]] == [10] * 13


def test_results_arguments_and_looks_are_unaffected(tile: Workspace) -> None:
    """The program gets what ``launch`` returns and finds what it would find."""
    program = """
x = Tensor(4, 16)
r = launch(7, (8,), scale, (x, 1, 128), programmatic_dependent_launch=True)
print(r[0], r[1], r[2] is scale, r[3][0] is x, r[4])
print(launch.__name__, launch.__doc__, launch.__module__, launch is ct.launch)
import inspect; print(inspect.signature(launch), type(scale).__name__, type(ct.__loader__).__name__)
print(type(ct.__spec__.loader).__name__, vars(ct.__loader__).keys() - {"name", "path"})
"""
    assert run(tile, program) == run(tile, program, helper=False)
    assert tile.record("fault") == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 shows the wrapper's frame")
@pytest.mark.parametrize(
    "call",
    [
        "launch('broken', (8,), scale, (Tensor(4, 16), 1, 128))",
        "launch(0, (8,))",
        "launch(0, (8,), 'no kernel', ())",
        "ct.tune.exhaustive_search([], 0, None, scale, None)",
        "ct.tune.exhaustive_search()",
    ],
)
def test_errors_look_as_ever(tile: Workspace, call: str) -> None:
    """What the package raises has the same traceback, without a frame of the recorder's."""
    assert run(tile, call) == run(tile, call, helper=False)


def test_a_failed_launch_is_counted_as_failed(tile: Workspace) -> None:
    """The line says what was tried; the count says that it did not work."""
    run(tile, "launch('broken', (8,), scale, (Tensor(4, 16), 1, 128))")
    assert len(tile.record("launch")) == 1
    assert tile.record("count")[0]["launches"] == [[0, 1, 1]]


def test_an_argument_that_cannot_be_read_does_not_matter(tile: Workspace) -> None:
    """A tensor whose attributes raise is launched all the same, and is one fault."""
    out = run(
        tile,
        """
class Odd(Tensor):
    def stride(self):
        raise ValueError("no strides")
for _ in range(3):
    print(launch(0, (8,), scale, (Odd(4), 1, 128))[1])
""",
    )
    assert out == "(8,)\n" * 3
    assert [fault["where"] for fault in tile.record("fault")] == ["launch"]


def test_the_record_is_bounded(tile: Workspace) -> None:
    """Past the limit launches are neither described nor kept, only counted as dropped."""
    program = "for i in range(1000):\n    launch(0, (8,), scale, (Tensor(4), i, 128))\n"
    run(tile, program, TILEPERF_RECORD_LIMIT="10")

    kept = [line for line in tile.record() if line["event"] in ("launch", "compile", "module")]
    assert len(kept) == 10
    assert tile.record("count")[0]["dropped"] == 1000 - len(tile.record("launch"))


def test_the_choice_of_a_search_is_written(tile: Workspace) -> None:
    """An autotuned kernel runs as whatever was chosen in this process."""
    run(
        tile,
        """
from cuda.tile.tune import exhaustive_search
space = [{"tile": 64}, {"tile": 32}]
given = []
def args_fn(c):
    given.append((Tensor(8, 4), 2.0, c["tile"]))
    return given[-1]
best = exhaustive_search(space, 0, lambda c: (1,), scale, args_fn, quiet=True).best
assert best.config == {"tile": 32}
# Asked as often as without a recorder.
assert len(given) == 2
""",
    )
    [search] = tile.record("search")
    assert (search["api"], search["kernel"]) == ("exhaustive_search", "scale")
    assert search["best"] == {"config": {"tile": 32}, "mean_us": 32.0}
    assert search["candidates"] == [
        {"config": {"tile": 64}, "mean_us": 64.0, "error_us": 0.5},
        {"config": {"tile": 32}, "mean_us": 32.0, "error_us": 0.5},
    ]
    # What it was measured on, with the constants of the first configuration.
    assert [arg["name"] for arg in search["args"]] == ["x", "factor", "tile"]
    assert search["args"][0]["shape"] == [8, 4]
    assert search["args"][2] == {"name": "tile", "constant": 64}


def test_a_search_that_fails_shows_no_frame_of_ours(tile: Workspace) -> None:
    """``args_fn`` raises through a wrapper that is not to be seen, and is no fault of ours."""
    run(
        tile,
        """
import traceback
from cuda.tile.tune import exhaustive_search
def args_fn(c):
    raise KeyError(c["tile"])
try:
    exhaustive_search([{"tile": 8}], 0, lambda c: (1,), scale, args_fn)
except KeyError as error:
    names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert names[-1] == "args_fn" and names.count("args_fn") == 1, names
""",
    )
    assert tile.record("search") == [] == tile.record("fault")


def test_a_large_search_is_written_in_part(tile: Workspace) -> None:
    """The best is written even if it is among those left out."""
    run(
        tile,
        """
from cuda.tile.tune import exhaustive_search
space = [{"tile": n} for n in range(1000, 1, -1)]
exhaustive_search(space, 0, lambda c: (1,), scale, lambda c: ())
""",
    )
    [search] = tile.record("search")
    assert len(search["candidates"]) == 256
    assert search["best"]["config"] == {"tile": 2}


def test_the_choice_of_the_older_tuner_is_written_once(tile: Workspace) -> None:
    """``autotune_launch`` is called for every launch; only a search is a choice."""
    text = """
        import types
        cache = []
        def autotune_launch(stream, grid_fn, kernel, *, search_space):
            hit = bool(cache)
            cache[:] = [("a", 0.5), ("b", 0.25)]
            return types.SimpleNamespace(tuned_config="b", tuning_record=cache, cache_hit=hit)
    """
    write(tile.root / "lib" / "cuda" / "tile_experimental" / "__init__.py", text)
    run(
        tile,
        """
from cuda.tile_experimental import autotune_launch
for _ in range(3):
    assert autotune_launch(0, None, scale, search_space=["a", "b"]).tuned_config == "b"
""",
    )
    [search] = tile.record("search")
    assert (search["api"], search["kernel"]) == ("autotune_launch", "scale")
    assert search["best"] == {"config": "b", "mean_us": 250.0}


def test_forked_children_write_their_own(tile: Workspace) -> None:
    """A child's launches are described under its own process id and counted by itself."""
    run(
        tile,
        """
import os, sys
launch(0, (8,), scale, (Tensor(4), 1, 128))
if os.fork() == 0:
    launch(0, (8,), scale, (Tensor(4), 1, 128))
    sys.exit(0)
os.wait()
""",
    )
    assert len({launch["pid"] for launch in tile.record("launch")}) == 2
    assert [count["launches"][0][1] for count in tile.record("count")] == [1, 1]


def test_cuda_tile_is_not_imported_for_it(tile: Workspace) -> None:
    """A program that never uses the package does not pay for it."""
    program = "import sys; print([m for m in sys.modules if m.startswith(('cuda', 'torch'))])"
    env = tile.environment(tile.root / "lib")
    assert tile.run("-c", program, env=env).stdout == "[]\n"


def test_a_known_launch_costs_microseconds(
    tile: Workspace, record_property: Callable[[str, object], None]
) -> None:
    """Six arguments, three of them arrays: the added time of a launch that is known."""
    program = """
import time
@ct.kernel
def six(a, b, c, n, eps, tile: ct.Constant): pass
a = Tensor(4, 16)
args = (a, a, a, 1024, 1e-6, 128)
launch(0, (8,), six, args)
best = 1e9
for _ in range(7):
    began = time.perf_counter()
    for _ in range(3000):
        launch(0, (8,), six, args)
    best = min(best, time.perf_counter() - began)
print(best / 3000 * 1e6)
"""
    added = float(run(tile, program)) - float(run(tile, program, helper=False))
    record_property("added_us_per_launch", added)
    assert added < 50, f"{added:.1f} us"


@has("cuda.tile")
def test_the_real_package_up_to_the_driver(workspace: Workspace) -> None:
    """The real decorator, hints and launch, which fails where there is no device."""
    program = """
        import traceback
        import cuda.tile as ct
        from cuda.tile import launch

        @ct.kernel(occupancy=ct.ByTarget(sm_90=4, default=2))
        def copy(x, y, factor, TILE: ct.Constant[int]):
            i = ct.bid(0)
            ct.store(y, (i,), ct.load(x, (i,), (TILE,)) * factor)

        class Array:
            shape, dtype, strides, itemsize = (1024,), "float32", (4,), 4
            __cuda_array_interface__ = {"shape": (1024,), "typestr": "<f4", "strides": None,
                                        "data": (1 << 20, False), "version": 3}

        print(type(copy), copy.replace_hints(occupancy=1)._compiler_options.occupancy)
        try:
            launch(0, (8, 1, 1), copy, (Array(), Array(), 0.5, 128))
        except Exception:
            traceback.print_exc()
    """
    file = workspace.write("program.py", program)
    site = site_of("cuda.tile")
    assert site is not None
    plain = workspace.run(str(file), env=workspace.environment(site, helper=False))
    observed = workspace.run(str(file), env=workspace.environment(site))

    assert observed.stdout == plain.stdout
    if sys.version_info >= (3, 11):
        assert observed.stderr == plain.stderr
    assert workspace.record("fault") == []
    [launch] = workspace.record("launch")
    assert (launch["kernel"], launch["grid"]) == ("copy", [8, 1, 1])
    assert launch["hints"]["occupancy"] == {"sm_90": 4, "default": 2}
    array = {"shape": [1024], "dtype": "float32", "strides": [1], "align": 16}
    assert launch["args"] == [
        {"name": "x", **array},
        {"name": "y", **array},
        {"name": "factor", "scalar": 0.5},
        {"name": "TILE", "constant": 128},
    ]


@has("cuda.tile")
def test_the_real_package_has_what_is_wrapped(workspace: Workspace) -> None:
    """The names wrapped are those of the installed version, and nothing at them failed."""
    program = """
        import cuda.tile as ct
        from cuda.tile import _cext, _execution, tune
        from cuda.tile.tune import _tune
        wrapped = [ct.launch, _cext.launch, _execution.kernel._compile]
        wrapped += [tune.exhaustive_search, _tune.exhaustive_search]
        print([getattr(one, "_tileperf", False) for one in wrapped])
    """
    file = workspace.write("program.py", program)
    site = site_of("cuda.tile")
    assert site is not None
    assert workspace.run(str(file), env=workspace.environment(site)).stdout == f"{[True] * 5}\n"
    assert workspace.record("fault") == []


@has("cuda.tile")
def test_the_real_search_is_written(workspace: Workspace) -> None:
    """The installed version's own search, with made-up times in the place of a GPU's."""
    program = """
        import types
        import cuda.tile as ct
        from cuda.tile.tune import _tune, exhaustive_search

        @ct.kernel
        def scale(x, factor, TILE: ct.Constant[int]):
            pass

        class Tensor:
            shape, dtype = (8, 4), "float16"
            def stride(self):
                return (4, 1)

        def measured(stream, grid, kernel, args, *rest):
            if args[2] == 256:
                raise MemoryError("too much")
            return float(args[2])

        _tune._benchmark = measured
        space = [types.SimpleNamespace(tile=tile) for tile in (64, 32, 256, 128)]
        best = exhaustive_search(
            space, 0, lambda c: (1,), scale, args_fn=lambda c: (Tensor(), 2.0, c.tile), quiet=True
        ).best
        print(best.config.tile, best.mean_us)
    """
    file = workspace.write("program.py", program)
    site = site_of("cuda.tile")
    assert site is not None
    result = workspace.run(str(file), env=workspace.environment(site))
    assert (result.stdout, workspace.record("fault")) == ("32 32.0\n", []), result.stderr
    [search] = workspace.record("search")
    measured = {one["config"]["tile"]: one["mean_us"] for one in search["candidates"]}
    assert (measured, search["failures"]) == ({64: 64.0, 32: 32.0, 128: 128.0}, 1)
    assert all(one["error_us"] == 0 for one in search["candidates"])
    assert [arg["name"] for arg in search["args"]] == ["x", "factor", "TILE"]
    assert search["args"][2] == {"name": "TILE", "constant": 64}
