"""A student's score, compiled, against the same score on the course's board in Python.

Alpha-beta to a fixed depth from the same positions: knightfall's in machine code, with the score as
it was handed in, and a student's in plain Python on `knightfall.course.Board`. The compiled one
searches four plies deeper; otherwise it would be too fast to time. Run it with `python -m
benchmarks.student_score`.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from knightfall.agents import Agent, parse_agent
from knightfall.course import Board, improved_score
from knightfall.position import Position

from .course_library import StudentAgent, laid_out
from .measure import fastest
from .positions import FENS
from .result import Ratio, Result

SUMMARY = "Nodes per second of alpha-beta with a student's score, compiled ÷ in plain Python"
DEPTH = 6
DEEPER = 4
ROUNDS = 10
POSITIONS = FENS[:5]  # one of each number of open cells

SUBMISSION = """
from sample_players import improved_score


def counting(game, player):
    if game.is_loser(player):
        return float("-inf")
    if game.is_winner(player):
        return float("inf")
    own = len(game.get_legal_moves(player))
    return float(own - 2 * len(game.get_legal_moves(game.get_opponent(player))))


def looping(game, player):
    total = 0.0
    for row, column in game.get_legal_moves(player):
        total += abs(row - game.height / 2) + abs(column - game.width / 2)
    return improved_score(game, player) - total / 10


def forecasting(game, player):
    total = 0
    for move in game.get_legal_moves():
        total += len(game.forecast_move(move).get_legal_moves(player))
    return total


def sharing(game, player):
    own = set(game.get_legal_moves(player))
    return len(own) - len(own & set(game.get_legal_moves(game.get_opponent(player))))
"""
SCORES = ("counting", "looping", "forecasting", "sharing")
SIDES = ("compiled", "improved", "plain")


def run(depth: int = DEPTH, rounds: int = ROUNDS) -> Result:
    """Measure nodes per second of each score on both sides, and of `improved`, in turns."""
    names: dict[str, Any] = {}
    text = SUBMISSION.replace("from sample_players import improved_score", "")
    exec(text, {"improved_score": improved_score}, names)
    rows, ratios = [], {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "game_agent.py")
        file.write_text(SUBMISSION, encoding="utf-8")
        ours = parse_agent(f"alphabeta(improved, depth={depth + DEEPER})").prepare()
        for name in SCORES:
            heuristic = f"course:{file}#{name}"
            compiled = parse_agent(f"alphabeta({heuristic}, depth={depth + DEEPER})").prepare()
            speed = _speeds(compiled, ours, StudentAgent(names[name], depth), rounds)
            ratios[f"nodes per second, {name}"] = Ratio(speed["compiled"] / speed["plain"], None)
            rows.append(
                {
                    "score": name,
                    **{f"{side}: nodes per second": speed[side] for side in ("compiled", "plain")},
                    "compiled ÷ our improved": speed["compiled"] / speed["improved"],
                }
            )
    return Result(ratios=ratios, rows=rows, figures={"depth": depth, "positions": len(POSITIONS)})


def _speeds(compiled: Agent, ours: Agent, student: StudentAgent, rounds: int) -> dict[str, float]:
    """Return nodes per second, over all positions, of the compiled score, of `improved`, and of
    plain Python.
    """
    nodes, spent = dict.fromkeys(SIDES, 0), dict.fromkeys(SIDES, 0.0)
    for fen in POSITIONS:
        position = Position.from_fen(fen)

        def plain(position: Position = position) -> None:
            student.nodes = 0
            random.seed(1)  # the same shuffles give the same tree
            student.get_move(laid_out(Board, position, student), lambda: 1000.0)

        sides: dict[str, Callable[[], object]] = {
            "compiled": lambda position=position: compiled.analyse(position),
            "improved": lambda position=position: ours.analyse(position),
            "plain": plain,
        }
        for side, seconds in fastest(sides, rounds).items():
            spent[side] += seconds
        nodes["compiled"] += compiled.analyse(position).nodes
        nodes["improved"] += ours.analyse(position).nodes
        nodes["plain"] += student.nodes
    return {side: nodes[side] / spent[side] for side in SIDES}


if __name__ == "__main__":
    for row in run().rows:
        print(", ".join(f"{k}: {v if isinstance(v, str) else f'{v:,.2f}'}" for k, v in row.items()))
