"""The course's own heuristics, and the check with which every score of the course begins."""

from __future__ import annotations

from functools import wraps
from math import inf

from ..course_board import CourseBoard, Score, improved_score


def ends_first(score: Score) -> Score:
    """Wrap a score: first return −∞ if the game is lost, +∞ if it is won.

    The course's own scores begin like this, and students copied them.
    """

    @wraps(score)
    def whole(game: CourseBoard, player: object) -> float:
        if game.is_loser(player):
            return -inf
        if game.is_winner(player):
            return inf
        return score(game, player)

    return whole


def null(game: CourseBoard, player: object) -> float:
    """Return 0."""
    return 0.0


def open_moves(game: CourseBoard, player: object) -> float:
    """Return own mobility."""
    return float(len(game.get_legal_moves(player)))


def center(game: CourseBoard, player: object) -> float:
    """Return the squared distance from (H/2, W/2)."""
    row, column = game.get_player_location(player)
    return float((game.height / 2 - row) ** 2 + (game.width / 2 - column) ** 2)


def mobility(game: CourseBoard, player: object) -> float:
    """Return own mobility less the opponent's, without checking for the end of the game."""
    own = len(game.get_legal_moves(player))
    opponent = len(game.get_legal_moves(game.get_opponent(player)))
    return float(own - opponent)


SCORES: dict[str, Score] = {
    "null": ends_first(null),
    "open": ends_first(open_moves),
    "center": ends_first(center),
    "improved": improved_score,
}
