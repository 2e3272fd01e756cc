"""Start a lab server for a test, in a process of its own that the test may kill."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

httpx = pytest.importorskip("httpx", reason="httpx sends the requests")
pytest.importorskip("starlette", reason="the lab needs it")
pytest.importorskip("uvicorn", reason="the lab needs it")

PATIENCE = 60.0
"""Most seconds to wait for a condition; long, because the machine may be busy."""

SOURCE = Path(__file__).parents[2] / "src"

MINE = '''from knightfall.heuristics import heuristic, mobility, space


@heuristic
def cosy(board, open, me, opp, to_move):
    """Prefer open space around the own knight."""
    return space(board, open, me) - 0.5 * mobility(board, open, opp)


def choose(position):
    """Return the first legal move."""
    return position.legal_moves[0]
'''

SLOW = '''import time


def slow(position):
    """Sleep for 9 ms, which uses no processor, then return the last legal move."""
    time.sleep(0.009)
    return position.legal_moves[-1]
'''

LONG = {"a": "python(slow.py:slow, time=10ms)", "b": "random", "pairs": 60}
"""A match that takes about 15 seconds, hardly any processor time and a single process."""


class LabServer:
    """A running `knightfall serve`, with a client that sends requests like those of its page."""

    def __init__(
        self,
        folder: Path,
        *files: str,
        port: int = 0,
        host: str = "127.0.0.1",
    ) -> None:
        self.folder = folder
        for name, text in (("mine.py", MINE), ("slow.py", SLOW)):
            if name in files and not (folder / name).exists():
                (folder / name).write_text(text)
        command = [
            *(sys.executable, "-m", "knightfall", "serve", *files, "--no-browser", "--json"),
            *("--port", str(port), "--host", host, "--store", str(folder / "runs.sqlite")),
        ]
        env = {**os.environ, "KNIGHTFALL_QUIET": "1", "PYTHONPATH": str(SOURCE)}
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        assert self.process.stdout is not None
        said = json.loads(self.process.stdout.readline())
        self.url, self.port = said["url"], said["port"]
        self.client = httpx.Client(base_url=self.url, timeout=PATIENCE)
        page = self.client.get("/").text
        self.token = re.search(r'<meta name="knightfall-lab" content="([^"]+)">', page)[1]  # type: ignore[index]

    def get(self, path: str, **query: Any) -> Any:
        answer = self.client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, _tab: str | None = None, **body: Any) -> Any:
        headers = {"X-Knightfall-Token": self.token}
        if _tab is not None:
            headers["X-Knightfall-Client"] = _tab
        return self.client.post(path, json=body, headers=headers)

    def job(self, id: str) -> dict[str, Any]:
        jobs = self.get("/api/state")["jobs"]
        return next(job for job in jobs if job["id"] == id)

    def until_job(self, id: str, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        return until(lambda: (job := self.job(id)) and fits(job) and job)

    def begin(self, path: str, _tab: str | None = None, **body: Any) -> dict[str, Any]:
        """Start a job, wait until its first game is stored, and return the job."""
        answer = self.post(path, _tab, **body)
        assert answer.status_code == 202, answer.text
        job = self.until_job(answer.json()["id"], lambda job: job["error"] or job["done"] > 0)
        assert not job["error"], job
        return job

    def end(self, how: int = signal.SIGINT) -> int:
        self.client.close()
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode


def until(happens: Callable[[], Any], patience: float | None = None) -> Any:
    """Call a function until its result is true; return that result."""
    patience = PATIENCE if patience is None else patience
    last = time.monotonic() + patience
    while time.monotonic() < last:
        found = happens()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"the condition was not met within {patience} seconds")


@contextmanager
def lab(folder: Path, *files: str, **options: Any) -> Iterator[LabServer]:
    """Start a lab, yield it, and stop it at the end of the block."""
    server = LabServer(folder, *(files or ["slow.py"]), **options)
    try:
        yield server
    finally:
        server.end()
