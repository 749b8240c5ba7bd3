"""What slices get in place of modules that are not there, or must not be used.

A kernel's slice names torch for an annotation, a decorator of the host's, a flag; none of it
matters to the compiler. A stand-in can be called, subscripted, subclassed and used as a decorator,
and is false. What the compiler does understand is given truly: torch's data types as cuTile's, and
an environment without variables.
"""

from __future__ import annotations

import sys
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any

import cuda.tile as ct

# Modules whose data types are cuTile's under the same or another name.
_WITH_DTYPES = frozenset({"torch", "jax.numpy", "ml_dtypes"})
_OTHER_NAMES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "bool": "bool_",
}


class Standin:
    """Anything of a module that is not there."""

    __slots__ = ("_tileperf_path",)

    def __init__(self, path: str) -> None:
        object.__setattr__(self, "_tileperf_path", path)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Standin(f"{self._tileperf_path}.{name}")

    def __setattr__(self, name: str, value: object) -> None:
        pass

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Return what is decorated, for a decorator changes nothing, else another stand-in."""
        if len(args) == 1 and not kwargs and isinstance(args[0], (FunctionType, type, ct.kernel)):
            return args[0]
        return Standin(f"{self._tileperf_path}(...)")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        # A class may have several, but one base once.
        first = next(base for base in bases if isinstance(base, Standin))
        return (_Base,) if first is self else ()

    def __getitem__(self, key: object) -> Standin:
        return Standin(f"{self._tileperf_path}[...]")

    def __enter__(self) -> Standin:
        return self

    def __exit__(self, *details: object) -> None:
        pass

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, item: object) -> bool:
        return False

    def __bool__(self) -> bool:
        return False

    def __or__(self, other: object) -> Standin:
        return self

    __ror__ = __or__

    def __lt__(self, other: object) -> bool:
        return False

    __le__ = __gt__ = __ge__ = __lt__

    def __repr__(self) -> str:
        return f"<{self._tileperf_path}, which is not available while a kernel is compiled>"


class _Base:
    """The base of classes whose real base is not there."""

    def __init_subclass__(cls, **options: object) -> None:
        pass


class StandinModule(ModuleType):
    """A module that is not there."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        path = self.__name__
        if (given := _GIVEN.get(f"{path}.{name}")) is not None:
            return given
        if path in _WITH_DTYPES:
            found = getattr(ct, _OTHER_NAMES.get(name, name), None)
            if isinstance(found, ct.DType):
                return found
        return Standin(f"{path}.{name}")


def _getenv(key: str, default: Any = None) -> Any:
    return default


# An environment without variables, and what code asks of the interpreter.
_GIVEN: dict[str, Any] = {
    "os.environ": MappingProxyType({}),
    "os.getenv": _getenv,
    "sys.version_info": sys.version_info,
    "sys.platform": sys.platform,
    "sys.maxsize": sys.maxsize,
}
