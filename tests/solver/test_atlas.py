"""The atlas: its entries are right, found for every mirror image, and builds can be resumed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import processes
import pytest
from naive_search import mirrored
from naive_solver import plies_to_end
from solver_helpers import winning_answers
from typer.testing import CliRunner

from knightfall.board import Board
from knightfall.cli.app import app
from knightfall.errors import KnightfallError
from knightfall.position import Position
from knightfall.solver import atlas, atlas_build
from knightfall.solver.atlas import survey
from knightfall.solver.engine import Engine
from knightfall.solver.solve import Solver

SIDES = range(3, 8)
SHIPPED = [(width, height) for height in SIDES for width in SIDES if width <= height]
KNOWN = {(3, 4): 46, (4, 4): 64, (5, 5): 296, (6, 6): 576, (7, 7): 1160}
"""Numbers of openings that the first player wins, computed by another program."""


def openings(board: Board) -> list[Position]:
    cells = range(board.cells)
    return [atlas.position_of(board, a, b) for a in cells for b in cells if a != b]


def test_every_board_with_sides_from_three_to_seven_is_there() -> None:
    assert set(atlas.boards()) >= {f"{width}x{height}" for width, height in SHIPPED}


@pytest.mark.parametrize("size", [(3, 3), (3, 4), (4, 3), (4, 4), (5, 3)], ids=str)
def test_entries_are_true(size: tuple[int, int]) -> None:
    """Compare the atlas with plain recursion over `Position`."""
    for position in openings(Board.of(*size)):
        entry = atlas.lookup(position)
        assert entry is not None
        assert entry.plies == plies_to_end(position), position.fen
        winning = [m for m in position.legal_moves if plies_to_end(position.play(m)) % 2 == 0]
        assert sorted(entry.winning_moves) == sorted(winning), position.fen
        if position.legal_moves:
            assert entry.best is not None
            after = position.play(entry.best)
            assert plies_to_end(after) == entry.plies - 1, position.fen
            if not winning:
                alike = [
                    there
                    for there in map(position.play, position.legal_moves)
                    if plies_to_end(there) == entry.plies - 1
                ]
                assert winning_answers(after) == min(map(winning_answers, alike)), position.fen
        else:
            assert entry.best is None


@pytest.mark.parametrize(("size", "won"), KNOWN.items(), ids=str)
def test_totals_are_the_known_ones(size: tuple[int, int], won: int) -> None:
    seen = survey(Board.of(*size))
    assert seen.first_wins == won
    assert seen.first_wins + seen.second_wins == len(seen.openings)
    assert seen.second_wins_from_the_empty_board


def test_winning_replies_on_the_usual_board() -> None:
    seen = survey(Board.of(7, 7))
    counts = [seen.winning_replies(cell) for cell in range(49)]
    assert counts.pop(seen.board.cell("d4")) == 16
    assert set(counts) == {24, 25}
    assert [(one.mover, one.waiter) for one in seen.exceptions()] == [
        (seen.board.cell("d4"), seen.board.cell("c6"))
    ]


@pytest.mark.parametrize("size", [(6, 6), (5, 7), (7, 6), (7, 7)], ids=str)
def test_winners_agree_with_a_search(size: tuple[int, int]) -> None:
    board, rng = Board.of(*size), random.Random(9)
    engine = Engine(board)
    for position in rng.sample(openings(board), 12):
        entry = atlas.lookup(position)
        assert entry is not None
        assert entry.mover_wins == engine.wins(position), position.fen
        for move in position.legal_moves:
            assert (move in entry.winning_moves) == (not engine.wins(position.play(move)))


@pytest.mark.parametrize("size", SHIPPED, ids=str)
def test_mirror_images_and_turned_boards_say_the_same(size: tuple[int, int]) -> None:
    board, rng = Board.of(*size), random.Random(1)
    turned = Board.of(board.height, board.width)
    for position in rng.sample(openings(board), min(60, len(openings(board)))):
        entry = atlas.lookup(position)
        assert entry is not None
        for symmetry in board.symmetries:
            image = atlas.lookup(mirrored(position, symmetry))
            assert image is not None
            assert image.plies == entry.plies
            there = {board.name(symmetry[board.cell(move)]) for move in entry.winning_moves}
            assert set(image.winning_moves) == there
        white, black = position.knight("w"), position.knight("b")
        assert white is not None
        assert black is not None

        def turn(cell: int) -> int:
            return turned.at(board.column(cell), board.row(cell))

        image = atlas.lookup(atlas.position_of(turned, turn(white), turn(black)))
        assert image is not None
        assert image.plies == entry.plies
        assert set(image.winning_moves) == {
            turned.name(turn(board.cell(move))) for move in entry.winning_moves
        }


def test_the_side_to_move_is_the_one_that_counts() -> None:
    white, black = Position.from_fen("5/1N3/5/3n1/5 w"), Position.from_fen("5/1n3/5/3N1/5 b")
    assert atlas.lookup(white) == atlas.lookup(black)


def test_anything_but_an_opening_is_not_in_the_atlas() -> None:
    for fen in (
        "7/7/7/7/7/7/7[Nn] w",
        "7/7/7/3N3/7/7/7[n] b",
        "7/7/1N5/7/7/4n1*/7 w",
        "8/8/1N6/8/8/4n3/8/8 w",
    ):
        assert atlas.lookup(Position.from_fen(fen)) is None


def test_classes_and_representatives() -> None:
    board = Board.of(7, 7)
    names = atlas.representatives(board)
    assert len(names) == 315
    assert {atlas.canonical(position) for position in openings(board)} == set(names)
    for cells in names:
        assert atlas.canonical(atlas.position_of(board, *cells)) == cells


# -- building ----------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    atlas.forget()
    yield tmp_path
    monkeypatch.undo()
    atlas.forget()


def test_a_build_makes_what_is_shipped(tmp_path: Path) -> None:
    for size in [(4, 4), (4, 5), (5, 5)]:
        board = Board.of(*size)
        built = atlas_build.Builder(board, folder=tmp_path).build()
        held = json.loads((Path(atlas.__file__).parent / atlas.FILE).read_text())
        assert built.hex() == held[f"{size[0]}x{size[1]}"]


def test_a_journal_with_damage_is_read_as_far_as_it_is_sound(tmp_path: Path) -> None:
    board = Board.of(4, 4)
    whole = atlas_build.Builder(board, folder=tmp_path).build()
    journal = atlas_build.Builder(board, folder=tmp_path).journal
    lines = journal.read_text().split("\n")
    assert len(lines) == 34
    rng = random.Random(4)
    for _ in range(10):
        damaged = "\n".join(lines)[: rng.randrange(10, 900)] + rng.choice(["", "\n[1, 2", "\nnull"])
        journal.write_text(damaged)
        builder = atlas_build.Builder(board, folder=tmp_path)
        assert len(builder.resumed()) < 33
        assert builder.build() == whole
    # Classes in the journal are used without solving them again.
    first = atlas_build.Builder(board, folder=tmp_path)
    assert len(first.resumed()) == 33
    first.build()
    assert first.nodes == 0


def test_a_build_killed_at_any_moment_goes_on(home: Path) -> None:
    env = {**os.environ, "KNIGHTFALL_DATA_DIR": str(home), "KNIGHTFALL_QUIET": "1"}
    command = [sys.executable, "-c", "from knightfall.cli import main; main()"]
    command += ["atlas", "build", "5x6", "--json", "--again"]
    journal = home / "atlas" / "5x6.journal"
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 180
    while not journal.exists() or journal.stat().st_size < 300:
        assert time.monotonic() < deadline, "the build never began"
        if process.poll() is not None:
            break
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    told = json.loads(processes.run(command, env=env, check=True).stdout)
    assert told["resumed"] > 0 or process.returncode == 0
    held = json.loads((home / "atlas" / atlas.USER_FILE).read_text())
    shipped = json.loads((Path(atlas.__file__).parent / atlas.FILE).read_text())
    assert held == {"5x6": shipped["5x6"]}
    assert not journal.exists()


def test_a_board_that_is_there_is_not_solved_again(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("atlas", "build", "3x8").exit_code == 0
    held = (home / "atlas" / atlas.USER_FILE).read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(atlas_build.Builder, "build", lambda *_: 1 / 0)
        for board, name in (
            ("7x7", "7x7"),
            ("6x4", "4x6"),
            ("8x3", "3x8"),
        ):  # shipped; the user's own
            done = run("atlas", "build", board)
            assert done.exit_code == 0
            assert done.stdout == f"{name} is in the atlas already (--again solves it anew)\n"
            told = json.loads(run("atlas", "build", board, "--json").stdout)
            classes = len(atlas.representatives(Board.of(*map(int, name.split("x")))))
            assert told["classes"] == told["resumed"] == classes
            assert (told["board"], told["nodes"], told["file"]) == (name, 0, None)
        copy = home / "copy.json"
        assert "written to" in run("atlas", "build", "3x8", "--output", str(copy)).stdout
        assert copy.read_bytes() == held
    told = json.loads(run("atlas", "build", "3x8", "--again", "--json").stdout)
    assert told["nodes"] > 0
    assert (home / "atlas" / atlas.USER_FILE).read_bytes() == held


def made_up(name: str, turn: int) -> bytes:
    """Return possible entries of a board in which the mover loses all openings."""
    board = Board.named(name)
    lost = bytes([2 * turn + 2, 0, 0])
    return b"".join(
        lost if atlas.first_moves(board, cells) else bytes(3)
        for cells in atlas.representatives(board)
    )


def test_two_builds_at_once_both_count(home: Path) -> None:
    """Check that several builds that finish at the same moment do not overwrite each other's
    boards.
    """
    file = home / "atlas" / atlas.USER_FILE
    names = [f"3x{height}" for height in range(8, 14)]
    for turn in range(10):
        begun = threading.Barrier(len(names))

        def save(name: str, turn: int = turn, begun: threading.Barrier = begun) -> None:
            begun.wait(30)
            atlas_build.save(file, name, made_up(name, turn))

        with ThreadPoolExecutor(len(names)) as pool:
            for done in [pool.submit(save, name) for name in names]:
                done.result()
        held = json.loads(file.read_text())
        assert held == {name: made_up(name, turn).hex() for name in names}
    processes = [
        subprocess.Popen(
            [
                *(sys.executable, "-c", "from knightfall.cli import main; main()"),
                *("atlas", "build", one, "--again"),
            ],
            env={**os.environ, "KNIGHTFALL_DATA_DIR": str(home), "KNIGHTFALL_QUIET": "1"},
            stdout=subprocess.DEVNULL,
        )
        for one in ("3x8", "3x9")
    ]
    assert [process.wait(300) for process in processes] == [0, 0]
    built = json.loads(file.read_text())
    assert min(len(built["3x8"]), len(built["3x9"])) > 900
    for name in ("3x8", "3x9"):
        assert built[name] != made_up(name, 9).hex()


def test_a_board_of_ones_own_is_found(home: Path) -> None:
    position = Position.start(3, 8).play("a1").play("b1")
    assert atlas.lookup(position) is None
    assert run("atlas", "build", "8x3").exit_code == 0
    entry = atlas.lookup(position)
    assert entry is not None
    assert entry.plies == plies_to_end(position)
    (home / "atlas" / atlas.USER_FILE).write_text('{"3x8": "00", "x": 3, "4x4": "zz"')
    atlas.forget()
    assert atlas.lookup(position) is None
    (home / "atlas" / atlas.USER_FILE).write_text('{"3x8": "00", "x": 3, "9x9": "zz"}')
    atlas.forget()
    assert atlas.lookup(position) is None


# -- the commands ------------------------------------------------------------------------------


def run(*args: str) -> Any:
    return CliRunner().invoke(app, list(args))


def test_show_tells_the_board() -> None:
    text = run("atlas", "show", "7x7").stdout
    for part in ("2,352 openings in 315 classes", "1,160", "1,192", "16", "N d4, n c6"):
        assert part in text
    told = json.loads(run("atlas", "show", "7x7", "--json").stdout)
    assert told["winning_replies"]["d4"] == 16
    assert told["exceptions"] == [{"first": "d4", "second": "c6", "plies": 47}]


def test_show_tells_the_replies_to_a_placement() -> None:
    told = json.loads(run("atlas", "show", "4x4", "b2", "--json").stdout)
    assert len(told["replies"]) == 15
    for one in told["replies"]:
        position = Position.start(4, 4).play("b2").play(one["reply"])
        assert one["plies"] == plies_to_end(position)
        assert one["wins"] == (plies_to_end(position) % 2 == 0)
        assert one["hunts"] == (position.hunter == "b")
    lines = run("atlas", "show", "4x4", "b2").stdout.splitlines()
    assert lines[0] == f"{sum(one['wins'] for one in told['replies'])} of 15 replies to b2 win:"
    assert [len(line.split()) for line in lines[2:]] == [5, 5, 5, 5, 4]


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["show", "7"], "'7'"),
        (["show", "9x9"], "9×9"),
        (["show", "8x8"], "8x8"),
        (["show", "7x7", "h9"], "h9"),
        (["build", "2x2"], "2×2"),
        (["build", "4x4", "--workers", "-1"], "'-1'"),
        (["build", "4x4", "--workers", "1000"], "1000"),
    ],
)
def test_bad_input_is_named(args: list[str], named: str, home: Path) -> None:
    result = run("atlas", *args)
    assert result.exit_code == 2
    assert named in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_board_that_is_not_there_is_an_error() -> None:
    with pytest.raises(KnightfallError, match="8x8"):
        survey(Board.of(8, 8))


def test_the_solver_may_be_told_not_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knightfall.solver.solve.lookup", lambda position: 1 / 0)
    position = Position.from_fen("4/1N2/2n1/4 w")
    blind = Solver(Engine(position.board), use_atlas=False)
    assert blind.plies(position) == plies_to_end(position)
    with pytest.raises(ZeroDivisionError):
        Solver(Engine(position.board)).plies(position)
