"""A game held against the exact solver: who was winning, and which moves threw a win away."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

from knightfall.board import Board
from knightfall.position import Position, other
from knightfall.solver.atlas import lookup
from knightfall.solver.engine import Engine, Limits, OutOfBudget
from knightfall.solver.solve import Solver

SECONDS = 5.0
"""What the judgement of a game may take.  On 7×7 it takes some hundredths of a second."""


def opening_winner(opening: Position) -> str | None:
    """Return the side that wins an opening by the atlas; None if it is not in there."""
    entry = lookup(opening)
    if entry is None:
        return None
    return opening.to_move if entry.mover_wins else other(opening.to_move)


def game_truth(game: dict[str, Any]) -> dict[str, Any]:
    """Return the winner at the opening and the plies (from 1) at which a win was thrown away.

    `opening` is None if there was no time to find out, and `known_from` is the ply from which on
    the moves are judged.  A win is also thrown away by whoever loses otherwise than for want of a
    move while it is winning: that is counted at the ply that was not played.
    """
    opening = Position.from_fen(game["opening"])
    positions = [opening]
    for move in game["moves"]:
        positions.append(positions[-1].play(move))
    solver = _solver(opening.board)
    solver.limits = Limits(deadline=time.perf_counter() + SECONDS)
    winners: list[str | None] = [None] * len(positions)
    for at in range(len(positions) - 1, -1, -1):  # the end is easy, and the rest builds on it
        mover = positions[at].to_move
        try:
            winners[at] = mover if solver.wins(positions[at]) else other(mover)
        except OutOfBudget:
            break
    thrown = [
        at + 1
        for at, position in enumerate(positions[:-1])
        if winners[at] == position.to_move and winners[at + 1] == other(position.to_move)
    ]
    loser = "b" if game["winner"] == "w" else "w"
    if game["reason"] != "no moves" and winners[-1] == loser:
        thrown.append(len(positions))
    known_from = next((at + 1 for at, one in enumerate(winners) if one is not None), len(positions))
    return {
        "opening": winners[0] or opening_winner(opening),
        "thrown": thrown,
        "known_from": known_from,
    }


@lru_cache(maxsize=4)
def _solver(board: Board) -> Solver:
    return Solver(Engine(board))
