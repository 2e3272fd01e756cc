"""The heuristics of the directional study on the course's board."""

from __future__ import annotations

from ..course_board import Cell, CourseBoard, Score
from .course import ends_first


def _weight(game: CourseBoard, cell: Cell) -> float:
    """Return the weight of a cell: 1 in the centre, ¼ in the corners."""
    row, column = cell
    middle_row, middle_column = (game.height - 1) / 2, (game.width - 1) / 2
    down = abs(row - middle_row) / middle_row
    right = abs(column - middle_column) / middle_column
    return (1 - down / 2) * (1 - right / 2)


def _weighted(game: CourseBoard, player: object) -> float:
    return len(game.get_legal_moves(player)) * _weight(game, game.get_player_location(player))


@ends_first
def weighted_mobility(game: CourseBoard, player: object) -> float:
    """Return own mobility times the weight of the own cell."""
    return _weighted(game, player)


@ends_first
def weighted_difference(game: CourseBoard, player: object) -> float:
    """Return `weighted_mobility` of the player less that of the opponent."""
    return _weighted(game, player) - _weighted(game, game.get_opponent(player))


def _weighted_targets(game: CourseBoard, player: object) -> float:
    return sum(_weight(game, move) for move in game.get_legal_moves(player))


@ends_first
def weighted_moves(game: CourseBoard, player: object) -> float:
    """Return the total weight of the player's target cells less that of the opponent's."""
    return _weighted_targets(game, player) - _weighted_targets(game, game.get_opponent(player))


SCORES: dict[str, Score] = {
    "weighted_mobility": weighted_mobility,
    "weighted_difference": weighted_difference,
    "weighted_moves": weighted_moves,
}
