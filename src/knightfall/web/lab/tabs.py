"""The tabs that are open: each has one stream of news, and what it started ends when it goes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from knightfall.web.lab.guard import Refused
from knightfall.web.lab.schemas import CLIENT_PATTERN

GRACE = 10.0
"""Seconds that a tab may be away, to be loaded anew say, before its runs are stopped."""

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
    """All of them."""

    def __init__(self, on_gone: Callable[[str], None], grace: float = GRACE) -> None:
        self._on_gone, self._grace = on_gone, grace
        self._all: dict[str, Tab] = {}

    @property
    def watching(self) -> int:
        """How many streams are open."""
        return sum(tab.streams for tab in self._all.values())

    @contextmanager
    def stream(self, name: str) -> Iterator[None]:
        """A tab is there as long as the block runs."""
        if self.watching >= MOST_STREAMS:
            raise Refused(429, f"{MOST_STREAMS} pages are open: close one")
        tab = self._all.setdefault(name, Tab())
        tab.streams += 1
        self._stay(tab)
        try:
            yield
        finally:
            tab.streams -= 1
            if not tab.streams:
                for search in list(tab.searches):
                    search.cancel()
                self._leave(name, tab)

    def expect(self, name: str) -> None:
        """Something was started for a tab: if it is not there, it has some seconds to come."""
        tab = self._all.setdefault(name, Tab())
        if not tab.streams and tab.leaving is None:
            self._leave(name, tab)

    @contextmanager
    def searching(self, name: str) -> Iterator[None]:
        """A search of a tab; refused if there are too many."""
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
            if not tab.streams and not tab.searches and tab.leaving is None:
                self._all.pop(name, None)

    def _stay(self, tab: Tab) -> None:
        if tab.leaving is not None:
            tab.leaving.cancel()
            tab.leaving = None

    def _leave(self, name: str, tab: Tab) -> None:
        self._stay(tab)
        loop = asyncio.get_running_loop()
        tab.leaving = loop.call_later(self._grace, self._gone, name)

    def _gone(self, name: str) -> None:
        self._all.pop(name, None)
        self._on_gone(name)


def checked_name(given: str | None) -> str | None:
    """What a tab calls itself; None if it does not say."""
    if given is None:
        return None
    if not re.fullmatch(CLIENT_PATTERN, given, re.ASCII):
        raise Refused(422, f"a client is called {given[:50]!r}, and must be up to 40 letters")
    return given
