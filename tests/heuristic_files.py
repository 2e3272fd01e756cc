"""Files of heuristics that tests write."""

from __future__ import annotations

import os
import textwrap
import warnings
from pathlib import Path

import pytest
from helpers import random_positions
from naive_search import timeless

from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import Evaluator, evaluator
from knightfall.heuristics.user_heuristic import HeuristicWarning
from knightfall.position import Position, Side
from knightfall.search.budget import Budget, Report
from knightfall.search.run_search import SEARCHES, run_search

METHODS = tuple(method for method in SEARCHES if method != "any_move")
"""The searches that look ahead."""


START = Position.from_fen("7/7/1N5/7/7/4n2/7 w")


SIDES: tuple[Side, Side] = ("w", "b")


class Files:
    """A folder into which tests write heuristics."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tick = 1_700_000_000

    def write(self, name: str, text: str) -> str:
        """Write a file with a later modification time than the one before; return its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        self._tick += 10
        os.utime(path, (self._tick, self._tick))
        return str(path)


def line_of(path: str, mark: str) -> int:
    """Return the number of the line that contains a mark."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


def refusal(id: str) -> str:
    """Return the error message about a heuristic that cannot be used."""
    with pytest.raises(KnightfallError) as error:
        evaluator(id)
    assert "\n" not in str(error.value)
    return str(error.value)


def slow_evaluator(id: str) -> Evaluator:
    """Return an evaluator that runs as plain Python, and suppress the warning about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HeuristicWarning)
        ready = evaluator(id)
    assert not ready.compiled
    return ready


def reports(ready: Evaluator, found: list[Position], budget: Budget) -> list[Report]:
    """Return the reports of all kinds of searches."""
    return [
        timeless(run_search(position, SEARCHES[method], ready, budget))
        for method in METHODS
        for position in found
        if position.winner is None
    ]


def some_positions() -> list[Position]:
    return random_positions(7, 7, 15, 61, min_placed=2) + random_positions(
        4, 5, 10, 62, min_placed=2
    )


GOOD = """
    from math import sqrt

    from knightfall.heuristics import bit, count, each, first, mobility, moves, reach, rest, space

    BONUS = 2

    def better(board, open, me, opp, to_move):
        return mobility(board, open, me) - mobility(board, open, opp)

    def loops(board, open, me, opp, to_move):
        total = 0
        for cell in each(moves(board, open, me)):
            total += mobility(board, open & ~bit(cell), cell)
        left = moves(board, open, opp)
        while left:
            total -= BONUS * space(board, open, first(left))
            left = rest(left)
        return total

    def turn(board, open, me, opp, to_move):
        return count(reach(board, open, me)) + (0.25 if to_move == me else -0.5)

    def far(board, open, me, opp, to_move):
        down = board.row[me] - board.row[opp]
        right = board.column[me] - board.column[opp]
        return sqrt(down * down + right * right)
"""
