"""Fixtures: a browser for each test module, and the whole page as one file for the session.

A browser takes as much memory as all other tests together. So it is closed after each module, and
only one of several pytest workers has a browser at a time.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import chromium

from knightfall.web.site import single_file


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pytest.importorskip("playwright", reason="playwright drives the browser")
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # shared by all workers
    with (folder / "browser_lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        with chromium() as found:
            yield found


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "knightfall.html"
    path.write_text(single_file(), encoding="utf-8")
    return path
