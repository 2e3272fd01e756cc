"""Jobs: runs and gradings that are being played, each in its own process.

Jobs belong to the server, not to the browser tab that started them.  A job ends when it is stopped,
when it is finished, or with the server.  All that has been played is in the store at any moment.
Stopping a job interrupts its process, as Ctrl-C would; if the server dies, the operating system
ends the processes.
"""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import Any

from knightfall.arena.snapshot import remove_leftovers
from knightfall.display.printable import one_line
from knightfall.isolation.exit_status import describe_exit
from knightfall.isolation.json_subprocess import send, start_module
from knightfall.web.lab.agent_names import short_names
from knightfall.web.lab.guard import RequestRefused

AT_ONCE = 2
"""Most jobs that are played at the same time; each may use every core."""

KEPT = 50
"""Most ended jobs that are remembered."""

ENDING = 15.0
"""Seconds that an interrupted process has to end before it is killed."""

AGAIN = 1.5
"""Seconds between two interrupts of a process."""

SHOWN = 6
"""Most agents that a job's title names."""


class LabJob:
    """A run or a grading that the lab plays or has played."""

    def __init__(self, id: str, kind: str, names: Sequence[str]) -> None:
        self.id, self.kind = id, kind
        self.names = [one_line(name) for name in names]
        """The full names of the agents."""
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
        """Whether the job has ended: finished, stopped or failed."""
        return self.state in ("finished", "stopped", "failed")

    @property
    def title(self) -> str:
        """The kind of the job and the short names of its agents."""
        more = f" and {len(self.names) - SHOWN} more" if len(self.names) > SHOWN else ""
        who = ", ".join(short_names(self.names)[:SHOWN]) or "the course's agents"
        return f"{self.kind}: {who}{more}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are sent to the browser."""
        return {
            "id": self.id, "kind": self.kind, "title": self.title, "state": self.state,
            "run": self.run, "grading": self.grading, "done": self.done, "total": self.total,
            "error": self.error, "notices": self.notices,
            "stopping": self.stopping and not self.over, "names": self.names,
        }  # fmt: skip


class Jobs:
    """All jobs of a lab, those that have ended included."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._numbers = count(1)
        self.all: dict[str, LabJob] = {}

    @property
    def active(self) -> list[LabJob]:
        """The jobs that have not ended."""
        return [job for job in self.all.values() if not job.over]

    def playing(self, *, run: int | None = None, grading: int | None = None) -> LabJob | None:
        """Return the job that plays a run or a grading; None if it is not being played."""
        wanted = run, grading
        return next((job for job in self.active if (job.run, job.grading) == wanted), None)

    def dismiss(self, job: LabJob) -> None:
        """Remove a job that has ended from the list, because the user has seen the result."""
        del self.all[job.id]
        self._on_change()

    def start(self, spec: dict[str, Any], names: Sequence[str]) -> LabJob:
        """Start a job and return it; raise `RequestRefused` if too many are being played."""
        if len(self.active) >= AT_ONCE:
            raise RequestRefused(
                409, f"{AT_ONCE} runs are being played: stop one, or wait until one has ended"
            )
        job = LabJob(str(next(self._numbers)), spec["kind"], names)
        job.run, job.grading = spec.get("run"), spec.get("grading")
        self.all[job.id] = job
        over = [one for one in self.all.values() if one.over]
        for old in over[: max(0, len(over) - KEPT)]:
            del self.all[old.id]
        job.task = asyncio.get_running_loop().create_task(self._play(job, spec))
        self._on_change()
        return job

    async def _play(self, job: LabJob, spec: dict[str, Any]) -> None:
        """Start the job's process, read its messages, and record how it ended.

        The copies of users' files that a killed process has left are removed.
        """
        try:
            job.process = await start_module("knightfall.web.lab.play_job")
            assert job.process.stdin is not None
            assert job.process.stdout is not None
            with suppress(OSError):
                await send(job.process, spec)
                job.process.stdin.close()
            if job.stopping:
                self._interrupt(job)
            async for line in job.process.stdout:
                self._receive(job, line)
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
        await asyncio.to_thread(remove_leftovers)

    def _receive(self, job: LabJob, line: bytes) -> None:
        """Update a job by a message of its process."""
        try:
            message = json.loads(line)
        except ValueError:
            return
        for kind in ("run", "grading"):
            if kind in message:
                other = self.playing(**{kind: message[kind]})
                setattr(job, kind, message[kind])
                if other is not None and other is not job:
                    job.error = f"{kind} {message[kind]} is being played already"
                    self._interrupt(job)
        if "done" in message:
            job.state = "playing"
            job.done, job.total = message["done"], message.get("total", job.total)
        job.error = one_line(message.get("error", job.error))
        if "notice" in message and len(job.notices) < 20:
            job.notices.append(one_line(message["notice"])[:500])
        self._on_change()

    # -- ending ----------------------------------------------------------------------------

    def stop(self, job: LabJob) -> None:
        """Stop a job; what has been played is kept."""
        if not job.over and not job.stopping:
            job.stopping = True
            self._interrupt(job)
            self._on_change()

    def _interrupt(self, job: LabJob) -> None:
        if job.process is not None and job.process.returncode is None:
            job.ending = asyncio.get_running_loop().create_task(_end(job.process))

    async def end(self) -> int:
        """Stop all jobs and wait until they have ended; return how many were being played."""
        active = self.active
        for job in active:
            self.stop(job)
        tasks = [job.task for job in active if job.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=ENDING + 2)
        return len(active)


async def _end(process: asyncio.subprocess.Process) -> None:
    """Interrupt a process until it ends; kill it after `ENDING` seconds.

    One interrupt is not enough: a process that is starting others may miss it.
    """
    for number in (*[signal.SIGINT] * round(ENDING / AGAIN), signal.SIGKILL):
        with suppress(ProcessLookupError):
            process.send_signal(number)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(process.wait()), AGAIN)
            return
