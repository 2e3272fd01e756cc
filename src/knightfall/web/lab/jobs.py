"""Runs and gradings that are being played, each by a process of its own.

They belong to the server, not to the tab that started them: they end by Stop, at their end, or with
the server.  What was played is in the store at any moment.  To stop a run is to interrupt its
process, as Ctrl-C would; if the server dies, the system ends its processes, and the store has what
was played.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import Any

from knightfall.display.printable import one_line
from knightfall.isolation.exit_status import describe_exit
from knightfall.isolation.json_subprocess import send, start_module
from knightfall.web.lab.guard import Refused
from knightfall.web.lab.names import short_names

AT_ONCE = 2
"""Runs and gradings that are played at one time: each may use every core."""

KEPT = 50
"""Of those that are over, so many are remembered."""

ENDING = 15.0
"""Seconds that a process has to end once it was interrupted."""

AGAIN = 1.5
"""Seconds between two interruptions."""

SHOWN = 6
"""Agents that a title names."""


class Job:
    """Something that is being played, or was."""

    def __init__(self, id: str, kind: str, names: Sequence[str]) -> None:
        self.id, self.kind = id, kind
        self.names = [one_line(name) for name in names]
        """Of the agents, in full."""
        self.state = "starting"
        self.run: int | None = None
        self.grading: int | None = None
        self.done = self.total = 0
        self.error = ""
        self.notices: list[str] = []
        self.stopping = False
        self.process: asyncio.subprocess.Process | None = None
        self.task: asyncio.Task[None] | None = None
        self.ending: asyncio.Task[None] | None = None

    @property
    def over(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self.state in ("finished", "stopped", "failed")

    @property
    def title(self) -> str:
        """What to call it: its kind, and its agents by their short names."""
        more = f" and {len(self.names) - SHOWN} more" if len(self.names) > SHOWN else ""
        who = ", ".join(short_names(self.names)[:SHOWN]) or "as the course had it"
        return f"{self.kind}: {who}{more}"

    def to_dict(self) -> dict[str, Any]:
        """What a browser may know."""
        return {
            "id": self.id, "kind": self.kind, "title": self.title, "state": self.state,
            "run": self.run, "grading": self.grading, "done": self.done, "total": self.total,
            "error": self.error, "notices": self.notices,
            "stopping": self.stopping and not self.over, "names": self.names,
        }  # fmt: skip


class Jobs:
    """All of them."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._numbers = count(1)
        self.all: dict[str, Job] = {}

    @property
    def active(self) -> list[Job]:
        """Those that are being played."""
        return [job for job in self.all.values() if not job.over]

    def playing(self, *, run: int | None = None, grading: int | None = None) -> Job | None:
        """Return the job that plays a run or a grading; None if it is not being played."""
        wanted = run, grading
        return next((job for job in self.active if (job.run, job.grading) == wanted), None)

    def dismiss(self, job: Job) -> None:
        """Forget a job that is over: somebody has seen how it ended."""
        del self.all[job.id]
        self._on_change()

    def start(self, spec: dict[str, Any], names: Sequence[str]) -> Job:
        """Have something played by some agents; refuse it if there is enough going on."""
        if len(self.active) >= AT_ONCE:
            raise Refused(409, f"{AT_ONCE} runs are being played: stop one, or wait for its end")
        job = Job(str(next(self._numbers)), spec["kind"], names)
        job.run, job.grading = spec.get("run"), spec.get("grading")
        self.all[job.id] = job
        over = [one for one in self.all.values() if one.over]
        for old in over[: max(0, len(over) - KEPT)]:
            del self.all[old.id]
        job.task = asyncio.get_running_loop().create_task(self._play(job, spec))
        self._on_change()
        return job

    async def _play(self, job: Job, spec: dict[str, Any]) -> None:
        """Start the process, hear what it says, note how it ended.

        It has a folder for copies of the users' files, which goes however it ends.
        """
        folder = ""
        try:
            folder = os.path.realpath(tempfile.mkdtemp(prefix="knightfall-run-"))
            job.process = await start_module("knightfall.web.lab.play_run")
            assert job.process.stdin is not None
            assert job.process.stdout is not None
            with suppress(OSError):
                await send(job.process, {**spec, "snapshot": folder})
                job.process.stdin.close()
            if job.stopping:
                self._interrupt(job)
            async for line in job.process.stdout:
                self._hear(job, line)
            code = await job.process.wait()
        except (OSError, ValueError) as error:
            job.error, code = one_line(str(error)), 1
            if job.process is not None and job.process.returncode is None:
                job.process.kill()
        if job.error:
            job.state = "failed"
        elif code == 0 and not (job.stopping and job.done < job.total):
            job.state = "finished"
        elif job.stopping:
            job.state = "stopped"
        else:
            job.state, job.error = "failed", f"its process {describe_exit(code)}"
        self._on_change()
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)

    def _hear(self, job: Job, line: bytes) -> None:
        try:
            said = json.loads(line)
        except ValueError:
            return
        for what in ("run", "grading"):
            if what in said:
                other = self.playing(**{what: said[what]})
                setattr(job, what, said[what])
                if other is not None and other is not job:
                    job.error = f"{what} {said[what]} is being played already"
                    self._interrupt(job)
        if "done" in said:
            job.state = "playing"
            job.done, job.total = said["done"], said.get("total", job.total)
        job.error = one_line(said.get("error", job.error))
        if "notice" in said and len(job.notices) < 20:
            job.notices.append(one_line(said["notice"])[:500])
        self._on_change()

    # -- ending ----------------------------------------------------------------------------

    def stop(self, job: Job) -> None:
        """Have it end with what was played by now."""
        if not job.over and not job.stopping:
            job.stopping = True
            self._interrupt(job)
            self._on_change()

    def _interrupt(self, job: Job) -> None:
        if job.process is not None and job.process.returncode is None:
            job.ending = asyncio.get_running_loop().create_task(_end(job.process))

    async def end(self) -> int:
        """Stop everything and wait for it; how many there were."""
        active = self.active
        for job in active:
            self.stop(job)
        tasks = [job.task for job in active if job.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=ENDING + 2)
        return len(active)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Interrupt a process, again if it is busy starting others and does not hear; then kill it."""
    for sign in (*[signal.SIGINT] * round(ENDING / AGAIN), signal.SIGKILL):
        with suppress(ProcessLookupError):
            process.send_signal(sign)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(process.wait()), AGAIN)
            return
