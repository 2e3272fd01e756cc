"""The reachability study over the course's board."""

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
    """How much nearer the centre than the opponent."""
    return _from_center(game, game.get_opponent(player)) - _from_center(game, player)


def near_edges(game: CourseBoard, player: object) -> float:
    """How much farther from the centre than the opponent."""
    return -near_center(game, player)


def far_opponent(game: CourseBoard, player: object) -> float:
    """The farther apart the two knights, the better."""
    row, column = game.get_player_location(player)
    their_row, their_column = game.get_player_location(game.get_opponent(player))
    return float(abs(row - their_row) + abs(column - their_column))


def near_opponent(game: CourseBoard, player: object) -> float:
    """The closer the two knights, the better."""
    return -far_opponent(game, player)


def _steps(start: Cell, open: Container[Cell]) -> dict[Cell, int]:
    """How many knight's moves through open cells it takes from a cell to each other, by a queue."""
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
    """Knight's moves from everywhere to everywhere: the empty board does not change, so nobody
    would walk over it again at every leaf."""
    cells = {(row, column) for row in range(height) for column in range(width)}
    return {cell: _steps(cell, cells) for cell in cells}


def static_reach(r: float) -> Score:
    """Open cells, fading by a factor r with each knight's move on the empty board."""

    def total(game: CourseBoard, player: object) -> float:
        cell = game.get_player_location(player)
        steps = steps_on_empty_board(game.width, game.height)[cell]
        # A cell that no knight's moves lead to is infinitely far.
        return 1 + sum(r ** steps[x] for x in game.get_blank_spaces() if x in steps)

    @ends_first
    def score(game: CourseBoard, player: object) -> float:
        return total(game, player) - total(game, game.get_opponent(player))

    return score


def _reach(game: CourseBoard, player: object) -> float:
    steps = _steps(game.get_player_location(player), set(game.get_blank_spaces()))
    return sum(1 / (1 + step) for step in steps.values())


def bfs_reach(game: CourseBoard, player: object) -> float:
    """Cells that can still be reached, the nearer the better, less the opponent's."""
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
