"""Rotary position embedding, written over its own input."""

import cuda.tile as ct
import torch

Half = ct.Constant[int]


def rotate(first, second, cos, sin):
    """The two halves of a head, turned by the angle of their position."""
    return first * cos - second * sin, second * cos + first * sin


@ct.kernel(occupancy=ct.ByTarget(sm_90=8, default=4))
def rope_kernel(x, cos, sin, HEADS: ct.Constant[int], HALF: Half):
    """One block turns all heads of one position; `x` is (positions, heads, 2 * HALF)."""
    position = ct.bid(0)
    shape = (1, HEADS, HALF)
    first = ct.astype(ct.load(x, index=(position, 0, 0), shape=shape), ct.float32)
    second = ct.astype(ct.load(x, index=(position, 0, 1), shape=shape), ct.float32)
    c = ct.reshape(ct.load(cos, index=(position, 0), shape=(1, HALF)), (1, 1, HALF))
    s = ct.reshape(ct.load(sin, index=(position, 0), shape=(1, HALF)), (1, 1, HALF))
    first, second = rotate(first, second, c, s)
    ct.store(x, index=(position, 0, 0), tile=ct.astype(first, x.dtype))
    ct.store(x, index=(position, 0, 1), tile=ct.astype(second, x.dtype))


def rope_(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turns `x` in place and returns it; heads and half their width are powers of two."""
    positions, heads, width = x.shape
    grid = (positions, 1, 1)
    ct.launch(torch.cuda.current_stream(), grid, rope_kernel, (x, cos, sin, heads, width // 2))
    return x
