"""Tell the arguments of launches apart, quickly, and describe them, once.

An argument of a launch is an array of any library, a number, or a constant of any type. Nothing
here imports such a library or runs code of a type it does not know: what is asked of an array are
the attributes ``cuda.tile`` itself asks for.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import math
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

# Compared by value; with their type, because 1 == True.
_PLAIN = frozenset({int, bool, str, bytes, type(None)})
MAX_ITEMS = 64
_MAX_TEXT = 200


# What tells launches apart. A function for each type of argument, found once.

_keyers: dict[type, Callable[[Any], Any]] = {}


def key_of(values: Any) -> tuple[Any, ...]:
    """Return what two lists of arguments share exactly if they make the same launch."""
    parts: list[Any] = []
    for value in values:
        kind = type(value)
        parts.append(kind)
        if kind in _PLAIN:
            parts.append(value)
            continue
        keyer = _keyers.get(kind)
        if keyer is None:
            keyer = _keyers[kind] = _keyer(value)
        parts.append(keyer(value))
    return tuple(parts)


def _keyer(value: Any) -> Callable[[Any], Any]:
    if isinstance(value, float):
        return lambda number: number if number == number else "nan"
    if isinstance(value, (tuple, list)):
        return key_of
    if isinstance(value, dict):
        return lambda entries: (tuple(entries), key_of(entries.values()))
    if isinstance(value, (int, str, enum.Enum, type)) or _is_dtype(value):
        return lambda constant: constant
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        if callable(getattr(value, "stride", None)):
            return lambda array: (array.shape, array.dtype, array.stride())
        if hasattr(value, "strides"):
            return lambda array: (array.shape, array.dtype, array.strides)
        return lambda array: (tuple(array.shape), str(array.dtype))
    if hasattr(value, "__cuda_array_interface__"):
        return _interface_key
    # An object of another kind: its type is all that can be asked without running its code.
    return lambda _: None


def _interface_key(value: Any) -> Any:
    interface = value.__cuda_array_interface__
    return tuple(interface["shape"]), interface["typestr"], interface.get("strides")


# How values are described.


def describe_arguments(kernel: Any, values: Any) -> list[dict[str, Any]]:
    """Describe the arguments of a launch, with the names and constants of the kernel."""
    annotated = getattr(kernel, "_annotated_function", None)
    nodes = getattr(annotated, "parameter_annotations", ())
    function = getattr(kernel, "_pyfunc", None) or inspect.unwrap(kernel)
    code = getattr(function, "__code__", None)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()
    written = getattr(function, "__annotations__", {})
    described = []
    for index, value in enumerate(values):
        name = names[index] if index < len(names) else None
        node = nodes[index] if index < len(nodes) else None
        constant = getattr(node, "constant", None)
        if not isinstance(constant, bool):
            # Other versions of cuda.tile keep this elsewhere; the annotation is always there.
            constant = name is not None and "Constant" in str(written.get(name, ""))
        described.append({"name": name, **_argument(value, constant)})
    return described


def _argument(value: Any, constant: bool) -> dict[str, Any]:
    if (array := _array(value)) is not None:
        return array
    if isinstance(value, (tuple, list)) and not constant:
        items = [_argument(item, False) for item in value[:MAX_ITEMS]]
        return {"items": items, **({"length": len(value)} if len(value) > MAX_ITEMS else {})}
    if constant:
        return {"constant": plain(value)}
    if isinstance(value, (bool, int, float)) or value is None:
        return {"scalar": plain(value)}
    return {"object": _type_name(value)}


def _array(value: Any) -> dict[str, Any] | None:
    interface = None
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        shape, dtype = value.shape, str(value.dtype).removeprefix("torch.")
        strides = _strides(value)
    elif (interface := getattr(value, "__cuda_array_interface__", None)) is not None:
        shape, dtype = interface["shape"], interface["typestr"]
        size = int(dtype[2:])
        strides = [step // size for step in interface.get("strides") or ()] or None
    else:
        return None
    return {
        "shape": [plain(extent) for extent in shape],
        "dtype": dtype,
        "strides": strides,
        "align": _alignment(value, interface),
    }


def _strides(value: Any) -> list[Any] | None:
    if callable(stride := getattr(value, "stride", None)):
        return [plain(step) for step in stride()]
    if (steps := getattr(value, "strides", None)) is None:
        return None
    size = int(getattr(value, "itemsize", 1)) or 1
    return [int(step) // size for step in steps]


def _alignment(value: Any, interface: dict[str, Any] | None) -> int | None:
    try:
        if callable(getattr(value, "data_ptr", None)):
            address = value.data_ptr()
        else:
            address = (interface or value.__cuda_array_interface__)["data"][0]
        return math.gcd(int(address), 16)
    except Exception:
        return None  # an array without memory, of a tracer for instance


def plain(value: Any, depth: int = 0) -> Any:
    """Turn a value into JSON without running code of its own, except that of known types."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, int):
        return int(value) if -(2**63) <= value < 2**64 else str(int(value))
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    if isinstance(value, str):
        return str(value)[:_MAX_TEXT]
    if _is_dtype(value):
        return str(value)
    if depth < 6:
        if isinstance(value, (tuple, list)):
            return [plain(item, depth + 1) for item in value[:MAX_ITEMS]]
        if isinstance(value, dict):
            entries = list(value.items())[:MAX_ITEMS]
            return {str(plain(k, depth + 1)): plain(v, depth + 1) for k, v in entries}
        if isinstance(by_target := getattr(value, "_by_target", None), dict):
            default = getattr(value, "_default", None)
            known = isinstance(default, int)
            return {**plain(by_target, depth + 1), **({"default": default} if known else {})}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = dataclasses.fields(value)
            return {field.name: plain(getattr(value, field.name), depth + 1) for field in fields}
        if isinstance(value, SimpleNamespace):
            return plain(vars(value), depth + 1)
    if isinstance(value, (FunctionType, type)):
        return value.__qualname__
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return _array(value)
    return f"<{_type_name(value)}>"


def _is_dtype(value: Any) -> bool:
    return type(value).__name__.lower() == "dtype"


def _type_name(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"
