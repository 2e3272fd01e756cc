"""Calls of the compiled searches from Python, with a position and a budget.

The settings of a search are one record.  Compiled games (`game_loop.play`) have one for each
player; a single search gets them copied into its state.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.board import Board
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.heuristics.evaluator import Evaluator
from knightfall.kernel.compile import c_address
from knightfall.kernel.interrupt import run_interruptibly, stop_function, stop_in, stopwatch
from knightfall.kernel.rules import NO_LIMIT, GeometryArray, geometry, words
from knightfall.position import Position
from knightfall.search.alphabeta import alphabeta, plain_deepening
from knightfall.search.budget import DEEPEST, LEAF_STEP_LIMIT, Budget, Report, without_reserve
from knightfall.search.deepening import deepening
from knightfall.search.minimax import minimax
from knightfall.search.search_state import (
    DTYPE,
    ENTRY_POINT,
    LIMIT,
    NO_ANSWER,
    OPTIONS,
    PROVEN,
    SETTINGS_DTYPE,
    WIN,
    any_move,
    search_at,
)
from knightfall.search.transposition_table import size_for, table_for

_SHARED_FIELDS = ("heuristic", "symmetric", "depth_limit", "seed", "table", "entries", "options")
"""The fields that settings and a search's state share."""

Records = npt.NDArray[Any]
"""An array of one record."""

MANY_NODES, NODES_PER_SECOND = 1_000_000, 50_000_000
"""Expected nodes, for the size of the table: with a depth budget only, and per second."""


@dataclass(frozen=True)
class Search:
    """A compiled search and its options, without heuristic, budget and seed.

    `entry` is a dispatcher compiled for `ENTRY_POINT`; extensions may provide their own.
    """

    entry: Any
    has_table: bool = False
    options: tuple[int, ...] = (0,) * OPTIONS

    @cached_property
    def address(self) -> int:
        """The address of the search's C function."""
        return c_address(self.entry, ENTRY_POINT)


SEARCHES = {
    "any_move": Search(any_move),
    "minimax": Search(minimax),
    "alphabeta": Search(alphabeta),
    "plain_deepening": Search(plain_deepening),
    "deepening": Search(deepening, has_table=True),
}
"""The core's own searches by name."""


def settings_for(search: Search, heuristic: Evaluator, budget: Budget, seed: int = 0) -> Records:
    """Return the settings record of a search, without the address of its table."""
    entries = size_for(_expected_nodes(budget) if search.has_table else 0)
    limits = budget.depth or DEEPEST, budget.nodes or NO_LIMIT
    asked = search.address, heuristic.address, heuristic.symmetric
    settings = np.zeros(1, SETTINGS_DTYPE)
    settings[0] = (*asked, *limits, seed, 0, entries, heuristic.users, search.options)
    return settings


def _expected_nodes(budget: Budget) -> int:
    """Return about how many nodes a search with a budget visits."""
    if budget.nodes is not None:
        return budget.nodes
    return MANY_NODES if budget.seconds is None else int(NODES_PER_SECOND * budget.seconds)


def records_for(board: Board, settings: Records, generation: int) -> tuple[GeometryArray, Records]:
    """Return geometry and state of one search; `generation` marks its entries in the table."""
    boards, states = geometry(board, LEAF_STEP_LIMIT), np.zeros(1, DTYPE)
    boards["limit"] = settings["limit"]
    for field in _SHARED_FIELDS:
        states[field] = settings[field]
    states["generation"] = generation
    return boards, states


RESIGNS = "resigns: every line it sees is lost"
TOO_LATE = "resigns: its time was up before it had a move"

RESERVE = 0.1, 0.0004, 0.02
"""Part of a time budget that is held back, for waking up, unwinding and building the report: a
share, and its least and greatest value in seconds."""

SOON, NODES_SOON, DEPTH_SOON = 0.3, 1_000_000, 6
"""Seconds, nodes and plies up to which a search with a quick heuristic takes less than a third of
a second, and need not be interruptible."""


OnStart = Callable[[GeometryArray, Records], None]
"""Gets the geometry and the state of a search just before it starts."""


def run_search(
    position: Position,
    search: Search,
    heuristic: Evaluator,
    budget: Budget,
    seed: int = 0,
    on_start: OnStart | None = None,
) -> Report:
    """Search a position and return the report.  A time budget counts from the call.

    Raise `AgentFailure` (forfeit) if the search resigns or has no move in time, and
    `KnightfallError` if the game is over.  `on_start` gets the records by which another thread can
    stop the search (`stop_function`) and read its progress (`report_of`).
    """
    start = time.perf_counter()
    if position.winner is not None:
        raise KnightfallError(f"position {position.fen!r} is over: there is no move to search for")
    with without_collection(budget):
        open, mover, waiter = words(position)
        settings = settings_for(search, heuristic, budget, seed)
        settings["table"], generation = table_for(int(settings["entries"][0]))
        boards, states = records_for(position.board, settings, generation)
        state = states[0]

        def run() -> None:
            search_at(search.address, boards, states, open, mover, waiter)

        alarm, seconds = None, budget.seconds
        if seconds is not None:
            deadline = start + without_reserve(seconds, *RESERVE)
            alarm = stopwatch().stop_at(deadline, boards)
            stop_in(boards, deadline - time.perf_counter())
        if on_start is not None:
            on_start(boards, states)
        with heuristic.explaining_errors(boards):
            if search.entry is any_move or _surely_soon(budget, heuristic):
                run()
            else:
                waiting = heuristic.patience(lambda: int(state["nodes"]))
                run_interruptibly(run, stop_function(boards), seconds, **waiting)
            if heuristic.users and state["nodes"] > settings["limit"][0]:
                raise heuristic.tampered()
        if alarm is not None:
            alarm.cancel()

        if state["move"] == NO_ANSWER:
            raise AgentFailure("forfeit", TOO_LATE if state["late"] else RESIGNS)
        return report_of(position, boards, states, time.perf_counter() - start)


@contextmanager
def without_collection(budget: Budget) -> Iterator[None]:
    """Switch the garbage collector off for the block if the budget is one of time.

    With Numba loaded, a full collection takes about 40 ms of the player's time.
    """
    if budget.time is None or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def report_of(position: Position, boards: GeometryArray, states: Records, seconds: float) -> Report:
    """Return the report that the state of a search holds: its result, or that of its last depth."""
    state, name = states[0], position.board.name
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
        seconds=seconds,
        pv=tuple(name(int(cell)) for cell in state["pv"][: state["length"]]),
        cut=int(boards["cut"][0]),
    )


def warm_up(board: Board, search: Search, heuristic: Evaluator, budget: Budget) -> None:
    """Do the one-time work of a first search, so that the next one is not slower than others.

    Tables belong to threads, so this prepares searches in this thread only.
    """
    table_for(int(settings_for(search, heuristic, budget)["entries"][0]))
    corner, beside = board.name(0), board.name(board.at(1, 1))  # a knight can leave any corner
    position = Position.from_moves([corner, beside], board.width, board.height)
    with suppress(AgentFailure):  # a search may find its time too short
        run_search(position, search, heuristic, Budget(depth=1, nodes=1000, time=1_000_000))


def _surely_soon(budget: Budget, heuristic: Evaluator) -> bool:
    """Return whether a search is known to take less than a third of a second."""
    if not heuristic.quick:
        return False
    if budget.seconds is not None and budget.seconds <= SOON:
        return True
    few = budget.nodes is not None and budget.nodes <= NODES_SOON
    shallow = budget.depth is not None and budget.depth <= DEPTH_SOON
    return few or shallow
