"""``knightfall play``: whole games, the words of the prompt, saved games and the drawn board."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from cli_runner import refused, run, stderr_of
from helpers import EVERY_BOARD, random_positions
from rich.console import Console
from rich.text import Text
from typer.testing import Result

from knightfall.agents import parse_agent
from knightfall.board import Board
from knightfall.cli import interactive_game
from knightfall.cli.board_drawing import draw, layout, show
from knightfall.cli.game_views import TerminalView
from knightfall.cli.interactive_game import InteractiveGame, load, save
from knightfall.cli.terminal import verdict
from knightfall.errors import AgentFailure
from knightfall.position import Position, Side

SMALL = "4/4/4/4[Nn] w"
RANDOM = parse_agent("random")


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set a data folder for this test."""
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def events(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def game_of(data: Path) -> dict[str, Any]:
    """Return the content of the only saved game."""
    (file,) = (data / "games").iterdir()
    return json.loads(file.read_text())  # type: ignore[no-any-return]


def whole_game(fen: str, you: Side, agent: str) -> tuple[list[str], Position]:
    """Play the last legal move each time; return the moves to type and the final position."""
    position, typed = Position.from_fen(fen), []
    opponent = parse_agent(agent)
    while position.winner is None:
        if position.to_move == you:
            move = position.legal_moves[-1]
            typed.append(move)
        else:
            move = opponent.choose(position)
        position = position.play(move)
    return typed, position


# -- whole games ---------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", ["random", "greedy(improved)", "AB_Improved"])
@pytest.mark.parametrize("seat", ["first", "second"])
@pytest.mark.parametrize("fen", [SMALL, "5/1N3/5/3n1/5 b"])
def test_a_whole_game(agent: str, seat: str, fen: str, data: Path) -> None:
    you: Side = "w" if seat == "first" else "b"
    typed, end = whole_game(fen, you, agent)
    args = ["play", "--as", seat, "--against", agent, fen]
    told = events(run(*args, "--json", input="\n".join(typed) + "\n"))
    over = told[-1]
    assert over["event"] == "over"
    assert (over["winner"], over["reason"], over["you"]) == (end.winner, "no moves left", you)
    assert over["fen"] == end.fen
    assert over["start"] == fen
    assert game_of(data)["moves"] == over["moves"]

    position = Position.from_fen(fen)
    for move in over["moves"]:
        position = position.play(move)
    assert position == end

    result = run(*args, input="\n".join(typed) + "\n")
    assert result.exit_code == 0
    assert ("You won!" in result.stdout) == (end.winner == you)
    assert ("You lost." in result.stdout) == (end.winner != you)
    assert "has no moves left" in result.stdout
    assert f"Moves: {' '.join(over['moves'])}\n" in result.stdout
    assert "\x1b" not in result.stdout
    assert stderr_of(result) == ""


def test_the_protocol_tells_every_state_and_every_answer() -> None:
    typed, _ = whole_game(SMALL, "w", "greedy(improved)")
    args = ["play", "--json", "--against", "greedy(improved)", SMALL]
    told = events(run(*args, input="\n".join(typed)))
    position = Position.from_fen(SMALL)
    assert told[0]["event"] == "begin"
    assert told[0]["agent"] == "greedy(improved)"
    for event in told[1:-1]:
        if event["event"] == "state":
            assert event["fen"] == position.fen
            assert event["legal"] == list(position.legal_moves)
            assert (event["to_move"], event["you"]) == ("w", "w")
            position = position.play(position.legal_moves[-1])
        else:
            report = parse_agent("greedy(improved)").analyse(position)
            assert event["event"] == "move"
            assert (event["move"], event["nodes"]) == (report.move, report.nodes)
            assert event["pv"] == list(report.pv)
            position = position.play(event["move"])
            assert event["fen"] == position.fen


def test_by_default_you_place_first_on_the_empty_board() -> None:
    told = events(run("play", "--json", input=""))
    assert told[0]["fen"] == Position.start().fen
    assert told[0]["you"] == "w"
    shown = run("play", input="d4\nquit\n").stdout
    assert "Place your knight on any open cell." in shown
    assert "depth 3, " in shown
    assert "expects " in shown


def test_a_board_instead_of_a_position() -> None:
    for args in (["--board", "4x5"], ["4x5"]):
        told = events(run("play", "--json", "--against", "random", *args, input=""))
        assert told[0]["fen"] == "4/4/4/4/4[Nn] w"
    assert "choose one" in refused("play", "--board", "4x5", SMALL)
    assert "'4by5'" in refused("play", "--board", "4by5")
    assert "'4/4/4/4[Nn] w'" in refused("play", "--board", SMALL)
    assert "--board" in refused("play", "--resume", "last", "--board", "4x4")


def test_a_game_that_is_over_already_is_told_and_not_saved(data: Path) -> None:
    over = Position.from_moves(["a1", "b2", "b3"], 3, 3)
    told = events(run("play", "--json", "--against", "random", over.fen, input=""))
    assert told[-1]["winner"] == over.winner
    assert not data.exists()


# -- words ---------------------------------------------------------------------------------------


def test_wrong_input_never_ends_the_game() -> None:
    wrong = ["zz", "a9", "d4 d5", "undoo", "[red]", "\x1b[2J", "💥", "-1", "c1", "--help"]
    typed = "\n".join(["c1", *wrong, "", "   ", "quit"])
    result = run("play", "--against", "random", SMALL, input=typed)
    assert result.exit_code == 0
    assert "did you mean 'undo'?" in result.stdout
    position = Position.from_fen(SMALL).play("c1")
    position = position.play(RANDOM.choose(position))
    assert result.stdout.count(f"Legal: {' '.join(position.legal_moves)}") == len(wrong)
    assert "[red]" in result.stdout
    assert "\x1b" not in result.stdout
    told = events(run("play", "--json", "--against", "random", SMALL, input=typed))
    errors = [event for event in told if event["event"] == "error"]
    assert len(errors) == len(wrong)
    assert all(event["legal"] == list(position.legal_moves) for event in errors)


def test_moves_may_be_typed_carelessly(data: Path) -> None:
    run("play", "--against", "random", SMALL, input="  C1 \n")
    assert game_of(data)["moves"][0] == "c1"


def test_undo_takes_back_your_move_and_the_answer(data: Path) -> None:
    typed = "undo\nc1\nundo\nd1\n"
    told = events(run("play", "--json", "--against", "random", SMALL, input=typed))
    kinds = [event["event"] for event in told]
    assert kinds == [
        "begin",
        "state",
        "error",
        "move",
        "state",
        "undo",
        "state",
        "move",
        "state",
        "saved",
    ]
    assert told[5]["taken"][0] == "c1"
    assert told[6]["fen"] == SMALL
    assert game_of(data)["moves"][0] == "d1"


def test_undo_when_the_agent_moved_first(data: Path) -> None:
    args = ["play", "--json", "--as", "second", "--against", "random", SMALL]
    told = events(run(*args, input="undo\n"))
    assert [event["event"] for event in told] == ["begin", "move", "state", "error", "saved"]
    reply = told[2]["legal"][0]
    told = events(run(*args, input=f"{reply}\nundo\n"))
    states = [event for event in told if event["event"] == "state"]
    assert states[0] == states[2]
    assert len(states[0]["moves"]) == 1


def test_hint_is_a_legal_move_and_plays_nothing() -> None:
    told = events(run("play", "--json", "--against", "random", SMALL, input="hint\n"))
    (hint,) = [event for event in told if event["event"] == "hint"]
    assert hint["move"] in Position.from_fen(SMALL).legal_moves
    assert hint["proven"]
    assert hint["score"] == "-inf"  # the second player wins by reflection
    assert "Hint: " in run("play", "--against", "random", SMALL, input="hint\n").stdout


def test_the_end_tells_where_the_game_began_unless_it_was_the_empty_board() -> None:
    for where, begun in (
        ([SMALL], []),  # the empty board of 4 by 4
        (["--board", "4x4"], []),
        (["4/1N2/2n1/4 b"], ["From 4/1N2/2n1/4 b"]),
    ):
        shown = run("play", "--against", "random", *where, input="c1\nresign\n").stdout
        assert [line for line in shown.splitlines() if line.startswith("From ")] == begun
        (moves,) = [line for line in shown.splitlines() if line.startswith("Moves: ")]
        position = Position.from_fen(where[0] if begun else SMALL)
        for move in moves.split()[1:]:
            position = position.play(move)
        assert "c1" in moves


def test_resigning(data: Path) -> None:
    result = run("play", "--against", "random", SMALL, input="c1\nresign\n")
    assert "You lost." in result.stdout
    assert "You resigned" in result.stdout
    assert game_of(data)["resigned"] is True
    assert "no unfinished game" in refused("play", "--resume")
    told = events(
        run("play", "--json", "--as", "second", "--against", "random", SMALL, input="resign")
    )
    assert (told[-1]["winner"], told[-1]["reason"]) == ("w", "resigned")


STUDENT = "student(improved, time=20ms)"


def hopeless() -> Position:
    """Return a position in which the student to move has moves, but sees that all of them lose."""
    position = Position.from_fen("7/7/1N5/7/7/4n2/7 w")
    student = parse_agent(STUDENT)
    while True:
        try:
            position = position.play(student.choose(position))
        except AgentFailure:
            assert position.winner is None
            return position


def test_an_agent_that_resigns_has_lost(data: Path) -> None:
    lost = hopeless()
    seat = "second" if lost.to_move == "w" else "first"
    shown = run("play", "--as", seat, "--against", STUDENT, lost.fen, input="").stdout
    assert "You won!" in shown
    assert "resigned:" in shown
    assert game_of(data)["agent_resigned"] is True
    assert "no unfinished game" in refused("play", "--resume")
    told = events(run("play", "--json", "--as", seat, "--against", STUDENT, lost.fen, input=""))
    you = {"first": "w", "second": "b"}[seat]
    assert (told[-1]["winner"], told[-1]["reason"]) == (you, "resigned")


def test_others_hear_of_it_too() -> None:
    lost = hopeless()
    told = json.loads(run("watch", STUDENT, STUDENT, lost.fen, "--json").stdout)
    assert (told["moves"], told["reason"]) == ([], "resigned")
    assert told["winner"] != lost.to_move
    assert "resigned." in run("watch", STUDENT, STUDENT, lost.fen).stdout
    shown = run("analyse", "--agent", STUDENT, lost.fen).stdout
    assert "resigns: every line it sees is lost" in shown
    told = json.loads(run("analyse", "--agent", STUDENT, lost.fen, "--json").stdout)
    assert (told["move"], told["note"]) == (None, "resigns: every line it sees is lost")
    graded = json.loads(run("grade", STUDENT, "--openings", "3", "--json").stdout)
    assert graded["games"] == 3


def test_board_fen_and_help() -> None:
    shown = run("play", "--against", "random", SMALL, input="fen\nhelp\nboard\n").stdout
    assert f"\nyour move> {SMALL}\n" in shown
    for word in ("undo", "hint", "resign", "board", "fen", "help", "quit"):
        assert any(line.lstrip().startswith(f"{word} ") for line in shown.splitlines())
    assert shown.count("Place your knight on any open cell.") == 2
    told = events(run("play", "--json", "--against", "random", SMALL, input="fen\nhelp\nboard\n"))
    assert [event["event"] for event in told[1:]] == ["state", "state", "help", "state", "saved"]


# -- saving and resuming -------------------------------------------------------------------------


def test_leaving_says_which_command_resumes(data: Path) -> None:
    for leave in ("", "quit\n"):
        result = run("play", "--against", "greedy(open)", "--as", "second", SMALL, input=leave)
        assert result.exit_code == 0
        program, *command = result.stdout.splitlines()[-1].split()
        assert [program, *command[:2]] == ["knightfall", "play", "--resume"]
        told = events(run(*command, "--json", input=""))
        assert told[0]["agent"] == "greedy(open)"
        assert told[0]["you"] == "b"
        assert len(told[0]["moves"]) == 1


def test_a_game_played_in_pieces_is_the_same_game(data: Path) -> None:
    typed, end = whole_game(SMALL, "w", "greedy(improved)")
    assert len(typed) > 3
    run("play", "--against", "greedy(improved)", SMALL, input=typed[0])
    for move in typed[1:]:
        told = events(run("play", "--resume", "--json", input=move))
    assert told[-1]["event"] == "over"
    assert told[-1]["fen"] == end.fen
    (file,) = (data / "games").iterdir()
    told = events(run("play", "--resume", str(file), "--json", input=""))  # over: only told
    assert [event["event"] for event in told] == ["begin", "over"]


def test_resume_by_name_by_file_and_the_last_one(data: Path, tmp_path: Path) -> None:
    for move in ("a1", "b1", "c1"):
        run("play", "--against", "random", SMALL, input=move)
    files = sorted((data / "games").iterdir(), key=lambda file: file.stat().st_mtime_ns)
    assert len(files) == 3

    def first_move(*which: str) -> str:
        return str(events(run("play", "--json", *which, input=""))[0]["moves"][0])

    assert first_move("--resume") == "c1"
    assert first_move("--resume", "last") == "c1"
    assert first_move("--resume", str(files[0])) == "a1"
    assert first_move("--resume") == "a1"  # this one is now the last
    assert first_move("--resume", files[1].stem) == "b1"
    assert first_move(f"--resume={files[2].stem}") == "c1"
    elsewhere = tmp_path / "my game.json"
    elsewhere.write_bytes(files[0].read_bytes())
    assert first_move("--resume", str(elsewhere)) == "a1"
    said = run("play", "--resume", str(elsewhere), input="").stdout
    assert f"knightfall play --resume '{elsewhere}'" in said


def test_a_resumed_game_takes_no_other_options() -> None:
    run("play", "--against", "random", SMALL, input="c1")
    for more in (["--as", "first"], ["--against", "random"], [SMALL]):
        assert "leave out" in refused("play", "--resume", "last", *more)


def test_there_may_be_nothing_to_resume(data: Path) -> None:
    assert str(data / "games") in refused("play", "--resume")
    assert "'nothing'" in refused("play", "--resume", "nothing")


GOOD = {
    "format": "knightfall game 1",
    "start": SMALL,
    "moves": ["c1"],
    "you": "first",
    "agent": "random",
    "resigned": False,
}
DAMAGED: dict[str, Any] = {
    "empty": b"",
    "cut off": json.dumps(GOOD).encode()[:-20],
    "binary": bytes(range(256)),
    "a list": [],
    "deep": b"[" * 100_000,
    "foreign": {"hello": "world"},
    "another version": {**GOOD, "format": "knightfall game 2"},
    "no moves": {key: value for key, value in GOOD.items() if key != "moves"},
    "moves of numbers": {**GOOD, "moves": [1, 2]},
    "an illegal move": {**GOOD, "moves": ["c1", "c1"]},
    "moves after the end": {**GOOD, "start": "3/1n1/N2 w", "moves": ["b3", "b2"]},
    "a bad FEN": {**GOOD, "start": "4/4 w"},
    "no FEN": {**GOOD, "start": None},
    "an unknown agent": {**GOOD, "agent": "alfabeta(open)"},
    "a third seat": {**GOOD, "you": "third"},
    "a seat of a strange type": {**GOOD, "you": "first "},
    "a strange resignation": {**GOOD, "resigned": "yes"},
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_and_foreign_files_are_refused_and_left_alone(damage: str, data: Path) -> None:
    content = DAMAGED[damage]
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    file = data / "games" / "x.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(raw)
    for which in (["x"], [str(file)]):
        said = refused("play", "--resume", *which)
        assert str(file) in said
        assert "left as it is" in said
    # The last game is the newest that can be read.
    result = run("play", "--resume")
    assert result.exit_code == 2
    note, said = stderr_of(result).splitlines()
    assert str(file) in note
    assert "left as it is" in note
    assert "no unfinished game" in said
    assert file.read_bytes() == raw
    assert [path.name for path in file.parent.iterdir()] == ["x.json"]


def test_an_undamaged_file_is_not_refused(data: Path) -> None:
    file = data / "games" / "x.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(GOOD))
    assert events(run("play", "--resume", "x", "--json", input=""))[0]["moves"] == ["c1"]


def test_a_folder_is_no_game(data: Path) -> None:
    assert "there is no saved game" in refused("play", "--resume", str(data.parent))


def test_a_save_that_fails_leaves_the_old_file_whole(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = InteractiveGame([Position.from_fen(SMALL)], "w", RANDOM)
    game.play("c1")
    save(game)
    assert game.file is not None
    before = game.file.read_bytes()
    game.play("a2")
    for failure in (OSError("disk full"), KeyboardInterrupt()):

        def fail(*_: Any, failure: BaseException = failure) -> None:
            raise failure

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", fail)
            with pytest.raises(type(failure)):
                save(game)
        assert game.file.read_bytes() == before
        assert list(game.file.parent.iterdir()) == [game.file]
    save(game)
    assert load("last").moves == ["c1", "a2"]


def test_a_game_goes_on_if_it_cannot_be_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("KNIGHTFALL_DATA_DIR", str(tmp_path / "file"))
    result = run("play", "--json", "--against", "random", SMALL, input="c1\nquit\n")
    assert result.exit_code == 0
    assert [event["event"] for event in events(result)] == [
        "begin",
        "state",
        "move",
        "state",
        "error",
    ]
    said = stderr_of(result)
    assert said.startswith("warning: this game cannot be saved")
    assert said.count("\n") == 1


def test_an_agent_that_fails_keeps_the_game(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "late.py"
    file.write_text(
        "from knightfall.heuristics import count\n"
        "def late(board, open, me, opp, to_move):\n"
        "    return 1 / (count(open) - 14)\n"  # it fails when it is first called, not before
    )
    result = run("play", "--json", "--against", f"greedy({file}:late)", SMALL, input="d4\n")
    assert result.exit_code == 2
    assert "late.py:late" in stderr_of(result)
    assert events(result)[-1]["event"] == "saved"
    assert game_of(data)["moves"] == ["d4"]
    broken = tmp_path / "broken.py"
    broken.write_text("def broken(board, open, me, opp, to_move):\n    return 1 / 0 * me\n")
    refused("play", "--against", f"greedy({broken}:broken)", SMALL)
    with monkeypatch.context() as patch:  # its file could not even be written
        patch.setattr(interactive_game, "atomic_write", mock.Mock(side_effect=OSError("disk full")))
        failed = run("play", "--against", f"greedy({broken}:broken)", SMALL)
    assert failed.exit_code == 2
    warning, error = stderr_of(failed).splitlines()
    assert warning == "warning: this game cannot be saved: disk full"
    assert error.endswith("line 2: ZeroDivisionError: division by zero")
    assert len(list((data / "games").iterdir())) == 1  # a game that never began is not kept


# -- the board -----------------------------------------------------------------------------------


def screen(width: int = 80, height: int = 24, **options: Any) -> Console:
    file = io.TextIOWrapper(io.BytesIO(), encoding=options.pop("encoding", "utf-8"))
    return Console(file=file, width=width, height=height, force_terminal=True, **options)


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_terminal_says_that_an_agent_thinks(terminal: bool) -> None:
    view = TerminalView()
    view.console = screen()
    if not terminal:
        view.console = Console(file=view.console.file, force_terminal=False)
    with view.thinking("random"):
        pass
    file: Any = view.console.file
    file.flush()
    assert ("random thinks…" in file.buffer.getvalue().decode()) == terminal


def cells_of(position: Position, console: Console) -> dict[str, str]:
    """Return the text drawn in each cell."""
    board = position.board
    how = layout(board, console.width, console.height)
    lines = [line.plain for line in draw(position, console)]
    first, pitch = (1, 2) if how.lines else (0, 1)
    margin = len(str(board.height)) + 1
    found = {}
    for cell in range(board.cells):
        line = lines[first + pitch * board.row(cell)]
        start = margin + board.column(cell) * (how.cell + how.lines) + how.lines
        found[board.name(cell)] = line[start : start + how.cell].strip()
    return found


@pytest.mark.parametrize("position", random_positions(7, 7, 10, seed=3, min_placed=2), ids=str)
def test_the_board_shows_everything_without_colours(position: Position) -> None:
    shown = cells_of(position, screen(color_system=None))
    board = position.board
    for name, mark in shown.items():
        cell = board.cell(name)
        last = position.last is not None and cell == position.last[1]
        if cell in (position.white, position.black):
            knight = "♘" if cell == position.white else "♞"
            assert mark == (f"[{knight}]" if last else knight)
        elif name in position.legal_moves:
            assert mark == name
        else:
            assert mark == ("" if cell in position.open else "▒" * 4)


@pytest.mark.parametrize(
    ("colours", "empty"),
    [
        ({"color_system": None}, "·"),
        ({"color_system": "truecolor", "no_color": True}, "·"),
        ({"color_system": "truecolor"}, ""),
    ],
)
def test_without_lines_and_colours_empty_cells_have_dots(
    colours: dict[str, Any], empty: str
) -> None:
    position = Position.from_moves(["d4", "b2", "f5"])
    for height, shown in ((24, ""), (9, empty)):  # a low screen has no room for lines
        drawn = cells_of(position, screen(40, height, **colours))
        cells = {position.board.name(cell) for cell in position.open}
        assert {drawn[name] for name in cells - set(position.legal_moves)} == {shown}


def test_the_board_in_ascii() -> None:
    position = Position.from_moves(["d4", "b2", "f5"])
    console = screen(color_system=None, encoding="ascii")
    text = "\n".join(line.plain for line in draw(position, console))
    assert text.isascii()
    shown = cells_of(position, console)
    assert (shown["f5"], shown["b2"], shown["d4"]) == ("[N]", "n", "####")


@pytest.mark.parametrize(
    ("encoding", "corners", "across", "down"),
    [("utf-8", ("┌┬┐", "├┼┤", "└┴┘"), "─", "│"), ("ascii", ("+++", "+++", "+++"), "-", "|")],
)
@pytest.mark.parametrize("size", ["3x3", "7x5", "5x7"])
def test_lines_run_between_all_cells(
    size: str, encoding: str, corners: tuple[str, str, str], across: str, down: str
) -> None:
    board = Board.named(size)
    console = screen(color_system=None, encoding=encoding)
    how = layout(board, console.width, console.height)
    assert how.lines
    *drawn, files = (
        line.plain for line in draw(Position.start(board.width, board.height), console)
    )
    assert len(drawn) == 2 * board.height + 1
    margin = len(str(board.height)) + 1
    crossings = [margin + column * (how.cell + 1) for column in range(board.width + 1)]
    for at, line in enumerate(drawn):
        if at % 2:
            assert {line[crossing] for crossing in crossings} == {down}
            continue
        left, middle, right = corners[0 if at == 0 else 2 if at == 2 * board.height else 1]
        wanted = (across * how.cell).join([left, *[middle] * (board.width - 1), right])
        assert line == " " * margin + wanted
    for column, letter in zip(range(board.width), files.split(), strict=True):
        assert letter == board.name(column)[0]
        assert crossings[column] < files.index(letter) < crossings[column + 1]


@pytest.mark.parametrize("size", EVERY_BOARD, ids=repr)
def test_every_board_fits_a_small_terminal(size: Any) -> None:
    position = Position.start(size.width, size.height)
    lines = [line.plain for line in draw(position, screen())]
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 24
    for name in ("a1", position.board.name(size.width - 1)):
        assert cells_of(position, screen())[name] == name


def test_the_text_beside_the_board_is_about_this_position() -> None:
    name = "id(improved, depth=2)"
    shown = run("play", "--against", name, SMALL, input="c1\nquit\n").stdout
    first, second, _ = shown.split("your move> ")

    def beside(view: str) -> list[str]:
        lines = view.splitlines()
        column = next(line.index("♘ you") for line in lines if "♘ you" in line)
        return "\n".join(line[column:].rstrip() for line in lines).strip("\n").split("\n")

    assert beside(first)[-4:] == ["♘ you", f"♞ {name}", "", "Place your knight on any open cell."]
    before = Position.from_fen(SMALL).play("c1")
    thought = parse_agent(name).prepare().analyse(before)
    now = before.play(thought.move)
    you, agent, blank, went, effort, score, *rest = beside(second)
    counts = [len(now.targets(side)) for side in ("w", "b")]
    assert (you, agent) == (f"♘ you  {counts[0]} moves", f"♞ {name}  {counts[1]} moves")
    assert (blank, went) == ("", f"It went to {thought.move}")
    assert effort.startswith(f"  depth 2, {thought.nodes} nodes")
    assert score == f"  score {verdict(thought)} for it"
    assert rest == [
        f"  expects {' '.join(thought.pv)}",
        "",
        f"You can go to {' '.join(now.legal_moves)}",
        "",
        f"So far: c1 {thought.move}",
    ]


def test_the_text_beside_the_board_is_one_column() -> None:
    position = Position.from_moves(["d4", "b2"])
    console = screen(color_system=None)
    board = [line.plain.rstrip() for line in draw(position, console)]
    with console.capture() as capture:
        show(position, console, [Text("first"), Text("second"), Text("third")])
    lines = capture.get().splitlines()
    assert [line.split()[-1] for line in lines[:3]] == ["first", "second", "third"]
    (column,) = {line.index(line.split()[-1]) for line in lines[:3]}
    assert column > max(map(len, board))
    assert [line[:column].rstrip() for line in lines] == board


@pytest.mark.parametrize("colours", ["standard", "256", "truecolor"])
def test_colours_tell_cells_apart(colours: Any) -> None:
    position = Position.from_moves(["d4", "b2", "f5", "d1"])
    styles: dict[str, set[str]] = {}
    for line in draw(position, screen(color_system=colours)):
        for span in line.spans:
            mark = line.plain[span.start : span.end].strip()
            if span.style and getattr(span.style, "bgcolor", None):
                styles.setdefault(mark, set()).add(str(span.style))
    assert len(styles["▒▒▒▒"]) == 2  # cells visited before, and the cell just left
    kinds = [styles["♘"], styles["[♞]"], styles["g7"], styles[""], styles["▒▒▒▒"]]
    assert not any(a & b for i, a in enumerate(kinds) for b in kinds[:i])


def test_a_game_against_a_file_resumes_from_any_folder(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text("def f(board, open, me, opp, to_move):\n    return 1.0\n")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run("play", "--against", "greedy(mine.py:f)", SMALL, input="").exit_code == 0
    monkeypatch.chdir(tmp_path / "elsewhere")
    resumed = run("play", "--resume", "--yes", "--json", input="")
    assert resumed.exit_code == 0
    assert events(resumed)[0]["agent"] == f"greedy({tmp_path}/mine.py:f)"


def test_a_resumed_game_does_not_run_a_file_unasked(data: Path, tmp_path: Path) -> None:
    """Check that resuming a game asks before it runs the agent's file, because a saved game may
    come from somebody else.
    """
    ran, file = tmp_path / "ran", tmp_path / "evil.py"
    file.write_text(f"open({str(ran)!r}, 'w')\ndef f(board, open, me, opp, to_move): return 0.0\n")
    saved = {
        "format": "knightfall game 1", "start": "4/4/4/4[Nn] w", "moves": [], "you": "first",
        "resigned": False,
    }  # fmt: skip
    (tmp_path / "game.json").write_text(json.dumps(saved | {"agent": "random"}))
    assert run("play", "--resume", str(tmp_path / "game.json"), input="").exit_code == 0
    for agent in (f"greedy({file}:f)", f"python({file}:f, time=1s)", f"id(open+2*{file}:f)"):
        (tmp_path / "game.json").write_text(json.dumps(saved | {"agent": agent}))
        for more in ([], ["--json"]):
            said = refused("play", "--resume", str(tmp_path / "game.json"), *more)
            assert str(file) in said
            assert "--yes" in said
    assert not ran.exists()
    assert run("play", "--resume", str(tmp_path / "game.json"), "--yes", input="").exit_code == 0
    assert ran.exists()
    assert "--resume" in refused("play", "--yes")
    assert run("play", "--against", f"greedy({file}:f)", "4x4", input="").exit_code == 0


def test_a_terminal_is_asked_before_a_file_is_run(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran, file = tmp_path / "ran", tmp_path / "evil.py"
    file.write_text(f"open({str(ran)!r}, 'w')\ndef f(board, open, me, opp, to_move): return 0.0\n")
    saved = {
        "format": "knightfall game 1", "start": "4/4/4/4[Nn] w", "moves": [], "you": "first",
        "resigned": False, "agent": f"greedy({file}:f)",
    }  # fmt: skip
    (tmp_path / "game.json").write_text(json.dumps(saved))
    from typer.testing import _NamedTextIOWrapper

    monkeypatch.setattr(_NamedTextIOWrapper, "isatty", lambda self: True, raising=False)
    for answer, code in (("n\n", 1), ("\n", 1), ("y\n", 0)):
        asked = run("play", "--resume", str(tmp_path / "game.json"), input=answer)
        assert "Do you trust it?" in asked.stderr
        assert str(file) in asked.stderr
        assert (asked.exit_code, ran.exists()) == (code, code == 0)
