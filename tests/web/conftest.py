"""One browser, and one file with the whole page, for all tests of a file that look at it.

A browser takes as much memory as all the rest: it goes when nobody looks any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import chromium

from knightfall.web.site import single_file


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    pytest.importorskip("playwright", reason="playwright drives the browser")
    with chromium() as found:
        yield found


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "knightfall.html"
    path.write_text(single_file(), encoding="utf-8")
    return path
