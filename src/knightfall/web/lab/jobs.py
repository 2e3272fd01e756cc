"""Jobs: runs and gradings that are being played, each in its own process.

Jobs belong to the server, not to the browser tab that started them.  A job ends when it is stopped,
when it is finished, or with the server.  All that has been played is in the store at any moment.
Stopping a job interrupts its process, as Ctrl-C would; if the server dies, the operating system
ends the processes.

``python -m knightfall.web.lab.jobs`` is the process.  The first line of its standard input
describes the job, and it writes its progress as lines of JSON.  Its exit status is 0 when the job
is done, 130 if it was interrupted, 2 if it is invalid.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any

from knightfall.arena.snapshot import remove_leftovers
from knightfall.display import numbers
from knightfall.display.printable import json_line, one_line, printable
from knightfall.errors import KnightfallError
from knightfall.isolation import json_subprocess, sigint
from knightfall.isolation.json_subprocess import start_module
from knightfall.isolation.limits import exit_with_parent
from knightfall.isolation.run_isolated import describe_exit, take_streams
from knightfall.user_files import original_paths
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

    def playing(self, kind: str, number: int) -> LabJob | None:
        """Return the job that plays this ``run`` or ``grading``; None if it is not being played."""
        return next((job for job in self.active if getattr(job, kind) == number), None)

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
            job.process = await start_module("knightfall.web.lab.jobs")
            assert job.process.stdin is not None
            assert job.process.stdout is not None
            with suppress(OSError):
                await json_subprocess.send(job.process, spec)
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
                other = self.playing(kind, message[kind])
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


# -- the process of a job ---------------------------------------------------------------------


GENTLE = 10
"""Niceness of the process, so that requests of the page are served first."""

Send = Callable[..., None]
"""A function that sends its keyword arguments to the server as a message."""


def main() -> int:
    """Play the job that standard input describes; return the exit status."""
    sigint.exit_on_sigint()
    exit_with_parent()
    reading, writing = take_streams()
    with os.fdopen(reading, "rb") as stdin:
        spec = json.loads(stdin.readline())
    if hasattr(os, "nice"):
        os.nice(GENTLE)

    def send(**message: Any) -> None:
        os.write(writing, json_line(message).encode())

    def warn(message: Warning | str, *_: Any, **__: Any) -> None:
        send(notice=_short(f"warning: {message}", spec))

    warnings.showwarning = warn
    try:
        return _grade(spec, send) if spec["kind"] == "grading" else _play(spec, send)
    except KnightfallError as error:
        send(error=printable(_short(str(error), spec)))
        return 2
    except KeyboardInterrupt:
        return sigint.INTERRUPTED
    except Exception as error:
        send(error=printable(f"{type(error).__name__}: {error}"))
        return 1


def _short(text: str, spec: dict[str, Any]) -> str:
    """Return a text with full paths replaced by the names that the page knows."""
    text = original_paths(text)
    for name, path in spec["files"].items():
        text = text.replace(path, name)
    return text


# -- a run -----------------------------------------------------------------------------------


def _play(spec: dict[str, Any], send: Send) -> int:
    """Play a new run, or the rest of a stored one; return the exit status."""
    from knightfall.arena import engine_version
    from knightfall.arena.api import check, from_snapshot
    from knightfall.arena.run_loop import play_to_end
    from knightfall.arena.snapshot import run_snapshot
    from knightfall.arena.store import Store
    from knightfall.isolation.parallel_map import RunnerOptions

    def tell(text: str) -> None:
        send(notice=_short(text, spec))

    options = RunnerOptions()
    with run_snapshot(tell) as taken, Store.open(spec["store"]) as store:
        taken.enter()
        resumed = store.run(spec["run"]) if "run" in spec else None
        plan = _plan(spec) if resumed is None else resumed.plan
        check(plan, options)
        run = resumed or store.begin(
            plan, engine_version.engine(), engine_version.versions(), again=spec["again"]
        )
        send(run=run.id, total=plan.total, done=run.played)
        if plan.exhausted:
            starts = numbers.count(len(plan.starts), "opening")
            send(notice=f"the board has only {starts}; none is played twice")
        if run.finished:
            send(notice="this run was played before; tick “play again” to repeat it")
            return 0
        with from_snapshot(options, plan, tell) as runner:
            play_to_end(run, runner)
        send(done=run.played)
    return 0


def _plan(spec: dict[str, Any]) -> Any:
    from knightfall.arena.plan import Openings, league_plan, match_plan
    from knightfall.arena.tournament_plan import tournament_plan
    from knightfall.board import Board
    from knightfall.search.budget import read_budget
    from knightfall.statistics.sprt import Sprt

    openings = Openings(
        seed=spec["seed"], board=Board.named(spec["board"]).text, stratify=spec["stratify"]
    )
    common: dict[str, Any] = {"budget": read_budget(spec.get("budget")), **openings}
    if "pairs" in spec:
        common["pairs"] = spec["pairs"]
    if spec["kind"] == "match":
        test = Sprt(*spec["sprt"]) if "sprt" in spec else None
        plan = match_plan(spec["a"], spec["b"], test=test, **common)
    elif spec["kind"] == "tournament":
        protocol = spec["protocol"]
        plan = tournament_plan(spec["tests"], spec["against"], protocol=protocol, **common)
    else:
        common |= {"gauntlet_of": spec.get("gauntlet"), "until": spec.get("until")}
        plan = league_plan(spec["agents"], **common)
    # Entrants get the names that the page shows.  A command in the files' folder uses the same
    # names, and therefore continues the same run.
    named = tuple(replace(one, name=_short(one.name, spec)) for one in plan.entrants)
    return replace(plan, entrants=named)


# -- a grading -------------------------------------------------------------------------------


def _grade(spec: dict[str, Any], send: Send) -> int:
    """Play the games of a grading that are not stored yet, and store each as it ends."""
    from knightfall.agents import parse_agent
    from knightfall.agents.remote_player import player
    from knightfall.arena import engine_version
    from knightfall.arena.plan import enter, files_of
    from knightfall.arena.snapshot import run_snapshot
    from knightfall.arena.store import now
    from knightfall.board import Board
    from knightfall.oracle.graded_games import draw_openings, records_of
    from knightfall.web.lab.gradings import Gradings, RecordingPlayer

    board = Board.named(spec["board"])
    drawn = draw_openings(board, spec["openings"], spec["seed"])
    with run_snapshot(lambda text: send(notice=_short(text, spec))) as taken:
        taken.enter()
        (entrant,) = enter([spec["agent"]])
        files = files_of([entrant])
        recording = RecordingPlayer(player(parse_agent(taken.agent(entrant.agent)), board))
        stored = Gradings(spec["store"])
        grading = stored.begin(
            {
                "agent": entrant.agent, "name": _short(entrant.name, spec), "board": board.text,
                "openings": len(drawn), "seed": spec["seed"], "files": files,
                "engine": engine_version.engine(), "created": now(),
            }
        )  # fmt: skip
        done = len(grading.games)
        send(grading=grading.id, done=done, total=len(drawn))
        if grading.finished:
            send(notice="this grading was finished before; its stored results are shown")
            return 0
        sigint.enable_keyboard_interrupt()
        for number, record in enumerate(records_of(recording, drawn[done:]), start=done):
            stored.append(grading.id, number, recording.game(record), record)
            send(done=number + 1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
