"""The notebook's board in a real JupyterLab, with a kernel behind it."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from browser import need_browser

from knightfall.position import Position

if find_spec("jupyterlab") is None or find_spec("anywidget") is None:
    pytest.skip("pip install jupyterlab 'knightfall[notebook]'", allow_module_level=True)
need_browser()
pytestmark = pytest.mark.slow

START = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
CELLS = [
    f"from knightfall.notebook import Board\nboard = Board({START.fen!r}, truth=True)\nboard",
    "print('now', board.fen)",
    "board.position = board.position.play('g3')",
]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[str]:
    """Start JupyterLab with a notebook of `CELLS`, and yield the notebook's address."""
    cells = [
        {"cell_type": "code", "id": f"cell-{number}", "metadata": {}, "outputs": []}
        | {"execution_count": None, "source": source}
        for number, source in enumerate(CELLS)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    content = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "board.ipynb").write_text(json.dumps(content), encoding="utf-8")
    token = secrets.token_hex(8)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folders = {name: str(tmp_path / name) for name in ("JUPYTER_CONFIG_DIR", "IPYTHONDIR")}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"]
    command += [f"--port={port}", f"--IdentityProvider.token={token}", f"--notebook-dir={tmp_path}"]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    command += ["--LabApp.news_url=None"]
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(
            command, stdout=log, stderr=log, cwd=tmp_path, env={**os.environ, **folders}
        )
    try:
        until = time.monotonic() + 120
        while True:
            try:
                urlopen(f"http://127.0.0.1:{port}/api?token={token}").close()
                break
            except (URLError, ConnectionError):
                alive = server.poll() is None and time.monotonic() < until
                assert alive, (tmp_path / "log").read_text()
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}/lab/tree/board.ipynb?token={token}"
    finally:
        server.terminate()
        server.wait(60)


def test_clicks_reach_the_kernel_and_python_the_board(browser: Any, lab: str) -> None:
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.goto(lab)
    cells = page.locator(".jp-Notebook .jp-CodeCell")

    def run(number: int) -> None:
        cells.nth(number).locator(".cm-content").click()
        page.keyboard.press("Control+Enter")

    def cell(name: str) -> Any:
        return page.locator(f"knight-board button[aria-label^='{name},']")

    page.get_by_text("(ipykernel) | Idle").wait_for()
    run(0)
    page.get_by_text("White wins in 31 plies").wait_for()  # the worker runs here
    cell("d4").click()
    page.get_by_text("Black to move").wait_for()
    played = START.play("d4")
    run(1)
    page.get_by_text(f"now {played.fen}").wait_for()
    run(2)
    played = played.play("g3")
    page.get_by_text("White to move").wait_for()
    run(1)
    page.get_by_text(f"now {played.fen}").wait_for()

    # Two letters d delete a cell of the notebook, except on the board, where they name a column.
    cell("a1").focus()
    page.keyboard.type("dd")
    assert cells.count() == len(CELLS)
    move = played.legal_moves[0]
    page.keyboard.type(move)
    page.get_by_text("Black to move").wait_for()
    run(1)
    page.get_by_text(f"now {played.play(move).fen}").wait_for()
    context.close()
