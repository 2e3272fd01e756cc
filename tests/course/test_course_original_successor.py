"""The successor's board and game loop against records of its original files.

As in `test_course_original.py`: recorded by running the originals, without any of their text.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import knightfall
from knightfall.course.generation_successor import Action, DebugState, Isolation, MinimaxPlayer
from knightfall.course.generations import generation_named


def test_results_are_checked_and_plain() -> None:
    state = DebugState.from_state(Isolation().result(57).result(58))
    assert type(state.result(Action.NNE)) is Isolation
    assert state.result(25) == state.result(Action.NNE)
    for wrong in (1, 13, 58, None, "x"):
        with pytest.raises(AssertionError):
            state.result(wrong)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError):
        Isolation().result(11)
    with pytest.raises(RuntimeError):
        Isolation().result(57).result(57)
    with pytest.raises(ValueError, match="negative"):
        Isolation().result(-1)


def test_states_take_attributes() -> None:
    state = Isolation()
    state.seen = 3  # type: ignore[attr-defined]
    assert state == Isolation()
    assert repr(state) == f"Isolation(board={state.board}, ply_count=0, locs=(None, None))"


def test_bits_beside_the_board_count_if_somebody_sets_them() -> None:
    state = Isolation(1 << 11 | 1 << 120, 2, (36, 95))
    assert state.liberties(None) == [11]
    assert state.liberties(36) == [11]
    assert state.liberties(95) == [120]
    assert state.actions() == [Action.SSW]


def test_the_picture_of_a_state() -> None:
    state = DebugState.from_state(Isolation().result(0).result(114).result(Action.WNW))
    rule = "+ - " * 11 + "+\n"
    empty = "|   " * 11 + "|\n"
    picture = "\n" + rule + "| 2 " + "|   " * 10 + "|\n" + rule + (empty + rule) * 6
    picture += "|   " * 8 + "| 1 |   |   |\n" + rule + "|   " * 10 + "| X |\n" + rule
    assert str(state) == f"{state}" == picture
    assert state.bitboard_string == f"{state.board:b}"
    assert (state.ind2xy(15), DebugState.ind2xy(114)) == ((2, 1), (10, 8))


def test_minimax_takes_turns_by_depth() -> None:
    """Compare the sample minimax with recorded moves, for the player to move and the other."""
    state = Isolation()
    random.seed(11)
    for _ in range(14):
        state = state.result(random.choice(state.actions()))
    assert state.player() == 0
    for me, chosen in enumerate(([-27, -27, 11, 11], [-11] * 4)):
        player = MinimaxPlayer(me)
        assert [player.minimax(state, depth) for depth in (1, 2, 3, 4)] == chosen


MATCH = """
import time
from isolation import Agent, DebugState, Isolation, Status, fork_get_action, play
from sample_players import *

class Late(BasePlayer):
    def get_action(self, state):
        self.context = (self.context or 0) + 1
        said = [self.queue.qsize(), self.queue.empty()]
        self.queue.put(state.actions()[1])
        said += [self.queue.qsize(), self.queue.empty()]
        self.context = self.context, said
        self.queue.put(state.actions()[-1])
        time.sleep(0.2)
        self.context = "too late"
        self.queue.put(state.actions()[0])

class Bad(BasePlayer):
    def get_action(self, state):
        self.queue.put_nowait(state.actions()[0] if state.ply_count < 6 else 3)

class Silent(BasePlayer):
    def get_action(self, state):
        pass

if __name__ == "__main__":
    start = Isolation().result(57).result(58)
    for one, two in ((GreedyPlayer, GreedyPlayer), (Bad, GreedyPlayer), (GreedyPlayer, Silent)):
        agents = Agent(one, "A"), Agent(two, "B")
        winner, history, number = play((agents, start, 100, 7))
        print(winner.name, *map(int, history), number)
    late = Late(0)
    print(int(fork_get_action(start, late, 100)), late.context)
    late = Late(0)
    print(int(fork_get_action(start, late, 100, True)), late.context)
    print([status.name for status in Status])
"""


def test_scripts_around_the_successors_own_play(tmp_path: Path) -> None:
    (tmp_path / "match.py").write_text(MATCH)
    source = str(Path(knightfall.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "match.py"],
        cwd=tmp_path,
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join([str(generation_named("successor").folder), source])},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == PLAYED, done.stderr


GREEDY = (
    "25 25 -15 -15 -25 -27 -11 -11 15 15 25 25 -27 11 -15 -27 11 25 -25 15 11 -25 27 11 -25 15 -11 "
    "-11 15 -11 15 -25 27 -15 11 27 27 -25 -25 -15 -15 -11 -11 25 25 -15 25 -11 -15 15"
)
PLAYED = [
    f"A {GREEDY} 7",
    "B 25 25 25 -27 7",
    "A 25 7",  # the original waited forever here
    "27 (1, [0, -1, 1, -2])",
    "27 None",
    "['NORMAL', 'EXCEPTION', 'TIMEOUT', 'INVALID_MOVE', 'GAME_OVER']",
]
