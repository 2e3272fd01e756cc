"""Runs for tests: pairs of legal random games with made-up node counts, not played by agents."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

from knightfall.arena.plan import (
    REASONS,
    Entrant,
    GameRecord,
    Match,
    PairRecord,
    PairTask,
    Plan,
    game_record,
)
from knightfall.arena.store import Run, Store
from knightfall.position import Position, other

ENGINE = "engine 1"
VERSIONS = {"knightfall": ENGINE, "python": "3"}
SCORES = (0.0, -0.0, 1.5, -2.25, 1e-300, math.pi, math.inf, -math.inf, math.nan)


def fake_plan(
    matches: int = 1, pairs: int = 20, board: str = "4x4", names: tuple[str, ...] = (), **more: Any
) -> Plan:
    """Return a plan in which the first entrant meets each of the others."""
    called = names or tuple(f"agent {number}" for number in range(matches + 1))
    entrants = tuple(Entrant(f"random(seed={at + 1})", name) for at, name in enumerate(called))
    meet = tuple(Match(0, at + 1, series=at % 2) for at in range(matches))
    more = {"kind": "match" if matches == 1 else "league", "seed": 1, **more}
    return Plan(entrants=entrants, matches=meet, pairs=pairs, board=board, **more)


def fake_game(opening: str, rng: random.Random, unusual: float = 0.2) -> GameRecord:
    """Return a random game, played to its end or ended early by another reason."""
    position, cells = Position.from_fen(opening), []
    reason, detail = REASONS[0], ""
    while position.winner is None:
        if rng.random() < unusual / 8:
            reason = rng.choice(REASONS[1:])
            detail = rng.choice(["", 'it said "[x]" \\ and no more', "naïve"])
            break
        move = rng.choice(position.legal_moves)
        cells.append(position.board.cell(move))
        position = position.play(move)
    count = len(cells)
    return game_record(
        other(position.to_move),
        reason,
        cells=cells,
        scores=[rng.choice(SCORES) for _ in range(count)],
        depths=[rng.randrange(60) for _ in range(count)],
        nodes=[rng.randrange(10**9) for _ in range(count)],
        seconds=[rng.random() for _ in range(count)],
        detail=detail,
    )


def fake_pair(
    task: PairTask, seed: int = 0, unusual: float = 0.2, ways: int | None = None
) -> PairRecord:
    """Return a pair of random games that depends on the task and the seed alone.

    With `ways`, there are only that many different games from an opening.
    """
    heard = task.number if ways is None else f"{task.b}/{task.seed % ways}"
    rng = random.Random(f"{heard}/{task.opening}/{seed}")
    first, second = (fake_game(task.opening, rng, unusual) for _ in range(2))
    return PairRecord(task, (first, second))


def fake_run(
    file: Path | str, plan: Plan, played: int | None = None, *, finish: bool = True, step: int = 7
) -> None:
    """Store the first pairs of a plan, and finish the run if these are all."""
    with Store.open(file) as store:
        run = store.begin(plan, ENGINE, VERSIONS)
        play_on(run, plan.total if played is None else played, step=step)
        if finish and run.played == plan.total:
            run.finish({"verdict": "agent 0 is better", "llr": 2.5})


def play_on(run: Run, until: int, step: int = 7, ways: int | None = None) -> None:
    """Append pairs in batches."""
    while run.played < until:
        start = run.played
        numbers = range(start, min(start + step, until))
        run.append([fake_pair(run.plan.task(number), ways=ways) for number in numbers])


def all_rows(file: Path | str, run: int | None = None) -> dict[str, list[Any]]:
    """Return all rows of all tables, or those of a run without the run's number."""
    import sqlite3

    from knightfall.arena.store_file import OF_A_RUN

    db = sqlite3.connect(file)
    rows = {}
    for table in ("runs", *OF_A_RUN):
        key = "id" if table == "runs" else "run"
        where = "" if run is None else f" WHERE {key} = {run}"
        found = db.execute(f"SELECT * FROM {table}{where}").fetchall()
        rows[table] = found if run is None else [row[1:] for row in found]
    db.close()
    return rows
