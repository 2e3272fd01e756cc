"""Play games that depend only on a seed, on any course board.

The board and the players come as arguments: `original_games.json` was recorded with the course's
own, and `test_course_original.py` plays the same games with ours.
"""

from __future__ import annotations

import random
from math import inf
from typing import Any
from zlib import crc32

NO_END = 1e9
"""A time limit in milliseconds that is never reached."""


class Minimax:
    """Minimax with a fixed depth; returns the first of the best moves."""

    def __init__(self, score: Any, depth: int) -> None:
        self.score, self.depth = score, depth

    def get_move(self, game: Any, *rest: Any) -> Any:
        """Accept the arguments of all generations: with or without the list of legal moves."""
        moves = rest[0] if len(rest) == 2 else game.get_legal_moves()
        best, chosen = -inf, (-1, -1)
        for move in moves:
            value = self.value(game.forecast_move(move), self.depth - 1, best, inf)
            if value > best:
                best, chosen = value, move
        return chosen

    def value(self, game: Any, depth: int, alpha: float, beta: float) -> float:
        moves = game.get_legal_moves()
        if depth == 0 or not moves:
            return float(self.score(game, self))
        values = [self.value(game.forecast_move(move), depth - 1, alpha, beta) for move in moves]
        return max(values) if game.active_player is self else min(values)


class AlphaBeta(Minimax):
    """Alpha-beta with a fixed depth that calls `utility` for finished games."""

    def value(self, game: Any, depth: int, alpha: float, beta: float) -> float:
        end = game.utility(self)
        if end or depth == 0:
            return float(end or self.score(game, self))
        mine = game.active_player is self
        best = -inf if mine else inf
        for move in game.get_legal_moves():
            value = self.value(game.forecast_move(move), depth - 1, alpha, beta)
            best = max(best, value) if mine else min(best, value)
            alpha, beta = (max(alpha, best), beta) if mine else (alpha, min(beta, best))
            if alpha >= beta:
                break
        return best


def player(name: str, samples: Any) -> Any:
    """Return a player by a name such as "random" or "alphabeta open_move_score 3"."""
    kind, *rest = name.split()
    if kind == "random":
        return samples.RandomPlayer()
    score = getattr(samples, rest[0])
    if kind == "greedy":
        return samples.GreedyPlayer(score)
    return {"minimax": Minimax, "alphabeta": AlphaBeta}[kind](score, int(rest[1]))


def game(board: Any, samples: Any, setting: dict[str, Any]) -> dict[str, Any]:
    """Play a game from a seed, a board size, random placements and two players' names."""
    random.seed(setting["seed"])
    players = [player(name, samples) for name in setting["players"]]
    now = board(*players, *setting["size"])
    moves = []
    for _ in range(setting["placed"]):
        moves.append(random.choice(now.get_legal_moves()))
        now.apply_move(moves[-1])
    winner, history, reason = now.play(NO_END)
    for entry in history:
        moves += [entry] if isinstance(entry[0], int) else entry
    return {
        "moves": " ".join(f"{row}{column}" for row, column in moves),
        "winner": players.index(winner),
        "reason": reason,
        "picture": crc32(now.to_string().encode()),
        "check": random.getrandbits(32),
    }


# -- the successor -------------------------------------------------------------------------------


class Pocket(list[Any]):
    """A replacement for the action queue: a list of all actions put, without a time limit."""

    def put(self, action: Any) -> None:
        self.append(action)


def successor_game(isolation: Any, samples: Any, setting: dict[str, Any]) -> dict[str, Any]:
    """Play the successor's game from a seed and the names of two sample players."""
    random.seed(setting["seed"])
    state = isolation.Isolation()
    players = [getattr(samples, name)(number) for number, name in enumerate(setting["players"])]
    actions = []
    for _ in range(setting["placed"]):
        actions.append(random.choice(state.actions()))
        state = state.result(actions[-1])
    while not state.terminal_test():
        mover = players[state.player()]
        mover.queue = Pocket()
        mover.get_action(state)
        actions.append(mover.queue[-1])
        state = state.result(actions[-1])
    return {
        "actions": " ".join(str(int(action)) for action in actions),
        "winner": 0 if state.utility(0) > 0 else 1,
        "board": f"{state.board:x}",
        "check": random.getrandbits(32),
    }
