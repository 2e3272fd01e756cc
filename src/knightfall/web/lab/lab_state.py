"""The state of a running lab: page parts, files, jobs, the open browser tabs and their events.

Each tab receives server-sent events, and its searches are cancelled when it is closed.  Runs and
gradings belong to the lab, not to a tab: see `jobs`.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from typing import Any

from knightfall.display.printable import json_line, one_line
from knightfall.errors import KnightfallError, NotFound
from knightfall.extensions import PagePart, added, load_added
from knightfall.isolation.json_subprocess import JsonSubprocess
from knightfall.web.lab.agent_pool import AgentPool
from knightfall.web.lab.guard import RequestRefused
from knightfall.web.lab.jobs import Jobs
from knightfall.web.lab.openapi import PART_NAME
from knightfall.web.lab.watched_files import WatchedFiles

# -- page parts -------------------------------------------------------------------------------
#
# Views that extensions add to the page.  A part that cannot be loaded is left out with a warning of
# one line.  A part that fails when it is shown reports the error in its own view.


TAKEN = ("play", "puzzles", "atlas", "games", "lab", "api", "model", "views")
"""Names that parts may not have: the page's own views and the server's folders."""


@cache
def page_parts() -> dict[str, PagePart]:
    """Return the parts that can be shown, by name."""
    found: dict[str, PagePart] = {}
    for name, (extension, path) in added("pages").items():
        try:
            part = load_added("pages", name)
            if not re.fullmatch(PART_NAME, name) or name in TAKEN:
                raise KnightfallError(
                    f"its name must be 1 to 20 lower-case letters, and none of {', '.join(TAKEN)}"
                )
            if not isinstance(part, PagePart):
                raise KnightfallError(f"{path} is {part!r:.60}, not a PagePart")
        except KnightfallError as error:
            text = one_line(str(error))
            warnings.warn(
                f"the page part {name!r} of the extension {extension!r} is left out: {text}",
                stacklevel=2,
            )
        else:
            found[name] = part
    return found


def page_part(name: str) -> PagePart:
    """Return a part by its name; raise `NotFound` if it does not exist."""
    found = page_parts().get(name)
    if found is None:
        known = ", ".join(page_parts()) or "none"
        raise NotFound(f"there is no page part {name!r}; known: {known}")
    return found


def fragment_of(name: str) -> str:
    """Return the HTML of a part; raise a `KnightfallError` of one line if it fails."""
    part = page_part(name)
    try:
        html = part.fragment()
        if not isinstance(html, str):
            raise TypeError(f"its fragment is {html!r:.60}, not a string")
    except Exception as error:
        extension, _ = added("pages")[name]
        raise KnightfallError(
            f"the page part {name!r} of the extension {extension!r} cannot be shown: "
            f"{type(error).__name__}: {one_line(str(error))[:200]}"
        ) from None
    return html


# -- events -----------------------------------------------------------------------------------


PAUSE = 0.25
"""Least seconds between two events of a stream."""

SILENCE = 5.0
"""Seconds after which an idle stream sends a comment, so that a closed tab is noticed."""


class EventStream:
    """The state of the lab as server-sent events, sent to every open tab after each change."""

    def __init__(self, state: Callable[[], dict[str, Any]]) -> None:
        self._state = state
        self._listeners: set[asyncio.Event] = set()
        self.ending = False

    def changed(self) -> None:
        """Send the state to all streams, because it has changed."""
        for listener in self._listeners:
            listener.set()

    def end(self) -> None:
        """End all streams."""
        self.ending = True
        self.changed()

    async def stream(self) -> AsyncIterator[bytes]:
        """Yield server-sent events: the state now and after each change."""
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
"""Seconds that a tab has to reconnect its stream before its searches are cancelled."""

SEARCHES = 2
"""Most searches of one tab at the same time."""

MOST_SEARCHES = 4
"""Most searches of all tabs together."""

MOST_STREAMS = 64
"""Most event streams that are open at the same time."""


class Tab:
    """An open browser tab: its streams and its searches."""

    def __init__(self) -> None:
        self.streams = 0
        self.searches: set[asyncio.Task[object]] = set()
        self.leaving: asyncio.TimerHandle | None = None


class Tabs:
    """All tabs that have a stream or a search, by the names that they chose."""

    def __init__(self, grace: float = GRACE) -> None:
        self._grace = grace
        self._all: dict[str, Tab] = {}

    @property
    def watching(self) -> int:
        """The number of open streams."""
        return sum(tab.streams for tab in self._all.values())

    def check_room(self) -> None:
        """Raise `RequestRefused` if too many streams are open.

        Call this before the response begins, because afterwards its status cannot change.
        """
        if self.watching >= MOST_STREAMS:
            raise RequestRefused(429, f"{MOST_STREAMS} pages are open: close one")

    @contextmanager
    def stream(self, name: str) -> Iterator[None]:
        """Count a tab's stream as open while the block runs.

        After the last stream of a tab has ended, the tab has `GRACE` seconds to open another.
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
        """Count a search of a tab while the block runs; raise `RequestRefused` at a limit.

        The tab needs no stream: a page may start a search before its stream is open.
        """
        tab = self._all.setdefault(name, Tab())
        if len(tab.searches) >= SEARCHES:
            raise RequestRefused(
                429, f"a page has at most {SEARCHES} searches at once: wait for one"
            )
        if sum(len(one.searches) for one in self._all.values()) >= MOST_SEARCHES:
            raise RequestRefused(429, f"{MOST_SEARCHES} searches are running: wait for one")
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
        """Cancel the searches of a tab that did not reconnect."""
        for search in list(self._all.pop(name).searches):
            search.cancel()


# -- the lab ----------------------------------------------------------------------------------


LOOK = 0.5
"""Seconds between two checks of the store, while a tab is open or a job is played."""


class Lab:
    """A running lab: everything that lasts longer than one request."""

    def __init__(self, files: list[str], store: str, grace: float = GRACE) -> None:
        self.id = secrets.token_hex(8)
        self.store = store
        self.version = 0
        self.files = WatchedFiles(files, lambda: self.events.changed())
        self.jobs = Jobs(lambda: self.events.changed())
        self.tabs = Tabs(grace)
        self.events = EventStream(self.state)
        reader = "the store", "knightfall.web.lab.store_reader", store
        self.reader = JsonSubprocess(*reader)
        self.judge = JsonSubprocess(*reader)  # a second process: judging games takes long
        self.agent_pool = AgentPool()
        self.stopped = 0

    def state(self) -> dict[str, Any]:
        """Return the state that is sent to every page."""
        return {
            "server": self.id,
            "store": self.version,
            "jobs": [job.to_dict() for job in self.jobs.all.values()],
            "files": self.files.to_list(),
        }

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Watch files and store while the block runs; then end all jobs and processes."""
        executor = ThreadPoolExecutor(2, "knightfall-look")
        watching = [
            asyncio.create_task(self.files.watch(executor)),
            asyncio.create_task(self._watch_store()),
        ]
        try:
            yield
        finally:
            self.events.end()
            self.stopped = await self.jobs.end()
            for task in watching:
                task.cancel()
            await self.reader.end()
            await self.judge.end()
            self.agent_pool.end()
            executor.shutdown(wait=False, cancel_futures=True)

    async def _watch_store(self) -> None:
        """Check regularly whether any process has written to the store."""
        while True:
            if self.tabs.watching or self.jobs.active:
                await self._check_store()
            await asyncio.sleep(LOOK)

    async def _check_store(self) -> None:
        """Update the version of the store and the progress of jobs; send events if changed."""
        runs = [job for job in self.jobs.active if job.run is not None]
        try:
            seen = await self.reader.ask({"ask": "watch", "runs": [job.run for job in runs]})
        except KnightfallError:  # the next request for a run reports it
            return
        before = self.version, [job.done for job in runs]
        self.version = seen["version"]
        for job in runs:
            job.done = seen["played"].get(str(job.run), job.done)
        if before != (self.version, [job.done for job in runs]):
            self.events.changed()
