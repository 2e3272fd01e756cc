"""``knightfall solve``: output, JSON, errors and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

import pytest
from at_work import at_work
from naive_solver import plies_to_end
from typer.testing import CliRunner

from knightfall.cli.app import app
from knightfall.position import Position

FEN = "4/1N2/2n1/4 w"
ENDLESS = "8/8/1N6/8/8/4n3/8/8 w"
KEYS = {"winner", "winning_moves", "plies", "pv", "nodes", "seconds", "at_least"}
KEYS |= {"known_wins", "from_atlas", "by_reflection"}


def run(*args: str) -> Any:
    return CliRunner().invoke(app, ["solve", *args])


def answer(*args: str) -> dict[str, Any]:
    result = run("--json", *args)
    assert result.exit_code == 0, result.stderr
    told: dict[str, Any] = json.loads(result.stdout)
    assert set(told) == KEYS
    return told


@pytest.mark.parametrize("atlas", [[], ["--no-atlas"]])
@pytest.mark.parametrize("fen", [FEN, "4/1N2/1*n1/4 b", "3/3/3/3[Nn] w", "3/1N1/3/3[n] b"])
def test_it_tells_the_truth(fen: str, atlas: list[str]) -> None:
    position = Position.from_fen(fen)
    told, plies = answer(fen, *atlas), plies_to_end(position)
    sides = {"w": "b", "b": "w"}
    assert told["winner"] == (position.to_move if plies % 2 else sides[position.to_move])
    assert told["plies"] == told["at_least"] == len(told["pv"]) == plies
    winning = [m for m in position.legal_moves if plies_to_end(position.play(m)) % 2 == 0]
    assert told["winning_moves"] == told["known_wins"] == winning
    for move in told["pv"]:
        position = position.play(move)
    assert position.winner == told["winner"]
    quick = answer(fen, "--no-distance", *atlas)
    assert quick["plies"] is None
    assert (quick["winner"], quick["winning_moves"]) == (told["winner"], winning)


def test_people_read_it_too() -> None:
    text = run(FEN).stdout
    for part in ("winner", "player", "plies", "moves", "line", "time"):
        assert part in text
    assert "unknown" not in text
    over = Position.from_moves(["a1", "b2", "b3"], 3, 3)
    assert "none: the game is over" in run(over.fen).stdout


def test_limits_end_with_unknown() -> None:
    for limit in (["--nodes", "1000"], ["--time", "5ms"]):
        told = answer(ENDLESS, *limit)
        assert told["winner"] is None
        assert told["winning_moves"] is None
        assert told["plies"] is None
        assert "unknown" in run(ENDLESS, *limit).stdout
    assert answer(ENDLESS, "--nodes", "1000")["nodes"] <= 1001


def test_the_second_player_mirrors_on_a_large_board() -> None:
    """Check that on 8×8 the winner is known by reflection: without a budget nothing is searched,
    and with one the search for the length ends within it.
    """
    empty, placed = "8/8/8/8/8/8/8/8[Nn] w", "8/8/8/8/8/8/8/N7[n] b"
    for fen, limit in ((empty, []), (placed, []), (empty, ["--nodes", "5000"])):
        told = answer(fen, *limit)
        assert (told["winner"], told["by_reflection"], told["plies"]) == ("b", True, None)
        assert told["nodes"] <= 5001 if limit else told["nodes"] == 0
        if fen == empty:
            assert told["winning_moves"] == told["known_wins"] == told["pv"] == []
        else:
            assert told["winning_moves"] is None
            assert told["known_wins"] == ["h8"]
    text = run(placed).stdout
    assert "h8 (which others win is unknown)" in text
    assert "reflection" in text
    assert "not searched for without --time or --nodes" in text


def test_a_winner_without_a_distance_is_still_told() -> None:
    told = answer("7/7/1N5/7/7/4n2/7 w", "--no-atlas", "--nodes", "20000000")
    assert told["winner"] == "w"
    assert told["plies"] is None
    assert 1 < told["at_least"] <= 31
    text = run("7/7/1N5/7/7/4n2/7 w", "--no-atlas", "--nodes", "20000000").stdout
    assert f"at least {told['at_least']}" in text


@pytest.mark.parametrize("workers", ["1", "2", "3"])
@pytest.mark.parametrize("megabytes", ["1", "40"])
def test_workers_and_tables_change_nothing(workers: str, megabytes: str) -> None:
    fen = "6/2N3/6/6/3n2/6 w"
    told = answer(fen, "--no-atlas", "--workers", workers, "--table-mb", megabytes)
    stored = answer(fen)
    for key in ("winner", "winning_moves", "plies", "pv"):
        assert told[key] == stored[key]


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["nonsense"], "nonsense"),
        ([FEN, "--workers", "0"], "'0'"),
        ([FEN, "--workers", "65"], "65"),
        ([FEN, "--table-mb", "0"], "'0'"),
        ([FEN, "--table-mb", "99999999"], "99999999"),
        ([FEN, "--nodes", "0"], "0"),
        ([FEN, "--nodes", "many"], "many"),
        ([FEN, "--time", "5"], "5"),
    ],
)
def test_bad_input_is_named(args: list[str], named: str) -> None:
    result = run(*args)
    assert result.exit_code == 2
    assert named in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_ctrl_c_gives_what_is_known() -> None:
    process = at_work({**os.environ}, "solve", ENDLESS, "--json")
    process.send_signal(signal.SIGINT)
    stdout, said = process.communicate(timeout=180)
    check_unfinished(stdout)
    assert process.returncode == 130
    assert "Traceback" not in said


def check_unfinished(stdout: str) -> None:
    told = json.loads(stdout)
    assert set(told) == KEYS
    assert told["nodes"] > 0
    assert told["plies"] is None


def test_a_long_solve_tells_its_progress_on_a_terminal_until_ctrl_c() -> None:
    import pty

    main, other = pty.openpty()
    command = [sys.executable, "-c", "from knightfall.cli import main; main()", "solve", "--json"]
    process = subprocess.Popen(
        [*command, ENDLESS, "--workers", "2"],
        env={**os.environ, "KNIGHTFALL_QUIET": "1", "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=other,
        text=True,
    )
    os.close(other)
    said = ""
    while "full" not in said:  # the end of the line
        said += os.read(main, 1 << 16).decode()
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=180)
    with suppress(OSError):  # the writing end is closed
        said += os.read(main, 1 << 16).decode()
    os.close(main)
    check_unfinished(stdout)
    assert process.returncode == 130
    for part in ("who wins", "nodes", "million a second", "table", "full"):
        assert part in said
    assert "Traceback" not in said


def test_a_solve_that_takes_too_long_gives_up() -> None:
    result = run(ENDLESS, "--time", "100ms")
    assert result.exit_code == 0
    assert "unknown" in result.stdout
