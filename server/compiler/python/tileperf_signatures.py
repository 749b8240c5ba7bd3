"""From the protocol's signatures to those of ``cuda.tile.compilation``.

`tileperf_compiler` describes the form.
"""

from __future__ import annotations

from typing import Any

import cuda.tile as ct
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    ConstantConstraint,
    KernelSignature,
    ListConstraint,
    ScalarConstraint,
    TupleConstraint,
)

# JSON has no way to write these.
_FLOATS = {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}


def signature(entries: list[Any], convention: str | None, name: str) -> KernelSignature:
    """Return the signature of a kernel with this name, its symbol as cuTile would choose it.

    Without a convention it is the one that ``cuda.tile.launch`` would use: the oldest that can
    say it.
    """
    constraints = [constraint(entry) for entry in entries]
    return _under_convention(constraints, convention).with_mangled_symbol(name)


def _under_convention(constraints: list[Any], convention: str | None) -> KernelSignature:
    if convention is not None:
        return KernelSignature(constraints, _convention(convention))
    try:
        return KernelSignature(constraints, _convention("v1"))
    except ValueError:
        return KernelSignature(constraints, _convention("v2"))


def _convention(name: str) -> CallingConvention:
    make = getattr(CallingConvention, f"cutile_python_{name}", None)
    if make is None:
        raise ValueError(f"this cuda.tile has no calling convention {name}")
    return make()


def constraint(entry: dict[str, Any]) -> Any:
    """Return the constraint that an entry stands for."""
    match entry["kind"]:
        case "array":
            return _array(entry)
        case "scalar":
            return ScalarConstraint(dtype(entry["dtype"]))
        case "constant":
            return ConstantConstraint(constant(entry))
        case "tuple":
            return TupleConstraint([constraint(item) for item in entry["items"]])
        case "list":
            return ListConstraint(
                _array(entry["element"]),
                alias_groups=entry.get("alias", ()),
                elements_may_alias=bool(entry.get("elements_alias", False)),
            )
        case other:
            raise ValueError(f"no such kind of parameter: {other!r}")


def constant(entry: dict[str, Any]) -> Any:
    """Return the value of a constant."""
    if "float" in entry:
        return _FLOATS[entry["float"]]
    return entry["value"]


def _array(entry: dict[str, Any]) -> ArrayConstraint:
    ndim = entry["ndim"]
    return ArrayConstraint(
        dtype(entry["dtype"]),
        ndim,
        index_dtype=dtype(entry.get("index", "int32")),
        stride_lower_bound_incl=entry.get("stride_min", 0),
        alias_groups=entry.get("alias", ()),
        may_alias_internally=bool(entry.get("overlaps", False)),
        stride_constant=_each(entry.get("stride"), ndim),
        shape_constant=_each(entry.get("shape"), ndim),
        stride_divisible_by=entry.get("stride_divisor", 1),
        shape_divisible_by=entry.get("shape_divisor", 1),
        base_addr_divisible_by=entry.get("base_divisor", 1),
    )


def _each(given: Any, ndim: int) -> Any:
    return [given] * ndim if isinstance(given, int) else given


def dtype(name: str) -> Any:
    """Return a data type by cuTile's name for it."""
    found = getattr(ct, name, None)
    if not isinstance(found, ct.DType):
        raise ValueError(f"cuda.tile has no data type {name!r}")
    return found
