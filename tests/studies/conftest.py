"""Fixtures shared by the tests of the studies."""

from __future__ import annotations

from pathlib import Path

import pytest
from heuristic_files import Files


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)
