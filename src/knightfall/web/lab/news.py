"""News: whoever listens gets the state as a whole, at once and whenever it has changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from knightfall.display.printable import json_line

PAUSE = 0.25
"""Seconds between two messages: nobody reads faster."""

SILENCE = 5.0
"""Seconds after which something is said in any case, or nobody would notice that a tab is gone."""


class News:
    """What changes, and those who want to hear of it."""

    def __init__(self, state: Callable[[], dict[str, Any]]) -> None:
        self._state = state
        self._listeners: set[asyncio.Event] = set()
        self.ending = False

    def changed(self) -> None:
        """Something is not as it was."""
        for listener in self._listeners:
            listener.set()

    def end(self) -> None:
        """No more news: every stream ends."""
        self.ending = True
        self.changed()

    async def stream(self) -> AsyncIterator[bytes]:
        """Server-sent events."""
        woken = asyncio.Event()
        self._listeners.add(woken)
        last = ""
        try:
            yield b"retry: 1000\n\n"
            while not self.ending:
                woken.clear()
                text = json_line(self._state()).strip()
                yield b": still here\n\n" if text == last else f"data: {text}\n\n".encode()
                last = text
                try:
                    await asyncio.wait_for(woken.wait(), SILENCE)
                except TimeoutError:
                    continue
                await asyncio.sleep(PAUSE)
        finally:
            self._listeners.discard(woken)
