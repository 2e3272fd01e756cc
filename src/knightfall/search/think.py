"""From a position and a budget to a report: where Python meets the compiled searches."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from contextlib import suppress

from knightfall.board import Board
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.heuristics.evaluator import Evaluator
from knightfall.kernel.clock import stop_in
from knightfall.kernel.interrupt import interruptibly, limit_to_nothing
from knightfall.kernel.rules import words
from knightfall.position import Position
from knightfall.search.alphabeta import alphabeta, plain_deepening
from knightfall.search.budget import Budget
from knightfall.search.deepening import deepening
from knightfall.search.minimax import minimax
from knightfall.search.report import Report
from knightfall.search.settings import (
    NOT_A_STUDENT,
    StudentSettings,
    records_for,
    settings_for,
)
from knightfall.search.state import LIMIT, PROVEN, WIN
from knightfall.search.stopwatch import stopwatch
from knightfall.search.student import NO_MOVE, student
from knightfall.search.table import table_for
from knightfall.search.ties import any_move

SEARCHES: dict[str, Callable[..., None]] = {
    "any_move": any_move,
    "minimax": minimax,
    "alphabeta": alphabeta,
    "plain_deepening": plain_deepening,
    "deepening": deepening,
    "student": student,
}

RESIGNS = "resigns: every line it sees is lost"
TOO_LATE = "resigns: its time was up before it had a move"

# Held back from a time budget, for waking up, unwinding and building the report.
RESERVE_SHARE, LEAST_RESERVE, MOST_RESERVE = 0.1, 0.0004, 0.02

SOON, NODES_SOON, DEPTH_SOON = 0.3, 1_000_000, 6
"""Searches with a quick heuristic that are done within a third of a second need not be
interruptible: so many seconds, nodes or plies."""


def think(
    position: Position,
    method: str,
    heuristic: Evaluator,
    budget: Budget,
    seed: int = 0,
    student: StudentSettings = NOT_A_STUDENT,
) -> Report:
    """Search a position that is not over; within a time budget, counted from the call.

    A student's search may have no answer: that is an `AgentFailure` by forfeit.
    """
    if budget.time is None or not gc.isenabled():
        return _think(position, method, heuristic, budget, seed, student)
    # With a compiler loaded, one full collection takes some 40 ms: not on the player's clock.
    gc.disable()
    try:
        return _think(position, method, heuristic, budget, seed, student)
    finally:
        gc.enable()


def _think(
    position: Position,
    method: str,
    heuristic: Evaluator,
    budget: Budget,
    seed: int,
    habits: StudentSettings,
) -> Report:
    start = time.perf_counter()
    open, mover, waiter = words(position)
    if position.winner is not None:
        raise KnightfallError(f"position {position.fen!r} is over: there is no move to search for")
    settings = settings_for(method, heuristic, budget, seed, habits)
    settings["table"], generation = table_for(int(settings["entries"][0]))
    boards, states = records_for(position.board, settings, generation)
    state = states[0]

    def search() -> None:
        SEARCHES[method](boards, states, open, mover, waiter)

    alarm, seconds = None, budget.seconds
    if seconds is not None:
        reserve = min(max(seconds * RESERVE_SHARE, LEAST_RESERVE), MOST_RESERVE, seconds / 2)
        alarm = stopwatch().stop_at(start + seconds - reserve, boards)
        stop_in(boards, start + seconds - reserve - time.perf_counter())
    with heuristic.errors_explained(boards):
        if method == "any_move" or _surely_soon(budget, heuristic):
            search()
        else:
            waiting = heuristic.patience(lambda: int(state["nodes"]))
            interruptibly(search, limit_to_nothing(boards), seconds, **waiting)
        if heuristic.users and state["nodes"] > settings["limit"][0]:
            raise heuristic.tampered()
    if alarm is not None:
        alarm.cancel()

    if state["move"] == NO_MOVE:
        raise AgentFailure("forfeit", TOO_LATE if state["late"] else RESIGNS)
    name = position.board.name
    score, proven, plies = float(state["score"]) + 0.0, abs(state["score"]) >= PROVEN, None
    if proven:
        plies = int(WIN - abs(score))
    if abs(score) >= LIMIT:
        score = math.copysign(math.inf, score)
    return Report(
        move=name(int(state["move"])),
        score=score,
        proven=bool(proven),
        plies=plies,
        depth=int(state["depth"]),
        nodes=int(state["nodes"]),
        seconds=time.perf_counter() - start,
        pv=tuple(name(int(cell)) for cell in state["pv"][: state["length"]]),
        cut=int(boards["cut"][0]),
    )


def warm_up(
    board: Board,
    method: str,
    heuristic: Evaluator,
    budget: Budget,
    student: StudentSettings = NOT_A_STUDENT,
) -> None:
    """Do what the first search on a board would do beside searching, so that none is the slow one.

    Tables belong to threads: it is for the searches of this one.
    """
    table_for(int(settings_for(method, heuristic, budget)["entries"][0]))
    corner, beside = board.name(0), board.name(board.at(1, 1))  # a knight can leave any corner
    position = Position.from_moves([corner, beside], board.width, board.height)
    with suppress(AgentFailure):  # a student may find its time too short
        think(position, method, heuristic, Budget(depth=1, nodes=1000, time=1_000_000), 0, student)


def _surely_soon(budget: Budget, heuristic: Evaluator) -> bool:
    if not heuristic.quick:
        return False
    if budget.seconds is not None and budget.seconds <= SOON:
        return True
    few = budget.nodes is not None and budget.nodes <= NODES_SOON
    shallow = budget.depth is not None and budget.depth <= DEPTH_SOON
    return few or shallow
