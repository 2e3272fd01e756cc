"""A heuristic cannot change the rules or the budget: its board is read-only and checked."""

from __future__ import annotations

import pytest
from cli_runner import FEN, refused
from heuristic_files import START, Files, line_of, refusal, slow_evaluator

from knightfall.arena import play
from knightfall.arena.plan import PairTask
from knightfall.arena.play import play_pair
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.kernel.rules import Seal, geometry
from knightfall.search.budget import Budget
from knightfall.search.run_search import SEARCHES, run_search

REFUSED = "a heuristic may read its board, but not write to it"

HEAD = """
import ctypes

from numba import njit

TABLE = {}

@njit
def spoil(board, cell):
    board.knight[cell] = 0  # spoils

@njit
def empty(cells, cell):
    cells[cell] = 0  # empties

memset = ctypes.CDLL(None).memset
memset.argtypes, memset.restype = [ctypes.c_size_t, ctypes.c_int, ctypes.c_size_t], ctypes.c_size_t

def score(board, open, me, opp, to_move):
"""


def written(files: Files, *body: str) -> str:
    """Write a heuristic with a body, and return its id."""
    lines = "".join(f"    {line}\n" for line in body)
    path = files.write("hostile.py", HEAD + lines + "    return 1.0\n")
    return f"{path}:score"


# -- refused by the compiler -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "mark"),
    [
        ("board.knight[me] &= open  # here", "here"),
        ("board.limit = 200000  # here", "here"),
        ("board['limit'] = 3  # here", "here"),
        ("near = board.knight; near[me] &= open  # here", "here"),
        ("board.distance[me][opp] = 1  # here", "here"),
        ("board.row.fill(0)  # here", "here"),
        ("board.ring.reshape(64 * 12)[3] = 0  # here", "here"),
        ("spoil(board, me)", "spoils"),
        ("empty(board.touching, me)", "empties"),
        ("if board.width == 99: board.cells = 3  # here", "here"),  # never true on these boards
    ],
)
def test_what_writes_to_the_board_is_refused_with_its_line(
    files: Files, body: str, mark: str
) -> None:
    id = written(files, body)
    line = line_of(id.removesuffix(":score"), mark)
    assert refusal(id) == f"heuristic {id}, line {line}: {REFUSED}"


def test_in_a_sum_and_in_another_file_it_is_refused_too(files: Files) -> None:
    id = written(files, "board.knight[me] &= open")
    assert refusal(f"improved+2*{id}").startswith(f"heuristic {id}, line ")
    helper = files.write(
        "helper.py",
        """
        from numba import njit

        @njit
        def spoil(board):
            board.limit = 0  # here
        """,
    )
    path = files.write(
        "mine.py",
        """
        from helper import spoil

        def score(board, open, me, opp, to_move):
            spoil(board)
            return 1.0
        """,
    )
    where = f"heuristic {path}:score: {helper}, line {line_of(helper, 'here')}"
    assert refusal(f"{path}:score") == f"{where}: {REFUSED}"


def test_every_command_refuses_it(files: Files) -> None:
    id = written(files, "board.knight[me] &= open  # here")
    line = line_of(id.removesuffix(":score"), "here")
    store = ("--store", str(files.folder / "runs.sqlite"))
    for command in (
        ("check", id),
        ("eval", "--heuristic", id, FEN),
        ("analyse", "--agent", f"id({id}, nodes=100)", FEN),
        ("match", id, "open", "--pairs", "1", "--workers", "0", *store),
        ("watch", f"id({id}, nodes=100)", "random"),
    ):
        assert refused(*command) == f"knightfall: heuristic {id}, line {line}: {REFUSED}\n"
    assert not (files.folder / "runs.sqlite").exists()


def test_reading_is_as_free_as_ever(files: Files) -> None:
    id = written(
        files,
        "best = board.distance[me].max() + len(board.knight[: board.cells])",
        "mine = board.touching.copy()",
        "mine[me] = 7",
        "if board['width'] != 7 or board.limit == 0 or board.step_limit == 0: return -1.0",
        "return best + mine[me]",
    )
    ready = evaluator(id)
    assert ready.compiled
    assert ready.value(START) == 4 + 49 + 7  # from b5 no cell is farther than four moves


def test_an_array_of_ones_own_may_be_written_to(files: Files) -> None:
    path = files.write(
        "counts.py",
        """
        import numpy as np

        SEEN = np.zeros(64)

        def score(board, open, me, opp, to_move):
            SEEN[me] += 1
            return SEEN[me] > 0
        """,
    )
    assert slow_evaluator(f"{path}:score").value(START) == 1.0  # Numba treats globals as constants


# -- refused when it runs --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "mark", "says"),
    [
        ("board.limit = 3  # here", "here", f"TypeError: {REFUSED}"),
        ("board['limit'] = 3  # here", "here", f"TypeError: {REFUSED}"),
        ("board.knight[me] &= open  # here", "here", f"TypeError: {REFUSED}"),
        ("near = board.knight; near += 1  # here", "here", f"TypeError: {REFUSED}"),
        ("board.knight._array[0] = 0  # here", "here", "ValueError: "),
        ("spoil(board, me)", "spoils", REFUSED),
    ],
)
def test_plain_python_has_a_read_only_board(files: Files, body: str, mark: str, says: str) -> None:
    id = written(files, "TABLE[me] = 1  # which Numba cannot compile", body)
    line = line_of(id.removesuffix(":score"), mark)
    assert refusal(id).startswith(f"heuristic {id}, line {line}: {says}")


def test_plain_python_that_writes_late_ends_the_search(files: Files) -> None:
    id = written(files, "TABLE[me] = 1", "if board.width == 5: board.limit = 10**6  # here")
    ready = slow_evaluator(id)
    assert run_search(START, SEARCHES["alphabeta"], ready, Budget(depth=2)).score == 1.0
    small = START.from_fen("5/1N3/5/3n1/5 w")
    line = line_of(id.removesuffix(":score"), "here")
    with pytest.raises(KnightfallError, match=f"line {line}: TypeError: {REFUSED}"):
        run_search(small, SEARCHES["alphabeta"], ready, Budget(depth=2))


# -- detected afterwards ---------------------------------------------------------------------

LIMIT = geometry(Board.of(7, 7)).dtype.fields["limit"][1]  # type: ignore[index]
KNIGHT = geometry(Board.of(7, 7)).dtype.fields["knight"][1]  # type: ignore[index]

BY_ADDRESS = {
    "the rules": "memset(board.knight.ctypes.data, 0, 8)",
    # 65,536 nodes more:
    "the budget": f"memset(board.knight.ctypes.data + {LIMIT - KNIGHT + 2}, 1, 1)",
}

INNOCENT = ("id(open, nodes=300)", "id(improved, nodes=300)")
OPENING = "7/7/1N5/7/7/4n2/7 w"


@pytest.mark.parametrize("what", BY_ADDRESS)
def test_what_gets_at_the_board_loses_its_games_and_nobody_else_any(
    files: Files, what: str
) -> None:
    id = written(files, BY_ADDRESS[what])
    said = f"heuristic {id} changed its board: {REFUSED}"
    ready = evaluator(id)
    assert ready.compiled
    for ask in (
        lambda: ready.value(START),
        lambda: run_search(START, SEARCHES["deepening"], ready, Budget(nodes=500)),
    ):
        with pytest.raises(KnightfallError) as error:
            ask()
        assert str(error.value) == said

    innocent = PairTask(0, *INNOCENT, OPENING, 5)
    before = play_pair(innocent)
    culprit = f"id({id}, nodes=300)"
    assert play.searcher(culprit) is not None  # whole games in compiled code
    for other in INNOCENT:
        pair = play_pair(PairTask(0, culprit, other, OPENING, 5))
        assert [(game.winner, game.reason, game.detail) for game in pair.games] == [
            ("b", "crash", said),
            ("w", "crash", said),
        ]
        assert play_pair(innocent) == before


def test_an_honest_heuristic_is_not_suspected(files: Files) -> None:
    id = written(files, "return board.row[me] * 0.5")
    twin = PairTask(0, f"id({id}, nodes=300)", "id(longest_win, nodes=300)", OPENING, 5)
    assert {game.reason for game in play_pair(twin).games} == {"no moves"}


def test_a_search_may_change_its_work_sheet_and_nothing_else() -> None:
    boards = geometry(Board.of(5, 5))
    seal = Seal(boards)
    boards["failed"], boards["cut"], boards["reading"], boards["asked"] = 1, 3, 7, 9
    assert not seal.broken
    boards["limit"] = 0  # stopped
    assert not seal.broken
    fields = boards.dtype.names or ()
    for field in (*fields[: fields.index("limit")], "clock", "dial", "deadline", "step_limit"):
        seal = Seal(boards)
        boards[field] = boards[field] + 1
        assert seal.broken, field
    boards["limit"] = 5
    seal = Seal(boards)
    boards["limit"] = 6
    assert seal.broken
