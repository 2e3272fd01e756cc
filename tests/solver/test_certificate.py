"""Certificates: proofs are accepted, everything else is refused."""

from __future__ import annotations

import ast
import hashlib
import json
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pytest
from helpers import at_length
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import knightfall.solver.verify as verifier
from knightfall.board import Board
from knightfall.cli.app import app
from knightfall.cli.commands.atlas import certify as certify_command
from knightfall.errors import KnightfallError
from knightfall.position import Position
from knightfall.solver.certificate import (
    MIRROR,
    Certificate,
    certify,
    certify_by_answers,
    with_checksum,
)
from knightfall.solver.engine import Engine
from knightfall.solver.verify import Refused, Verdict, _Certificate, verify

BOARDS = ["3x3", "3x4", "4x3", "3x5", "4x4", "5x5", "5x6", "6x6"]
HEADING = 3
"""The number of lines before the first answer."""

WRITTEN_OUT = 0
"""A value of `small` that leaves nothing to the verifier's search."""


def board_of(name: str) -> Board:
    width, height = name.split("x")
    return Board.of(int(width), int(height))


@cache
def certificate(name: str, small: int = 500) -> Certificate:
    return certify_by_answers(board_of(name), small=small)


@cache
def body(name: str, small: int = 500) -> tuple[str, ...]:
    """Return the lines of a certificate without its checksum."""
    return tuple(certificate(name, small).text.splitlines()[:-1])


@pytest.fixture
def judge(tmp_path: Path) -> Callable[[bytes], Verdict]:
    """Verify the bytes of a certificate."""
    return lambda data: judged(tmp_path, data)


def judged(folder: Path, data: bytes) -> Verdict:
    file = folder / "certificate.txt"
    file.write_bytes(data)
    return verify(file)


def resealed(lines: list[str]) -> bytes:
    """Return changed lines with a right checksum."""
    return with_checksum("".join(f"{line}\n" for line in lines)).encode()


def reason(judge: Callable[[bytes], Verdict], data: bytes) -> str:
    """Return why bytes are refused."""
    with pytest.raises(Refused) as refusal:
        judge(data)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


def depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def plays(lines: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """Yield the index of each line that gives an answer, with the moves that lead to it."""
    game: list[str] = []
    for at in range(HEADING, len(lines)):
        game = game[: 2 * depth(lines[at])]
        yield at, list(game)
        game += lines[at].split()[:2]


def end_of(lines: tuple[str, ...], at: int) -> int:
    """Return the index of the first line after all lines that are nested below a line."""
    end = at + 1
    while end < len(lines) and depth(lines[end]) > depth(lines[at]):
        end += 1
    return end


@cache
def mover_wins(position: Position) -> bool:
    """Return whether the side to move wins, by plain brute force."""
    return any(not mover_wins(position.play(move)) for move in position.legal_moves)


# -- proofs ------------------------------------------------------------------------------------


@pytest.mark.parametrize("small", [WRITTEN_OUT, 10, 500])
@pytest.mark.parametrize("name", BOARDS)
def test_certificates_verify(name: str, small: int, judge: Callable[[bytes], Verdict]) -> None:
    if name == "6x6" and small == WRITTEN_OUT:
        small = 100  # written out, this certificate would be long
    text = certificate(name, small).text
    verdict = judge(text.encode("ascii"))
    board = board_of(name)
    classes = {min(image[cell] for image in board.symmetries) for cell in range(board.cells)}
    assert (verdict.board, verdict.method) == (name, "answers")
    assert verdict.placements == len(classes)
    assert verdict.answers == len(text.splitlines()) - HEADING - 1
    if small == WRITTEN_OUT:
        assert verdict.searched == 0
        assert "?" not in text


@pytest.mark.slow
def test_the_second_player_wins_on_7x7(judge: Callable[[bytes], Verdict]) -> None:
    text = certify(Board.of(7, 7)).text
    assert len(text) < 1_000_000
    verdict = judge(text.encode("ascii"))
    assert (verdict.board, verdict.placements) == ("7x7", 10)
    assert verdict.answers > 10_000


def test_progress_is_told_up_to_the_end() -> None:
    told: list[float] = []
    certify(Board.of(5, 5), on_progress=told.append)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)


def test_every_line_of_play_ends_with_a_win() -> None:
    """Check, by replaying all lines with `Position`, that each ends the game if nothing is left to
    the verifier's search.
    """
    lines = body("4x4", WRITTEN_OUT)
    ends = 0
    for at, game in plays(lines):
        move, answer, *mark = lines[at].split()
        position = Position.from_moves([*game, move, answer], 4, 4)
        below = [line for line in lines[at + 1 : at + 2] if depth(line) > depth(lines[at])]
        if not mark and not below:
            assert position.winner == "b"
            ends += 1
    assert ends > 10


@pytest.mark.parametrize("name", ["3x3", "3x4", "4x4", "3x5"])
def test_the_verifier_searches_right(name: str, judge: Callable[[bytes], Verdict]) -> None:
    """Check that an answer left to the search is accepted exactly if brute force says it wins."""
    board, lines = board_of(name), body(name, WRITTEN_OUT)
    # The line that = refers to may be removed below.
    lines = tuple(line.replace("=", "?") for line in lines)
    answers = {True: 0, False: 0}
    for at, game in plays(lines):
        move = lines[at].split()[0]
        position = Position.from_moves([*game, move], board.width, board.height)
        for answer in position.legal_moves:
            line = f"{move} {answer} ?"
            forged = [*lines[:at], " " * depth(lines[at]) + line, *lines[end_of(lines, at) :]]
            wins = not mover_wins(position.play(answer))
            answers[wins] += 1
            if wins:
                judge(resealed(forged))
            else:
                why = f"line {at + 1} ('{line}'): after this, the first player wins"
                assert reason(judge, resealed(forged)) == why
    assert min(answers.values()) > 3


# -- reflection --------------------------------------------------------------------------------

SIZES = [(w, h) for w in range(3, 22) for h in range(3, 22) if w * h <= 64]
EVEN = [f"{w}x{h}" for w, h in SIZES if w * h % 2 == 0]
ODD = [f"{w}x{h}" for w, h in SIZES if w * h % 2 == 1]


@pytest.mark.parametrize("name", EVEN)
def test_a_board_with_an_even_side_is_certified_by_reflection(
    name: str, judge: Callable[[bytes], Verdict]
) -> None:
    text = certify(board_of(name)).text
    assert text.splitlines()[:-1] == [verifier.HEADING, f"board {name}", "winner second", MIRROR]
    assert judge(text.encode("ascii")) == Verdict(name, "mirror", 0, 0, 0)


@pytest.mark.parametrize("name", ODD)
def test_reflection_proves_nothing_where_both_sides_are_odd(
    name: str, judge: Callable[[bytes], Verdict]
) -> None:
    board = board_of(name)
    centre = board.name(board.cells // 2)
    why = reason(judge, resealed([verifier.HEADING, f"board {name}", "winner second", MIRROR]))
    assert why == f"line 4 ('{MIRROR}'): {centre} is its own image: both sides are odd"


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (["board 8x8", "winner first", MIRROR], "line 3 ('winner first'): it must be 'winner sec"),
        (["board 8x9", "winner second", MIRROR], "line 2 ('board 8x9'): it must name a board"),
        (["board 2x8", "winner second", MIRROR], "line 2 ('board 2x8'): it must name a board"),
        (["board 8x8", "winner second", "method mirrors"], "line 4 ('method mirrors'): it must be"),
        (["board 8x8", "winner second", f"{MIRROR} "], "line 4 ('method mirror'): it must be"),
        (["board 8x8", "winner second", MIRROR, MIRROR], "line 5 ('method mirror'): nothing may"),
        (["board 8x8", "winner second", MIRROR, "a1 h8 ?"], "line 5 ('a1 h8 ?'): nothing may"),
        (["board 4x4", "winner second", "a1 d4 ?", MIRROR], "line 5 ('method mirror'): it must be"),
        (["board 8x8", MIRROR], "line 3 ('method mirror'): it must be 'winner second'"),
    ],
)
def test_a_forged_reflection_is_refused(
    lines: list[str], why: str, judge: Callable[[bytes], Verdict]
) -> None:
    assert reason(judge, resealed([verifier.HEADING, *lines])).startswith(why)


def test_a_damaged_reflection_is_refused(judge: Callable[[bytes], Verdict]) -> None:
    data = certify(Board.of(8, 8)).text.encode("ascii")
    for at in range(len(data)):
        for bit in range(8):
            reason(judge, data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :])
    for length in range(len(data)):
        reason(judge, data[:length])


def test_reflection_by_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    certify_command("8x8")
    assert "8x8: the second player wins; by reflection, " in capsys.readouterr().out
    done = CliRunner().invoke(app, ["atlas", "verify", "certificate-8x8.txt"])
    assert done.exit_code == 0
    assert "the second player wins on 8x8 from free placement (by reflection" in done.stdout
    certify_command("4x7", json=True)
    told = json.loads(capsys.readouterr().out)
    assert (told["method"], told["placements"], told["answers"]) == ("mirror", 0, 0)
    alone = subprocess.run(
        [sys.executable, "-I", "-S", str(source()), "certificate-4x7.txt"],
        capture_output=True,
        text=True,
    )
    assert alone.stdout == "verified: the second player wins on 4x7 (by reflection)\n"


# -- damage ------------------------------------------------------------------------------------


def test_any_flipped_bit_is_refused(judge: Callable[[bytes], Verdict]) -> None:
    data = certificate("3x4").text.encode("ascii")
    judge(data)
    for at in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[at] ^= 1 << bit
            reason(judge, bytes(changed))


@settings(
    max_examples=6 * settings.default.max_examples,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_any_changed_byte_is_refused(tmp_path: Path, data: st.DataObject) -> None:
    name, small = data.draw(st.sampled_from([("5x5", 500), ("4x4", WRITTEN_OUT)]))
    good = certificate(name, small).text.encode("ascii")
    at = data.draw(st.integers(0, len(good) - 1))
    there = data.draw(st.binary(max_size=2).filter(lambda new: new != good[at : at + 1]))
    with pytest.raises(Refused):
        judged(tmp_path, good[:at] + there + good[at + 1 :])


def test_any_cut_is_refused(judge: Callable[[bytes], Verdict]) -> None:
    data = certificate("3x4").text.encode("ascii")
    for length in range(len(data)):
        reason(judge, data[:length])


# -- forgery: the checksum is right -------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "small"), [("3x4", WRITTEN_OUT), ("4x4", WRITTEN_OUT), ("5x5", 100), ("5x6", 500)]
)
def test_a_missing_branch_is_refused(
    name: str, small: int, judge: Callable[[bytes], Verdict]
) -> None:
    lines = body(name, small)
    for at in range(HEADING, len(lines)):
        end = end_of(lines, at)
        move = lines[at].split()[0]
        if depth(lines[at]) == 0:
            wanted = "placement "
        else:
            above = max(i for i in range(at) if depth(lines[i]) < depth(lines[at]))
            where = f"line {above + 1} ('{lines[above].strip()}')"
            wanted = f"{where}: after this, {move} is not answered"
        why = reason(judge, resealed([*lines[:at], *lines[end:]]))
        # A later line may refer to one that is missing now.
        assert why.startswith(wanted) or "no line above leads to" in why
        if end > at + 1:  # only the line itself
            reason(judge, resealed([*lines[:at], *lines[at + 1 :]]))


def test_a_missing_placement_is_named(judge: Callable[[bytes], Verdict]) -> None:
    lines = body("4x4")
    at = next(at for at in range(HEADING, len(lines)) if lines[at].startswith("b3 "))
    why = reason(judge, resealed([*lines[:at], *lines[at + 1 :]]))
    assert why == "placement b2: the proof answers neither it nor a mirror image of it"


@pytest.mark.parametrize(
    ("name", "small"),
    [("3x4", WRITTEN_OUT), at_length("4x4", WRITTEN_OUT), ("4x4", 10), at_length("5x5", 200)],
)
def test_only_winning_answers_stand(
    name: str, small: int, judge: Callable[[bytes], Verdict]
) -> None:
    """Check that an answer replaced by another cell is refused if that is illegal or loses."""
    board, lines = board_of(name), body(name, small)
    engine = Engine(board, table_mb=1)
    illegal = losing = 0
    for at, game in plays(lines):
        move, answer, *mark = lines[at].split()
        position = Position.from_moves([*game, move], board.width, board.height)
        for cell in range(board.cells):
            other = board.name(cell)
            if other == answer:
                continue
            line = " " * depth(lines[at]) + " ".join([move, other, *mark])
            forged = resealed([*lines[:at], line, *lines[at + 1 :]])
            if other not in position.legal_moves:
                why = f"line {at + 1} ('{line.strip()}'): the answer {other} cannot be played"
                assert reason(judge, forged) == why
                illegal += 1
            elif engine.wins(position.play(other)):
                assert reason(judge, forged).startswith(("line ", "placement "))
                losing += 1
    assert illegal > 0
    assert losing > 0


def test_a_losing_answer_left_to_the_search_is_named(judge: Callable[[bytes], Verdict]) -> None:
    """Check that a losing answer without lines below it, whose win is left to the verifier's
    search, is refused with its line's number.
    """
    lines = body("5x5")
    engine = Engine(Board.of(5, 5), table_mb=1)
    forged = 0
    for at, game in plays(lines):
        move, answer, *mark = lines[at].split()
        position = Position.from_moves([*game, move], 5, 5)
        for other in position.legal_moves:
            if mark == ["?"] and other != answer and engine.wins(position.play(other)):
                line = f"{' ' * depth(lines[at])}{move} {other} ?"
                why = f"line {at + 1} ('{line.strip()}'): after this, the first player wins"
                assert reason(judge, resealed([*lines[:at], line, *lines[at + 1 :]])) == why
                forged += 1
    assert forged > 10


Forgery = Callable[[list[str]], None]
FIRST = HEADING
"""The index of the first line of answers."""


def put(at: int, line: str) -> Forgery:
    """Return a change that replaces a line."""
    return lambda lines: lines.__setitem__(at, line)


def insert(at: int, line: str) -> Forgery:
    return lambda lines: lines.insert(at, line)


def keep(number: int) -> Forgery:
    """Return a change that keeps only a number of lines."""
    return lambda lines: lines.__delitem__(slice(number, None))


def add(at: int, text: str) -> Forgery:
    """Return a change that appends to a line."""
    return lambda lines: lines.__setitem__(at, lines[at] + text)


# In the certificate of 4x4 by answers; the first placement is a4.
FORGERIES: list[tuple[Forgery, str]] = [
    (keep(0), "line 1 (''): it must be 'knightfall certificate 1'"),
    (keep(1), "line 2 (''): it must name a board"),
    (keep(HEADING), "placement a1: the proof answers neither it nor a mirror image of it"),
    (put(0, "knightfall certificate 2"), "line 1 ('knightfall certificate 2'): it must be "),
    (put(1, "board 2x9"), "line 2 ('board 2x9'): it must name a board"),
    (put(1, "board 8x9"), "line 2 ('board 8x9'): it must name a board"),
    (put(1, "board 04x4"), "line 2 ('board 04x4'): it must name a board"),
    (put(1, "board 5x4"), "line "),
    (put(2, "winner first"), "line 3 ('winner first'): it must be 'winner second'"),
    (insert(FIRST, ""), "line 4 (''): it must be a move, its answer"),
    (insert(FIRST, "a4 d1 !"), "line 4 ('a4 d1 !'): it must be a move, its answer"),
    (insert(FIRST, "A4 d1 ?"), "line 4 ('A4 d1 ?'): it must be a move, its answer"),
    (insert(FIRST, "\ta4 d1"), "line 4 ('a4 d1'): it must be a move, its answer"),
    (insert(FIRST, " b2 c1"), "line 4 ('b2 c1'): it is too deep"),
    (insert(FIRST, "a4 a4 ?"), "line 4 ('a4 a4 ?'): the answer a4 cannot be played"),
    (insert(FIRST, "a5 a4 ?"), "line 4 ('a5 a4 ?'): a5 cannot be played"),
    (insert(FIRST, "a04 b1 ?"), "line 4 ('a04 b1 ?'): a04 cannot be played"),
    (insert(FIRST + 1, " a3 b1 ?"), "line 5 ('a3 b1 ?'): a3 cannot be played"),
    (insert(FIRST + 1, "   b2 b1 ?"), "line 5 ('b2 b1 ?'): it is too deep"),
    (insert(FIRST, "d1 a4 ?"), "line 5 ('a4 "),  # the corners are mirror images
    (add(FIRST, " ="), "line 4 ('a4 "),
    (add(FIRST, " ?"), "line 5 ('"),
]


@pytest.mark.parametrize(("forge", "why"), FORGERIES)
def test_a_forgery_is_refused_with_its_line(
    forge: Forgery, why: str, judge: Callable[[bytes], Verdict]
) -> None:
    lines = list(body("4x4", WRITTEN_OUT))
    forge(lines)
    assert reason(judge, resealed(lines)).startswith(why)


def test_no_move_is_answered_twice(judge: Callable[[bytes], Verdict]) -> None:
    lines = body("4x4", WRITTEN_OUT)
    move = lines[-1].split()[0]
    why = reason(judge, resealed([*lines, lines[-1]]))
    assert why == f"line {len(lines) + 1} ('{lines[-1].strip()}'): {move} is answered already"


def test_a_position_is_answered_for_once(judge: Callable[[bytes], Verdict]) -> None:
    """Check that lines ending in = refer to an earlier line, and are refused without it."""
    lines = body("4x5", WRITTEN_OUT)
    assert any(line.endswith(" =") for line in lines)
    first = next(at for at, line in enumerate(lines) if at > HEADING and " =" not in line)
    why = reason(judge, resealed([*lines[:first], f"{lines[first]} =", *lines[first + 1 :]]))
    assert "no line above leads to the same position" in why


def test_what_is_too_large_to_be_searched_must_be_written_out(
    judge: Callable[[bytes], Verdict],
) -> None:
    board = ["knightfall certificate 1", "board 7x7", "winner second"]
    rest = [f"{cell} d5 ?" for cell in ("a7", "b7", "c7", "d7", "b6", "c6", "d6", "c5")]
    why = reason(judge, resealed([*board, *rest, "d5 e3 ?", "d4 e4 ?"]))
    assert why == "line 4 ('a7 d5 ?'): not decided within 100,000 positions"


# -- the verifier is independent ----------------------------------------------------------------


def source() -> Path:
    return Path(str(verifier.__file__))


def test_the_verifier_is_one_page_of_plain_python() -> None:
    text = source().read_text(encoding="utf-8")
    assert len(text.splitlines()) < 270
    imported: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add(str(node.module))
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names | {"__future__"}
    assert not any("knightfall" in name for name in imported)


def test_the_verifier_runs_alone(tmp_path: Path) -> None:
    """Check that a copy of the verifier runs in a folder without knightfall and other packages."""
    script = tmp_path / "verify.py"
    script.write_bytes(source().read_bytes())
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    certificate("5x5").write(good)
    bad.write_bytes(good.read_bytes().replace(b"winner second", b"winner first"))

    def run(*args: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(script), *args], capture_output=True, text=True
        )
        return done.returncode, done.stdout, done.stderr

    answers = len(certificate("5x5").lines)
    accepted = f"verified: the second player wins on 5x5 ({answers} answers)\n"
    assert run(str(good)) == (0, accepted, "")
    code, out, err = run(str(bad))
    assert (code, out) == (2, "")
    assert err.startswith("refused: line 3 ('winner first'): ")
    for args in ([], [str(tmp_path / "none.txt")]):
        code, out, err = run(*args)
        assert (code, out) == (2, "")
        assert err.startswith("refused: ")
        assert err.count("\n") == 1


# -- writing -----------------------------------------------------------------------------------


def test_the_file_is_written_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "certificate.txt"
    file.write_text("precious")

    def fail(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr("os.replace", fail)
        with pytest.raises(OSError, match="no space left"):
            certificate("3x4").write(file)
    assert [path.name for path in tmp_path.iterdir()] == ["certificate.txt"]
    assert file.read_text() == "precious"
    certificate("3x4").write(file)
    assert [path.name for path in tmp_path.iterdir()] == ["certificate.txt"]
    content, seal = file.read_bytes().rsplit(b"sha256 ", 1)
    assert seal == hashlib.sha256(content).hexdigest().encode() + b"\n"


def test_where_the_first_player_wins_there_is_nothing_to_certify(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # No board is known on which the first player wins, so the solver is replaced.
    monkeypatch.setattr("knightfall.solver.certificate.who_wins", lambda *_: 1)
    with pytest.raises(KnightfallError) as error:
        certify_by_answers(Board.of(3, 4))
    assert str(error.value) == (
        "on 3×4 the first player wins by placing on a4, so there is no certificate: it would prove "
        "that the second player wins"
    )


# -- the commands ------------------------------------------------------------------------------


def test_verify_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "5x5.txt"
    certificate("5x5").write(file)
    shown = mock.MagicMock()
    monkeypatch.setattr("knightfall.display.progress.progress", lambda: shown)
    done = CliRunner().invoke(app, ["atlas", "verify", str(file)])
    assert done.exit_code == 0
    assert done.stdout.startswith("verified: the second player wins on 5x5 from free placement (6 ")
    said = [call.args[0] for call in shown.__enter__().say.call_args_list]
    assert said
    assert all(re.fullmatch(r"\d+ % checked · \d+ s", line) for line in said)
    assert all(line != after for line, after in pairwise(said))
    done = CliRunner().invoke(app, ["atlas", "verify", "--json", str(file)])
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert told.pop("seconds") > 0
    assert told == {"verified": True, "winner": "second", **verify(file)._asdict()}


def test_verify_command_refuses_with_one_line_and_exit_code_2(tmp_path: Path) -> None:
    file = tmp_path / "bad.txt"
    certificate("5x5").write(file)
    file.write_bytes(file.read_bytes().replace(b"\n b", b"\n q", 1))
    for path, why in (
        (file, f"knightfall: {file} is not a proof: line "),
        (tmp_path / "none.txt", "knightfall: cannot read "),
        (tmp_path, f"knightfall: {tmp_path} is not a proof: it is not a file"),
    ):
        for extra in ([], ["--json"]):
            done = CliRunner().invoke(app, ["atlas", "verify", *extra, str(path)])
            assert (done.exit_code, done.stdout) == (2, "")
            assert done.stderr.startswith(why)
            assert done.stderr.count("\n") == 1


def test_certify_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    certify_command("5x5")
    assert capsys.readouterr().out.startswith("5x5: the second player wins; ")
    assert Path("certificate-5x5.txt").read_text() == certificate("5x5").text
    certify_command("3×5", output=Path("proof.txt"), workers=2, json=True)
    told = json.loads(capsys.readouterr().out)
    assert told.pop("seconds") > 0
    text = certificate("3x5").text
    assert Path("proof.txt").read_text() == text
    assert told == {
        "board": "3x5",
        "winner": "second",
        "method": "answers",
        "placements": 6,
        "answers": len(text.splitlines()) - HEADING - 1,
        "bytes": len(text),
        "file": "proof.txt",
    }


@pytest.mark.parametrize(
    ("board", "output", "workers", "why"),
    [
        ("seven", None, 1, r"board 'seven' cannot be read"),
        ("2x5", None, 1, r"2×5 board is too small"),
        ("9x9", None, 1, r"at most 64 are supported"),
        ("5x5", ".", 1, r"'.' is a folder: name a file"),
        ("5x5", None, 1000, r"workers=1000"),
    ],
)
def test_certify_command_refuses_bad_input(
    board: str,
    output: str | None,
    workers: int,
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(KnightfallError, match=why):
        certify_command(board, output=None if output is None else Path(output), workers=workers)
    assert list(tmp_path.iterdir()) == []


def test_a_long_file_that_is_no_proof_takes_little_memory() -> None:
    """Compare the memory that Python allocates with the size of the file."""
    heading = b"knightfall certificate 1\nboard 7x7\nwinner second\n"
    for data in (heading + b"a1\n" * 1_000_000 + b"sha256 0\n", b"a1\n" * 1_000_000):
        tracemalloc.start()
        try:
            with pytest.raises(Refused):
                _Certificate(data)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert most < 3 * len(data)  # the lines as a list of texts take 20 times as much
