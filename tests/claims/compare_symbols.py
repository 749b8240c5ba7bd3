"""Compares tileperf's reading of mangled names with cuda.tile's, on random signatures.

Each name is made by cuda.tile, read and written again by tileperf, and compared with the signature
that it was made from. Needs cuda-tile; no GPU. Exits with 1 if anything differs.
"""

from __future__ import annotations

import json
import math
import random
import struct
import subprocess
import sys
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

COUNT = 2000
DTYPES = [
    ct.bool_, ct.uint8, ct.uint16, ct.uint32, ct.uint64, ct.int8, ct.int16, ct.int32, ct.int64,
    ct.float16, ct.float32, ct.float64, ct.bfloat16, ct.tfloat32, ct.float8_e4m3fn, ct.float8_e5m2,
]  # fmt: skip
FUNCTIONS = ["k", "_softmax_kernel", "a_Kb", "x_Kt1_I3", "matmul2"]


def array(rng: random.Random) -> ArrayConstraint:
    """An array of which something is known."""
    ndim = rng.randrange(6)
    stride = [rng.choice([None, None, 1, 0, 64, 12345]) for _ in range(ndim)]
    free = [known is None for known in stride]
    return ArrayConstraint(
        rng.choice(DTYPES),
        ndim,
        index_dtype=rng.choice([ct.int32, ct.int32, ct.uint32, ct.int64]),
        stride_constant=stride,
        stride_divisible_by=[rng.choice([1, 2, 16]) if f else 1 for f in free],
        stride_lower_bound_incl=[
            rng.choice([None, 0, -7]) if f else None for f in free
        ],
        shape_constant=[rng.choice([None, None, 1, 4096]) for _ in range(ndim)],
        shape_divisible_by=[rng.choice([1, 1, 8, 128]) for _ in range(ndim)],
        base_addr_divisible_by=rng.choice([1, 4, 16, 128]),
        alias_groups=rng.sample(["red", "green", "blue"], rng.choice([0, 0, 0, 1, 2])),
        may_alias_internally=rng.random() < 0.2,
    )


def constant(rng: random.Random) -> ConstantConstraint:
    """A constant of any kind that a name can have."""
    number = rng.choice([0.0, -0.0, 1.5, math.inf, -math.inf, math.pi, 5e-324])
    whole = rng.choice([0, 1, -1, 256, -(2**40), 2**100, rng.randrange(10**6)])
    return ConstantConstraint(rng.choice([True, False, number, whole]))


def parameter(rng: random.Random, depth: int = 0) -> Any:
    """Any parameter."""
    match rng.randrange(6 if depth < 2 else 4):
        case 0 | 1:
            return array(rng)
        case 2:
            return ScalarConstraint(rng.choice(DTYPES))
        case 3:
            return constant(rng)
        case 4:
            groups = rng.sample(["red", "green"], rng.randrange(2))
            aliased = rng.random() < 0.3
            return ListConstraint(
                array(rng), alias_groups=groups, elements_may_alias=aliased
            )
        case _:
            items = [parameter(rng, depth + 1) for _ in range(rng.randrange(4))]
            return TupleConstraint(items)


def plain(constraint: Any) -> Any:
    """A constraint as tileperf's JSON, without the numbers of groups."""
    match constraint:
        case ArrayConstraint():
            axes = zip(
                constraint.shape_constant,
                constraint.shape_divisible_by,
                constraint.stride_constant,
                constraint.stride_divisible_by,
                constraint.stride_lower_bound_incl,
                strict=True,
            )
            names = ("shape", "shape_divisor", "stride", "stride_divisor", "stride_min")
            return {
                "kind": "array",
                "dtype": str(constraint.dtype),
                "axes": [dict(zip(names, axis, strict=True)) for axis in axes],
                "base_divisor": constraint.base_addr_divisible_by,
                "alias_groups": len(constraint.alias_groups),
                "overlaps": constraint.may_alias_internally,
                "index": str(constraint.index_dtype),
            }
        case ListConstraint():
            element = plain(constraint.element)
            del element["kind"]
            return {
                "kind": "list",
                "alias_groups": len(constraint.alias_groups),
                "elements_alias": constraint.elements_may_alias,
                "element": element,
            }
        case TupleConstraint():
            return {
                "kind": "tuple",
                "items": [plain(item) for item in constraint.items],
            }
        case ScalarConstraint():
            return {"kind": "scalar", "dtype": str(constraint.dtype)}
    value = constraint.value
    if isinstance(value, bool):
        return {"kind": "bool", "value": value}
    if isinstance(value, int):
        return {"kind": "int", "value": str(value)}
    return {"kind": "float", "bits": struct.unpack("<Q", struct.pack("<d", value))[0]}


def without_groups(value: Any) -> Any:
    """tileperf's JSON with the number of groups in place of their numbers."""
    if isinstance(value, list):
        return [without_groups(item) for item in value]
    if not isinstance(value, dict):
        return value
    result = {key: without_groups(item) for key, item in value.items()}
    if "alias_groups" in value:
        result["alias_groups"] = len(value["alias_groups"])
    return result


def main(probe: str) -> int:
    """Make names, have them read, print what differs."""
    rng = random.Random(5)
    made = []
    while len(made) < COUNT:
        convention = rng.choice(["cutile_python_v1", "cutile_python_v2"])
        try:
            constraints = [parameter(rng) for _ in range(rng.randrange(6))]
            signature = KernelSignature(
                constraints, getattr(CallingConvention, convention)()
            )
            function = rng.choice(FUNCTIONS)
            symbol = signature.with_mangled_symbol(function).symbol
        except (ValueError, AssertionError):
            # Of no meaning, or the older convention cannot say it; or cuda.tile, which reads every
            # name that it makes, finds that it cannot (1.7: some groups of lists).
            continue
        made.append((function, symbol, signature))
    names = "".join(f"{symbol}\n" for _, symbol, _ in made)
    said = subprocess.run(
        [probe, "symbols"], input=names, capture_output=True, text=True, check=True
    )
    wrong = 0
    for (function, symbol, signature), line in zip(
        made, said.stdout.splitlines(), strict=True
    ):
        answer = json.loads(line)
        read = answer.get("symbol", {})
        expected = [plain(constraint) for constraint in signature.parameters]
        same = without_groups(read.get("params")) == expected
        if (
            answer.get("again") != symbol
            or read.get("function") != function
            or not same
        ):
            wrong += 1
            print(f"{symbol}\n  {line}\n  {json.dumps(expected)}")
    print(f"{len(made)} names compared, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
