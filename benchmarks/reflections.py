"""The worth of mirror images near the beginning of a game: classes, nodes and depth.

An author wished to "consider reflections of the board near the beginning of the game", to search
deeper. The counts are exact and the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from knightfall.board import Board
from knightfall.heuristics.evaluator import evaluator
from knightfall.position import Position
from knightfall.search.budget import Budget
from knightfall.search.run_search import SEARCHES, run_search
from knightfall.solver.atlas import position_of

from .result import Ratio, Result

SUMMARY = "Positions and classes of mirror images by ply, and what a search gains by knowing them"
HEURISTIC = "improved"
PLIES, LATER, DEPTH = 6, 4, 9
"""Plies counted from the empty board, plies after an opening, and the deepest search."""
BUDGETS = (2_500, 100_000, 1_000_000)

Spot = tuple[frozenset[int], int | None, int | None]
"""Occupied cells, the mover's cell and the waiter's; None before placement."""


def _key(spot: Spot) -> tuple[tuple[int, ...], int, int]:
    used, mover, waiter = spot
    return tuple(sorted(used)), -1 if mover is None else mover, -1 if waiter is None else waiter


def images(board: Board, spot: Spot) -> set[Spot]:
    """Return all mirrored and turned versions of a position, itself included."""
    used, mover, waiter = spot
    return {
        (
            frozenset(image[cell] for cell in used),
            None if mover is None else image[mover],
            None if waiter is None else image[waiter],
        )
        for image in board.symmetries
    }


def following(board: Board, spot: Spot) -> Iterable[Spot]:
    """Yield the positions after each placement or move."""
    used, mover, waiter = spot
    for cell in range(board.cells) if mover is None else board.knight[mover]:
        if cell not in used:
            yield used | {cell}, waiter, cell


def layers(board: Board, plies: int) -> list[tuple[int, int]]:
    """Return the number of positions and of symmetry classes after 0, 1, … plies.

    Only one position of each class is expanded; a class has as many positions as images.
    """
    layer: list[Spot] = [(frozenset(), None, None)]
    found = [(1, 1)]
    for _ in range(plies):
        orbits: dict[Any, tuple[Spot, int]] = {}
        for spot in layer:
            for after in following(board, spot):
                alike = images(board, after)
                first = min(alike, key=_key)
                orbits[first] = first, len(alike)
        layer = [spot for spot, _ in orbits.values()]
        found.append((sum(size for _, size in orbits.values()), len(orbits)))
    return found


def from_openings(board: Board, plies: int) -> list[tuple[int, int]]:
    """Return the same counts 0, 1, … plies after an opening, summed over the opening classes."""
    openings = {
        min(images(board, (frozenset((one, two)), one, two)), key=_key)
        for one in range(board.cells)
        for two in range(board.cells)
        if one != two
    }
    totals = [(len(openings), len(openings))]
    layers_of = [{opening} for opening in openings]
    for _ in range(plies):
        layers_of = [
            {after for spot in layer for after in following(board, spot)} for layer in layers_of
        ]
        classes = (
            len({min(images(board, spot), key=_key) for spot in layer}) for layer in layers_of
        )
        totals.append((sum(map(len, layers_of)), sum(classes)))
    return totals


def searched(position: Position, budget: Budget, *, mirrored: bool) -> tuple[int, int]:
    """Return depth and nodes of a search that treats mirror images as one position, or does not."""
    known = replace(evaluator(HEURISTIC), symmetric=mirrored)
    report = run_search(position, SEARCHES["deepening"], known, budget)
    return report.depth, report.nodes


def run(plies: int = PLIES, later: int = LATER, depth: int = DEPTH) -> Result:
    """Count positions, and search the empty board and an opening with and without mirror images."""
    board = Board.of(7, 7)
    rows: list[dict[str, Any]] = []
    for start, counts in (
        ("empty board", layers(board, plies)),
        ("an opening", from_openings(board, later)),
    ):
        for ply, (positions, classes) in enumerate(counts):
            what = {"from": start, "plies": ply, "positions": positions, "classes": classes}
            rows.append({**what, "ratio": positions / classes})
    empty, opening = Position.start(7, 7), position_of(board, 8, 32)
    ratios: dict[str, Ratio] = {}
    figures: dict[str, Any] = {}
    for name, position in (("empty board", empty), ("opening b6 e3", opening)):
        spent = [searched(position, Budget(depth=depth), mirrored=one)[1] for one in (False, True)]
        ratios[f"{name}: nodes to depth {depth}, without / with"] = Ratio(spent[0] / spent[1])
        for nodes in BUDGETS:
            depths = [
                searched(position, Budget(nodes=nodes), mirrored=one)[0] for one in (False, True)
            ]
            figures[f"{name}, nodes={nodes}: depth without, with"] = f"{depths[0]}, {depths[1]}"
    return Result(ratios=ratios, figures=figures, rows=rows)
