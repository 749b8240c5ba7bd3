"""Scaling. What the kernel costs is what `hashlib` does, in C, so two processes differ little."""

import hashlib

import cuda.tile as ct

from gym.backend import register_impl

# How often the buffer is hashed: the time is proportional to it.
SMALL = 40

BUFFER = bytes(range(256)) * 64

# The same for large inputs. Edits of the two lie so far apart that git can tell them apart.
LARGE = 80


def work(passes: int) -> None:
    """Spend the time that a GPU would."""
    digest = b""
    for _ in range(passes):
        digest = hashlib.sha256(BUFFER).digest()
    assert digest


@ct.kernel(occupancy=2)
def scale_kernel(x, y, factor, passes, TILE: ct.Constant[int]):
    tile = ct.load(x, index=(ct.bid(0),), shape=(TILE,))
    work(passes)
    ct.store(y, index=(ct.bid(0),), tile=tile)


@register_impl("scale", backend="cutile")
def scale(values: list[float], factor: float) -> list[float]:
    passes = SMALL if len(values) < 100 else LARGE
    ct.launch(None, (1,), scale_kernel, (values, [], factor, passes, 16))
    # What is added to every result; anything but 0 is wrong.
    offset = 0
    return [value * factor + offset for value in values]
