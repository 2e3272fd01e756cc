"""How a job of the lab ends, by what its process says and by its exit status."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any
from unittest import mock

import pytest

from knightfall.web.lab import jobs as jobs_module
from knightfall.web.lab.guard import RequestRefused
from knightfall.web.lab.jobs import Jobs, LabJob


class FakeProcess:
    """A process that says some lines and then ends; it notes what it is sent."""

    def __init__(self, lines: Sequence[Any], code: int) -> None:
        self.lines, self.code = lines, code
        self.returncode: int | None = None
        self.stdin = mock.Mock()
        self.stdout = self.said()
        self.specs: list[dict[str, Any]] = []
        self.signals: list[int] = []

    async def said(self) -> AsyncIterator[bytes]:
        for line in self.lines:
            yield line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"

    async def wait(self) -> int:
        self.returncode = self.code
        return self.code

    def send_signal(self, number: int) -> None:
        self.signals.append(number)


def played(process: FakeProcess, *, stopping: bool = False) -> tuple[LabJob, list[str]]:
    """Return a job that was played by this process, and its states at every change."""
    states: list[str] = []

    async def start_module(module: str) -> FakeProcess:
        return process

    async def send(to: FakeProcess, spec: dict[str, Any]) -> None:
        assert spec == {"kind": "match", "of": "spec"}
        to.specs.append(spec)

    async def play() -> LabJob:
        jobs = Jobs(lambda: states.extend(one.state for one in jobs.all.values()))
        job = jobs.start({"kind": "match", "of": "spec"}, ["random", "Bob"])
        assert jobs.active == [job]
        if stopping:
            jobs.stop(job)
        assert job.task is not None
        await job.task
        assert (jobs.active, job.over) == ([], True)
        jobs.dismiss(job)
        assert jobs.all == {}
        return job

    with (
        mock.patch.object(jobs_module, "start_module", start_module),
        mock.patch.object(jobs_module.json_subprocess, "send", send),
    ):
        job = asyncio.run(play())
    assert len(process.specs) == 1
    return job, states


HALF, WHOLE = {"done": 5, "total": 10}, {"done": 10, "total": 10}


@pytest.mark.parametrize(
    ("last", "code", "stopping", "state", "error"),
    [
        (WHOLE, 0, False, "finished", ""),
        (HALF, 0, False, "finished", ""),  # a stopping rule ended the run
        (WHOLE, 0, True, "finished", ""),  # it was too late to stop it
        (HALF, 0, True, "stopped", ""),
        (HALF, 130, True, "stopped", ""),
        (HALF, -9, False, "failed", "its process "),
        (WHOLE, 3, False, "failed", "its process "),
        ({"error": "no such\nfile"}, 0, False, "failed", "no such file"),
        ({"error": "no such file"}, 1, True, "failed", "no such file"),
    ],
)
def test_how_a_job_ends(
    last: dict[str, Any], code: int, stopping: bool, state: str, error: str
) -> None:
    process = FakeProcess([{"run": 7}, b"no JSON\n", {"done": 1, "total": 10}, last], code)
    job, states = played(process, stopping=stopping)
    assert job.state == states[-1] == state
    assert job.error.startswith(error)
    assert bool(job.error) == bool(error)
    assert (job.run, job.grading) == (7, None)
    assert (job.done, job.total) == (last.get("done", 1), 10)
    assert states[0] == "starting"
    assert "playing" in states
    assert bool(process.signals) == stopping
    told = job.to_dict()
    assert told["title"] == "match: random, Bob"
    assert (told["state"], told["stopping"]) == (state, False)


def test_notices_are_lines_and_few() -> None:
    job, _ = played(FakeProcess([{"notice": f"{n}\n{'x' * 600}"} for n in range(30)], 0))
    assert len(job.notices) == 20
    assert job.notices[19].startswith("19 xxx")
    assert {len(notice) for notice in job.notices} == {500}


def test_few_jobs_are_played_at_once_and_few_ended_ones_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def start_module(module: str) -> Any:
        raise OSError("no more processes")

    monkeypatch.setattr(jobs_module, "start_module", start_module)
    monkeypatch.setattr(jobs_module, "KEPT", 3)

    async def play() -> None:
        jobs = Jobs(lambda: None)
        for number in range(1, 9):
            job = jobs.start({"kind": "league", "run": number}, [])
            assert jobs.playing("run", number) is job
            assert jobs.playing("run", number + 1) is jobs.playing("grading", number) is None
            assert job.task is not None
            await job.task
            assert (job.state, job.error) == ("failed", "no more processes")
            assert jobs.playing("run", number) is None
        assert list(jobs.all) == ["5", "6", "7", "8"]  # three, and the one that was added last
        first, second = (jobs.start({"kind": "league"}, []) for _ in range(2))
        with pytest.raises(RequestRefused, match="2 runs are being played"):
            jobs.start({"kind": "league"}, [])
        for job in (first, second):
            assert job.task is not None
            await job.task

    asyncio.run(play())


def test_the_title_names_the_first_agents() -> None:
    names = ["Ann", "Bob", "Cleo", "Dan", "Eve", "Fay", "Gus", "Hal"]
    assert LabJob("1", "match", []).title == "match: the course's agents"
    assert LabJob("1", "league", names[:6]).title == "league: Ann, Bob, Cleo, Dan, Eve, Fay"
    more = LabJob("1", "league", names)
    assert more.title == "league: Ann, Bob, Cleo, Dan, Eve, Fay and 2 more"
    assert more.to_dict()["names"] == names
