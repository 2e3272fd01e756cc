"""The compiled alpha-beta against the same search in plain Python: nodes per second."""

from __future__ import annotations

from collections.abc import Callable

from knightfall.heuristics.evaluator import evaluator
from knightfall.position import Position
from knightfall.search.alphabeta import alphabeta

from .course_board import CourseBoard, PlainSearch, UnshuffledBoard, set_up
from .measure import fastest
from .positions import FENS
from .result import Ratio, Result
from .searching import Call

SUMMARY = "Nodes per second of `alphabeta(improved)` ÷ those of the same search in plain Python"
GOAL = 1000.0
DEPTH = 12
ROUNDS = 2
COMPILED_CALLS = 5
POSITIONS = FENS[:5]  # one of each number of open cells
BOARDS = {"the course's board": CourseBoard, "its moves unshuffled": UnshuffledBoard}


def run(depth: int = DEPTH, rounds: int = ROUNDS) -> Result:
    """All search the same trees (checked: nodes, scores and moves are equal)."""
    improved = evaluator("improved")
    nodes, spent = 0, dict.fromkeys(["compiled", *BOARDS], 0.0)
    for fen in POSITIONS:
        position = Position.from_fen(fen)
        call = Call(position, depth)
        call.compiled(alphabeta, improved)
        nodes += call.found.nodes
        sides: dict[str, Callable[[], object]] = {
            "compiled": lambda call=call: call.compiled(alphabeta, improved)
        }
        for name, kind in BOARDS.items():
            sides[name] = lambda kind=kind, position=position, call=call: _in_python(
                kind, position, call, depth
            )
        for side, seconds in fastest(sides, rounds, {"compiled": COMPILED_CALLS}).items():
            spent[side] += seconds
    faithful, unshuffled = BOARDS
    return Result(
        ratios={
            f"nodes per second ÷ {faithful}": Ratio(
                spent[faithful] / spent["compiled"], at_least=GOAL
            ),
            f"nodes per second ÷ {unshuffled}": Ratio(spent[unshuffled] / spent["compiled"]),
        },
        figures={
            "depth": depth,
            "positions": len(POSITIONS),
            "nodes": nodes,
            **{f"{side}: nodes per second": nodes / seconds for side, seconds in spent.items()},
        },
    )


def _in_python(kind: type[CourseBoard], position: Position, call: Call, depth: int) -> None:
    """Search in plain Python what `call` has searched; raises if the two do not agree."""
    board, search, found = position.board, PlainSearch(), call.found
    order = [(board.row(cell), board.column(cell)) for cell in call.root_order]
    value, move = search.best(set_up(kind, position, search), order, depth)
    if (search.nodes, value, board.at(*move)) != (found.nodes, found.score, found.pv[0]):
        raise AssertionError(
            f"{position}: compiled {found}, plain Python {search.nodes} nodes, {value}, {move}"
        )
