"""The compiled alpha-beta against the same search in plain Python: nodes per second."""

from __future__ import annotations

from benchmarks.course_board import PlainSearch, course_board
from benchmarks.measure import fastest
from benchmarks.positions import FENS
from benchmarks.result import Ratio, Result
from benchmarks.searching import Call
from knightfall.heuristics.evaluator import evaluator
from knightfall.position import Position
from knightfall.search.alphabeta import alphabeta

SUMMARY = "compiled alphabeta(improved) ÷ the same search in plain Python on a course-style board"
GOAL = 1000.0
DEPTH = 12
ROUNDS = 5
POSITIONS = FENS[:5]  # one of each number of open cells


def run(depth: int = DEPTH, rounds: int = ROUNDS) -> Result:
    """Both search the same trees (checked: nodes, scores and moves are equal)."""
    improved = evaluator("improved")
    nodes, spent = 0, {"compiled": 0.0, "python": 0.0}
    for fen in POSITIONS:
        position = Position.from_fen(fen)
        call, plain = Call(position, depth), PlainSearch()
        game = course_board(position, plain, "opponent")
        call.compiled(alphabeta, improved)
        board = position.board
        order = [(board.row(cell), board.column(cell)) for cell in call.root_order]
        value, move = plain.best(game, order, depth)
        found = call.found
        if (found.nodes, found.score, found.pv[0]) != (plain.nodes, value, board.at(*move)):
            raise AssertionError(
                f"{fen}: compiled {found}, plain Python {plain.nodes} nodes, {value}, {move}"
            )
        nodes += found.nodes
        times = fastest(
            {
                "compiled": lambda call=call: call.compiled(alphabeta, improved),
                "python": lambda plain=plain, game=game, order=order: plain.best(
                    game, order, depth
                ),
            },
            rounds,
        )
        for side, seconds in times.items():
            spent[side] += seconds
    return Result(
        ratios={"nodes per second": Ratio(spent["python"] / spent["compiled"], at_least=GOAL)},
        figures={
            "depth": depth,
            "positions": len(POSITIONS),
            "nodes": nodes,
            "compiled nodes per second": nodes / spent["compiled"],
            "python nodes per second": nodes / spent["python"],
        },
    )
