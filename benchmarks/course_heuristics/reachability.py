"""The heuristics of the reachability study on the course's board."""

from __future__ import annotations

from collections import deque
from collections.abc import Container
from functools import cache

from knightfall.heuristics import REGISTRY
from knightfall.heuristics.registry import SUMMED_WITH_BFS_REACH

from ..course_board import KNIGHT_STEPS, Cell, CourseBoard, Score
from .course import ends_first


def _from_center(game: CourseBoard, player: object) -> float:
    row, column = game.get_player_location(player)
    return abs(row - (game.height - 1) / 2) + abs(column - (game.width - 1) / 2)


def near_center(game: CourseBoard, player: object) -> float:
    """Return the opponent's distance to the centre less the player's."""
    return _from_center(game, game.get_opponent(player)) - _from_center(game, player)


def near_edges(game: CourseBoard, player: object) -> float:
    """Return the player's distance to the centre less the opponent's."""
    return -near_center(game, player)


def far_opponent(game: CourseBoard, player: object) -> float:
    """Return the distance between the two knights."""
    row, column = game.get_player_location(player)
    their_row, their_column = game.get_player_location(game.get_opponent(player))
    return float(abs(row - their_row) + abs(column - their_column))


def near_opponent(game: CourseBoard, player: object) -> float:
    """Return the negative distance between the two knights."""
    return -far_opponent(game, player)


def _steps(start: Cell, open: Container[Cell]) -> dict[Cell, int]:
    """Return the knight's distance through open cells from a cell to each other, by BFS."""
    steps = {start: 0}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        for down, right in KNIGHT_STEPS:
            target = cell[0] + down, cell[1] + right
            if target in open and target not in steps:
                steps[target] = steps[cell] + 1
                queue.append(target)
    return steps


@cache
def steps_on_empty_board(width: int, height: int) -> dict[Cell, dict[Cell, int]]:
    """Return the knight's distance between all cells of the empty board, computed once."""
    cells = {(row, column) for row in range(height) for column in range(width)}
    return {cell: _steps(cell, cells) for cell in cells}


def static_reach(r: float) -> Score:
    """Return a score: the open cells, weighted by r to the power of the knight's distance."""

    def total(game: CourseBoard, player: object) -> float:
        cell = game.get_player_location(player)
        steps = steps_on_empty_board(game.width, game.height)[cell]
        # A cell that no knight's path reaches is infinitely far.
        return 1 + sum(r ** steps[x] for x in game.get_blank_spaces() if x in steps)

    @ends_first
    def score(game: CourseBoard, player: object) -> float:
        return total(game, player) - total(game, game.get_opponent(player))

    return score


def _reach(game: CourseBoard, player: object) -> float:
    steps = _steps(game.get_player_location(player), set(game.get_blank_spaces()))
    return sum(1 / (1 + step) for step in steps.values())


def bfs_reach(game: CourseBoard, player: object) -> float:
    """Return the reachable cells, nearer ones weighted more, less the opponent's."""
    return _reach(game, player) - _reach(game, game.get_opponent(player))


def _with_bfs_reach(positional: Score) -> Score:
    @ends_first
    def score(game: CourseBoard, player: object) -> float:
        return positional(game, player) + bfs_reach(game, player)

    return score


_POSITIONAL: dict[str, Score] = {
    "near_center": near_center,
    "near_edges": near_edges,
    "near_opponent": near_opponent,
    "far_opponent": far_opponent,
}

SCORES: dict[str, Score] = {
    **{id: ends_first(score) for id, score in _POSITIONAL.items()},
    **{f"static_reach({r})": static_reach(float(r)) for r in REGISTRY["static_reach"].published},
    "bfs_reach": ends_first(bfs_reach),
    **{f"{id}+bfs_reach": _with_bfs_reach(_POSITIONAL[id]) for id in SUMMED_WITH_BFS_REACH},
}
