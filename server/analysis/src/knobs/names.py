"""Print the public names of the installed cuda-tile, one a line, as names.txt holds them.

A line is a name (`load`), a member or field (`PaddingMode.ZERO`, `Array.slice`) or a parameter that
a caller can name (`load(latency)`), followed by a tab and its default where it has one. The first
line is the version. Run with any Python that has cuda-tile; no GPU is needed.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib.metadata
import inspect
import sys
from types import ModuleType
from typing import Any

import cuda.tile as ct
import cuda.tile.compilation
import cuda.tile.tune


def text_of(value: Any) -> str:
    """Write a default as source text: enum members as `PaddingMode.ZERO`, the rest as repr."""
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, ct.DType):
        return str(value)
    return repr(value)


def parameters(name: str, function: Any) -> list[str]:
    """List every parameter that can be given by name."""
    if inspect.isclass(function) and function.__init__ is object.__init__:
        return []
    try:
        # A class that forwards `__new__(**kwargs)` says more in `__init__`.
        signature = inspect.signature(function.__init__ if inspect.isclass(function) else function)
    except (TypeError, ValueError):
        return []
    lines: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY or parameter.name == "self":
            continue
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            continue
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            lines.append(f"{name}(**{parameter.name})")
        elif parameter.default is inspect.Parameter.empty:
            lines.append(f"{name}({parameter.name})")
        else:
            lines.append(f"{name}({parameter.name})\t{text_of(parameter.default)}")
    return lines


def field_line(name: str, field: dataclasses.Field[Any]) -> str:
    """Write a field, which stands for the constructor's parameter too."""
    if field.default is dataclasses.MISSING:
        return f"{name}.{field.name}"
    return f"{name}.{field.name}\t{text_of(field.default)}"


def members(name: str, cls: type) -> list[str]:
    """List what a class offers beyond `object` and arithmetic."""
    if issubclass(cls, BaseException):
        return []
    if issubclass(cls, enum.Enum):
        return [f"{name}.{member}" for member in cls.__members__]
    if dataclasses.is_dataclass(cls):
        lines = [field_line(name, field) for field in dataclasses.fields(cls)]
    else:
        lines = parameters(name, cls)
    seen = {line.partition("\t")[0] for line in lines}
    for member in sorted(set(dir(cls)) - set(dir(object))):
        if member.startswith("_") or f"{name}.{member}" in seen:
            continue
        lines.append(f"{name}.{member}")
        value = inspect.getattr_static(cls, member)
        if isinstance(value, staticmethod):
            value = value.__func__
        if inspect.isfunction(value):
            lines.extend(parameters(f"{name}.{member}", value))
    return lines


def of_module(prefix: str, module: ModuleType) -> list[str]:
    """List the exported names of a module, submodules excepted."""
    lines = []
    for name in sorted(module.__all__):
        value = getattr(module, name)
        dotted = prefix + name
        lines.append(dotted)
        if isinstance(value, ModuleType):
            continue
        if inspect.isclass(value):
            # Aliases of exceptions share their class; they are listed by name only.
            lines.extend(members(dotted, value))
        elif inspect.isroutine(value):
            lines.extend(parameters(dotted, value))
    return lines


def main() -> None:
    """Print everything."""
    version = importlib.metadata.version("cuda-tile")
    lines = [f"cuda-tile {version}"]
    lines += of_module("", ct)
    lines += of_module("tune.", cuda.tile.tune)
    lines += of_module("compilation.", cuda.tile.compilation)
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
