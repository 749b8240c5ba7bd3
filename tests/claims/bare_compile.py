"""How long cuTile's frontend and tileiras take for a kernel by themselves.

Usage: bare_compile.py TILEIRAS-FOLDER FILE KERNEL EXTENT

The kernel takes float16 matrices and one constant. Prints the frontend's and the compiler's seconds.
Both start warm: cuda.tile is imported, and the compiler has run once.
"""

import importlib.util
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cuda.tile as ct
from cuda.tile import compilation


def matrix() -> compilation.ArrayConstraint:
    return compilation.ArrayConstraint(
        dtype=ct.float16,
        ndim=2,
        index_dtype=ct.int32,
        stride_lower_bound_incl=0,
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=(None, 1),
        stride_divisible_by=(8, 1),
        shape_divisible_by=(16, 16),
        base_addr_divisible_by=16,
    )


def main() -> int:
    tileiras, file, name, extent = sys.argv[1:]
    spec = importlib.util.spec_from_file_location("kernels", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = getattr(module, name)
    arrays = [matrix() for _ in range(3)]
    signature = compilation.KernelSignature(
        parameters=[*arrays, compilation.ConstantConstraint(int(extent))],
        calling_convention=compilation.CallingConvention.cutile_python_v2(),
        symbol=None,
    )
    with tempfile.TemporaryDirectory() as folder:
        bytecode = Path(folder, "kernel.bytecode")
        times = []
        for _ in range(3):
            began = time.perf_counter()
            compilation.export_kernel(
                kernel,
                [signature],
                str(bytecode),
                gpu_code="sm_90",
                output_format="tileir_bytecode",
            )
            frontend = time.perf_counter() - began
            began = time.perf_counter()
            subprocess.run(
                [
                    tileiras,
                    "--gpu-name",
                    "sm_90",
                    "--lineinfo",
                    "-O3",
                    str(bytecode),
                    "-o",
                    str(Path(folder, "kernel.cubin")),
                ],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            times.append((frontend, time.perf_counter() - began))
    best = min(times, key=sum)
    print(f"{best[0]:.4f} {best[1]:.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
