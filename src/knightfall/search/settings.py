"""What a search is asked, as one record, and the records that it works on: made here and only here.

The settings are what an agent that is nothing but a search is to compiled code
(`game_loop.play`); a single search gets them copied into its state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from knightfall.kernel.geometry import NO_LIMIT, GeometryArray, geometry
from knightfall.search.budget import DEEPEST, LEAF_STEP_LIMIT, Budget
from knightfall.search.state import DTYPE, METHODS, SETTINGS_DTYPE
from knightfall.search.table import size_for

if TYPE_CHECKING:
    from knightfall.board import Board
    from knightfall.heuristics.evaluator import Evaluator

_STUDENTS = (
    *("style", "time_limit", "forecast_cost", "list_cost", "list_move_cost", "call_cost"),
    *("score_cost", "open_cost", "move_cost"),
)
"""What a student's search is asked beside; in the order of `StudentSettings`."""

_ASKED = ("heuristic", "symmetric", "depth_limit", "seed", "table", "entries", *_STUDENTS)
"""The fields that a search's state has, too."""

StudentSettings = tuple[int, ...]
"""Flags, time limit and prices in nanoseconds, one for each name in `_STUDENTS`."""

NOT_A_STUDENT: StudentSettings = (0,) * len(_STUDENTS)

Records = npt.NDArray[Any]
"""An array of one record."""

MANY_NODES, NODES_PER_SECOND = 1_000_000, 50_000_000
"""What a search is given a table for, without any budget but depth, and under a time budget."""


def settings_for(
    method: str,
    heuristic: Evaluator,
    budget: Budget,
    seed: int = 0,
    student: StudentSettings = NOT_A_STUDENT,
) -> Records:
    """What a search is asked, all but the address of its table."""
    entries = size_for(_expected_nodes(budget) if method == "deepening" else 0)
    limits = budget.depth or DEEPEST, budget.nodes or NO_LIMIT
    asked = METHODS.index(method), heuristic.address, heuristic.symmetric
    settings = np.zeros(1, SETTINGS_DTYPE)
    settings[0] = (*asked, *limits, seed, 0, entries, heuristic.users, *student)
    return settings


def _expected_nodes(budget: Budget) -> int:
    """What a search with such a budget may come to, for the size of its table."""
    if budget.nodes is not None:
        return budget.nodes
    return MANY_NODES if budget.seconds is None else int(NODES_PER_SECOND * budget.seconds)


def board_for(board: Board) -> GeometryArray:
    """A board's geometry, for one search at a time."""
    boards = geometry(board)
    boards["step_limit"] = LEAF_STEP_LIMIT
    return boards


def records_for(board: Board, settings: Records, generation: int) -> tuple[GeometryArray, Records]:
    """Board and state of one search, which is to call its table's entries by that generation."""
    boards, states = board_for(board), np.zeros(1, DTYPE)
    boards["limit"] = settings["limit"]
    for field in _ASKED:
        states[field] = settings[field]
    states["generation"] = generation
    return boards, states
