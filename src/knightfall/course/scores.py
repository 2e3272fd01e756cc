"""The course's evaluation functions, over any of its boards before the successor's.

Each begins by asking whether the game is over, the loser first: on a board that shuffles, the
order of these questions decides what is drawn from the random generator.
"""

from __future__ import annotations

from typing import Any


def null_score(game: Any, player: Any) -> float:
    """Knows nothing but won and lost."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    return 0.0


def open_move_score(game: Any, player: Any) -> float:
    """Own mobility."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    return float(len(game.get_legal_moves(player)))


def improved_score(game: Any, player: Any) -> float:
    """Own mobility less the opponent's."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    own = len(game.get_legal_moves(player))
    opponent = len(game.get_legal_moves(game.get_opponent(player)))
    return float(own - opponent)


def center_score(game: Any, player: Any) -> float:
    """Squared distance from (height/2, width/2): the course rewards being far from it."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    row, column = game.get_player_location(player)
    return float((game.height / 2.0 - row) ** 2 + (game.width / 2.0 - column) ** 2)


def center_score_until_april(game: Any, player: Any) -> float:
    """The same until 25 April 2017: measured from (height, width), which is (7, 7)."""
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    row, column = game.get_player_location(player)
    return float((game.height - row) ** 2 + (game.width - column) ** 2)
