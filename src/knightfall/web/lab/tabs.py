"""The open tabs of browsers: each has a stream of news, and its searches end when it is gone.

Runs and gradings do not belong to a tab: see `jobs`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager

from knightfall.errors import KnightfallError
from knightfall.web.lab.guard import Refused
from knightfall.web.lab.schemas import CLIENT_PATTERN

GRACE = 10.0
"""Seconds that a tab's stream may be away, to reconnect say, before its searches are ended."""

SEARCHES = 2
"""Positions that one tab may have thought about at a time."""

MOST_SEARCHES = 4
"""And all tabs together."""

MOST_STREAMS = 64


class Tab:
    """A tab, known by a word of its own choice."""

    def __init__(self) -> None:
        self.streams = 0
        self.searches: set[asyncio.Task[object]] = set()
        self.leaving: asyncio.TimerHandle | None = None


class Tabs:
    """All tabs that have a stream or a search."""

    def __init__(self, grace: float = GRACE) -> None:
        self._grace = grace
        self._all: dict[str, Tab] = {}

    @property
    def watching(self) -> int:
        """How many streams are open."""
        return sum(tab.streams for tab in self._all.values())

    def check_room(self) -> None:
        """Refuse a stream if there are too many; call it before the answer has begun."""
        if self.watching >= MOST_STREAMS:
            raise Refused(429, f"{MOST_STREAMS} pages are open: close one")

    @contextmanager
    def stream(self, name: str) -> Iterator[None]:
        """Count a tab's stream as open while the block runs.

        Once the last one of a tab has ended, the tab has the grace time to open another.
        """
        tab = self._all.setdefault(name, Tab())
        tab.streams += 1
        if tab.leaving is not None:
            tab.leaving.cancel()
            tab.leaving = None
        try:
            yield
        finally:
            tab.streams -= 1
            if not tab.streams:
                loop = asyncio.get_running_loop()
                tab.leaving = loop.call_later(self._grace, self._forget, name)

    @contextmanager
    def searching(self, name: str) -> Iterator[None]:
        """Count a search of a tab while the block runs; refuse it if there are too many.

        The tab needs no stream: a page may ask before its stream is open.
        """
        tab = self._all.setdefault(name, Tab())
        if len(tab.searches) >= SEARCHES:
            raise Refused(429, f"a page has at most {SEARCHES} searches at once: wait for one")
        if sum(len(one.searches) for one in self._all.values()) >= MOST_SEARCHES:
            raise Refused(429, f"{MOST_SEARCHES} searches are going on: wait for one")
        task = asyncio.current_task()
        assert task is not None
        tab.searches.add(task)
        try:
            yield
        finally:
            tab.searches.discard(task)
            in_use = tab.streams or tab.searches or tab.leaving is not None
            if not in_use and self._all.get(name) is tab:
                del self._all[name]

    def _forget(self, name: str) -> None:
        """End the searches of a tab that did not come back."""
        for search in list(self._all.pop(name).searches):
            search.cancel()


def checked_name(given: str | None) -> str | None:
    """Return what a tab calls itself; None if it does not say."""
    if given is None:
        return None
    if not re.fullmatch(CLIENT_PATTERN, given, re.ASCII):
        raise KnightfallError(f"a client is called {given[:50]!r}, and must be up to 40 letters")
    return given
