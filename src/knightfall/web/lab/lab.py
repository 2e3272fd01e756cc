"""The lab as a whole: its files, its runs, the open tabs of browsers, and their events.

Each tab has a stream of server-sent events, and its searches end when it is gone.  Runs and
gradings belong to the lab, not to a tab: see `jobs`.
"""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from knightfall.display.printable import json_line
from knightfall.errors import KnightfallError
from knightfall.isolation.json_subprocess import JsonSubprocess
from knightfall.web.lab.guard import Refused
from knightfall.web.lab.jobs import Jobs
from knightfall.web.lab.library import Library
from knightfall.web.lab.schemas import CLIENT_PATTERN
from knightfall.web.lab.thinkers import Thinkers

# -- events -----------------------------------------------------------------------------------


PAUSE = 0.25
"""Seconds between two messages: nobody reads faster."""

SILENCE = 5.0
"""Seconds after which something is said in any case, or nobody would notice that a tab is gone."""


class EventStream:
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


# -- tabs -------------------------------------------------------------------------------------


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


# -- the lab ----------------------------------------------------------------------------------


LOOK = 0.5
"""Seconds between two looks into the store, while anybody watches."""


class Lab:
    """Everything that outlives a request."""

    def __init__(self, files: list[str], store: str, grace: float = GRACE) -> None:
        self.id = secrets.token_hex(8)
        self.store = store
        self.version = 0
        self.library = Library(files, lambda: self.events.changed())
        self.jobs = Jobs(lambda: self.events.changed())
        self.tabs = Tabs(grace)
        self.events = EventStream(self.state)
        archive = "the store", "knightfall.web.lab.archive", store
        self.archive = JsonSubprocess(*archive)
        self.judge = JsonSubprocess(*archive)  # another: it takes its time
        self.thinkers = Thinkers()
        self.stopped = 0

    def state(self) -> dict[str, Any]:
        """What every page wants to know, whatever it shows."""
        return {
            "server": self.id,
            "store": self.version,
            "jobs": [job.to_dict() for job in self.jobs.all.values()],
            "files": self.library.to_list(),
        }

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Watch files and store until it is over; then end all that was started, in order."""
        hands = ThreadPoolExecutor(2, "knightfall-look")
        watching = [
            asyncio.create_task(self.library.watch(hands)),
            asyncio.create_task(self._watch_store()),
        ]
        try:
            yield
        finally:
            self.events.end()
            self.stopped = await self.jobs.end()
            for task in watching:
                task.cancel()
            await self.archive.end()
            await self.judge.end()
            self.thinkers.end()
            hands.shutdown(wait=False, cancel_futures=True)

    async def _watch_store(self) -> None:
        """Notice what is written, by us or by anybody, while somebody looks or plays."""
        while True:
            if self.tabs.watching or self.jobs.active:
                await self._look_at_store()
            await asyncio.sleep(LOOK)

    async def _look_at_store(self) -> None:
        runs = [job for job in self.jobs.active if job.run is not None]
        try:
            seen = await self.archive.ask({"ask": "watch", "runs": [job.run for job in runs]})
        except KnightfallError:  # it is told to whoever asks for a run
            return
        before = self.version, [job.done for job in runs]
        self.version = seen["version"]
        for job in runs:
            job.done = seen["played"].get(str(job.run), job.done)
        if before != (self.version, [job.done for job in runs]):
            self.events.changed()
