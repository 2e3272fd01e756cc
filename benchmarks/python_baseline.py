"""The compiled alpha-beta against the same search in plain Python: nodes per second."""

from __future__ import annotations

from collections.abc import Callable

from knightfall.heuristics.evaluator import evaluator
from knightfall.position import Position
from knightfall.search.alphabeta import alphabeta

from .course_board import CourseBoard, UnshuffledBoard, set_up
from .course_search import CourseSearch
from .lean_python import LeanSearch
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
LEAN = "nothing but a list of cells"


def run(depth: int = DEPTH, rounds: int = ROUNDS) -> Result:
    """Measure all searches on the same trees (checked: nodes, scores and moves)."""
    improved = evaluator("improved")
    nodes, spent = 0, dict.fromkeys(["compiled", *BOARDS, LEAN], 0.0)
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
        sides[LEAN] = lambda position=position, call=call: _lean(position, call, depth)
        for side, seconds in fastest(sides, rounds, {"compiled": COMPILED_CALLS}).items():
            spent[side] += seconds
    faithful, unshuffled = BOARDS
    return Result(
        ratios={
            f"nodes per second ÷ {faithful}": Ratio(
                spent[faithful] / spent["compiled"], at_least=GOAL
            ),
            f"nodes per second ÷ {unshuffled}": Ratio(spent[unshuffled] / spent["compiled"]),
            f"nodes per second ÷ {LEAN}": Ratio(spent[LEAN] / spent["compiled"]),
        },
        figures={
            "depth": depth,
            "positions": len(POSITIONS),
            "nodes": nodes,
            **{f"{side}: nodes per second": nodes / seconds for side, seconds in spent.items()},
        },
    )


def _in_python(kind: type[CourseBoard], position: Position, call: Call, depth: int) -> None:
    """Repeat the search of `call` in plain Python. Raise an AssertionError if they differ."""
    board, search = position.board, CourseSearch()
    order = [(board.row(cell), board.column(cell)) for cell in call.root_order]
    value, move = search.best(set_up(kind, position, search), order, depth)
    _agree(position, call, (search.nodes, value, board.at(*move)))


def _lean(position: Position, call: Call, depth: int) -> None:
    search = LeanSearch(position)
    value, cell = search.best(position, call.root_order, depth)
    _agree(position, call, (search.nodes, value, cell))


def _agree(position: Position, call: Call, found: tuple[int, float, int]) -> None:
    compiled = (call.found.nodes, call.found.score, call.found.pv[0])
    if found != compiled:
        raise AssertionError(f"{position}: compiled {compiled}, plain Python {found}")
