"""Fixtures of the tests of heuristics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from heuristic_files import Files

from knightfall.heuristics import REGISTRY


@pytest.fixture(autouse=True)
def own_registry() -> Iterator[None]:
    """Remove the heuristics that a test declares after the test."""
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)
