"""The cost of a submission's process: its start, the overhead of a move, a game by ticks.

A class of 100 plays 7,000 games against the course's seven opponents. Their time on two cores
follows from the mean game, because games are independent.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from knightfall.agents import cached_agent
from knightfall.arena.plan import PairTask
from knightfall.arena.play import play_pair
from knightfall.arena.tournament_plan import PROTOCOLS
from knightfall.board import Board
from knightfall.course.agent import RemoteSubmission
from knightfall.openings import openings, shuffled
from knightfall.position import Position

from .result import Ratio, Result

SUMMARY = "A submission's process: seconds to start, milliseconds for a move's way, a class of 100"
STARTS, ASKED, OPENINGS = 20, 400, 2
GOALS = {"start, in seconds": 0.3, "a move's way, in ms": 1.0, "a class of 100, in minutes": 30.0}
CLASS, PAIRS, CORES = 100, 5, 2

SUBMISSION = '''
"""A deepening alpha-beta as students hand it in."""


class SearchTimeout(Exception):
    pass


def custom_score(game, player):
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    own = len(game.get_legal_moves(player))
    return float(own - 2 * len(game.get_legal_moves(game.get_opponent(player))))


class AlphaBetaPlayer:
    def __init__(self, search_depth=3, score_fn=custom_score, timeout=10.):
        self.score = score_fn
        self.TIMER_THRESHOLD = timeout

    def get_move(self, game, time_left):
        self.time_left = time_left
        best = (-1, -1)
        try:
            for depth in range(1, 50):
                best = self.alphabeta(game, depth, float("-inf"), float("inf"), True)[1]
        except SearchTimeout:
            pass
        return best

    def alphabeta(self, game, depth, alpha, beta, mine):
        if self.time_left() < self.TIMER_THRESHOLD:
            raise SearchTimeout()
        moves = game.get_legal_moves()
        if depth == 0 or not moves:
            return self.score(game, self), (-1, -1)
        best, choice = float("-inf") if mine else float("inf"), (-1, -1)
        for move in moves:
            value = self.alphabeta(game.forecast_move(move), depth - 1, alpha, beta, not mine)[0]
            if value > best if mine else value < best:
                best, choice = value, move
            if mine:
                alpha = max(alpha, best)
            else:
                beta = min(beta, best)
            if alpha >= beta:
                break
        return best, choice


class FirstMovePlayer(AlphaBetaPlayer):
    def get_move(self, game, time_left):
        return game.get_legal_moves()[0]
'''


def run(starts: int = STARTS, asked: int = ASKED, drawn: int = OPENINGS) -> Result:
    """Measure starts, the overhead of moves, and games from a few openings."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "game_agent.py").write_text(SUBMISSION, encoding="utf-8")
        quick = cached_agent(f"course({folder}#FirstMovePlayer, time=150ms, clock=ticks)")
        thinks = str(cached_agent(f"course({folder}#AlphaBetaPlayer, time=150ms, clock=ticks)"))
        begun = []
        for _ in range(starts):
            player = RemoteSubmission(quick)
            start = perf_counter()
            player.prepare()
            begun.append(perf_counter() - start)
            player.close()
        ways = _ways(RemoteSubmission(quick), asked)
        fens = shuffled(tuple(openings(Board.of(7, 7))), 0, 0)[:drawn]
        games = {name: _seconds_a_game(thinks, name, fens) for name in PROTOCOLS["2017b"].opponents}
    mean = sum(games.values()) / len(games)
    minutes = CLASS * 2 * PAIRS * sum(games.values()) / CORES / 60
    measured = {
        "start, in seconds": median(begun),
        "a move's way, in ms": 1000 * median(ways),
        "a class of 100, in minutes": minutes,
    }
    return Result(
        ratios={name: Ratio(measured[name], at_most=goal) for name, goal in GOALS.items()},
        figures={"a game, in seconds": mean, "starts": starts, "moves asked": asked},
        rows=[{"opponent": name, "seconds a game": value} for name, value in games.items()],
        notes=["The class is 7,000 such games one after the other, over two cores; not judged"],
    )


def _ways(player: RemoteSubmission, asked: int) -> list[float]:
    """Return the seconds that single moves of a player take which answers without searching."""
    player.prepare()
    found: list[float] = []
    while len(found) < asked:
        position = Position.from_fen("7/7/2N4/7/4n2/7/7 w")
        while position.legal_moves and len(found) < asked:
            start = perf_counter()
            move = player.analyse(position).move
            found.append(perf_counter() - start)
            position = position.play(move)
            if position.legal_moves:
                position = position.play(position.legal_moves[0])
    player.close()
    return found


def _seconds_a_game(agent: str, opponent: str, fens: list[str]) -> float:
    other = str(cached_agent(opponent))
    play_pair(PairTask(0, agent, other, fens[0], 1))  # warm-up: compile and load everything
    start = perf_counter()
    for number, fen in enumerate(fens):
        play_pair(PairTask(number, agent, other, fen, 1 + number))
    return (perf_counter() - start) / (2 * len(fens))


if __name__ == "__main__":
    found = run()
    print({name: round(ratio.value, 3) for name, ratio in found.ratios.items()}, found.rows)
