"""Compiles the kernels behind the rules' claims and says where the compiler disagrees.

A file of tests/compiler_claims holds kernels. Above each stands what is expected of it, and what it
is called with:

    # expect: error [part of the message]
    # expect: ok
    # expect: base                      the kernel that the next ones are compared with
    # expect: same | differs            machine code, compared with the kernel before
    # expect: same num_ctas=2 on sm_80  compared with itself under other hints
    # args: float32[2], int32, 16       arrays with their rank, scalars, constants

Needs cuda-tile with its compiler; no GPU. Exits with 1 if anything is not as expected.
"""

from __future__ import annotations

import importlib.util
import re
import struct
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cuda.tile as ct
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    ConstantConstraint,
    KernelSignature,
    ScalarConstraint,
    export_kernel,
)

ARCH = "sm_90"


@dataclass
class Claim:
    """One kernel of a file and what is expected of it."""

    source: str
    want: str
    detail: str
    arguments: str


def claims(text: str) -> list[Claim]:
    """The kernels of a file, each with what stands above them all."""
    first = re.search(r"(?m)^# expect:", text)
    if first is None:
        raise SystemExit("no `# expect:` in the file")
    start = first.start()
    head = text[:start]
    found = []
    for block in filter(str.strip, re.split(r"(?m)^(?=# expect:)", text[start:])):
        expected = re.match(r"# expect: (\w+) ?(.*)", block)
        arguments = re.search(r"# args:(.*)", block)
        if expected is None or arguments is None:
            raise SystemExit(f"no `# expect:` or `# args:` above\n{block}")
        found.append(
            Claim(head + block, expected[1], expected[2].strip(), arguments[1])
        )
    return found


def array(rank: int, dtype: Any) -> ArrayConstraint:
    """A contiguous array whose strides and address are multiples of 16."""
    return ArrayConstraint(
        dtype,
        rank,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=[None] * (rank - 1) + [1] if rank else None,
        stride_divisible_by=[16] * (rank - 1) + [1] if rank else 1,
        shape_divisible_by=1,
        base_addr_divisible_by=16,
    )


def signature(arguments: str) -> KernelSignature:
    """What `# args:` says."""
    constraints: list[Any] = []
    for argument in filter(None, map(str.strip, arguments.split(","))):
        if ranked := re.fullmatch(r"(\w+)\[(\d)\]", argument):
            constraints.append(array(int(ranked[2]), getattr(ct, ranked[1])))
        elif hasattr(ct, argument):
            constraints.append(ScalarConstraint(getattr(ct, argument)))
        else:
            # A literal of our own file.
            constraints.append(ConstantConstraint(eval(argument)))
    convention = CallingConvention.cutile_python_v2()
    return KernelSignature(constraints, convention, symbol="k")


def load(source: str, folder: Path) -> Any:
    """The last kernel of a module with this text."""
    path = folder / f"claim_{len(list(folder.iterdir()))}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernels = [v for v in vars(module).values() if hasattr(v, "replace_hints")]
    return kernels[-1]


def code(kernel: Any, arguments: str, folder: Path, arch: str) -> bytes:
    """The machine code of a kernel: every `.text` section of its cubin."""
    out = folder / "out.cubin"
    export_kernel(
        kernel,
        [signature(arguments)],
        str(out),
        gpu_code=arch,
        output_format="cubin",
    )
    data = out.read_bytes()
    (table,) = struct.unpack_from("<Q", data, 0x28)
    count, names = struct.unpack_from("<HH", data, 0x3C)
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(count)
    ]
    strings = sections[names][4]
    text = b""
    for section in sections:
        name = data[strings + section[0] : data.index(b"\0", strings + section[0])]
        if name.startswith(b".text"):
            text += data[section[4] : section[4] + section[5]]
    return text


def outcome(
    claim: Claim, before: bytes | None, folder: Path
) -> tuple[str, bytes | None]:
    """What became of a kernel, in the words of `# expect:`, and its machine code."""
    try:
        kernel = load(claim.source, folder)
        if claim.want in ("error", "ok"):
            out = str(folder / "out.bytecode")
            export_kernel(
                kernel,
                [signature(claim.arguments)],
                out,
                gpu_code=ARCH,
                output_format="tileir_bytecode",
            )
            return "ok", None
        if hinted := re.fullmatch(r"(\w+)=(\d+) on (sm_\d+)", claim.detail):
            arch = hinted[3]
            plain = code(kernel, claim.arguments, folder, arch)
            other = kernel.replace_hints(**{hinted[1]: int(hinted[2])})
            changed = code(other, claim.arguments, folder, arch)
            return ("same" if plain == changed else "differs"), plain
        text = code(kernel, claim.arguments, folder, ARCH)
        if claim.want == "base":
            return "base", text
        return ("same" if text == before else "differs"), text
    # The compiler's own, and Python's at the definition.
    except Exception as error:  # noqa: BLE001
        said = f"{type(error).__name__}: {error}".splitlines()[0]
        as_said = claim.want == "error" and claim.detail.lower() in said.lower()
        return ("error" if as_said else f"error: {said}"), None


def main(paths: list[str]) -> int:
    """Checks the files and prints what is not as expected."""
    right = wrong = 0
    for path in map(Path, paths):
        with tempfile.TemporaryDirectory() as folder:
            before = None
            for claim in claims(path.read_text()):
                got, before = outcome(claim, before, Path(folder))
                if got == claim.want:
                    right += 1
                    continue
                wrong += 1
                name = re.findall(r"def (\w+)", claim.source)[-1]
                print(f"{path.name}: {name}: expected {claim.want}, got {got}")
    print(f"{right} claims hold, {wrong} do not")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
