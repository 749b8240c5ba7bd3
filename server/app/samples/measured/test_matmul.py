"""Is the product right, and how long does it take?"""

import statistics
import struct

import cuda.tile as ct
import pytest
from device import Driver, Matrix

from matmul import matmul_kernel

TILE_M, TILE_N, TILE_K = 128, 128, 64
SAMPLES = 20
LAUNCHES = 20


@pytest.fixture(scope="module")
def driver():
    """Give the GPU of all tests."""
    return Driver()


def left(row, k):
    """The element of the left matrix: small and whole, so that sums are exact."""
    return (3 * row + k) % 5 - 2


def right(k, column):
    """The element of the right matrix."""
    return (k + 2 * column) % 7 - 3


def packed(element, rows, columns):
    """The bytes of a matrix. Its rows repeat, so that few of them are computed."""
    known = {}
    for row in range(rows):
        key = row % 35
        if key not in known:
            values = [element(row, column) for column in range(columns)]
            known[key] = struct.pack(f"<{columns}e", *values)
    return b"".join(known[row % 35] for row in range(rows))


def product(driver, m, n, k):
    """Operands, result and the launch that fills it."""
    a, b, c = Matrix(driver, m, k), Matrix(driver, k, n), Matrix(driver, m, n)
    a.write(packed(left, m, k))
    b.write(packed(right, k, n))
    grid = (ct.cdiv(m, TILE_M), ct.cdiv(n, TILE_N))

    def launch():
        ct.launch(driver.stream, grid, matmul_kernel, (a, b, c, TILE_M, TILE_N, TILE_K))

    return c, launch


@pytest.mark.parametrize(("m", "n", "k"), [(256, 256, 256), (200, 136, 72)])
def test_matmul(driver, m, n, k):
    """Every element of some rows is as whole numbers give it."""
    c, launch = product(driver, m, n, k)
    launch()
    driver.wait()
    found = struct.unpack(f"<{m * n}e", c.read())
    for row in range(0, m, 7):
        for column in range(n):
            exact = sum(left(row, i) * right(i, column) for i in range(k))
            # As float16 rounds it.
            (wanted,) = struct.unpack("<e", struct.pack("<e", exact))
            assert found[row * n + column] == wanted, (row, column)


@pytest.mark.parametrize("size", [2048, 4096])
def test_perf_matmul(driver, size, record_property):
    """The benchmark: the median time of a launch."""
    _, launch = product(driver, size, size, size)
    launch()
    driver.wait()
    times = [driver.milliseconds(launch, LAUNCHES) for _ in range(SAMPLES)]
    record_property("benchmark", {"cutile": {"forward": {"median": statistics.median(times)}}})
