"""Play every hostile heuristic in a run with two innocent ones: it must lose only its own games.

`python tests/torture/heuristics.py [number] [seconds]` prints the result of each, for at most this
many heuristics, begun within this many seconds.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from hostile_heuristics import HOSTILE, NODES, Hostile

from knightfall.arena.api import check, play
from knightfall.arena.plan import GameRecord, Match, PairRecord, Plan, enter, files_of
from knightfall.arena.run_options import Notice
from knightfall.arena.runner import Pool
from knightfall.arena.store import Store
from knightfall.errors import KnightfallError
from knightfall.isolation.parallel_map import DEFAULT, RunnerOptions

INNOCENT = (f"id(open, nodes={NODES})", "alphabeta(improved, depth=3)")
PATIENCE = 3.0
"""Seconds that a move may take."""

WAITING = 150.0
"""Seconds until a run must have ended, on a busy machine."""


@dataclass(frozen=True)
class Fate:
    """The result of a heuristic; `wrong` says how it differs from the expected one."""

    heuristic: Hostile
    came: str
    wrong: str


# -- one run, in a process of its own ----------------------------------------------------------


def _impatient(options: RunnerOptions, plan: Plan, notice: Notice) -> Pool:
    """Return a pool of two workers with a short time limit."""
    return Pool(2, [entrant.agent for entrant in plan.entrants], patience=PATIENCE)


def plan_of(culprits: Sequence[str], pairs: int = 2) -> Plan:
    """Return a plan in which each culprit meets both innocents, and these meet each other.

    The innocents' games are the same in every plan.
    """
    entrants = enter([*INNOCENT, *(f"id({culprit}, nodes={NODES})" for culprit in culprits)])
    numbers = range(2, len(entrants))
    matches = (*(Match(i, j) for i in numbers for j in (0, 1)), Match(0, 1))
    return Plan("league", entrants, matches, pairs, files=files_of(entrants))


def _run(folder: str, *culprits: str) -> None:
    """Play, store, and write down the result."""
    came: dict[str, Any]
    store = Path(folder, "runs.sqlite")
    try:
        plan = plan_of(culprits)
        check(plan, DEFAULT)
        with (
            mock.patch("knightfall.arena.runner.choose_runner", _impatient),
            Store.open(store) as opened,
        ):
            run, interrupted = play(plan, opened, DEFAULT, show_progress=False)
            came = {"pairs": [told(pair) for pair in run.pairs()], "interrupted": interrupted}
    except KnightfallError as error:
        came = {"refused": str(error), "stored": _pairs_in(store)}
    Path(folder, "came.json").write_text(json.dumps(came))
    os._exit(0)  # without waiting for threads of heuristics that hang


def _pairs_in(store: Path) -> int:
    if not store.exists():
        return 0
    with closing(sqlite3.connect(store)) as file:
        return int(file.execute("SELECT count(*) FROM pairs").fetchone()[0])


def told(pair: PairRecord) -> dict[str, Any]:
    """Return a pair as JSON values: the agents, and everything about both games except times."""
    return {"a": pair.task.a, "b": pair.task.b, "games": [_game(game) for game in pair.games]}


def _game(game: GameRecord) -> list[str]:
    columns = (game.cells, game.scores, game.depths, game.nodes)
    return [game.winner, game.reason, game.detail, *(column.hex() for column in columns)]


# -- judging a run -------------------------------------------------------------------------


def outcome(folder: Path, *culprits: str) -> dict[str, Any]:
    """Return the result of a run with some heuristics; `died` if the process did not report."""
    command = [sys.executable, __file__, "--run", str(folder), *culprits]
    log = folder / "log"
    with log.open("wb") as said:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
        )
        try:
            status: int | str = process.wait(WAITING)
        except subprocess.TimeoutExpired:
            status = "no end"
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    with suppress(OSError, ValueError):
        found: dict[str, Any] = json.loads((folder / "came.json").read_text())
        return found
    last = log.read_bytes()[-2000:].decode("utf-8", "replace").strip().splitlines()[-1:]
    return {"died": f"exit status {status}: {' '.join(last)[:100]}"}


def judge(heuristic: Hostile, came: dict[str, Any], innocent: list[dict[str, Any]]) -> Fate:
    """Return the result of a heuristic, with what is wrong if it or the innocent ones did not end
    as expected.
    """
    if heuristic.outcome == "at large":
        return Fate(heuristic, "at large", "")
    if "died" in came:
        return Fate(heuristic, "died", came["died"])
    if "refused" in came:
        said, wrong = came["refused"], ""
        if heuristic.outcome not in ("refused", "stopped"):
            wrong = f"refused: {said}"
        elif heuristic.says not in said or "\n" in said or "hostile" not in said:
            wrong = f"said is: {said}"
        elif came["stored"]:
            wrong = "something was stored"
        return Fate(heuristic, "refused", wrong)
    mine = [pair for pair in came["pairs"] if "hostile" in pair["a"]]
    others = [pair for pair in came["pairs"] if "hostile" not in pair["a"]]
    lost = [ended for pair in mine for ended in _losses(pair)]
    fate = "lost" if lost and all(lost) else "plays" if not any(lost) else "lost some"
    details = " ".join(game[2] for pair in mine for game in pair["games"])
    wrong = ""
    if others != innocent:
        wrong = "the innocent played other games"
    elif fate != heuristic.outcome and not (fate == "lost" and heuristic.outcome == "stopped"):
        wrong = f"{fate} {details}"
    elif fate == "lost" and not (heuristic.says in details and "hostile" in details):
        wrong = f"said is: {details}"
    return Fate(heuristic, fate, wrong)


def _losses(pair: dict[str, Any]) -> list[bool]:
    """Return for each game whether `a` lost it by its own crash or timeout."""
    return [
        game[0] != seat and game[1] in ("crash", "timeout")
        for game, seat in zip(pair["games"], "wb", strict=True)
    ]


def fates(heuristics: Sequence[Hostile], folder: Path, seconds: float = float("inf")) -> list[Fate]:
    """Return the result of each heuristic, each in a separate run; print them as they come."""
    begun, found = time.monotonic(), []
    alone = folder / "alone"
    alone.mkdir()
    innocent = outcome(alone)["pairs"]
    for number, heuristic in enumerate(heuristics):
        if time.monotonic() - begun > seconds:
            break
        here = folder / f"run{number}"
        here.mkdir()
        path = here / "hostile.py"
        path.write_text(heuristic.source, encoding="utf-8")
        start = time.monotonic()
        fate = judge(heuristic, outcome(here, f"{path}:score"), innocent)
        found.append(fate)
        verdict = f"WRONG: {fate.wrong[:150]}" if fate.wrong else "as it should be"
        if heuristic.outcome == "at large":
            verdict = "not prevented, as docs/security.md says"
        took = f"{time.monotonic() - start:5.1f} s"
        row = f"{heuristic.name:36} {heuristic.outcome:8} {fate.came:9} {took}  {verdict}"
        print(row, flush=True)
    return found


def main(number: int = len(HOSTILE), seconds: float = float("inf")) -> int:
    """Try the first `number` hostile heuristics; return 0 if every result is the expected one."""
    with tempfile.TemporaryDirectory() as folder:
        found = fates(HOSTILE[:number], Path(folder), seconds)
    wrong = sum(bool(fate.wrong) for fate in found)
    print(f"{len(found)} of {len(HOSTILE)} hostile heuristics tried, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        _run(*sys.argv[2:])
    else:
        sys.exit(
            main(*(kind(word) for kind, word in zip((int, float), sys.argv[1:], strict=False)))
        )
