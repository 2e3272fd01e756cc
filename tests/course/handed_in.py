"""Submissions for `course check`: a right one of each generation, and common mistakes."""

from __future__ import annotations

from pathlib import Path

from knightfall.course.checker.check_report import Examination, Outcome

RIGHT_2017B = '''\
"""A submission of 2017b as it should be."""


class SearchTimeout(Exception):
    pass


def custom_score(game, player):
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    own = len(game.get_legal_moves(player))
    return float(own - len(game.get_legal_moves(game.get_opponent(player))))


def custom_score_2(game, player):
    return float(len(game.get_legal_moves(player)))


def custom_score_3(game, player):
    return -float(len(game.get_legal_moves(game.get_opponent(player))))


class IsolationPlayer:
    def __init__(self, search_depth=3, score_fn=custom_score, timeout=10.0):
        self.search_depth = search_depth
        self.score = score_fn
        self.time_left = None
        self.TIMER_THRESHOLD = timeout


class MinimaxPlayer(IsolationPlayer):
    def get_move(self, game, time_left):
        self.time_left = time_left
        best_move = (-1, -1)
        try:
            return self.minimax(game, self.search_depth)
        except SearchTimeout:
            pass
        return best_move

    def minimax(self, game, depth):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise SearchTimeout()
        best, best_move = float("-inf"), (-1, -1)
        for move in game.get_legal_moves():
            value = self.min_value(game.forecast_move(move), depth - 1)
            if value > best or best_move == (-1, -1):
                best, best_move = value, move
        return best_move

    def min_value(self, game, depth):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise SearchTimeout()
        moves = game.get_legal_moves()
        if depth <= 0 or not moves:
            return self.score(game, self)
        return min(self.max_value(game.forecast_move(move), depth - 1) for move in moves)

    def max_value(self, game, depth):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise SearchTimeout()
        moves = game.get_legal_moves()
        if depth <= 0 or not moves:
            return self.score(game, self)
        return max(self.min_value(game.forecast_move(move), depth - 1) for move in moves)


class AlphaBetaPlayer(IsolationPlayer):
    def get_move(self, game, time_left):
        self.time_left = time_left
        moves = game.get_legal_moves()
        best_move = moves[0] if moves else (-1, -1)
        depth = 1
        try:
            while True:
                best_move = self.alphabeta(game, depth)
                depth += 1
        except SearchTimeout:
            pass
        return best_move

    def alphabeta(self, game, depth, alpha=float("-inf"), beta=float("inf")):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise SearchTimeout()
        best, best_move = float("-inf"), (-1, -1)
        for move in game.get_legal_moves():
            value = self.ab_min(game.forecast_move(move), depth - 1, alpha, beta)
            if value > best or best_move == (-1, -1):
                best, best_move = value, move
            alpha = max(alpha, best)
        return best_move

    def ab_min(self, game, depth, alpha, beta):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise SearchTimeout()
        moves = game.get_legal_moves()
        if depth <= 0 or not moves:
            return self.score(game, self)
        best = float("inf")
        for move in moves:
            best = min(best, self.ab_max(game.forecast_move(move), depth - 1, alpha, beta))
            if best <= alpha:
                return best
            beta = min(beta, best)
        return best

    def ab_max(self, game, depth, alpha, beta):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise SearchTimeout()
        moves = game.get_legal_moves()
        if depth <= 0 or not moves:
            return self.score(game, self)
        best = float("-inf")
        for move in moves:
            best = max(best, self.ab_min(game.forecast_move(move), depth - 1, alpha, beta))
            if best >= beta:
                return best
            alpha = max(alpha, best)
        return best
'''

RIGHT_2017A = '''\
"""A submission of 2017a as it should be."""


class Timeout(Exception):
    pass


def custom_score(game, player):
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    return float(len(game.get_legal_moves(player)))


class CustomPlayer:
    def __init__(
        self, search_depth=3, score_fn=custom_score, iterative=True, method="minimax", timeout=10.0
    ):
        self.search_depth = search_depth
        self.iterative = iterative
        self.score = score_fn
        self.method = method
        self.time_left = None
        self.TIMER_THRESHOLD = timeout

    def get_move(self, game, legal_moves, time_left):
        self.time_left = time_left
        if not legal_moves:
            return (-1, -1)
        best_move = legal_moves[0]
        search = self.minimax if self.method == "minimax" else self.alphabeta
        try:
            if not self.iterative:
                return search(game, self.search_depth)[1]
            depth = 1
            while True:
                best_move = search(game, depth)[1]
                depth += 1
        except Timeout:
            pass
        return best_move

    def minimax(self, game, depth, maximizing_player=True):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise Timeout()
        moves = game.get_legal_moves()
        if depth == 0 or not moves:
            return self.score(game, self), (-1, -1)
        values = [
            (self.minimax(game.forecast_move(move), depth - 1, not maximizing_player)[0], move)
            for move in moves
        ]
        return max(values) if maximizing_player else min(values)

    def alphabeta(
        self, game, depth, alpha=float("-inf"), beta=float("inf"), maximizing_player=True
    ):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise Timeout()
        moves = game.get_legal_moves()
        if depth == 0 or not moves:
            return self.score(game, self), (-1, -1)
        best, best_move = (float("-inf") if maximizing_player else float("inf")), moves[0]
        for move in moves:
            ahead = game.forecast_move(move)
            value, _ = self.alphabeta(ahead, depth - 1, alpha, beta, not maximizing_player)
            if maximizing_player:
                if value > best:
                    best, best_move = value, move
                if best >= beta:
                    break
                alpha = max(alpha, best)
            else:
                if value < best:
                    best, best_move = value, move
                if best <= alpha:
                    break
                beta = min(beta, best)
        return best, best_move
'''

RIGHT = {"2017b": RIGHT_2017B, "2017a": RIGHT_2017A}


def changed(source: str, *edits: tuple[str, str]) -> str:
    """Return a submission with some texts replaced; each must occur in it."""
    for old, new in edits:
        assert old in source, old
        source = source.replace(old, new)
    return source


def hand_in(source: str, folder: Path) -> Path:
    """Write a submission into a folder and return the path."""
    (folder / "game_agent.py").write_text(source, encoding="utf-8")
    return folder


def outcome_of(found: Examination, check: str) -> Outcome:
    """Return the outcome of one check."""
    return next(outcome for outcome in found.outcomes if outcome.id == check)


def marks(found: Examination) -> dict[str, str]:
    """Return the marks of all checks that were not passed, by the checks' ids."""
    return {outcome.id: outcome.mark for outcome in found.outcomes if outcome.mark != "ok"}
