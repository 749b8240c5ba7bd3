"""The one option that TileGym's tests have."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Accept TileGym's option. As there, the numbers are in the report."""
    parser.addoption("--print-record", action="store_true")
