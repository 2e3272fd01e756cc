"""The lab as a whole: its files, its runs, its tabs, and whoever thinks for it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

from knightfall.errors import KnightfallError
from knightfall.web.lab.files import Library
from knightfall.web.lab.jobs import Jobs
from knightfall.web.lab.lines import Answering
from knightfall.web.lab.news import News
from knightfall.web.lab.tabs import GRACE, Tabs
from knightfall.web.lab.thinkers import Thinkers

LOOK = 0.5
"""Seconds between two looks into the store, while anybody watches."""


class Lab:
    """Everything that outlives a request."""

    def __init__(self, files: list[str], store: str, grace: float = GRACE) -> None:
        self.id = secrets.token_hex(8)
        self.store = store
        self.version = 0
        self.library = Library(files, lambda: self.news.changed())
        self.jobs = Jobs(lambda: self.news.changed())
        self.tabs = Tabs(grace)
        self.news = News(self.state)
        self.archive = Answering("knightfall.web.lab.archive", store)
        self.judge = Answering("knightfall.web.lab.archive", store)  # another: it takes its time
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
            self.news.end()
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
            self.news.changed()
