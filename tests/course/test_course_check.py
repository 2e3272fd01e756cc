"""`knightfall course check`: right submissions pass, and mistakes are found and explained."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cli_runner import refused, run
from handed_in import RIGHT, RIGHT_2017A, RIGHT_2017B, changed, hand_in, marks, outcome_of
from helpers import at_length
from naive_course import Naive2017b
from right_agents import RIGHT_AGENTS
from submissions import OLDEST_BOARD

from knightfall.course.checker import get_move_checks, recording_board, search_checks
from knightfall.course.checker import search_checks as textbook
from knightfall.course.checker.check_report import CHECKS, Examination, Finding, read_outcome
from knightfall.course.checker.check_runner import examine
from knightfall.course.checker.recording_board import Place, Watch, scrambled
from knightfall.course.checker.submission_api import Subject
from knightfall.course.scores import improved_score
from knightfall.isolation.host_process import Broken
from knightfall.position import Position

PLACES = {
    name: value for name, value in vars(recording_board).items() if isinstance(value, Place)
} | {f"stuck{i}": p for i, p in enumerate(recording_board.STUCK)}


SAID_ELSEWHERE = {"names of 2017", "an empty tuple until it knows better"}
"""Right agents whose habits other tests cover, too."""


# -- correct submissions -----------------------------------------------------------------------


@pytest.mark.parametrize("generation", RIGHT)
def test_a_right_submission_passes_every_check(generation: str, tmp_path: Path) -> None:
    found = examine(hand_in(RIGHT[generation], tmp_path))
    assert marks(found) == {}
    assert found.generation == generation
    assert found.passed
    assert str(found).endswith(f"{len(CHECKS)} of {len(CHECKS)} checks passed")


@pytest.mark.parametrize("generation", RIGHT)
def test_a_search_that_orders_its_moves_passes(generation: str, tmp_path: Path) -> None:
    backwards = ("for move in moves:", "for move in sorted(moves, reverse=True):")
    found = examine(hand_in(changed(RIGHT[generation], backwards), tmp_path))
    assert marks(found) == {}


def test_a_search_that_scores_to_order_its_moves_is_told_what_that_costs(tmp_path: Path) -> None:
    source = changed(
        RIGHT_2017B,
        (
            '        best = float("inf")\n        for move in moves:',
            '        best = float("inf")\n'
            "        moves.sort(key=lambda m: self.score(game.forecast_move(m), self))\n"
            "        for move in moves:",
        ),
    )
    found = examine(hand_in(source, tmp_path))
    assert marks(found) == {"alphabeta-pruning": "warning"}
    assert_readable(found)


@pytest.mark.parametrize(
    "name", [at_length(name) if name in SAID_ELSEWHERE else name for name in RIGHT_AGENTS]
)
def test_no_right_agent_is_failed(name: str, tmp_path: Path) -> None:
    source, said = RIGHT_AGENTS[name]
    found = examine(hand_in(source, tmp_path))
    assert marks(found) == said
    before = name.partition(":")[0] if ":" in name else "2017b"
    assert found.generation == before
    assert found.passed
    assert_readable(found)


def test_the_depths_of_a_search_that_extends_lines_are_told_in_order() -> None:
    answer: Any = SimpleNamespace(depth=1, watch=SimpleNamespace(depths={1, 3, 2}), place=None)
    (told,) = search_checks.extension("alphabeta", answer).why
    assert told.startswith(
        "alphabeta(game, depth=1) scored positions one ply ahead and others 3 plies ahead."
    )


def test_a_submission_is_loaded_again_with_all_its_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setattr(sys, "argv", sys.argv[:])
    monkeypatch.setattr(sys, "modules", sys.modules.copy())
    (tmp_path / "my_table.py").write_text("seen = []\n")
    (tmp_path / "game_agent.py").write_text("import json\nimport my_table\n")
    subject = Subject(tmp_path / "game_agent.py", "2017b")
    subject.load()
    first, standard = subject.module, subject.module.json
    first.my_table.seen.append(1)
    subject.load()
    assert subject.module is not first
    assert subject.module.my_table.seen == []
    assert subject.module.json is standard  # modules from elsewhere stay


def test_scores_may_look_at_their_players_and_at_private_names(tmp_path: Path) -> None:
    source = changed(
        RIGHT_2017B,
        (
            "    return float(len(game.get_legal_moves(player)))",
            "    assert player.search_depth == game.get_opponent(player).search_depth == 3\n"
            "    loc = game.get_player_location(player)\n"
            "    return float(sum(game._board_state[:-3]) + len(game._Board__get_moves(loc)))",
        ),
    )
    assert marks(examine(hand_in(source, tmp_path))) == {}


# -- mistakes ----------------------------------------------------------------------------------

ASKS = "        if self.time_left() < self.TIMER_THRESHOLD:\n            raise SearchTimeout()\n"

STOPS = "        if depth <= 0 or not moves:\n            return self.score(game, self)\n"
STOPS_AT_HORIZON = (
    "        if depth <= 0:\n            return self.score(game, self)\n"
    "        if not moves:\n            return {}\n"
)

BUGS: dict[str, tuple[str, dict[str, str]]] = {
    "minimax never asks for the time": (
        changed(RIGHT_2017B.partition("class AlphaBeta")[0], (ASKS, ""))
        + "class AlphaBeta"
        + RIGHT_2017B.partition("class AlphaBeta")[2],
        {"minimax-timeout": "wrong", "minimax-get-move": "skipped"},
    ),
    "alphabeta asks for the time only at its top": (
        changed(
            RIGHT_2017B,
            *(
                (f"    def {name}(self, game, depth, alpha, beta):\n{ASKS}",
                 f"    def {name}(self, game, depth, alpha, beta):\n")
                for name in ("ab_min", "ab_max")
            ),
        ),
        {
            "alphabeta-timeout": "wrong",
            "alphabeta-get-move": "skipped",
            "alphabeta-deepening": "skipped",
        },
    ),
    "minimax swallows the timeout": (
        changed(
            RIGHT_2017B,
            (
                "            value = self.min_value(game.forecast_move(move), depth - 1)\n",
                "            try:\n"
                "                value = self.min_value(game.forecast_move(move), depth - 1)\n"
                "            except SearchTimeout:\n"
                "                return move\n",
            ),
        ),
        {"minimax-timeout": "wrong", "minimax-get-move": "skipped"},
    ),
    "minimax ignores the depth": (
        changed(
            RIGHT_2017B,
            ("max_value(game.forecast_move(move), depth - 1)",
             "max_value(game.forecast_move(move), 9)"),
            ("(self.min_value(game.forecast_move(move), depth - 1) for",
             "(self.min_value(game.forecast_move(move), 9) for"),
        ),
        {"minimax-values": "wrong", "minimax-get-move": "wrong"},
    ),
    "minimax takes the greatest value at the opponent's moves": (
        changed(RIGHT_2017B, ("return min(self.max", "return max(self.max")),
        {"minimax-values": "wrong"},
    ),
    "minimax scores for whoever is to move": (
        changed(
            RIGHT_2017B.partition("class AlphaBeta")[0],
            ("return self.score(game, self)", "return self.score(game, game.active_player)"),
        )
        + "class AlphaBeta"
        + RIGHT_2017B.partition("class AlphaBeta")[2],
        {"minimax-values": "wrong"},
    ),
    "a finished game is a loss, whoever has lost it": (
        changed(RIGHT_2017B, (STOPS, STOPS_AT_HORIZON.format("float('-inf')"))),
        {
            "minimax-values": "wrong",
            "alphabeta-values": "wrong",
            "alphabeta-pruning": "skipped",
        },
    ),
    "a finished game is worth 0": (
        changed(RIGHT_2017B, (STOPS, STOPS_AT_HORIZON.format("0.0"))),
        {
            "minimax-values": "wrong",
            "alphabeta-values": "wrong",
            "alphabeta-pruning": "skipped",
        },
    ),
    "positions are scored for the opponent, negated": (
        changed(
            RIGHT_2017B,
            ("return self.score(game, self)", "return -self.score(game, game.get_opponent(self))"),
        ),
        {
            "minimax-values": "wrong",
            "alphabeta-values": "wrong",
            "alphabeta-pruning": "skipped",
        },
    ),
    "positions are scored for the player to move, negated if it is the opponent": (
        changed(
            RIGHT_2017B,
            ("return self.score(game, self)",
             "return self.score(game, game.active_player) * (\n"
             "                1 if game.active_player == self else -1)"),
        ),
        {
            "minimax-values": "wrong",
            "alphabeta-values": "wrong",
            "alphabeta-pruning": "skipped",
        },
    ),
    "minimax looks one ply ahead, whatever the depth": (
        changed(
            RIGHT_2017B,
            ("value = self.min_value(game.forecast_move(move), depth - 1)",
             "value = self.min_value(game.forecast_move(move), 0)"),
        ),
        {"minimax-values": "wrong"},
    ),
    "minimax answers the value as well": (
        changed(
            RIGHT_2017B,
            ("return self.minimax(game, self.search_depth)",
             "return self.minimax(game, self.search_depth)[1]"),
            ("                best, best_move = value, move\n        return best_move\n",
             "                best, best_move = value, move\n        return best, best_move\n"),
        ),
        {"minimax-values": "wrong", "minimax-no-moves": "warning"},
    ),
    "minimax scores only where it looks further than one ply": (
        changed(
            RIGHT_2017B,
            ("            value = self.min_value(game.forecast_move(move), depth - 1)\n",
             "            ahead = game.forecast_move(move)\n"
             "            value = self.min_value(ahead, depth - 1) if depth > 1 else 0.0\n"),
        ),
        {"minimax-values": "wrong"},
    ),
    "alphabeta wants another argument": (
        changed(
            RIGHT_2017B,
            ("def alphabeta(self, game, depth,", "def alphabeta(self, game, depth, line,"),
            ("self.alphabeta(game, depth)", "self.alphabeta(game, depth, [])"),
            ("        best, best_move = float(\"-inf\"), (-1, -1)\n"
             "        for move in game.get_legal_moves():\n            value = self.ab_min",
             "        best, best_move = float(\"-inf\"), (-1, -1)\n        line.append(depth)\n"
             "        for move in game.get_legal_moves():\n            value = self.ab_min"),
        ),
        {
            "interface": "warning",
            "alphabeta-values": "skipped",
            "alphabeta-pruning": "skipped",
            "alphabeta-timeout": "skipped",
            "alphabeta-no-moves": "skipped",
        },
    ),
    "minimax looks one ply too far": (
        changed(
            RIGHT_2017B,
            ("value = self.min_value(game.forecast_move(move), depth - 1)",
             "value = self.min_value(game.forecast_move(move), depth)"),
        ),
        {"minimax-values": "wrong"},
    ),
    "alphabeta looks one ply too far": (
        changed(
            RIGHT_2017B,
            ("value = self.ab_min(game.forecast_move(move), depth - 1",
             "value = self.ab_min(game.forecast_move(move), depth"),
        ),
        {"alphabeta-values": "wrong", "alphabeta-pruning": "skipped"},
    ),
    "alphabeta does not prune": (
        changed(RIGHT_2017B, ("best <= alpha", "False"), ("best >= beta", "False")),
        {"alphabeta-pruning": "wrong"},
    ),
    "alphabeta does not raise alpha at its top": (
        changed(RIGHT_2017B, ("            alpha = max(alpha, best)\n        return best_move",
                              "        return best_move")),
        {"alphabeta-pruning": "wrong"},
    ),
    "alphabeta exchanges its bounds": (
        changed(RIGHT_2017B, ("depth - 1, alpha, beta)", "depth - 1, beta, alpha)")),
        {"alphabeta-values": "wrong", "alphabeta-pruning": "skipped"},
    ),
    "alphabeta compares with the wrong bound": (
        changed(RIGHT_2017B, ("best <= alpha", "best <= beta")),
        {"alphabeta-values": "wrong", "alphabeta-pruning": "skipped"},
    ),
    "alphabeta prunes only beyond its bounds": (
        changed(RIGHT_2017B, ("best <= alpha", "best < alpha"), ("best >= beta", "best > beta")),
        {"alphabeta-pruning": "warning"},
    ),
    "minimax answers None without moves": (
        changed(
            RIGHT_2017B,
            ("    def minimax(self, game, depth):\n",
             "    def minimax(self, game, depth):\n        if not game.get_legal_moves():\n"
             "            return None\n"),
        ),
        {"minimax-no-moves": "warning"},
    ),
    "get_move answers None without moves": (
        changed(RIGHT_2017B, ("moves[0] if moves else (-1, -1)\n", "moves[0] if moves else None\n"
                              "        if not moves:\n            return best_move\n")),
        {"alphabeta-no-moves": "warning"},
    ),
    "get_move raises without moves": (
        changed(RIGHT_2017B, ("moves[0] if moves else (-1, -1)\n", "moves[0]\n")),
        {"alphabeta-no-moves": "wrong"},
    ),
    "scores are int for who waits": (
        changed(
            RIGHT_2017B,
            ("    return float(len(game.get_legal_moves(player)))",
             "    moves = len(game.get_legal_moves(player))\n"
             "    return float(moves) if player == game.active_player else moves"),
        ),
        {"scores": "warning"},
    ),
    "scores are numpy's": (
        changed(
            RIGHT_2017B,
            ("    return float(len(game.get_legal_moves(player)))",
             "    import numpy\n    return numpy.float32(1.5)"),
        ),
        {"scores": "warning"},
    ),
    "scores are floats of numpy's": (
        changed(
            RIGHT_2017B,
            ("    return float(len(game.get_legal_moves(player)))",
             "    import numpy\n    return numpy.float64(1.5)"),
        ),
        {},
    ),
    "a score is None": (
        changed(RIGHT_2017B, ("    return float(own -", "    float(own -")),
        {"scores": "wrong"},
    ),
    "a score is nan": (
        changed(RIGHT_2017B, ("    return -float(", "    return float('nan') + float(")),
        {"scores": "wrong"},
    ),
    "a score raises": (
        changed(RIGHT_2017B, ("    return -float(len(", "    return 1 / 0 - float(len(")),
        {"scores": "wrong"},
    ),
    "get_move never ends": (
        changed(
            RIGHT_2017B,
            ("        moves = game.get_legal_moves()\n        best_move =",
             "        while True:\n            pass\n        moves = []\n        best_move ="),
        ),
        {
            "alphabeta-get-move": "wrong",
            "alphabeta-deepening": "skipped",
            "alphabeta-no-moves": "skipped",
        },
    ),
    "get_move ends its process": (
        changed(
            RIGHT_2017B,
            ("        moves = game.get_legal_moves()\n        best_move =",
             "        import os\n        os._exit(3)\n        moves = []\n        best_move ="),
        ),
        {
            "alphabeta-get-move": "wrong",
            "alphabeta-deepening": "skipped",
            "alphabeta-no-moves": "skipped",
        },
    ),
    "get_move answers a list": (
        changed(RIGHT_2017B, ("        return best_move\n\n    def alphabeta",
                              "        return list(best_move)\n\n    def alphabeta")),
        {
            "alphabeta-get-move": "wrong",
            "alphabeta-deepening": "skipped",
            "alphabeta-no-moves": "warning",
        },
    ),
    "get_move lets the timeout out": (
        changed(RIGHT_2017B, ("                depth += 1\n        except SearchTimeout:",
                              "                depth += 1\n        except ZeroDivisionError:")),
        {
            "alphabeta-get-move": "wrong",
            "alphabeta-deepening": "skipped",
            "alphabeta-no-moves": "wrong",
        },
    ),
    "deepening stops at depth 1": (
        changed(RIGHT_2017B, ("            while True:\n                best_move",
                              "            if True:\n                best_move")),
        {"alphabeta-deepening": "wrong"},
    ),
    "deepening stops at search_depth": (
        changed(RIGHT_2017B, ("while True:", "while depth <= self.search_depth:")),
        {"alphabeta-deepening": "wrong"},
    ),
    "alphabeta takes the last of equals": (
        changed(RIGHT_2017B, ("value > best or best_move == (-1, -1)", "value >= best")),
        {"alphabeta-values": "wrong", "alphabeta-pruning": "skipped"},
    ),
    "alphabeta takes the last of equals and cuts bounds": (
        changed(
            RIGHT_2017B,
            ("value > best or best_move == (-1, -1)", "value >= best"),
            ("            if best <= alpha:\n                return best",
             "            if best <= alpha:\n                return alpha"),
        ),
        {"alphabeta-values": "wrong", "alphabeta-pruning": "skipped"},
    ),
    "alphabeta takes whatever comes last": (
        changed(
            RIGHT_2017B,
            ("            alpha = max(alpha, best)\n        return best_move",
             "            alpha = max(alpha, best)\n        return move"),
        ),
        {
            "alphabeta-values": "wrong",
            "alphabeta-pruning": "skipped",
            "alphabeta-no-moves": "wrong",
        },
    ),
    "get_move keeps its first None": (
        changed(
            RIGHT_2017B,
            ("best_move = moves[0] if moves else (-1, -1)",
             "best_move = None if moves else (-1, -1)"),
            ("                best_move = self.alphabeta(game, depth)\n",
             "                move = self.alphabeta(game, depth)\n"),
        ),
        {"alphabeta-get-move": "wrong", "alphabeta-deepening": "skipped"},
    ),
    "get_move forgets to return": (
        changed(
            RIGHT_2017B,
            ("        except SearchTimeout:\n            pass\n        return best_move\n\n"
             "    def alphabeta",
             "        except SearchTimeout:\n            pass\n\n    def alphabeta"),
            ("        depth = 1\n", "        depth = 1\n        if not moves:\n"
             "            return best_move\n"),
        ),
        {"alphabeta-get-move": "wrong", "alphabeta-deepening": "skipped"},
    ),
    "each gives up in its own way": (
        changed(
            RIGHT_2017B,
            ("value > best or best_move == (-1, -1)", "value > best"),
            ("                best_move = self.alphabeta(game, depth)\n",
             "                best_move = self.alphabeta(game, depth)\n"
             "                if moves and best_move == (-1, -1):\n"
             "                    return None\n"),
        ),
        {"resigning": "warning"},
    ),
    "both give up when all is lost": (
        changed(RIGHT_2017B, ("value > best or best_move == (-1, -1)", "value > best")),
        {"resigning": "warning"},
    ),
    "a class is missing": (
        changed(RIGHT_2017B, ("class MinimaxPlayer", "class MiniMaxPlayer")),
        {
            "interface": "wrong",
            "minimax-values": "skipped",
            "minimax-timeout": "skipped",
            "minimax-get-move": "skipped",
            "minimax-no-moves": "skipped",
        },
    ),
    "another constructor, a score less": (
        changed(
            RIGHT_2017B,
            ("search_depth=3, score_fn=custom_score, timeout=10.0", "timeout=10.0"),
            ("self.search_depth = search_depth", "self.search_depth = 3"),
            ("self.score = score_fn", "self.score = custom_score"),
            ("def custom_score_3", "def custom_score_4"),
        ),
        {"interface": "wrong"},
    ),
    "2017a: minimax answers only a move": (
        changed(RIGHT_2017A, ("        return max(values) if maximizing_player else min(values)",
                              "        return (max(values) if maximizing_player else min(values))"
                              " if depth < 3 else max(values)[1]")),
        {"minimax-values": "wrong", "minimax-get-move": "wrong"},
    ),
    "2017a: the opponent's moves are the player's": (
        changed(RIGHT_2017A, ("depth - 1, not maximizing_player)[0]", "depth - 1, True)[0]")),
        {"minimax-values": "wrong"},
    ),
    "2017a: wrong values with the right moves": (
        changed(RIGHT_2017A, ("        return best, best_move\n",
                              "        return best + (depth > 2), best_move\n")),
        {"alphabeta-values": "wrong", "alphabeta-pruning": "skipped"},
    ),
    "2017a: alphabeta does not prune": (
        changed(RIGHT_2017A, ("best <= alpha", "False"), ("best >= beta", "False")),
        {"alphabeta-pruning": "wrong"},
    ),
}  # fmt: skip


SAYS = {
    "minimax never asks for the time": "never called self.time_left()",
    "minimax swallows the timeout": "catch it in get_move and nowhere else",
    "alphabeta looks one ply too far": "scored positions 2 plies ahead instead of one ply",
    "minimax scores for whoever is to move": "It called the score for the opponent",
    "alphabeta does not prune": "Textbook alpha-beta",
    "get_move never ends": "does not come to an end within 2 s",
    "get_move ends its process": "exit status 3",
    "both give up when all is lost": "only a move with a value above -inf. Start with any",
    "minimax takes the greatest value at the opponent's moves": (
        "Its answers are those of a search that takes the greatest value at the opponent's moves."
    ),
    "alphabeta takes the last of equals": "(>= instead of >)",
    "alphabeta takes the last of equals and cuts bounds": "(>= instead of >)",
    "get_move keeps its first None": "None comes from game_agent.py, line 82, in get_move: return",
    "get_move forgets to return": "The None comes from get_move, which ends without return after",
    "a class is missing": "there is no class MinimaxPlayer",
    "a score raises": "game_agent.py:22 in custom_score_3",
    "minimax answers None without moves": "got: None",
    "deepening stops at search_depth": "got: depth 3, then depth 3",
    "a finished game is a loss, whoever has lost it": "a finished game counts -inf, whoever",
    "a finished game is worth 0": "a finished game counts 0, whoever",
    "positions are scored for the opponent, negated": "for the opponent and turns the sign around",
    "positions are scored for the player to move, negated if it is the opponent": (
        "for the opponent and turns the sign around"
    ),
    "minimax looks one ply ahead, whatever the depth": "one ply ahead instead of 2 plies",
    "minimax answers the value as well": "In 2017b it must return the move alone.",
    "alphabeta wants another argument": "alphabeta(game, depth) fails: it also requires line",
    "each gives up in its own way": (
        "AlphaBetaPlayer.get_move answers None: a forfeit, though there are legal moves. None "
        "comes from game_agent.py, line 80, in get_move: return None"
    ),
}


KNOWN = {
    "Its answers are those of a search": (
        "2017a: the opponent's moves are the player's",
        "a finished game is a loss, whoever has lost it",
        "a finished game is worth 0",
        "positions are scored for the opponent, negated",
        "positions are scored for the player to move, negated if it is the opponent",
    ),
}
"""Mistakes whose cause the report also explains; the exact words are not tested."""


def covering() -> list[Any]:
    """Return the cases: for each mark of each check the first mistake; other mistakes run only in
    the long tests.
    """
    seen: set[tuple[str, str, str]] = set()
    cases: list[Any] = []
    for bug, (_, expected) in BUGS.items():
        generation = "2017a" if bug.startswith("2017a") else "2017b"
        marks = {(generation, id, mark) for id, mark in expected.items() if mark != "skipped"}
        cases.append(bug if marks - seen or bug in SAYS else at_length(bug))
        seen |= marks
    return cases


@pytest.mark.parametrize("bug", covering())
def test_each_mistake_is_found_and_nothing_else(bug: str, tmp_path: Path) -> None:
    source, expected = BUGS[bug]
    compile(source, "game_agent.py", "exec")
    found = examine(hand_in(source, tmp_path), seconds=2.0 if "never ends" in bug else 60.0)
    assert marks(found) == {id: mark for id, mark in expected.items() if mark != "ok"}
    assert found.passed == ("wrong" not in expected.values())
    assert_readable(found)
    said = " ".join(str(found).split())
    assert SAYS.get(bug, "") in said
    assert "never called self.score" not in said
    causes = ("ends without return", "(>= instead of >)", "Its answers are those of a search")
    assert [cause for cause in causes if cause in said] == [
        cause for cause in causes if cause in SAYS.get(bug, "") or bug in KNOWN.get(cause, ())
    ]


def assert_readable(found: Examination) -> None:
    """Check that lines have at most 80 columns and findings have an explanation."""
    assert all(len(line) <= 80 for line in str(found).splitlines()), str(found)
    for outcome in found.outcomes:
        assert outcome.short
        if outcome.mark in ("wrong", "warning"):
            assert outcome.why
        if outcome.picture:
            assert Position.from_fen(outcome.fen)
            assert "You are" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["ok"] == found.passed


BROKEN = {
    "syntax": ("class MinimaxPlayer:\n    def get_move(self\n", "syntax error in game_agent.py"),
    "import": ("import tensorflow_of_2017\n", "imports tensorflow_of_2017, which is not installed"),
    "raises": ("1 / 0\n", "raises ZeroDivisionError"),
    "exits": ("import sys\nsys.exit(0)\n", "raises SystemExit"),
    "really exits": ("import os\nos._exit(7)\n", "ended with exit status 7"),
    "dies": ("import os\nos.kill(os.getpid(), 9)\nos.abort()\n", "was killed by SIG"),
    "hangs": ("while True:\n    pass\n", "does not come to an end within 0.5 s"),
    "forks": (
        "import os, time\nos.fork()\nos.fork()\nwhile True:\n    time.sleep(1)\n",
        "does not come to an end within 0.5 s",
    ),
    "memory": ("x = bytearray(1 << 44)\n", "raises MemoryError"),
    "data": ("open('weights.txt')\n", "raises FileNotFoundError"),
    "empty": ("", ""),
}


@pytest.mark.parametrize(
    ("answer", "or_none", "elsewhere", "asked", "left", "short"),
    [
        ("a move", False, 0, 9, 5.0, ""),
        ("a move", False, 0, 9, -5.0, "answers too late"),
        ("a move", True, 0, 9, -5.0, "answers too late"),
        ("a list", False, 0, 9, 5.0, "answers ["),
        ((-1, -1), False, 0, 9, 5.0, "answers (-1, -1)"),
        ((-1, -1), True, 0, 9, 5.0, ""),
        (None, True, 0, 9, 5.0, ""),
        ([], True, 0, 9, 5.0, ""),
        (7, True, 0, 9, 5.0, "answers 7"),
        # A player that goes by its own clock alone cannot know of a shorter time.
        (7, True, 3, 0, -5.0, ""),
        (7, True, 3, 1, -5.0, "answers too late"),
        (7, False, 3, 0, -5.0, "answers too late"),
    ],
)
def test_an_answer_is_a_move_in_time(
    answer: Any, or_none: bool, elsewhere: int, asked: int, left: float, short: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    place = recording_board.EARLY
    move = place.board("reference").get_legal_moves()[0]
    given = {"a move": move, "a list": list(move)}.get(str(answer), answer)
    clock = SimpleNamespace(read_elsewhere=elsewhere, questions=asked, left=lambda: left)
    monkeypatch.setattr(get_move_checks, "ask_move", lambda *_: (given, None, clock))
    subject: Any = SimpleNamespace(source_of=lambda *_: None)

    def answers() -> None:
        get_move_checks._answers(subject, "minimax", place, 20.0, or_none=or_none)

    if not short:
        answers()
        return
    with pytest.raises(Finding) as found:
        answers()
    assert found.value.short.startswith(short)
    assert found.value.place is place
    if left < 0:
        assert "get_move was 5 ms late. It had 20 ms" in found.value.why[0]
        assert f"called time_left() {asked} times" in found.value.why[0]
    else:
        assert found.value.expected.startswith(f"{move} or ")
        assert ("a list is a forfeit" in found.value.why[0]) == (answer == "a list")


@pytest.mark.parametrize("how", BROKEN)
def test_what_cannot_be_loaded_is_told_in_one_check(how: str, tmp_path: Path) -> None:
    source, said = BROKEN[how]
    endless = "to an end" in said
    found = examine(hand_in(source, tmp_path), seconds=0.5 if endless else 60.0)
    assert_readable(found)
    assert not found.passed
    if how == "empty":
        assert outcome_of(found, "load").mark == "ok"
        assert outcome_of(found, "interface").mark == "wrong"
        return
    assert outcome_of(found, "load").mark == "wrong"
    assert said in outcome_of(found, "load").short
    assert {outcome.mark for outcome in found.outcomes[1:]} == {"skipped"}


# -- apart -------------------------------------------------------------------------------------


def test_it_runs_in_a_copy_of_its_folder_without_our_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", "hidden")
    (tmp_path / "helper.py").write_text("VALUE = 3\n")
    (tmp_path / "weights.txt").write_text("1 2 3")
    (tmp_path / "isolation").mkdir()
    (tmp_path / "isolation" / "__init__.py").write_text("raise RuntimeError('not ours')\n")
    head = (
        "import os, helper\n"
        "from isolation import Board\n"
        "from sample_players import improved_score\n"
        "import game_agent\n"
        "assert 'SECRET_OF_MINE' not in os.environ\n"
        "assert open('weights.txt').read() == '1 2 3'\n"
        "open('left_behind.txt', 'w').write('x')\n"
        "print('hello', 'x' * 100_000)\n"
        "os.write(1, b'and again')\n"
    )
    before = sorted(os.listdir(tmp_path))
    found = examine(hand_in(head + RIGHT_2017B, tmp_path))
    assert marks(found) == {}
    assert found.printed.startswith(("hello", "and again"))
    assert found.printed_bytes > 100_000
    assert sorted({*before, "game_agent.py"}) == sorted(os.listdir(tmp_path))
    assert_readable(found)


def test_what_it_prints_is_shown_with_its_control_characters_written_out(tmp_path: Path) -> None:
    found = examine(hand_in(RIGHT_2017B + "\n\nprint('\\x1b[2Jhello')\n", tmp_path))
    assert marks(found) == {}
    assert (found.printed, found.printed_bytes) == ("\x1b[2Jhello\n", 10)
    assert "During the checks it printed 10 bytes, beginning with: \\x1b[2Jhello" in str(found)


def test_what_it_says_in_the_examiners_place_is_refused(tmp_path: Path) -> None:
    source = RIGHT_2017B + (
        "\nimport os\nfor number in range(3, 300):\n"
        "    try:\n        os.write(number, b'[1, 2]\\n')\n"
        "    except OSError:\n        pass\n"
    )
    found = examine(hand_in(source, tmp_path), seconds=5.0)
    assert marks(found)["load"] == "wrong"
    assert_readable(found)


@pytest.mark.parametrize(
    "said",
    [
        None,
        [],
        {"id": "other"},
        {"id": "load", "mark": "great"},
        {"id": "load", "mark": "ok", "short": 1},
        {"id": "load", "mark": "ok", **dict.fromkeys(("short", "expected", "got"), "")},
    ],
)
def test_an_outcome_is_read_with_distrust(said: Any) -> None:
    with pytest.raises(Broken, match=r".+"):
        read_outcome(said, "load")


# -- the examiner itself -------------------------------------------------------------------------


def naive_value(game: Any, depth: int, score: Callable[[Any], float], ours: bool) -> float:
    moves = game.get_legal_moves()
    if not moves:
        return -inf if ours else inf
    if not depth:
        return score(game)
    pick = max if ours else min
    return pick(naive_value(game.forecast_move(m), depth - 1, score, not ours) for m in moves)


@pytest.mark.parametrize("name", PLACES)
def test_the_reference_agrees_with_the_naive_board(name: str) -> None:
    place = PLACES[name]
    players = ("other", "me") if len(place.cells) % 2 else ("me", "other")
    naive = Naive2017b(*players)
    for cell in place.cells:
        assert cell in naive.get_legal_moves()
        naive.apply_move(cell)
    assert naive.active_player == "me"
    assert place.fen == Position.from_fen(place.fen).fen

    def improved(game: Any) -> float:
        return float(len(game.get_legal_moves("me")) - len(game.get_legal_moves("other")))

    for depth in (1, 2, 3):
        values = textbook.values_of_moves(place.board("me"), depth, improved_score)
        assert set(values) == set(naive.get_legal_moves())
        for move, value in values.items():
            assert naive_value(naive.forecast_move(move), depth - 1, improved, False) == value


def negamax(
    game: Any, depth: int, alpha: float, beta: float, sign: int, leaf: Callable[[Any], float]
) -> float:
    """Return the value of fail-hard alpha-beta for the side to move."""
    if not depth:
        return sign * leaf(game)
    for move in game.get_legal_moves():
        value = -negamax(game.forecast_move(move), depth - 1, -beta, -alpha, -sign, leaf)
        if value >= beta:
            return beta
        alpha = max(alpha, value)
    return alpha


@pytest.mark.parametrize(("place", "salt", "depth"), search_checks.PRUNED)
def test_the_textbooks_leaves_are_those_of_negamax(place: Place, salt: int, depth: int) -> None:
    watch, seen = Watch(), []
    score = scrambled(salt)
    value = textbook.alphabeta(place.board("me", watch), depth, watch.scorer(score), "me")

    def leaf(game: Any) -> float:
        seen.append(game.path)
        return score(game, "me")

    assert negamax(place.board("me"), depth, -inf, inf, 1, leaf) == value
    assert seen == watch.leaves(depth)
    assert value == textbook.minimax(place.board("me"), depth, score, "me")


def test_the_order_of_a_search_is_that_of_its_leaves() -> None:
    a, b, c, d, e = ((at, at) for at in range(5))
    scored = [(c,), (a,), (b, a), (c, b), (a, c), (a, b), (c, a)]  # at first only to sort moves
    order = textbook.order_of(scored, 2)
    assert order([(a,), (b,), (c,)]) == [(b,), (c,), (a,)]
    assert order([(a, b), (a, c)]) == [(a, c), (a, b)]
    assert order([(e,), (d,), (a,)]) == [(a,), (d,), (e,)]  # what it did not reach comes last
    assert textbook.order_of(scored, 3)([(a,), (b,), (c,)]) == [(c,), (a,), (b,)]
    extended = [(a, b, d), (b, a), (a, c)]  # the first line was searched one ply deeper
    assert textbook.order_of(extended, 2)([(a,), (b,)]) == [(b,), (a,)]


def test_the_puzzles_tell_depths_and_signs_apart() -> None:
    for place, score, name in recording_board.PUZZLES[:3]:
        best = [
            textbook.best_of(textbook.values_of_moves(place.board("me"), depth, score))
            for depth in (1, 2, 3, 4)
        ]
        assert len({tuple(moves) for moves in best}) == 4
        assert all(len(moves) == 1 for moves in best)
        assert name


def test_only_a_search_that_knows_who_has_lost_finds_the_best_move_near_an_end() -> None:
    won = recording_board.WON.board("me")
    wins = [m for m in won.get_legal_moves() if not won.forecast_move(m).get_legal_moves()]
    assert len(wins) == 1
    (score,) = (
        score for place, score, _ in recording_board.PUZZLES if place is recording_board.WON
    )
    for depth in (1, 2, 3):
        assert textbook.best_of(textbook.values_of_moves(won, depth, score)) == wins
    (score,) = (
        score for place, score, _ in recording_board.PUZZLES if place is recording_board.RISKY
    )
    risky = recording_board.RISKY.board("me")
    right = textbook.values_of_moves(risky, 3, score)
    unaware = textbook.values_of_moves(risky, 3, score, end=lambda game, player, depth: 0.0)
    assert -inf in right.values()
    assert not set(textbook.best_of(right)) & set(textbook.best_of(unaware))


def test_lost_and_stuck_places_are_what_they_are_called() -> None:
    for place in recording_board.LOST:
        values = textbook.values_of_moves(place.board("me"), 2, improved_score)
        assert len(values) > 1
        assert set(values.values()) == {-inf}
    assert all(not place.board("me").get_legal_moves() for place in recording_board.STUCK)


def test_no_two_positions_have_the_same_made_up_score() -> None:
    for place, score, _ in recording_board.PUZZLES[:3]:
        watch = Watch()
        textbook.minimax(place.board("me", watch), 3, watch.scorer(score), "me")
        leaves = watch.leaves(3)
        assert leaves
        values, others = [], []
        for path in leaves:
            game = place.board("me")
            for move in path:
                game = game.forecast_move(move)  # type: ignore[assignment]
            values.append(score(game, "me"))
            others.append(score(game, game.get_opponent("me")))
        assert len(set(values)) > 0.9 * len(values)
        both = list(zip(values, others, strict=True))
        assert sum(own == -other for own, other in both) < 0.1 * len(both)


# -- the command -------------------------------------------------------------------------------


def test_the_command_tells_by_its_exit_code(tmp_path: Path) -> None:
    hand_in(RIGHT_2017B, tmp_path)
    done = run("course", "check", str(tmp_path))
    assert done.exit_code == 0
    assert done.stdout.count("✓") == len(CHECKS)
    hand_in(BUGS["alphabeta does not prune"][0], tmp_path)
    done = run("course", "check", str(tmp_path / "game_agent.py"))
    assert done.exit_code == 1
    assert "✗ alphabeta: pruning" in done.stdout
    hand_in(BUGS["scores are int for who waits"][0], tmp_path)
    done = run("course", "check", str(tmp_path), "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert told["ok"]
    assert [c["mark"] for c in told["checks"] if c["id"] == "scores"] == ["warning"]


@pytest.mark.parametrize(
    ("file", "text", "words", "said"),
    [
        ("a.txt", "", ("missing",), "there is no file or folder"),
        ("a.txt", "", (), "holds no submission"),
        (
            "game_agent.py",
            "",
            ("--generation", "2017c"),
            "unknown generation '2017c' of the course; known: 2017b, 2017a, early, oldest, succ",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(
    file: str, text: str, words: tuple[str, ...], said: str, tmp_path: Path
) -> None:
    (tmp_path / file).write_text(text)
    path = tmp_path / words[0] if words == ("missing",) else tmp_path
    assert said in refused("course", "check", str(path), *(words if len(words) == 2 else ()))


def test_the_generation_is_that_of_the_board_beside_it_or_what_is_said(tmp_path: Path) -> None:
    hand_in(RIGHT_2017A, tmp_path)
    (tmp_path / "isolation.py").write_text(OLDEST_BOARD)
    told = run("course", "check", str(tmp_path))
    assert "generation oldest: isolation.py beside it keeps rows in" in told.stdout
    assert "14 of 14 checks passed" in told.stdout
    told = run("course", "check", str(tmp_path), "--generation", "early")
    assert "generation early: as you say" in told.stdout
    assert told.exit_code == 0


def test_positions_are_shown_with_the_courses_coordinates() -> None:
    assert recording_board.STUCK[0].picture.splitlines()[1].startswith("0  |")
