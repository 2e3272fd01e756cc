"""The programs of docs/engines.md: they compile, and play by the rules."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from helpers import random_game

from knightfall.agents import parse_agent
from knightfall.engines.engine_players import LinePlayer
from knightfall.position import Position
from knightfall.search.budget import Budget

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"
SIZES = ((7, 7), (3, 12))
WON = Position.from_fen("2*2/1***1/1*3/3n1/*1N*1 b")
"""A position in which one of the two moves wins."""


def written(language: str, file: Path) -> Path:
    """Write the page's only program in a language to a file."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    file.write_text(text)
    return file


def games(player: LinePlayer) -> list[list[Position]]:
    """Return games of an engine, from the empty board, in which it plays both sides."""
    found = []
    for size in SIZES:
        game = [Position.start(*size)]
        while game[-1].winner is None:
            game.append(game[-1].play(player.analyse(game[-1]).move))
        found.append(game)
    return found


def end(player: LinePlayer) -> None:
    """End the engine by the end of its input, and assert that it ends without an error."""
    process = player._engine._process
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    assert process.wait(timeout=60) == 0
    process.stdout.close()


def test_the_python_engine_plays(tmp_path: Path) -> None:
    """Compare its moves with `greedy(improved)`: they must be equally good."""
    agent = parse_agent(f"engine(python3 -S {written('python', tmp_path / 'mine.py')})")
    player = agent.new_game(0, "w")
    evaluator = parse_agent("improved").evaluator
    for game in games(player):
        for before, after in pairwise(game[2:]):
            side = before.to_move
            values = {move: evaluator.value(before.play(move), side) for move in before.legal_moves}
            assert after.last is not None
            assert values[before.board.name(after.last[1])] == max(values.values())
    end(player)


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
def test_the_cpp_engine_plays(tmp_path: Path) -> None:
    """Compile it as the page says; it must beat random moves, and stop in time."""
    source = written("cpp", tmp_path / "mine.cpp")
    match = re.search(r"`(g\+\+ [^`]+)`", PAGE.read_text())
    assert match is not None
    command = [*match[1].split(), "-Wall", "-Wextra", "-Werror"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
    assert source.with_suffix("").exists()
    player = LinePlayer([str(tmp_path / "mine")], Budget(nodes=300), 0)
    assert len(games(player)) == len(SIZES)
    rng, wins = random.Random(4), 0
    for _ in range(6):
        position = list(random_game(Position.start(7, 7), rng))[2]
        mine = position.to_move
        while position.winner is None:
            ours = position.to_move == mine
            move = player.analyse(position).move if ours else rng.choice(position.legal_moves)
            position = position.play(move)
        wins += position.winner == mine
    assert wins >= 5
    for position in (WON, WON.play(parse_agent("perfect(nodes=100000)").analyse(WON).move)):
        for budget in (Budget(depth=20), Budget(time=2_000_000)):
            player._budget = budget
            after = position.play(player.analyse(position).move)
            exact = parse_agent("perfect(nodes=100000)").analyse(after)
            assert exact.proven
            assert (exact.score < 0) == (position == WON)  # it keeps the win
    end(player)
