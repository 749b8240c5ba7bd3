"""A correctness test that is no pytest's."""

from gym.ops.cutile.scale import scale

for factor in (2, 3):
    found = scale([1, 2], factor)
    assert found == [factor, 2 * factor], f"{factor} times [1, 2] is {found}"
