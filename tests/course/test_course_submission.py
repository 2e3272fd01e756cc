"""Recognise a submission's players, scores and generation by reading its source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from submissions import (
    BAD,
    FIRST,
    FLAT_BOARD,
    GOOD,
    OLDEST_BOARD,
    SEARCH,
    in_2017a,
    in_2017b,
    write,
)

from knightfall.agents import parse_agent
from knightfall.course.generations import generation_named
from knightfall.course.submission import find_file, imports_numpy, read_submission, sources
from knightfall.course.submission_player import make_player
from knightfall.errors import KnightfallError

ACTS = """
from sample_players import DataPlayer

class CustomPlayer(DataPlayer):
    def get_action(self, state):
        self.queue.put(state.actions()[0])
"""


@pytest.mark.parametrize(
    ("text", "name", "generation", "default"),
    [
        (SEARCH, "game_agent.py", "2017b", "AlphaBetaPlayer"),
        (in_2017a("return legal_moves[0]"), "game_agent.py", "2017a", "CustomPlayer"),
        (GOOD["is of the oldest board"], "game_agent.py", "oldest", "CustomPlayer"),
        (GOOD["is of the early board"], "game_agent.py", "early", "CustomPlayer"),
        (in_2017a("return game.__get_moves__((3, 3))[0]"), "game_agent.py", "oldest",
         "CustomPlayer"),
        (ACTS, "my_custom_player.py", "successor", "CustomPlayer"),
        (
            "class CustomPlayer:\n    def get_move(self, game, time_left):\n        pass\n",
            "competition_agent.py",
            "2017b",
            "CustomPlayer",
        ),
        (
            "class AlphaBetaPlayer:\n    def get_move(self, *args):\n        pass\n",
            "mine.py",
            "2017b",
            "AlphaBetaPlayer",
        ),
        (
            "".join(
                f"class {name}:\n    def get_move(self, *args):\n        pass\n"
                for name in ("CustomPlayer", "AlphaBetaPlayer")
            ),
            "both.py",
            "2017b",
            "AlphaBetaPlayer",
        ),
        ("class Me:\n    def get_move(self, game, time_left):\n        pass\n", "my agent.py",
         "2017b", "Me"),
    ],
)  # fmt: skip
def test_the_generation_is_found_by_looking(
    text: str, name: str, generation: str, default: str, tmp_path: Path
) -> None:
    found = read_submission(str(write(tmp_path, text, name)))
    assert (found.file.name, found.generation.name, found.default) == (name, generation, default)
    assert found.why


@pytest.mark.parametrize(
    ("taken", "generation"),
    [
        ("game, time_left, note=None", "2017b"),
        ("game, legal_moves, time_left=None", "2017a"),
        ("game, moves, clock", "2017a"),
        ("game, left", "2017b"),
    ],
)
def test_how_get_move_is_called(taken: str, generation: str, tmp_path: Path) -> None:
    text = f"class Mine:\n    def get_move(self, {taken}):\n        pass\n"
    text += "class Other:\n    def get_move(self, game, legal_moves, time_left):\n        pass\n"
    assert read_submission(str(write(tmp_path, text))).generation.name == generation


WITH_MOVES = FLAT_BOARD.replace("get_move(self.copy(), ", "get_move(self.copy(), moves, ")
EARLY_BOARD = WITH_MOVES.replace("_board_state[-2]", "_board_state[0]")
BOARDS = {
    "rows": (OLDEST_BOARD, "oldest", "keeps rows in __board_state__"),
    "dictionaries": (
        OLDEST_BOARD.replace("__board_state__", "blank"), "oldest", "keeps __last_player_move__"
    ),
    "__get_moves__": (
        re.sub(r".*_board_state\[.*\n", "", WITH_MOVES).replace("__get_moves", "__get_moves__"),
        "early", "keeps a flat _board_state and has __get_moves__",
    ),
    "renamed by a student": (
        WITH_MOVES.replace("__get_moves", "__get_moves__"), "2017a", "get_move takes",
    ),
    "first cell": (EARLY_BOARD, "early", "does not mark player 2 as not placed yet"),
    "with moves": (WITH_MOVES, "2017a", "get_move takes game, legal_moves and time_left"),
    "later": (FLAT_BOARD, "2017a", "get_move takes game, legal_moves and time_left"),
    "broken": ("class Board(:\n", "2017a", "get_move takes game, legal_moves and time_left"),
    "another": ("class Board:\n    pass\n", "2017a", "get_move takes"),
}  # fmt: skip
"""Boards beside a submission whose get_move takes the legal moves, and the generation."""


@pytest.mark.parametrize("place", ["isolation.py", "isolation/isolation.py", "../isolation.py"])
@pytest.mark.parametrize("board", BOARDS)
def test_the_board_beside_it_decides(board: str, place: str, tmp_path: Path) -> None:
    text, generation, sign = BOARDS[board]
    folder = write(tmp_path / "handed in", in_2017a("return game.__get_moves__((3, 3))[0]"))
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / place).write_text(text)
    if board in ("broken", "another"):  # such a board is ignored
        assert read_submission(str(folder)).generation.name == "oldest"
        write(folder, in_2017a("return legal_moves[0]"))
    found = read_submission(str(folder))
    assert found.generation.name == generation
    assert sign in found.why
    assert ("beside it" in found.why) == (generation in ("oldest", "early"))
    assert (str((folder / place).resolve()) in map(str, map(Path.resolve, map(Path, sources(
        str(folder)))))) == (board not in ("broken", "another"))  # fmt: skip


@pytest.mark.parametrize("board", [OLDEST_BOARD, EARLY_BOARD, FLAT_BOARD, WITH_MOVES])
def test_a_player_without_the_legal_moves_is_of_2017b(board: str, tmp_path: Path) -> None:
    write(tmp_path, board, "isolation.py")
    assert read_submission(str(write(tmp_path, SEARCH))).generation.name == "2017b"


def test_the_board_tells_2017b_where_the_arguments_do_not(tmp_path: Path) -> None:
    text = SEARCH.replace("class AlphaBetaPlayer(IsolationPlayer):\n    def get_move(self, game, ",
                          "class AlphaBetaPlayer(IsolationPlayer):\n    def get_move(self, game, "
                          "legal_moves, ")  # fmt: skip
    assert read_submission(str(write(tmp_path, text))).generation.name == "2017a"
    write(tmp_path, FLAT_BOARD, "isolation.py")
    assert read_submission(str(tmp_path)).generation.name == "2017b"


def test_a_generation_that_is_given_is_believed(tmp_path: Path) -> None:
    write(tmp_path, OLDEST_BOARD, "isolation.py")
    found = read_submission(str(write(tmp_path, in_2017a("return legal_moves[0]"))), "early")
    assert (found.generation.name, found.why) == ("early", "as you say")
    for wrong, said in (("2018", "known: 2017b, 2017a"), ("successor", "defines get_move, so")):
        with pytest.raises(KnightfallError, match=said):
            read_submission(str(tmp_path), wrong)


def test_a_generation_is_part_of_an_agents_string(tmp_path: Path) -> None:
    for text in (
        "course(some, where.py#A(b), generation=oldest, time=150ms)",
        "course(a.py, generation=early, time=1s, clock=ticks, seed=3)",
    ):
        agent = parse_agent(text)
        assert str(agent) == text
        assert parse_agent(str(agent)) == agent
        assert "generation=" not in agent.files[0]
        assert str(agent.absolute()).endswith(text.partition("py")[2])
    with pytest.raises(KnightfallError, match="unknown generation 'old'"):
        parse_agent("course(a.py, generation=old)")


def test_classes_and_scores_are_listed(tmp_path: Path) -> None:
    found = read_submission(str(write(tmp_path, SEARCH) / "game_agent.py"))
    assert [player.name for player in found.players] == ["MinimaxPlayer", "AlphaBetaPlayer"]
    assert found.scores == ("custom_score", "custom_score_2")
    found.check("AlphaBetaPlayer", "improved_score")
    with pytest.raises(KnightfallError, match="did you mean 'AlphaBetaPlayer'"):
        found.check("AlphaBetPlayer")
    with pytest.raises(KnightfallError, match="it has custom_score, custom_score_2"):
        found.check("AlphaBetaPlayer", "custom_score_9")


def test_scores_may_be_assigned(tmp_path: Path) -> None:
    source = (
        "def weighted(weight):\n"
        "    def score(game, player):\n        return weight\n"
        "    return score\n"
        "custom_score = weighted(2.0)\n"
        "custom_score_2 = custom_score\n"
        "custom_score_3 = lambda game, player: 1.0\n"
        "custom_score_weights = (1.0, 2.0)\n"
        "best_score = weighted\n"
    )
    found = read_submission(str(write(tmp_path, source) / "game_agent.py"))
    assert found.scores == ("custom_score", "custom_score_2", "custom_score_3")


def test_players_may_be_imported_or_inherited(tmp_path: Path) -> None:
    write(tmp_path, "from search import *\nfrom base import Deep as AlphaBetaPlayer\n"
                    "from search import MinimaxPlayer\n")  # fmt: skip
    write(tmp_path, SEARCH, "search.py")
    write(tmp_path, "from search import AlphaBetaPlayer\nclass Deep(AlphaBetaPlayer):\n    pass\n",
          "base.py")  # fmt: skip
    found = read_submission(str(tmp_path))
    assert found.generation.name == "2017b"
    assert found.open_ended
    assert "MinimaxPlayer" in [player.name for player in found.players]
    assert {Path(path).name for path in sources(str(tmp_path))} == {
        "game_agent.py",
        "search.py",
        "base.py",
    }


def test_a_folder_within_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "zip" / "AIND-Isolation-master", SEARCH)
    assert find_file(str(tmp_path)).parent.name == "AIND-Isolation-master"
    write(tmp_path / "zip" / "copy", SEARCH)
    with pytest.raises(KnightfallError, match="2 submissions"):
        find_file(str(tmp_path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\n", "no class with get_move"),
        ("print 'two'\n", "line 1: SyntaxError"),
        (BAD["has a syntax error"][2], "line 2: SyntaxError"),
        ("class A:\n    def get_move(self, x):\n        pass\n", "none of its players (A)"),
        ("\0", "null bytes"),
    ],
)
def test_what_is_none_is_refused(text: str, said: str, tmp_path: Path) -> None:
    file = write(tmp_path, text) / "game_agent.py"
    with pytest.raises(KnightfallError) as error:
        read_submission(str(file))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    for path in (tmp_path / "no.py", "x" * 5000, tmp_path):
        with pytest.raises(KnightfallError):
            read_submission(str(path))


def test_nothing_is_run(tmp_path: Path) -> None:
    text = in_2017b(FIRST, "open('/tmp/knightfall_ran', 'w')\nraise SystemExit")
    assert read_submission(str(write(tmp_path, text))).generation.name == "2017b"


# -- how players are created ---------------------------------------------------------------------


class Whole:
    def __init__(
        self,
        search_depth: int = 1,
        score_fn: object = "own",
        iterative: bool | None = None,
        method: str = "own",
        timeout: float = 10.0,
    ) -> None:
        self.search_depth, self.score_fn = search_depth, score_fn
        self.iterative, self.method, self.timeout = iterative, method, timeout


class Scored:
    def __init__(self, score_fn: object) -> None:
        self.score_fn = score_fn


class Bare:
    pass


class Anything:
    def __init__(self, **more: object) -> None:
        self.more = more


def test_a_player_is_created_with_what_its_constructor_accepts() -> None:
    a, b = generation_named("2017a"), generation_named("2017b")
    made = [
        make_player(Whole, a, score="given"),
        make_player(Whole, a, score="given", method="minimax"),
        make_player(Whole, b, score="given", method="minimax"),
        make_player(Whole, b, usual="usual", search_depth=5),
        make_player(Whole, a, score="given", usual="usual", method="minimax", search_depth=5),
        make_player(Whole, b),
    ]
    assert [tuple(vars(player).values()) for player in made] == [
        (1, "given", True, "alphabeta", 10.0),
        (3, "given", False, "minimax", 10.0),
        (1, "given", None, "own", 10.0),
        (5, "usual", None, "own", 10.0),
        (5, "given", False, "minimax", 10.0),
        (1, "own", None, "own", 10.0),
    ]
    for generation in (a, b):
        # A score that is given is the player's in any case, the usual one only where it fits.
        assert vars(make_player(Scored, generation, score="given")) == {"score_fn": "given"}
        assert vars(make_player(Scored, generation, usual="usual")) == {"score_fn": "usual"}
        assert vars(make_player(Bare, generation, score="given")) == {"score": "given"}
        assert vars(make_player(Bare, generation, usual="usual")) == {}
    assert make_player(Anything, b, score="given").more == {"score_fn": "given"}
    assert make_player(Anything, a, usual="usual", search_depth=2).more == {
        "score_fn": "usual", "method": "alphabeta", "iterative": True, "search_depth": 2
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "imports"),
    [
        ("import numpy", True),
        ("import os, numpy.linalg as la", True),
        ("def late():\n    from scipy.special import expit", True),
        ("from numpy import *", True),
        ("import numpyro\nfrom . import numpy\nfrom os import path", False),
        ("numpy = 'numpy'", False),
    ],
)
def test_imports_of_numpy_are_found(text: str, imports: bool) -> None:
    assert imports_numpy(ast.parse(text)) == imports
