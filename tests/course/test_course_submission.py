"""What a submission is, told by reading it."""

from __future__ import annotations

from pathlib import Path

import pytest
from submissions import BAD, FIRST, GOOD, SEARCH, in_2017a, in_2017b, write

from knightfall.course.find import find_file
from knightfall.course.submission import read_submission, sources
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
        ("class Me:\n    def get_move(self, game, time_left):\n        pass\n", "my agent.py",
         "2017b", "Me"),
    ],
)  # fmt: skip
def test_the_generation_is_found_by_looking(
    text: str, name: str, generation: str, default: str, tmp_path: Path
) -> None:
    found = read_submission(str(write(tmp_path, text, name)))
    assert (found.file.name, found.generation, found.default) == (name, generation, default)
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
    assert read_submission(str(write(tmp_path, text))).generation == generation


def test_classes_and_scores_are_listed(tmp_path: Path) -> None:
    found = read_submission(str(write(tmp_path, SEARCH) / "game_agent.py"))
    assert [player.name for player in found.players] == ["MinimaxPlayer", "AlphaBetaPlayer"]
    assert found.scores == ("custom_score", "custom_score_2")
    found.check("AlphaBetaPlayer", "improved_score")
    with pytest.raises(KnightfallError, match="did you mean 'AlphaBetaPlayer'"):
        found.check("AlphaBetPlayer")
    with pytest.raises(KnightfallError, match="it has custom_score, custom_score_2"):
        found.check("AlphaBetaPlayer", "custom_score_9")


def test_players_may_be_imported_or_inherited(tmp_path: Path) -> None:
    write(tmp_path, "from search import *\nfrom base import Deep as AlphaBetaPlayer\n"
                    "from search import MinimaxPlayer\n")  # fmt: skip
    write(tmp_path, SEARCH, "search.py")
    write(tmp_path, "from search import AlphaBetaPlayer\nclass Deep(AlphaBetaPlayer):\n    pass\n",
          "base.py")  # fmt: skip
    found = read_submission(str(tmp_path))
    assert found.generation == "2017b"
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
    assert read_submission(str(write(tmp_path, text))).generation == "2017b"
