"""``knightfall runs`` and its commands: output, JSON and errors."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arena_helpers import ENGINE, VERSIONS, all_rows, fake_pair, fake_plan, fake_run
from cli_runner import refused, run

from knightfall.arena.plan import COLUMN_FORMATS, REASONS
from knightfall.arena.store import Store
from knightfall.position import Position

NAMES = ("AB_Improved", "MM_Open", "[bold]naïve[/bold]")
PLAN = fake_plan(2, 10, board="5x5", names=NAMES)
MAIN = [sys.executable, "-c", "from knightfall.cli import main; main()"]
PATIENCE = 180
BOOK = ("4/1N2/2n1/4 b", "4/1N2/2n1/4 w")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's store, with three runs; the last is not finished."""
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    file = tmp_path / "arena.sqlite"
    fake_run(file, PLAN)
    fake_run(file, fake_plan(5, 2, kind="league"))
    fake_run(file, fake_plan(1, 9, seed=4, names=NAMES[:2]), 4)
    return file


def text(*args: str) -> str:
    result = run(*args)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return result.stdout


# -- runs ------------------------------------------------------------------------------------------


def listed(*args: str) -> list[str]:
    """Return the lines of the table of runs, without the legend below it."""
    table, _, legend = text(*args).partition("\n\n")
    assert legend.startswith("pair: two games from one opening")
    return table.splitlines()


def test_runs_lists_the_store(file: Path) -> None:
    head, *lines = listed("runs")
    assert head.split() == ["run", "kind", "agents", "outcome", "board", "pairs", "begun"]
    assert len(lines) == 3
    named = r"1 +league +AB_Improved, MM_Open, \[bold\]naïve\[/bold\] +agent 0 is better +5×5 +20 "
    assert re.match(named, lines[0])
    assert "agent 0, agent 1, agent 2 and 3 more" in lines[1]
    assert re.search(r" not finished +4×4 +4/9 ", lines[2])
    told = json.loads(text("runs", "--json"))
    assert told["store"] == str(file)
    assert [info["id"] for info in told["runs"]] == [1, 2, 3]
    assert told["runs"][2]["played"] == 4
    assert told["runs"][2]["finished"] is None
    assert [info["board"] for info in told["runs"]] == ["5x5", "4x4", "4x4"]
    assert told["runs"][0]["names"] == list(NAMES)


def test_runs_of_two_versions_of_a_file_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path))
    names = ("id(mine.py:cosy, nodes=2500)", "AB_Improved")
    for seed, file in enumerate(("abcdef0123", "0123abcdef", "abcdef0123")):
        plan = fake_plan(1, 3, names=names, seed=seed, files={"/home/me/mine.py": file})
        fake_run(tmp_path / "arena.sqlite", plan)
    fake_run(tmp_path / "arena.sqlite", fake_plan(1, 3, names=names[::-1]))
    lines = listed("runs")[1:]
    told = [re.search(r"\(mine\.py (\w+)\)", line) for line in lines]
    assert [match and match[1] for match in told] == ["abcdef0", "0123abc", "abcdef0", None]
    files = [info["files"] for info in json.loads(text("runs", "--json"))["runs"]]
    assert files[1] == {"/home/me/mine.py": "0123abcdef"}


@pytest.mark.parametrize("columns", [80, 100])
def test_runs_fit_the_screen(file: Path, columns: int) -> None:
    long = tuple(f"id(mine.py:a_heuristic_of_mine_{n}, nodes=2500)" for n in range(2))
    fake_run(file, fake_plan(1, 2000, board="7x7", names=long), 30)
    fake_run(file, fake_plan(2, 2, names=(*long, "c"), kind="tournament", book=BOOK), 3)
    code, shown = on_a_terminal("runs", columns=columns)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    assert code == 0
    assert max(len(line.rstrip()) for line in plain.splitlines()) <= columns
    assert plain.count("begun") == 1  # in one piece
    assert "30/2,000" in plain
    assert re.search(r"\b7×7 +30/2,000 ", plain)
    assert re.search(r"\bbook +3/4 ", plain)
    together = re.sub(r"\s", "", plain)
    assert "nodes=2500)" in together


def test_runs_of_another_store(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    assert f"no runs yet in {other}" in refused("runs", "--store", str(other))
    assert not other.exists()
    fake_run(other, PLAN, 3)
    assert len(listed("runs", "--store", str(other))) == 2
    with Store.open(other) as store:
        store.delete(1)
    assert "no runs yet" in refused("runs", "--store", str(other))
    assert "--store ''" in refused("runs", "--store", "")
    assert "is a folder" in refused("runs", "games", "--store", str(tmp_path))


def test_deleting_needs_a_word(file: Path) -> None:
    before = all_rows(file)
    assert "add --yes" in refused("runs", "delete", "2")
    assert "no run 7" in refused("runs", "delete", "7", "--yes")
    assert all_rows(file) == before
    assert "Run 2 is deleted" in text("runs", "delete", "2", "--yes")
    assert json.loads(text("runs", "delete", "last", "--yes", "--json")) == {"deleted": 3}
    assert [info["id"] for info in json.loads(text("runs", "--json"))["runs"]] == [1]


def test_deleting_from_another_store(file: Path, tmp_path: Path) -> None:
    before, other = all_rows(file), tmp_path / "other.sqlite"
    fake_run(other, PLAN, 3)
    assert "Run 1 is deleted" in text("runs", "delete", "1", "--yes", "--store", str(other))
    assert "no runs yet" in refused("runs", "--store", str(other))
    assert all(not rows for rows in all_rows(other).values())
    assert all_rows(file) == before
    missing = tmp_path / "missing.sqlite"
    assert "no runs yet" in refused("runs", "delete", "1", "--yes", "--store", str(missing))
    assert not missing.exists()


def test_a_run_to_delete_must_be_named(file: Path) -> None:
    assert "RUN" in refused("runs", "delete", "--yes")
    assert "must be a number or last" in refused("runs", "delete", "first", "--yes")


@pytest.mark.parametrize(("answer", "code", "left"), [("y\n", 0, [1, 3]), ("n\n", 1, [1, 2, 3])])
def test_deleting_asks_on_a_terminal(file: Path, answer: str, code: int, left: list[int]) -> None:
    main, other = pty.openpty()
    process = subprocess.Popen(
        [*MAIN, "runs", "delete", "2"], stdin=other, stdout=subprocess.PIPE, stderr=other
    )
    os.write(main, answer.encode())
    process.communicate(timeout=PATIENCE)
    os.close(other)
    said = b""
    with suppress(OSError):  # the other end is closed
        while more := os.read(main, 1 << 16):  # the terminal echoes what was typed
            said += more
    os.close(main)
    assert process.returncode == code
    asked = "Delete run 2 (league of agent 0, agent 1, agent 2 and 3 more, 20 games)?"
    assert asked in said.decode()
    with Store.open(file, read_only=True) as store:
        assert [info.id for info in store.runs()] == left


# -- games -----------------------------------------------------------------------------------------


def test_games_has_a_line_for_each(file: Path) -> None:
    head, *lines = text("runs", "games", "1").splitlines()
    assert head.split() == ["game", "first", "second", "result", "reason", "plies", "opening"]
    assert len(lines) == 40
    for number, line in enumerate(lines):
        pair, game = divmod(number, 2)
        record = fake_pair(PLAN.task(pair))
        played = record.games[game]
        names = [NAMES[0], NAMES[1 + pair % 2]][:: 1 if game == 0 else -1]
        assert re.split(r" {2,}", line) == [
            f"1.{pair}.{game}",
            *names,
            "1-0" if played.winner == "w" else "0-1",
            played.reason,
            str(played.plies),
            record.task.opening,
        ]
    assert len(text("runs", "games").splitlines()) == 9  # the last run
    assert text("runs", "games", "last") == text("runs", "games", "3") == text("runs", "games")


@pytest.mark.parametrize(
    ("columns", "name"), [(80, "id(min…2500)"), (200, "id(mine.py:cosy, nodes=2500)")]
)
def test_games_fit_the_screen(file: Path, columns: int, name: str) -> None:
    names = ("id(mine.py:cosy, nodes=2500)", "random")
    fake_run(file, fake_plan(1, 12, board="7x7", names=names))
    code, shown = on_a_terminal("runs", "games", columns=columns)
    plain = [line.rstrip() for line in shown.splitlines() if "repeats" not in line]
    assert code == 0
    assert len(plain) == 25
    assert max(map(len, plain)) <= columns
    assert all(f" {name} " in line for line in plain[1:])
    assert all(names[0] in line for line in text("runs", "games").splitlines()[1:])  # into a pipe


def test_games_can_be_picked(file: Path) -> None:
    def picked(*args: str) -> list[dict[str, Any]]:
        return [
            json.loads(line) for line in text("runs", "games", "1", "--json", *args).splitlines()
        ]

    everything = picked()
    assert len(everything) == 40

    def loser(game: dict[str, Any]) -> str:
        return str(game["second" if game["winner"] == "w" else "first"])

    for name in NAMES:
        lost = picked("--lost-by", name)
        assert lost == [game for game in everything if loser(game) == name]
        won = picked("--won-by", name)
        assert len(lost) + len(won) == len([g for g in everything if name in g.values()])
    assert picked("--lost-by", "random(seed=2)") == picked("--lost-by", "MM_Open")
    for reason in REASONS:
        assert picked("--reason", reason) == [g for g in everything if g["reason"] == reason]
    assert picked("--limit", "3") == everything[:3]
    assert picked("--limit", "0") == []


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["runs", "games", "7"], "no run 7"),
        (["runs", "games", "7"], "its runs are 1, 2, 3"),
        (["runs", "games", "first"], "'first' must be a number or last"),
        (["runs", "games", "--lost-by", "AB_Improve"], "did you mean 'AB_Improved'"),
        (
            ["runs", "games", "2", "--won-by", "x"],
            "(its agents are 'agent 0', 'agent 1', 'agent 2' and 3 more",
        ),
        (["runs", "games", "--won-by", "nobody"], "'AB_Improved', 'MM_Open'"),
        (["runs", "games", "--reason", "boredom"], "no moves, timeout, forfeit, illegal, crash"),
        (["runs", "games", "--limit", "many"], "many"),
        (["runs", "replay", "1.2"], "as in 3.17.0"),
        (["runs", "replay", "1.2.2"], "as in 3.17.0"),
        (["runs", "replay", "9.2.1"], "no run 9"),
        (["runs", "replay", "1.999.0"], "no pair 999: it has 20"),
        (["runs", "replay", "1.0.0", "--delay", "soon"], "'soon' is not a time"),
        (["runs", "export", "--format", "cvs"], "did you mean 'csv'"),
        (["runs", "export"], "--format"),
        (["runs", "export", "8", "--format", "csv"], "no run 8"),
        (["runs", "export", "--format", "parquet"], "--output"),
        (["runs", "import", "nothing.jsonl"], "nothing.jsonl"),
    ],
)
def test_bad_input_is_named(file: Path, args: list[str], named: str) -> None:
    assert named in refused(*args)


# -- replay ----------------------------------------------------------------------------------------


def test_replay_prints_every_move_with_its_figures(file: Path) -> None:
    for pair, game in ((0, 0), (3, 1), (9, 0)):
        record = fake_pair(PLAN.task(pair))
        played = record.games[game]
        shown = text("runs", "replay", f"1.{pair}.{game}")
        assert "\x1b" not in shown
        assert f"from {record.task.opening}" in shown
        position = Position.from_fen(record.task.opening)
        lines = [line for line in shown.splitlines() if re.match(r" *\d+\. ", line)]
        assert len(lines) == played.plies
        for at, move in enumerate(played.moves(position)):
            assert f" {move} " in lines[at]
            score, depth = played.column("scores")[at], played.column("depths")[at]
            assert ("♘" if position.to_move == "w" else "♞") in lines[at]
            if depth:
                assert f"depth {depth}, {played.column('nodes')[at]:,} nodes" in lines[at]
                assert (" win " in lines[at]) == (score == float("inf"))
            position = position.play(move)
        names = [NAMES[0], NAMES[1 + pair % 2]][:: 1 if game == 0 else -1]
        winner, loser = names if played.winner == "w" else names[::-1]
        assert f"\n{winner} won: {loser} " in shown
        assert played.detail in shown


def test_replay_shows_times_that_were_measured_and_no_others(tmp_path: Path) -> None:
    plan = fake_plan(1, 1)
    pair = fake_pair(plan.task(0))
    times = [[0, 31, 1500, 2_000_000][at % 4] for at in range(pair.games[0].plies)]
    first = replace(
        pair.games[0],
        depths=bytes([3] * len(times)),
        microseconds=np.array(times, COLUMN_FORMATS["microseconds"]).tobytes(),
    )
    with Store.open(tmp_path / "timed.sqlite") as store:
        store.begin(plan, ENGINE, VERSIONS).append([replace(pair, games=(first, pair.games[1]))])
    args = ("runs", "replay", "1.0.0", "--store", str(tmp_path / "timed.sqlite"))
    shown = [line.split(" nodes")[1] for line in text(*args).splitlines() if " nodes" in line]
    assert len(shown) == len(times) > 4
    assert shown[:5] == ["", ", 31 µs", ", 1.5 ms", ", 2.0 s", ""]
    told = json.loads(text(*args, "--json"))["thinking"]
    assert [thought["seconds"] for thought in told][:4] == [None, 0.000031, 0.0015, 2.0]


def test_replay_tells_scripts_everything(file: Path) -> None:
    told = json.loads(text("runs", "replay", "1.3.1", "--json"))
    record = fake_pair(PLAN.task(3))
    game = record.games[1]
    assert told["game"] == "1.3.1"
    assert (told["first"], told["second"]) == (record.task.b, record.task.a)
    assert (told["fen"], told["seed"]) == (record.task.opening, record.task.seed)
    assert tuple(told["moves"]) == game.moves(Position.from_fen(told["fen"]))
    assert (told["winner"], told["reason"]) == (game.winner, game.reason)
    for at, thought in enumerate(told["thinking"]):
        assert float(thought["score"]) == game.column("scores")[at] or thought["score"] == "nan"
        assert thought["nodes"] == game.column("nodes")[at]
        assert thought["seconds"] == game.column("microseconds")[at] / 1e6
    again = json.loads(text("runs", "replay", "last.3.1", "--json"))
    assert again["game"] == "3.3.1"


def on_a_terminal(*args: str, interrupt: bool = False, columns: int = 100) -> tuple[int, str]:
    """Run a command on a terminal; return its exit code and output."""
    main, other = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "30"}
    process = subprocess.Popen(
        [*MAIN, *args], stdin=other, stdout=other, stderr=other, env=environment
    )
    os.close(other)
    shown, sent = b"", False
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if not select.select([main], [], [], 1)[0]:
            continue
        try:
            more = os.read(main, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        shown += more
        if interrupt and not sent and b"Game" in shown:
            process.send_signal(signal.SIGINT)
            sent = True
    os.close(main)
    return process.wait(PATIENCE), shown.decode()


def test_replay_redraws_one_board_on_a_terminal(file: Path) -> None:
    code, shown = on_a_terminal("runs", "replay", "1.3.1", "--delay", "1ms")
    assert code == 0
    game = fake_pair(PLAN.task(3)).games[1]
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    for at, move in enumerate(game.moves(Position.from_fen(PLAN.task(3).opening)), start=1):
        assert re.search(rf"{at}\. ♘ {move}|{at}\. ♞ {move}", plain)
    assert plain.count("Game 1.3.1") >= game.plies + 2  # the opening, and the final board twice
    assert shown.count("\x1b[1A") >= game.plies * 5  # each drawn over the previous one
    assert " won" in plain
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")  # the cursor is shown again


def test_ctrl_c_ends_a_replay(file: Path) -> None:
    code, shown = on_a_terminal("runs", "replay", "1.3.1", "--delay", "600s", interrupt=True)
    assert code == 130
    assert "knightfall: interrupted" in shown
    assert "Traceback" not in shown
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")


def test_replay_without_a_name_is_the_last_game(file: Path) -> None:
    assert (
        text("runs", "replay") == text("runs", "replay", "last") == text("runs", "replay", "3.3.0")
    )
    fake_run(file, fake_plan(1, 9, seed=5), 0)
    assert "run 4 has no games yet" in refused("runs", "replay")


def test_stored_games_can_be_annotated(file: Path, tmp_path: Path) -> None:
    told = json.loads(text("annotate", "1.3.1", "--json"))
    game = fake_pair(PLAN.task(3)).games[1]
    opening = Position.from_fen(PLAN.task(3).opening)
    assert (told["fen"], tuple(told["moves"])) == (opening.fen, game.moves(opening))
    assert (told["winner"], told["reason"]) == (game.winner, game.reason)
    assert f"first, {NAMES[2]}: " in text("annotate", "1.3.1")
    unusual = next(g for g in range(20) if fake_pair(PLAN.task(g)).games[0].reason == "timeout")
    shown = text("annotate", f"1.{unusual}.0")
    assert re.search(r"The (first|second) player lost by timeout in a (won|lost) position\.", shown)
    assert "no run 9" in refused("annotate", "9.0.0")
    assert "other.sqlite" in refused("annotate", "1.0.0", "--store", str(tmp_path / "other.sqlite"))


def test_the_last_game_is_saved_or_stored_whichever_is_newer(file: Path, tmp_path: Path) -> None:
    stored = json.loads(text("annotate", "3.3.0", "--json"))
    assert json.loads(text("annotate", "last", "--json")) == stored
    saved = tmp_path / "games" / "mine.json"
    saved.parent.mkdir()
    content = {"format": "knightfall game 1", "start": "4/4/4/4[Nn] w", "moves": ["a1", "b2"]}
    content |= {"you": "first", "agent": "random", "resigned": False}
    saved.write_text(json.dumps(content))
    os.utime(saved, (time.time() + 60, time.time() + 60))
    assert json.loads(text("annotate", "last", "--json"))["moves"] == ["a1", "b2"]
    os.utime(saved, (0, 0))
    assert json.loads(text("annotate", "last", "--json")) == stored


def test_a_replay_can_be_annotated(file: Path) -> None:
    told = text("runs", "replay", "1.0.0", "--json")
    result = run("annotate", "-", input=told)
    assert result.exit_code == 0
    assert f"from {PLAN.task(0).opening}" in result.stdout


# -- export and import -----------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["csv", "jsonl", "text"])
def test_export_goes_to_stdout_or_a_file(file: Path, tmp_path: Path, format: str) -> None:
    shown = text("runs", "export", "1", "--format", format)
    out = tmp_path / "out"
    assert text("runs", "export", "1", "--format", format, "--output", str(out)) == ""
    assert out.read_text(encoding="utf-8") == shown
    assert out.stat().st_mode & 0o777 == 0o666 & ~current_umask()
    assert "exists: --force replaces it" in refused(
        "runs", "export", "--format", format, "--output", str(out)
    )
    assert out.read_text(encoding="utf-8") == shown
    text("runs", "export", "3", "--format", format, "--output", str(out), "--force")
    assert out.read_text(encoding="utf-8") == text("runs", "export", "--format", format)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["arena.sqlite", "out"]
    if format == "csv":
        assert len(list(csv.DictReader(io.StringIO(shown)))) == 40


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_export_to_parquet(file: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    out = tmp_path / "out.parquet"
    assert text("runs", "export", "1", "--format", "parquet", "--output", str(out)) == ""
    assert parquet.read_table(out).num_rows == 40


def test_a_failed_export_leaves_no_file(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    out = tmp_path / "out.parquet"
    out.write_text("precious")
    args = ("runs", "export", "--format", "parquet", "--output", str(out), "--force")
    assert "knightfall[parquet]" in refused(*args)
    assert out.read_text() == "precious"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["arena.sqlite", "out.parquet"]


def test_import_adds_a_run(file: Path, tmp_path: Path) -> None:
    out, other = tmp_path / "out", tmp_path / "other.sqlite"
    text("runs", "export", "1", "--format", "jsonl", "--output", str(out))
    said = text("runs", "import", str(out), "--store", str(other))
    assert said == "Run 1: league of AB_Improved, MM_Open, [bold]naïve[/bold], 20 pairs.\n"
    assert text("runs", "games", "1", "--store", str(other)) == text("runs", "games", "1")
    assert "run 1 in" in refused("runs", "import", str(out))
    assert json.loads(text("runs", "import", str(out), "--again", "--json")) == {
        "run": 4,
        "pairs": 20,
    }
    before = all_rows(file)
    out.write_text(out.read_text(encoding="utf-8").replace("no moves", "no mood"), "utf-8")
    assert re.search(r"out, line \d+: ", refused("runs", "import", str(out), "--again"))
    assert all_rows(file) == before


# -- what is imported ------------------------------------------------------------------------------


def test_help_imports_no_heavy_room() -> None:
    """Check that the help of these commands imports no expensive module."""
    commands = "runs", "runs games", "runs replay", "runs export", "runs import", "learn"
    commands += "runs plot", "worth", "stats pairs", "stats plan"
    code = (
        "import sys\n"
        "from knightfall.cli import main\n"
        f"for command in {commands}:\n"
        "    sys.argv[1:] = [*command.split(), '--help']\n"
        "    try:\n        main()\n"
        "    except SystemExit:\n        pass\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for command in commands:
        assert f"knightfall {command} " in done.stdout
    modules = set(done.stderr.split())
    assert not {"numpy", "numba", "scipy", "matplotlib", "sqlite3", "rich", "pyarrow"} & modules
    arena = {name for name in modules if name.startswith("knightfall.arena.")}
    assert arena <= {"knightfall.arena.run_options"}  # plain values
