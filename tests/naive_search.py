"""Slow and obvious searches over `Position`, the references for the compiled ones.

There is no pruning and no bound.  Values are always those of one player, `me`: it maximises, the
opponent minimises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from naive import Naive, knight_moves
from naive_solver import plies_to_end

from knightfall.board import Board
from knightfall.position import Position, Side, other
from knightfall.search.budget import Report

WON = 1e9
"""The value of a won game, minus 1 for each ply it takes; of a lost one the negative."""

CEILING = 1e8
"""The value of a heuristic's infinity: below all proven values, above all others."""


@dataclass(frozen=True)
class Tree:
    """The result of a full search to a fixed depth."""

    value: float
    nodes: int
    moves: dict[str, float]
    """The value of each of the root's moves."""


@lru_cache(maxsize=40_000)
def following(position: Position) -> tuple[tuple[str, Position], ...]:
    """Return every legal move with the position after it."""
    return tuple((move, position.play(move)) for move in position.legal_moves)


def within_ceiling(value: float) -> float:
    return max(-CEILING, min(CEILING, value))


def search(position: Position, depth: int, heuristic: Naive) -> Tree:
    """Search by minimax for the side to move."""
    me = position.to_move
    nodes = 1

    def value_of(here: Position, plies: int) -> float:
        nonlocal nodes
        nodes += 1
        after = following(here)
        if not after:
            return plies - WON if here.to_move == me else WON - plies
        if plies == depth:
            return within_ceiling(float(heuristic(here, me))) if here.placed else 0.0
        values = [value_of(there, plies + 1) for _, there in after]
        return max(values) if here.to_move == me else min(values)

    values = {move: value_of(there, 1) for move, there in following(position)}
    return Tree(max(values.values()), nodes, values)


def reported(report: Report) -> float:
    """Return the value of a report in the units of `search`."""
    if report.proven:
        assert report.plies is not None
        assert math.isinf(report.score)
        return math.copysign(WON - report.plies, report.score)
    assert report.plies is None
    return within_ceiling(report.score)


def timeless(report: Report) -> Report:
    """Return a report without its time, the one field that differs from run to run."""
    return replace(report, seconds=0.0)


# -- the end of the game ---------------------------------------------------------------------


def plies_by_the_rules(position: Position) -> int:
    """Return the plies of the game if the winner wins as soon and the loser loses as late as it
    can.

    Every ply changes the mover and a mover without a move has lost, so an odd number means that
    the side to move wins.  `naive_solver.plies_to_end` returns the same faster.
    """
    lengths = [plies_by_the_rules(position.play(move)) for move in position.legal_moves]
    wins = [length for length in lengths if length % 2 == 0]
    if wins:
        return 1 + min(wins)
    return 1 + max(lengths) if lengths else 0


def exact_value(position: Position) -> float:
    """Return the exact value of a position for the side to move, in the units of `search`."""
    plies = plies_to_end(position)
    return WON - plies if plies % 2 else plies - WON


# -- alone on the board ----------------------------------------------------------------------


def roamed(board: Board, open: frozenset[int], start: int) -> frozenset[int]:
    """Return every open cell that a lone knight can get to."""
    found: set[int] = set()
    waiting = [start]
    while waiting:
        for cell in knight_moves(board, waiting.pop()) & open - found:
            found.add(cell)
            waiting.append(cell)
    return frozenset(found)


def longest_walk(board: Board, open: frozenset[int], start: int) -> int:
    """Return the moves of a lone knight's longest path, by trying all paths."""
    return _longest_walk(board, sum(1 << cell for cell in open), start)


@cache
def _longest_walk(board: Board, open: int, start: int) -> int:
    return max(
        (
            1 + _longest_walk(board, open - (1 << cell), cell)
            for cell in knight_moves(board, start)
            if open >> cell & 1
        ),
        default=0,
    )


def mirrored(position: Position, symmetry: tuple[int, ...]) -> Position:
    """Return the image of a position under a symmetry."""

    def image(side: Side) -> int | None:
        cell = position.knight(side)
        return None if cell is None else symmetry[cell]

    return Position(
        board=position.board,
        open=frozenset(symmetry[cell] for cell in position.open),
        white=image("w"),
        black=image("b"),
        to_move=position.to_move,
    )


def swapped(position: Position) -> Position:
    """Return the position with the players exchanged."""
    return replace(
        position, white=position.black, black=position.white, to_move=other(position.to_move)
    )


def forget() -> None:
    """Empty the caches."""
    following.cache_clear()
    _longest_walk.cache_clear()
