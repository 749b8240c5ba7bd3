"""The fixtures of the helper's tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Return a fresh folder with the helper in it."""
    return Workspace(tmp_path)
