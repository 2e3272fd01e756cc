"""`knightfall course check` of submissions for 11×9."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runner import answer, refused, run
from handed_in import marks, outcome_of
from helpers import at_length
from submissions import write

from knightfall.course.checker import successor_checks
from knightfall.course.checker.check_report import SUCCESSOR_CHECKS, Examination
from knightfall.course.checker.check_runner import examine
from knightfall.course.checker.submission_api import Subject
from knightfall.course.generation_successor import GreedyPlayer, Isolation

RIGHT = '''
"""Alpha-beta that deepens, as the course asks for it."""
import random
from sample_players import DataPlayer


class CustomPlayer(DataPlayer):
    def get_action(self, state):
        self.queue.put(random.choice(state.actions()))
        if state.ply_count < 2:
            return
        for depth in range(1, 60):
            self.queue.put(self.alpha_beta(state, depth))

    def alpha_beta(self, state, depth):
        best, alpha = state.actions()[0], float("-inf")
        for action in state.actions():
            value = self.value(state.result(action), depth - 1, alpha, float("inf"), False)
            if value > alpha:
                best, alpha = action, value
        return best

    def value(self, state, depth, alpha, beta, mine):
        if state.terminal_test():
            return state.utility(self.player_id)
        if depth <= 0:
            own, other = state.locs[self.player_id], state.locs[1 - self.player_id]
            return len(state.liberties(own)) - len(state.liberties(other))
        for action in state.actions():
            value = self.value(state.result(action), depth - 1, alpha, beta, not mine)
            if mine:
                alpha = max(alpha, value)
            else:
                beta = min(beta, value)
            if alpha >= beta:
                break
        return alpha if mine else beta
'''
PLAYER = "from sample_players import BasePlayer\nclass CustomPlayer(BasePlayer):\n"
ACTS = PLAYER + "    def get_action(self, state):\n        "


def examined(folder: Path, text: str, name: str = "my_custom_player.py") -> Examination:
    return examine(write(folder, text, name))


def test_a_right_submission_passes_every_check(tmp_path: Path) -> None:
    found = examined(tmp_path, RIGHT)
    assert marks(found) == {}
    assert found.generation == "successor"
    assert [outcome.id for outcome in found.outcomes] == [check.id for check in SUCCESSOR_CHECKS]
    assert str(examine(tmp_path)) == str(found)  # the result does not depend on the machine's load


@pytest.mark.parametrize(
    "text",
    [
        RIGHT.replace("class CustomPlayer(DataPlayer):", "class CustomPlayer:\n"
                      "    def __init__(self, player_id):\n        self.player_id = player_id\n"),
        # An action that was put counts, even if an error follows: the course ends the process.
        ACTS + "self.queue.put(state.actions()[0])\n        while True:\n"
        "            try: state.result(state.actions()[0])\n"
        "            except BaseException: pass\n",
        at_length(ACTS + "self.queue.put(state.actions()[0])\n        while True: pass\n"),
    ],
)  # fmt: skip
def test_what_the_course_accepts_does_not_fail(text: str, tmp_path: Path) -> None:
    found = examined(tmp_path, text)
    assert found.passed
    assert {"actions", "games"}.isdisjoint(marks(found))


@pytest.mark.parametrize(
    ("text", "check", "short"),
    [
        ("def nothing(: pass\n", "load", "syntax error in my_custom_player.py, line 1"),
        ("class Other:\n    def get_action(self, state): pass\n", "player",
         "there is no class CustomPlayer"),
        (PLAYER + "    def get_action(self): pass\n", "player", "cannot be called"),
        (PLAYER + "    def __init__(self): pass\n    def get_action(self, state): pass\n", "player",
         "raises TypeError"),
        (ACTS + "pass\n", "actions", "puts no action"),
        pytest.param(ACTS + "while True: state.actions()\n", "actions", "puts no action",
                     marks=pytest.mark.slow),
        (ACTS + "self.queue.put(None)\n", "actions", "puts None"),
        (ACTS + "self.queue.put(state.actions()[0] if state.ply_count < 2 else 99)\n", "actions",
         "puts 99"),
        (ACTS + "self.queue.put(state.actions()[state.ply_count > 40 and 1000])\n", "actions",
         "raises IndexError"),
        (ACTS + "import os; os._exit(3)\n", "actions", "puts no action"),
        (ACTS + "self.queue.put(state.actions()[0 if state.ply_count < 44 else 1000])\n", "games",
         "raises IndexError"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(text: str, check: str, short: str, tmp_path: Path) -> None:
    found = examined(tmp_path, text)
    assert not found.passed
    wrong = outcome_of(found, check)
    assert wrong.mark == "wrong"
    assert short in wrong.short
    if "raises IndexError" in short:
        assert any("my_custom_player.py:4 in get_action" in line for line in wrong.trace)
        assert wrong.fen.startswith("Isolation(")


@pytest.mark.parametrize(
    ("text", "check", "short"),
    [
        (ACTS + "self.queue.put(state.actions()[0])\n", "further", "does not look ahead"),
        (ACTS + "self.queue.put(max(state.actions(), key=lambda a: "
         "len(state.result(a).actions())))\n", "further", "searches no deeper"),
        (ACTS + "self.queue.put(state.actions()[0])\n", "ends", "misses a win in one"),
        (ACTS + "self.queue.put(None); self.queue.put(state.actions()[0])\n", "actions",
         "puts None"),
        (ACTS + "self.queue.put(state.actions()[0]); {}[1]\n", "actions", "raises KeyError"),
        (ACTS + "best = [state.actions() for _ in range(12_000)]; "
         "self.queue.put(best[-1][0])\n", "actions", "puts its action late"),
    ],
)  # fmt: skip
def test_what_costs_nothing_is_a_warning(text: str, check: str, short: str, tmp_path: Path) -> None:
    found = examined(tmp_path, text)
    assert found.passed
    assert outcome_of(found, check).mark == "warning"
    assert short in outcome_of(found, check).short


def test_positions_are_what_they_should_be() -> None:
    for plies in successor_checks.PLIES:
        state = successor_checks.random_state(plies)
        assert state.ply_count == plies
        assert state.actions()
        assert plies < 2 or not state.terminal_test()
    for state in successor_checks.last_states(successor_checks.NEAR):
        assert not state.terminal_test()
        wins = [a for a in state.actions() if state.result(a).utility(state.player()) > 0]
        assert wins
        assert all(state.result(a).terminal_test() for a in wins)


def test_checking_leaves_the_board_as_it_is(tmp_path: Path) -> None:
    """Check that the board's methods, which a check replaces in a fork, are unchanged in this
    process.
    """
    before = Isolation.result
    state = successor_checks.random_state(9)
    subject = Subject(tmp_path / "my_custom_player.py", "successor")
    puts = successor_checks._asked(subject, GreedyPlayer(1), state, 30.0)
    assert [put.note for put in puts] == [1]
    assert Isolation.result is before


def test_on_the_command_line(tmp_path: Path) -> None:
    write(tmp_path, ACTS + "self.queue.put(state.actions()[0])\n", "my_custom_player.py")
    found = answer("course", "check", str(tmp_path), "--json")
    assert found["ok"]
    assert found["generation"] == "successor"
    write(tmp_path, ACTS + "self.queue.put(99)\n", "my_custom_player.py")
    failed = run("course", "check", str(tmp_path), "--generation", "successor")
    assert failed.exit_code == 1
    assert "1 and to move; X is a blocked cell." in failed.stdout
    assert "2017b, 2017a, early, oldest, successor" in refused(
        "course", "check", str(tmp_path), "--generation", "2019"
    )
