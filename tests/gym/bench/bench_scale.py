"""A benchmark that is no test. The first argument says how it prints what it measured.

``lines`` prints records, ``table`` a table as Triton does. ``model`` prints records too, but of what
the kernel is made to cost and not of what it took: for tests of rules, where a busy machine must not
have a say.
"""

import random
import sys
import time

from gym.ops.cutile import scale as kernel

SIZES = {16: "SMALL", 128: "LARGE"}


def milliseconds(size: int, how: str) -> float:
    """The least time of a few calls: one run has to say enough."""
    if how == "model":
        return getattr(kernel, SIZES[size]) * random.gauss(1, 0.0003)
    values = [1.0] * size
    times = []
    for _ in range(5):
        began = time.thread_time()
        kernel.scale(values, 3)
        times.append((time.thread_time() - began) * 1e3)
    return min(times)


def main(how: str) -> None:
    """Time every size and print it."""
    # What costs nothing is not there: so a change can take a configuration away.
    sizes = [size for size, passes in SIZES.items() if getattr(kernel, passes)]
    times = {size: milliseconds(size, how) for size in sizes}
    if how == "table":
        print("scale-performance-GBps:")
        print("        N    CuTile")
        for row, (size, time_ms) in enumerate(times.items()):
            print(f"{row}  {float(size):8.1f}  {1 / time_ms:12.6f}")
        return
    for time_ms in times.values():
        print("Cutile: " + str({"forward": {"median": time_ms}}) + " ms")


if __name__ == "__main__":
    main(sys.argv[1])
