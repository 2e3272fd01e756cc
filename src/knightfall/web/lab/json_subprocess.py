"""A subprocess that answers questions: a line of JSON for each, one after the other."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from typing import Any

from knightfall.errors import KnightfallError, NotFound

LONGEST = 1 << 26
"""Bytes of an answer: a league of forty agents has a large table, a long game a few hundred."""


class JsonSubprocess:
    """A module of ours run as a subprocess, which is started when it is first asked."""

    def __init__(self, module: str, *words: str, patience: float = 60.0) -> None:
        self._command = (sys.executable, "-P", "-W", "ignore", "-m", module, *words)
        self._patience = patience
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return its answer.  Raise the `KnightfallError` or `NotFound` that it answers with.

        A process that does not answer is ended, and that is a `KnightfallError`, too.
        """
        async with self._turn:
            process = await self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(json.dumps(question).encode() + b"\n")
                await process.stdin.drain()
                line = await asyncio.wait_for(process.stdout.readline(), self._patience)
                answer = json.loads(line)
            except (TimeoutError, OSError, ValueError):
                await self.end()
                raise KnightfallError("the store did not answer; try again") from None
            except BaseException:  # nobody waits any more: what it says next would be misheard
                await self.end()
                raise
        if "error" in answer:
            kind = KnightfallError if answer.get("found", True) else NotFound
            raise kind(answer["error"])
        found: dict[str, Any] = answer["answer"]
        return found

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is not for it
                limit=LONGEST,
            )
        return self._process

    async def end(self) -> None:
        """End it; the next question starts another."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()
