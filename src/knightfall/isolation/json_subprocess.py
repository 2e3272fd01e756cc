"""Talk to a subprocess in lines of JSON, from an event loop."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from typing import Any

from knightfall.errors import KnightfallError, NotFound

LONGEST = 1 << 26
"""Largest answer in bytes: a league of forty agents has a large table, a long game a few hundred.
"""


async def start_module(module: str, *words: str) -> asyncio.subprocess.Process:
    """Run one of knightfall's modules as a subprocess that reads and writes lines of JSON."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", module, *words),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,  # so that Ctrl-C does not reach it
        limit=LONGEST,
    )


async def send(process: asyncio.subprocess.Process, value: dict[str, Any]) -> None:
    """Write one line of JSON to a subprocess."""
    assert process.stdin is not None
    process.stdin.write(json.dumps(value).encode() + b"\n")
    await process.stdin.drain()


class JsonSubprocess:
    """A subprocess that answers one request after another; it starts with the first request.

    `called` is its name in error messages.
    """

    def __init__(self, called: str, module: str, *words: str, patience: float = 60.0) -> None:
        self._called, self._module, self._words = called, module, words
        self._patience = patience
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request.  Raise the `KnightfallError` or `NotFound` it reports.

        A process that does not answer is killed, and a `KnightfallError` is raised.
        """
        async with self._turn:
            process = await self._running()
            assert process.stdout is not None
            try:
                await send(process, question)
                line = await asyncio.wait_for(process.stdout.readline(), self._patience)
                answer = json.loads(line)
            except (TimeoutError, OSError, ValueError):
                await self.end()
                raise KnightfallError(f"{self._called} did not answer; try again") from None
            except BaseException:  # cancelled: a late answer would be taken for the next one
                await self.end()
                raise
        if "error" in answer:
            kind = KnightfallError if answer.get("found", True) else NotFound
            raise kind(answer["error"])
        found: dict[str, Any] = answer["answer"]
        return found

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await start_module(self._module, *self._words)
        return self._process

    async def end(self) -> None:
        """Kill the subprocess; the next request starts another."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
