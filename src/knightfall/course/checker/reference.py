"""Minimax and textbook alpha-beta as plainly as they can be written: what is right."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from knightfall.course.checker.watched import Path, ScoreFn
from knightfall.course.knights import Cell

Order = Callable[[list[Path]], list[Path]]


def minimax(game: Any, depth: int, score: ScoreFn, player: Any) -> float:
    """What a position is worth for a player, looked at so many plies ahead."""
    moves = game.get_legal_moves()
    if not moves:
        return float(game.utility(player))
    if depth == 0:
        return score(game, player)
    values = [minimax(game.forecast_move(move), depth - 1, score, player) for move in moves]
    return max(values) if game.active_player == player else min(values)


def values_of_moves(game: Any, depth: int, score: ScoreFn) -> dict[Cell, float]:
    """What each move of the active player is worth to it."""
    player = game.active_player
    return {
        move: minimax(game.forecast_move(move), depth - 1, score, player)
        for move in game.get_legal_moves()
    }


def best_of(values: dict[Cell, float]) -> list[Cell]:
    """The moves that are worth most."""
    most = max(values.values())
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
