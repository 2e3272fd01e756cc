"""The heuristics of the lookahead study on the course's board."""

from __future__ import annotations

from math import sqrt

from ..course_board import CourseBoard, Score
from .course import ends_first, mobility


def _ways(game: CourseBoard, player: object) -> int:
    """Return the number of a player's moves plus the number of moves after each of them."""
    moves = game.get_legal_moves(player)
    return len(moves) + sum(len(game.moves_from(move)) for move in moves)


@ends_first
def lookahead_mobility(game: CourseBoard, player: object) -> float:
    """Return the moves now and next, less the opponent's."""
    return float(_ways(game, player) - _ways(game, game.get_opponent(player)))


def _from_center(game: CourseBoard, player: object) -> float:
    row, column = game.get_player_location(player)
    return sqrt((game.height / 2 - row) ** 2 + (game.width / 2 - column) ** 2)


@ends_first
def center_pull(game: CourseBoard, player: object) -> float:
    """Return mobility plus how much nearer the player is to the centre than the opponent."""
    nearer = _from_center(game, game.get_opponent(player)) - _from_center(game, player)
    return mobility(game, player) + nearer


def _outside_corners(game: CourseBoard, player: object) -> int:
    last_row, last_column = game.height - 1, game.width - 1
    corners = [(0, 0), (0, last_column), (last_row, 0), (last_row, last_column)]
    return len([move for move in game.get_legal_moves(player) if move not in corners])


@ends_first
def corner_averse(game: CourseBoard, player: object) -> float:
    """Return mobility without moves into corners."""
    opponent = game.get_opponent(player)
    return float(_outside_corners(game, player) - _outside_corners(game, opponent))


SCORES: dict[str, Score] = {
    "lookahead_mobility": lookahead_mobility,
    "center_pull": center_pull,
    "corner_averse": corner_averse,
}
