"""A linear layer: takes the kernel that fits the number of rows. The kernels are in matmul.py."""

import cuda.tile as ct
import torch

from matmul import few_rows_kernel, matmul_kernel

FEW_ROWS = 8


def linear(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """`x @ weight` of two half-precision matrices."""
    rows, columns = x.shape[0], weight.shape[1]
    out = torch.empty((rows, columns), dtype=x.dtype, device=x.device)
    if rows <= FEW_ROWS:
        kernel, constants = few_rows_kernel, (64, 128)
        grid = (rows, ct.cdiv(columns, 64), 1)
    else:
        kernel, constants = matmul_kernel, (128, 128, 64)
        grid = (ct.cdiv(rows, 128), ct.cdiv(columns, 128), 1)
    ct.launch(torch.cuda.current_stream(), grid, kernel, (x, weight, out, *constants))
    return out
