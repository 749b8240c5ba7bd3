"""Stand-ins for what the corpora import, so that their host code runs without a GPU.

Everything outside the standard library and the corpus is a ``Stub``: it can be called,
indexed, compared and inherited from, and decorating with it changes nothing. ``torch``
answers questions about the device as the simulated architecture would.
"""

from __future__ import annotations
import __future__

import ast
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
import warnings
from pathlib import Path
from typing import Any

ARCHITECTURES = {
    "sm_80": (8, 0),
    "sm_86": (8, 6),
    "sm_89": (8, 9),
    "sm_90": (9, 0),
    "sm_100": (10, 0),
    "sm_103": (10, 3),
    "sm_120": (12, 0),
    "sm_121": (12, 1),
}
KIB = 1024


class UsedStub(Exception):
    """A stub decided something that only the real thing can decide."""


class Stub:
    """A value of unknown type."""

    def __init__(self, name: str = "stub") -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Stub(f"{self._name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Hand a decorated function or class through; anything else is unknown again."""
        if len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type)):
            return args[0]
        return Stub(f"{self._name}()")

    def __getitem__(self, key: Any) -> Any:
        return Stub(f"{self._name}[]")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (object,)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *args: Any) -> None:
        pass

    def __or__(self, other: Any) -> Any:
        return self

    __ror__ = __or__

    def __hash__(self) -> int:
        return hash(self._name)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Stub) and other._name == self._name

    def _refuse(self, *args: Any) -> Any:
        raise UsedStub(self._name)

    __bool__ = __iter__ = __len__ = __int__ = __index__ = __float__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __sub__ = __mul__ = __floordiv__ = __truediv__ = __mod__ = __pow__ = _refuse
    __radd__ = __rsub__ = __rmul__ = __rfloordiv__ = __rtruediv__ = __rmod__ = __rpow__ = _refuse
    __and__ = __rand__ = __lshift__ = __rshift__ = __neg__ = _refuse


class Device:
    """Answers of ``torch.cuda`` for one simulated device."""

    def __init__(self, arch: str, multiprocessors: int) -> None:
        self.capability = ARCHITECTURES[arch]
        small = self.capability in {(8, 6), (8, 9), (12, 0), (12, 1)}
        block = 99 if small else 163 if self.capability == (8, 0) else 227
        self.properties = types.SimpleNamespace(
            major=self.capability[0],
            minor=self.capability[1],
            multi_processor_count=multiprocessors,
            total_memory=80 * KIB**3,
            name="NVIDIA simulated",
            warp_size=32,
            regs_per_multiprocessor=65536,
            max_threads_per_multi_processor=1536 if small else 2048,
            shared_memory_per_block=48 * KIB,
            shared_memory_per_block_optin=block * KIB,
            shared_memory_per_multiprocessor=(block + 1) * KIB,
            L2_cache_size=50 * KIB**2,
        )


class StubModule(types.ModuleType):
    """A module in which every name exists."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Stub(f"{self.__name__}.{name}")


def cdiv(a: int, b: int) -> int:
    """Ceiling division, as triton and cuTile define it."""
    return (a + b - 1) // b


def next_power_of_2(n: int) -> int:
    """The smallest power of two that is at least ``n``."""
    return 1 if n <= 1 else 1 << (n - 1).bit_length()


def fill(module: types.ModuleType, device: Device) -> None:
    """Give a stub module the few functions whose results matter."""
    answers: dict[str, dict[str, Any]] = {
        "torch.cuda": {
            "is_available": lambda: True,
            "device_count": lambda: 1,
            "current_device": lambda: 0,
            "get_device_capability": lambda *a, **k: device.capability,
            "get_device_properties": lambda *a, **k: device.properties,
            "get_device_name": lambda *a, **k: device.properties.name,
        },
        "triton": {"cdiv": cdiv, "next_power_of_2": next_power_of_2},
        "cuda.tile": {"cdiv": cdiv},
    }
    for name, value in answers.get(module.__name__, {}).items():
        setattr(module, name, value)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads corpus modules statement by statement and stubs everything else."""

    def __init__(self, root: Path, device: Device) -> None:
        self.root = root
        self.device = device

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Claim every module that is not of the standard library."""
        top = name.split(".")[0]
        if top in sys.stdlib_module_names:
            return None
        file = self._file(name)
        is_package = file is None or file.name == "__init__.py"
        spec = importlib.machinery.ModuleSpec(name, self, is_package=is_package)
        spec.loader_state = file
        if file is not None and is_package:
            spec.submodule_search_locations = [str(file.parent)]
        return spec

    def _file(self, name: str) -> Path | None:
        base = self.root.joinpath(*name.split("."))
        for candidate in (base / "__init__.py", base.with_suffix(".py")):
            if candidate.is_file():
                return candidate
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        """A module that has every name, or one that runs a file of the corpus."""
        return StubModule(spec.name) if spec.loader_state is None else CorpusModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Fill the module; a package waits until a name of its ``__init__`` is asked for."""
        assert module.__spec__ is not None
        file = module.__spec__.loader_state
        if file is None:
            fill(module, self.device)
            parent, _, last = module.__name__.rpartition(".")
            if parent in sys.modules:
                setattr(sys.modules[parent], last, module)
            if module.__name__ == "torch":
                importlib.import_module("torch.cuda")
            return
        module.__file__ = str(file)
        if file.name != "__init__.py":
            run_statements(file, module.__dict__)


class CorpusModule(types.ModuleType):
    """A corpus module; a package runs its ``__init__`` only when a name of it is asked for."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        file = Path(self.__dict__.get("__file__", ""))
        if file.name == "__init__.py" and "_oracle_ran" not in self.__dict__:
            self.__dict__["_oracle_ran"] = True
            run_statements(file, self.__dict__)
            if name in self.__dict__:
                return self.__dict__[name]
        return Stub(f"{self.__name__}.{name}")


def run_statements(file: Path, namespace: dict[str, Any]) -> None:
    """Run a file's top-level statements one by one; one that fails leaves its names out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(file.read_bytes())
        flags = 0
        for statement in tree.body:
            if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
                flags |= __future__.annotations.compiler_flag
                continue
            if _is_main_guard(statement):
                continue
            code = compile(ast.Module([statement], []), str(file), "exec", flags, dont_inherit=True)
            try:
                exec(code, namespace)
            except Exception:
                # Names that the statement would have bound are missing, as after any failure.
                continue


def _is_main_guard(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__main__" in ast.unparse(statement.test)
