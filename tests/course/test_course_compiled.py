"""Students' scores as heuristics: compiled values equal those on the course's board."""

from __future__ import annotations

import os
import random
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from both_boards import Seen, imported, random_game
from cli_runner import FEN, answer, refused, run
from helpers import at_length
from student_scores import COMPILED, HELPERS, PLAIN, SCORES
from submissions import in_2017a

from knightfall.agents import parse_agent
from knightfall.arena.plan import enter, files_of
from knightfall.course.student_scores.student_score import StudentScore
from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.user_heuristic import HeuristicWarning
from knightfall.oracle.batch_evaluation import Viewpoint, evaluate
from knightfall.position import Position

SIZES = ((7, 7, 18), (5, 6, 8), (8, 8, 4), (9, 4, 8))
"""Boards and the number of random games on each: about 1,200 positions for both players."""

ALIKE = {"weighted", "of_the_course", "corners", "loops", "sets", "lists", "boards_ahead", "stages"}
"""Scores that compile slowly or add nothing that other scores do not test."""

Score = Callable[[Any, Any], float]


def write(folder: Path, text: str, name: str = "game_agent.py") -> Path:
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.fixture(scope="module")
def submission(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "my_helpers.py").write_text(HELPERS)
    return write(folder, COMPILED)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("plain"), PLAIN)


@pytest.fixture
def unshuffled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the shuffle, so that moves come in the order in which they are generated."""
    monkeypatch.setattr(random, "shuffle", lambda moves: None)


@cache
def played(width: int, height: int, games: int) -> list[Seen]:
    """Return the unfinished positions of random games, each on our board and on the course's."""
    rng = random.Random(f"{width}x{height}")
    found = [seen for _ in range(games) for seen in random_game(width, height, rng)]
    return [(position, board) for position, board in found if position.legal_moves]


def expected(score: Score, seen: list[Seen]) -> tuple[list[Viewpoint], list[float]]:
    questions: list[Viewpoint] = []
    values: list[float] = []
    for position, board in seen:
        for side, player in (("w", "white"), ("b", "black")):
            questions.append(Viewpoint(position, side))  # type: ignore[arg-type]
            values.append(float(score(board.copy(), player)))
    return questions, values


# -- values ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("unshuffled")
@pytest.mark.parametrize("name", [at_length(name) if name in ALIKE else name for name in SCORES])
def test_compiled_it_is_worth_what_it_is_on_the_courses_board(name: str, submission: Path) -> None:
    ready = evaluator(f"course:{submission}#{name}")
    assert ready.compiled, ready.terms[0].why_plain
    score = getattr(imported(submission), name)
    for width, height, games in SIZES:
        questions, values = expected(score, played(width, height, games))
        assert evaluate(ready, questions).tolist() == pytest.approx(values, rel=1e-12)


@pytest.mark.usefixtures("unshuffled")
@pytest.mark.filterwarnings("ignore::knightfall.heuristics.user_heuristic.HeuristicWarning")
@pytest.mark.parametrize(
    ("name", "because"),
    [
        ("by_cell", "line 14: Untyped global name 'VALUES'"),
        ("mixed", "line 20: "),
        ("rows", "line 25: "),
        ("drawn", "line 29: random is random"),
        ("chosen", "line 34: choice is random"),
        ("numpys", "line 38: numpy.random is random"),
        ("counted", "line 43: "),
        ("private", "line 48: Unknown attribute '_board_state' of type course board"),
        ("huge", "where Python returns"),
        ("helped", "line 14: Untyped global name 'VALUES'"),
    ],
)
def test_what_numba_cannot_take_runs_as_python_and_says_why(
    name: str, because: str, plain: Path
) -> None:
    ready = evaluator(f"course:{plain}#{name}")
    assert not ready.compiled
    assert because in ready.terms[0].why_plain
    score = getattr(imported(plain), name)
    questions, values = expected(score, played(5, 6, 2))
    assert evaluate(ready, questions).tolist() == pytest.approx(values)


def test_there_is_one_warning_of_plain_python(plain: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluator(f"course:{plain}#by_cell+improved")
        evaluator(f"2*course:{plain}#by_cell")
    told = [str(one.message) for one in caught if one.category is HeuristicWarning]
    assert len(told) <= 1  # none if an earlier test has caused it
    assert all("runs as plain Python" in one for one in told)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("null", "null_score"),
        ("open", "open_move_score"),
        ("improved", "improved_score"),
        ("center", "center_score"),
    ],
)
def test_the_courses_own_scores_are_our_heuristics(
    ours: str, theirs: str, submission: Path
) -> None:
    questions = [Viewpoint(position, "w") for position, _ in played(7, 7, 10)]
    compiled = evaluator(f"course:{submission}#{theirs}")
    assert compiled.compiled
    assert evaluate(compiled, questions).tolist() == evaluate(evaluator(ours), questions).tolist()


# -- in a search -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "agent", ["id({}, nodes=2500)", "id({}, nodes=700, plain)", "alphabeta({}, depth=5)",
              "minimax({}, depth=3)", "AB_Custom({})", "greedy({})"],
)  # fmt: skip
def test_a_search_with_it_is_that_with_ours_node_for_node(agent: str, submission: Path) -> None:
    ours = parse_agent(agent.format("improved")).prepare()
    theirs = parse_agent(agent.format(f"course:{submission}#custom_score")).prepare()
    for position, _ in played(7, 7, 2)[3:30:4]:
        one, other = ours.analyse(position), theirs.analyse(position)
        assert replace(one, seconds=0.0) == replace(other, seconds=0.0)


def test_a_score_that_raises_loses_with_its_line(tmp_path: Path) -> None:
    text = in_2017a("return legal_moves[0]").replace(
        "return 0.0", "return 1 / (len(game.get_legal_moves(player)) - 3)"
    )
    ready = evaluator(f"course:{write(tmp_path, text)}#custom_score")
    assert ready.compiled
    with pytest.raises(KnightfallError, match=r"#custom_score, line 5: ZeroDivisionError"):
        [ready.value(position) for position, _ in played(7, 7, 3)]


# -- the file --------------------------------------------------------------------------------


@pytest.fixture
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    yield tmp_path
    assert Path.cwd() == tmp_path / "here"
    assert os.listdir(tmp_path / "here") == []


FROM_A_FILE = """
import collections, sys, time
import isolation
from helpers import SHARE
from sample_players import center_score
print("loaded")
assert isolation.Board
assert time.clock() >= 0 and collections.Iterable
open("log.txt", "w").write("here")
WEIGHT = float(open("weight.txt").read())


def custom_score(game, player):
    return WEIGHT + 1000 * SHARE


class AlphaBetaPlayer:
    def get_move(self, game, time_left):
        return (-1, -1)
"""


def test_two_submissions_live_side_by_side_and_leave_nothing_behind(
    somewhere: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    values, theirs = [], ModuleType("helpers")
    monkeypatch.setitem(sys.modules, "helpers", theirs)
    for number in (1, 2):
        place = somewhere / f"student {number}"
        place.mkdir()
        (place / "helpers.py").write_text(f"SHARE = {number}\n")
        (place / "weight.txt").write_text(f"{number}.5")
        (place / "isolation.py").write_text("raise SystemExit('the wrong board')")
        write(place, FROM_A_FILE)
        ready = evaluator(f"course:{place}#custom_score")
        assert ready.compiled
        values.append(ready.value(Position.from_fen("7/7/1N5/7/7/4n2/7 w")))
        assert not (place / "log.txt").exists()
    assert values == [1001.5, 2002.5]
    left = {name.partition(".")[0] for name in sys.modules}
    assert not left & {"isolation", "sample_players", "game_agent"}
    assert sys.modules["helpers"] is theirs
    assert "loaded" not in capfd.readouterr().out


def test_a_run_is_known_by_what_is_in_its_files(tmp_path: Path) -> None:
    (tmp_path / "my_helpers.py").write_text(HELPERS)
    file = write(tmp_path, COMPILED)
    entrants = enter([f"id(course:{tmp_path}#custom_score, nodes=9)"])
    before = files_of(entrants)
    assert set(before) == {str(file), str(tmp_path / "my_helpers.py")}
    (tmp_path / "my_helpers.py").write_text(HELPERS + "\n")
    assert files_of(entrants) != before


def test_an_edit_counts_at_once(tmp_path: Path) -> None:
    position = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    file = write(tmp_path, in_2017a("return legal_moves[0]"))
    assert evaluator(f"course:{file}#custom_score").value(position) == 0.0
    file.write_text(file.read_text().replace("return 0.0", "return 12.5"))
    assert evaluator(f"course:{file}#custom_score").value(position) == 12.5


@pytest.mark.filterwarnings("ignore::knightfall.heuristics.user_heuristic.HeuristicWarning")
@pytest.mark.parametrize(
    ("score", "value", "compiled"),
    [
        (
            "return center_score(game, player)",
            25 + 36,
            True,
        ),  # the centre was (7, 7) until April 2017
        ("return len(game.__get_moves__(game.get_player_location(player)))", 6, True),
        ("return sum(map(sum, game.__board_state__))", 3, False),
        ("return game.__last_player_move__[player][0]", 2, False),
    ],
)
def test_older_generations_have_their_own_board_and_players(
    score: str, value: float, compiled: bool, tmp_path: Path
) -> None:
    text = in_2017a("return legal_moves[0]", "from sample_players import center_score")
    file = write(tmp_path, text.replace("return 0.0", score))
    ready = evaluator(f"course:{file}#custom_score")
    assert ready.compiled == compiled
    assert ready.value(Position.from_fen("7/7/1N5/7/7/4n2/7 w"), "w") == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise SystemExit(3)", "game_agent.py, line 1: SystemExit: 3"),
        ("import missing_for_ever", "game_agent.py, line 1: ModuleNotFoundError"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_refused(text: str, said: str, tmp_path: Path) -> None:
    file = write(tmp_path, f"{text}\n{PLAIN}")
    with pytest.raises(KnightfallError, match=said):
        evaluator(f"course:{file}#rows")


def test_what_is_no_score_is_refused(submission: Path, tmp_path: Path) -> None:
    for name, said in (
        ("custom_scor", "has no score 'custom_scor'; did you mean 'custom_score'"),
        ("AlphaBetaPlayer", "is a player class, but a heuristic must be a function"),
        ("WEIGHT", "is not a function"),
        ("reach", "is not a function"),
    ):
        with pytest.raises(KnightfallError, match=said):
            evaluator(f"course:{submission}#{name}")
    acts = "class CustomPlayer:\n    def get_action(self, state):\n        pass\n"
    file = write(tmp_path, acts + "def score(game, player):\n    return 1\n", "my_custom_player.py")
    with pytest.raises(KnightfallError, match="11×9 game of the course's successor"):
        evaluator(f"course:{file}#score")


def test_it_is_a_value_that_prints_as_it_is_written(tmp_path: Path) -> None:
    score = StudentScore("a/../game_agent.py", "f")
    assert str(score) == "course:game_agent.py#f"
    assert score.absolute().path == str(Path.cwd() / "game_agent.py")
    assert score == StudentScore("game_agent.py", "f")
    assert isinstance(score.absolute(), StudentScore)
    agent = parse_agent("id(2*course:my work-2/x#f-improved+course:y#g, nodes=7)")
    assert str(agent) == "id(2*course:my work-2/x#f-improved+course:y#g, nodes=7)"
    assert agent.files == ("my work-2/x", "y")
    assert parse_agent(str(agent)) == agent
    assert agent.may_hang
    for text in ("id(course:x, nodes=7)", "id(course:#f)", "id(course:x#f(g))", "2*course:x"):
        with pytest.raises(KnightfallError, match="course:PATH#custom_score"):
            parse_agent(text)


# -- on the command line ---------------------------------------------------------------------


def test_course_scores_says_which_are_compiled_and_why_not(plain: Path) -> None:
    text = """
def custom_score(game, player):
    return len(game.get_legal_moves(player))


def custom_score_2(game, player):
    return sum(game._board_state[:-3])


def custom_score_3(game, player):
    return player.name
"""
    file = plain.parent / "three.py"
    file.write_text(text)
    said = run("course", "scores", str(file)).stdout
    assert re.search(r"custom_score +compiled\n", said)
    assert re.search(r"custom_score_2 +plain Python: line 7: Unknown attribute '_board_st", said)
    assert re.search(r"custom_score_3 +does not work: .*line 11: AttributeError", said)
    told = answer("course", "scores", str(file), "--json")
    assert [one["runs"] for one in told["scores"]] == ["compiled", "plain", "broken"]
    assert told["scores"][0]["heuristic"] == f"course:{file}#custom_score"
    assert told["generation"] == "2017b"


def test_it_is_taken_wherever_a_heuristic_is(submission: Path) -> None:
    name = f"course:{submission}#custom_score"
    told = answer("eval", FEN, "--heuristic", name, "--heuristic", "improved")
    assert told["values"] == {name: 0.0, "improved": 0.0}
    checked = run("check", name, "--board", "5x5")
    assert checked.exit_code == 0, checked.output
    assert re.search(r"compiled +yes", checked.stdout)


def test_what_is_wrong_with_it_is_said_in_one_line(plain: Path) -> None:
    assert "there is no file or folder" in refused("eval", FEN, "--heuristic", "course:nowhere#f")
    assert "is not a student's score" in refused("eval", FEN, "--heuristic", f"course:{plain}")
    assert "there is no file or folder" in refused("course", "scores", "nowhere")
