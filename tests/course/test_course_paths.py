"""Old scripts find the modules they import, without loading the compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import knightfall
from knightfall.course.generations import NAMES as GENERATIONS
from knightfall.course.generations import generation_named
from knightfall.errors import KnightfallError

IMPORTED_BY_AGENTS = {
    **{
        generation: {
            "isolation": "Board",
            "isolation.isolation": "Board TIME_LIMIT_MILLIS timeit copy",
            "sample_players": "null_score open_move_score improved_score center_score "
            "RandomPlayer GreedyPlayer HumanPlayer randint",
        }
        for generation in GENERATIONS[:4]
    },
    "successor": {
        "isolation": "Isolation DebugState StopSearch Status Agent play fork_get_action TimedQueue",
        "isolation.isolation": "Isolation Action DebugState _WIDTH _HEIGHT _SIZE _has_liberties",
        "sample_players": "BasePlayer DataPlayer RandomPlayer GreedyPlayer MinimaxPlayer",
    },
}

GAME_AGENT = {
    "2017b": "def get_move(self, game, time_left):\n        moves = game.get_legal_moves()",
    "2017a": "def get_move(self, game, moves, time_left):\n        pass",
}


def python(generation: str, script: str, where: Path) -> str:
    """Run a script with the generation's folder first on its path; return its output."""
    places = [str(generation_named(generation).folder), str(Path(knightfall.__file__).parents[1])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(places)}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=where,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("generation", GENERATIONS)
def test_all_that_agents_import_is_there_without_the_compiler(
    generation: str, tmp_path: Path
) -> None:
    lines = [
        f"from {module} import {', '.join(names.split())}"
        for module, names in IMPORTED_BY_AGENTS[generation].items()
    ]
    lines += ["import sys, isolation", "isolation.isolation", "print('numba' in sys.modules)"]
    assert python(generation, "\n".join(lines), tmp_path) == "False\n"


@pytest.mark.parametrize("generation", ["2017b", "2017a", "early", "oldest"])
def test_an_old_script_plays(generation: str, tmp_path: Path) -> None:
    method = GAME_AGENT["2017b" if generation == "2017b" else "2017a"]
    (tmp_path / "game_agent.py").write_text(
        f"class CustomPlayer:\n    {method}\n        return moves[0] if moves else (-1, -1)\n"
    )
    script = (
        "from isolation import Board\n"
        "from sample_players import RandomPlayer\n"
        "from game_agent import CustomPlayer\n"
        "me = CustomPlayer()\n"
        "winner, history, reason = Board(me, RandomPlayer()).play(time_limit=600000)\n"
        "print(reason, hasattr(Board, 'hash'))"
    )
    expected = f"illegal move {generation != 'oldest'}\n"
    assert python(generation, script, tmp_path) == expected


def test_each_generation_has_its_own_board(tmp_path: Path) -> None:
    script = (
        "from isolation import Board\n"
        "from sample_players import center_score\n"
        "game = Board('white', 'black')\n"
        "print((0, 0) in game.get_legal_moves(), hasattr(game, '_board_state'), end=' ')\n"
        "game.apply_move((3, 3)), game.apply_move((2, 1))\n"
        "print(center_score(game, 'white'))"
    )
    said = {name: python(name, script, tmp_path).strip() for name in GENERATIONS[:4]}
    assert said == {
        "2017b": "True True 0.5",
        "2017a": "True True 32.0",
        "early": "False True 32.0",
        "oldest": "True False 32.0",
    }


def test_the_package_itself_needs_no_compiler(tmp_path: Path) -> None:
    script = "import sys, knightfall.course\nprint('numba' in sys.modules, 'numpy' in sys.modules)"
    assert python("2017b", script, tmp_path) == "False False\n"


def test_an_unknown_generation_is_named() -> None:
    with pytest.raises(KnightfallError, match=r"'2017c'.*2017b, 2017a.*did you mean '2017b'"):
        generation_named("2017c")
