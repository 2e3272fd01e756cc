"""Minimax and textbook alpha-beta as plainly as they can be written: what is right."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from knightfall.course.checker.watched import Path, ScoreFn
from knightfall.course.knights import Cell

Order = Callable[[list[Path]], list[Path]]


Pick = Callable[[list[float]], float]


def minimax(
    game: Any, depth: int, score: ScoreFn, player: Any, own: Pick = max, other: Pick = min
) -> float:
    """Return what a position is worth for a player, looked at `depth` plies ahead.

    `own` and `other` choose a value at the player's moves and at the opponent's.
    """
    moves = game.get_legal_moves()
    if not moves:
        return float(game.utility(player))
    if depth == 0:
        return score(game, player)
    values = [
        minimax(game.forecast_move(move), depth - 1, score, player, own, other) for move in moves
    ]
    return own(values) if game.active_player == player else other(values)


def values_of_moves(
    game: Any, depth: int, score: ScoreFn, own: Pick = max, other: Pick = min
) -> dict[Cell, float]:
    """Return what each move of the active player is worth to it."""
    player = game.active_player
    return {
        move: minimax(game.forecast_move(move), depth - 1, score, player, own, other)
        for move in game.get_legal_moves()
    }


def best_of(values: dict[Cell, float], pick: Pick = max) -> list[Cell]:
    """Return the moves that are worth most, or whatever `pick` chooses."""
    most = pick(list(values.values()))
    return [move for move, value in values.items() if value == most]


def alphabeta(
    game: Any,
    depth: int,
    score: ScoreFn,
    player: Any,
    alpha: float = -inf,
    beta: float = inf,
    *,
    order: Order = sorted,
) -> float:
    """The same value as minimax's, with cut-offs; `order` sorts the paths to what comes next."""
    moves = game.get_legal_moves()
    if not moves:
        return float(game.utility(player))
    if depth == 0:
        return score(game, player)
    ours = game.active_player == player
    best = -inf if ours else inf
    for path in order([(*game.path, move) for move in moves]):
        ahead = game.forecast_move(path[-1])
        value = alphabeta(ahead, depth - 1, score, player, alpha, beta, order=order)
        if ours:
            best = max(best, value)
            if best >= beta:
                break
            alpha = max(alpha, best)
        else:
            best = min(best, value)
            if best <= alpha:
                break
            beta = min(beta, best)
    return best


def last_of_equals(
    game: Any, depth: int, score: ScoreFn, *, fail_hard: bool, order: Order = sorted
) -> Cell:
    """Return the move of an alpha-beta that takes moves with `>=` at its top: a common mistake.

    A branch that was cut off has no value but a bound, which may equal the best value though the
    move is worse.  A search that is `fail_hard` answers the bound of the window there.
    """
    player, alpha, chosen = game.active_player, -inf, (-1, -1)
    for path in order([(*game.path, move) for move in game.get_legal_moves()]):
        ahead = game.forecast_move(path[-1])
        value = alphabeta(ahead, depth - 1, score, player, alpha, inf, order=order)
        if fail_hard and depth > 1 and ahead.get_legal_moves():
            value = max(value, alpha)
        if value >= alpha:
            alpha, chosen = value, path[-1]
    return chosen


def order_of(scored: list[Path], depth: int) -> Order:
    """Return the order in which a search came to what it scored; the board's where it did not come.

    Leaves `depth` plies ahead count most: others may have been scored to sort moves.
    """
    ranks: dict[Path, int] = {}
    leaves = [(rank, path) for rank, path in enumerate(scored) if len(path) == depth]
    for rank, path in [*leaves, *enumerate(scored)]:
        for length in range(1, len(path) + 1):
            ranks.setdefault(path[:length], rank)
    last = len(scored)

    def order(paths: list[Path]) -> list[Path]:
        return sorted(paths, key=lambda path: (ranks.get(path, last), path))

    return order
