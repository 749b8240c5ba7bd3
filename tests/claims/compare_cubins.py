"""Compares what tileperf reads from cubins with what cuobjdump says of them.

Compiles the kernels of tests/compiler_claims that compile, for four architectures, and compares
registers, stack and shared memory with `cuobjdump -res-usage`, the names with cuda.tile's own
demangling, threads and clusters with what the compiler's assembly asks for. Needs cuda-tile with its
compiler and cuobjdump; no GPU. Exits with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from check_claims import Claim, claims, load, signature
from cuda.tile.compilation import KernelSignature, demangle_kernel_name, export_kernel

ARCHS = ("sm_80", "sm_90", "sm_100", "sm_120")


def compile_for(claim: Claim, arch: str, folder: Path, out: Path) -> bool:
    """Compile a kernel under its mangled name; whether it can be compiled for this architecture."""
    kernel = load(claim.source, folder)
    plain = signature(claim.arguments)
    mangled = KernelSignature(plain.parameters, plain.calling_convention)
    if hinted := re.fullmatch(r"(\w+)=(\d+) on sm_\d+", claim.detail):
        kernel = kernel.replace_hints(**{hinted[1]: int(hinted[2])})
    try:
        export_kernel(kernel, [mangled], str(out), gpu_code=arch, output_format="cubin")
    # The compiler's own: 8-bit floats, for example, exist from sm_90 on.
    except Exception:  # noqa: BLE001
        return False
    return True


def said_by_cuobjdump(program: Path, cubin: Path) -> dict[str, dict[str, int]]:
    """The resources of each function, as cuobjdump prints them."""
    command = [str(program), "-res-usage", str(cubin)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = {}
    for name, numbers in re.findall(r"Function (\S+):\n\s+(REG.*)", text):
        pairs = dict(re.findall(r"(\w+):(\d+)", numbers))
        found[name] = {
            "registers": int(pairs["REG"]),
            "stack": int(pairs["STACK"]),
            "shared": int(pairs["SHARED"]),
        }
    return found


def asked_for_in_ptx(cubin: Path) -> dict[str, int]:
    """Threads and cluster as the assembly in the cubin asks for them."""
    text = cubin.read_bytes().replace(b"\0", b"\n").decode("latin-1")

    def product(directive: str) -> int | None:
        numbers = re.search(rf"\.{directive}\s+([\d, ]+)", text)
        if numbers is None:
            return None
        result = 1
        for number in numbers[1].split(","):
            result *= int(number)
        return result

    cluster = product("reqnctapercluster")
    found = {"cluster": 1 if cluster is None else cluster}
    if (threads := product("reqntid")) is not None:
        found["threads"] = threads
    return found


def differences(
    arch: str, facts: dict[str, Any], cubin: Path, cuobjdump: Path
) -> list[str]:
    """What is not as NVIDIA's own tools say."""
    if "error" in facts:
        return [facts["error"]]
    wrong = []
    if facts["cubin"]["sm"] != int(arch.removeprefix("sm_")):
        wrong.append(f"compiled for {arch}, read as sm_{facts['cubin']['sm']}")
    expected = said_by_cuobjdump(cuobjdump, cubin)
    kernels = {
        kernel["symbol"]: kernel["resources"] for kernel in facts["cubin"]["kernels"]
    }
    if kernels.keys() != expected.keys():
        wrong.append(f"kernels {sorted(kernels)}, not {sorted(expected)}")
    asked = asked_for_in_ptx(cubin)
    for name, resources in kernels.items():
        demangle_kernel_name(name)
        for key, value in {**expected.get(name, {}), **asked}.items():
            if resources[key] != value:
                wrong.append(f"{key} {resources[key]}, not {value}")
    return wrong


def main() -> int:
    """Compile, compare, print a line for each difference and a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("probe", type=Path, help="compiler-probe of server/compiler")
    parser.add_argument(
        "cuobjdump", type=Path, help="the program, or a folder to find it in"
    )
    parser.add_argument(
        "claims", type=Path, nargs="+", help="files of tests/compiler_claims"
    )
    parser.add_argument("--every", type=int, default=1, help="only every n-th kernel")
    options = parser.parse_args()
    cuobjdump = options.cuobjdump
    if cuobjdump.is_dir():
        cuobjdump = next(p for p in cuobjdump.rglob("cuobjdump") if p.is_file())
    kernels = [
        claim
        for path in options.claims
        for claim in claims(path.read_text())
        if claim.want in ("ok", "base", "same", "differs")
    ][:: options.every]
    wrong = 0
    table: dict[str, list[dict[str, Any]]] = {arch: [] for arch in ARCHS}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "modules").mkdir()
        for claim in kernels:
            for arch in ARCHS:
                out = folder / "kernel.cubin"
                if not compile_for(claim, arch, folder / "modules", out):
                    continue
                command = [str(options.probe), "cubin", str(out)]
                said = subprocess.run(
                    command, capture_output=True, text=True, check=True
                )
                facts = json.loads(said.stdout)
                for difference in differences(arch, facts, out, cuobjdump):
                    wrong += 1
                    kernel = re.findall(r"def (\w+)", claim.source)[-1]
                    print(f"{kernel} {arch}: {difference}")
                if "cubin" in facts:
                    table[arch].append(facts["cubin"]["kernels"][0]["resources"])
    print_table(table)
    total = sum(map(len, table.values()))
    print(f"\n{total} cubins of {len(kernels)} kernels compared, {wrong} differences")
    return 1 if wrong or not total else 0


def print_table(table: dict[str, list[dict[str, Any]]]) -> None:
    """What was among the cubins, so that one sees that the comparison meant something."""
    print("| | cubins | registers | with stack | shared memory | threads | cluster |")
    print("|---|---|---|---|---|---|---|")
    for arch, all_resources in table.items():

        def values(key: str, of: list[dict[str, Any]] = all_resources) -> list[int]:
            return sorted({resources[key] for resources in of})

        def span(key: str) -> str:
            found = values(key)
            return f"{found[0]} to {found[-1]} ({len(found)} values)" if found else "-"

        stacks = sum(resources["stack"] > 0 for resources in all_resources)
        lists = [", ".join(map(str, values(key))) for key in ("threads", "cluster")]
        print(
            f"| {arch} | {len(all_resources)} | {span('registers')} | {stacks} "
            f"| {span('shared')} | {lists[0]} | {lists[1]} |"
        )


if __name__ == "__main__":
    sys.exit(main())
