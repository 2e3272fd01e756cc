"""From a position and a budget to a report: where Python meets the compiled searches."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import Evaluator
from knightfall.kernel.geometry import NO_LIMIT, GeometryArray, geometry
from knightfall.kernel.rules import words
from knightfall.position import Position
from knightfall.search.alphabeta import alphabeta, plain_deepening
from knightfall.search.budget import DEEPEST, Budget
from knightfall.search.deepening import deepening
from knightfall.search.minimax import minimax
from knightfall.search.report import Report
from knightfall.search.state import DTYPE, LIMIT, PROVEN, WIN
from knightfall.search.stopwatch import stopwatch
from knightfall.search.table import table_for

METHODS: dict[str, Callable[..., None]] = {
    "minimax": minimax,
    "alphabeta": alphabeta,
    "plain_deepening": plain_deepening,
    "deepening": deepening,
}

LEAF_SHARE = 1000
"""Steps one evaluation by a dear heuristic may spend inside a search (some ten microseconds)."""

# Held back from a time budget, for waking up, unwinding and building the report.
RESERVE_SHARE, LEAST_RESERVE, MOST_RESERVE = 0.03, 0.0004, 0.004

SOON = 0.3
"""Searches surely done within this many seconds need not be interruptible."""
NODES_SOON, DEPTH_SOON = 1_000_000, 6


def think(
    position: Position, method: str, heuristic: Evaluator, budget: Budget, seed: int = 0
) -> Report:
    """Search a position that is not over; within a time budget, counted from the call."""
    start = time.perf_counter()
    open, mover, waiter = words(position)
    if position.winner is not None:
        raise KnightfallError(f"position {position.fen!r} is over: there is no move to search for")
    boards, states = geometry(position.board), np.zeros(1, DTYPE)
    table, generation = table_for(_expected_nodes(budget) if method == "deepening" else 0)
    state = states[0]
    state["depth_limit"] = budget.depth or DEEPEST
    state["seed"] = seed
    state["symmetric"] = heuristic.symmetric
    state["heuristic"] = heuristic.address
    state["table"], state["entries"] = table.ctypes.data, table.size
    state["generation"] = generation
    boards["limit"] = budget.nodes or NO_LIMIT
    boards["share"] = LEAF_SHARE

    def search() -> None:
        METHODS[method](boards, states, open, mover, waiter)

    seconds = budget.seconds
    if seconds is not None:
        reserve = min(max(seconds * RESERVE_SHARE, LEAST_RESERVE), MOST_RESERVE, seconds / 2)
        stopwatch().stop_at(start + seconds - reserve, boards)
    with heuristic.errors_explained(boards):
        if _surely_soon(budget, heuristic):
            search()
        else:
            _interruptibly(search, boards)

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


def _expected_nodes(budget: Budget) -> int:
    """How large a table is worth having."""
    return budget.nodes or NODES_SOON


def _surely_soon(budget: Budget, heuristic: Evaluator) -> bool:
    if budget.seconds is not None and budget.seconds <= SOON:
        return True
    few = budget.nodes is not None and budget.nodes <= NODES_SOON
    shallow = budget.depth is not None and budget.depth <= DEPTH_SOON
    return heuristic.compiled and (few or shallow)


def _interruptibly(search: Callable[[], None], boards: GeometryArray) -> None:
    """Run a search that Ctrl-C can end.

    Python handles a signal only between byte codes, and compiled code has none: so the search
    runs in another thread while this one waits.
    """
    if threading.current_thread() is not threading.main_thread():
        search()
        return
    done = threading.Event()
    failure: list[BaseException] = []

    def run() -> None:
        try:
            search()
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    worker: Any = threading.Thread(target=run, name="knightfall-search", daemon=True)
    worker.start()
    try:
        done.wait()
    except KeyboardInterrupt:
        boards["limit"] = 0
        worker.join()
        raise
    if failure:
        raise failure[0]
