"""Conducting a run: tasks go out, records come back in any order, the store gets them in order.

Whatever happens (Ctrl-C, a full disk, kill -9), the store holds the first so many pairs of the
schedule, and the same plan goes on from there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from knightfall.arena.game.records import PairRecord
from knightfall.arena.plan.entrants import check_unchanged
from knightfall.arena.results.scoreboard import Scoreboard, scoreboard_of
from knightfall.arena.store.repeats import Repeats
from knightfall.arena.store.run import Run
from knightfall.errors import KnightfallError, RunnerFailure
from knightfall.isolation.sigint import enable_keyboard_interrupt

if TYPE_CHECKING:
    from knightfall.arena.runners.runner import Runner

WRITE_EVERY = 0.5
"""Seconds between two writes: what a kill costs, beside pairs that wait for a slower one's turn."""

OnPairs = Callable[[Scoreboard], None]
"""Hears where the run stands, each time pairs were counted."""


def conduct(
    run: Run,
    runner: Runner,
    on_pairs: OnPairs = lambda board: None,
    files: Mapping[str, str] | None = None,
) -> Scoreboard:
    """Play a run to its end, from where it was left.

    Raise a `KnightfallError` if one of `files` (path to hash) is edited meanwhile.  By default
    these are all files of the plan; a run that plays from copies has fewer to watch.
    """
    enable_keyboard_interrupt()
    board = scoreboard_of(run)
    on_pairs(board)
    if run.finished:
        return board
    if board.rule.verdict is None and board.played < run.plan.total:
        try:
            _play_on(run, runner, board, on_pairs, run.plan.files if files is None else files)
        except RunnerFailure as failure:
            raise KnightfallError(f"{failure}{_how_to_go_on(run)}") from None
    run.finish(board.rule.outcome())
    return board


def _how_to_go_on(run: Run) -> str:
    if run.file.in_memory:
        return ""
    pairs = run.plan.so_far(run.played)
    return f"; {pairs} of run {run.id} are stored, and starting it again goes on from there"


def _play_on(
    run: Run, runner: Runner, board: Scoreboard, on_pairs: OnPairs, files: Mapping[str, str]
) -> None:
    plan, batch = run.plan, list[PairRecord]()
    repeats = Repeats(run)
    early: dict[int, PairRecord] = {}
    written = time.monotonic()
    with closing(runner.play(plan.tasks(board.played))) as records:
        try:
            for record in records:
                early[record.task.number] = record
                while board.played in early:
                    pair = early.pop(board.played)
                    batch.append(pair)
                    board.fresh += 1
                    if board.count(pair.score, pair.first, repeats.seen(pair)):
                        return
                if batch and time.monotonic() - written > WRITE_EVERY:
                    check_unchanged(files)
                    run.append(batch)
                    batch = []  # only now: a write that Ctrl-C cuts short is made again below
                    written = time.monotonic()
                on_pairs(board)
        finally:
            if batch:
                check_unchanged(files)
                run.append(batch)
