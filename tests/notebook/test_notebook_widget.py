"""The widget's side in Python: positions in and out, wrong values, and what it loads."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("anywidget", reason="the extra notebook is not installed")

from knightfall.errors import KnightfallError
from knightfall.notebook import Board, page_style
from knightfall.position import Position


def test_positions_go_in_and_out() -> None:
    assert Board().position == Position.start()
    position = Position.from_moves(["c3", "a1", "b1"], 4, 5)
    board, seen = Board(position), []
    assert board.fen == position.fen
    board.observe(lambda change: seen.append(change["new"]), "fen")
    board.position = position.play("c2")
    board.fen = f"{position.fen}  4 2"  # further fields of a FEN are ignored
    board.position = position.fen
    assert seen == [position.play("c2").fen, position.fen]
    assert repr(board) == f"Board({position.fen!r})"


@pytest.mark.parametrize("wrong", ["", "7/7/1N5/7/7/4n2/7", "9", 7, ["7/7"]])
def test_wrong_positions_are_refused_in_one_line(wrong: object) -> None:
    board = Board("7/7/1N5/7/7/4n2/7 w")
    with pytest.raises(KnightfallError) as at_first:
        Board(wrong)
    with pytest.raises(KnightfallError) as later:
        board.position = wrong
    assert "\n" not in str(at_first.value) + str(later.value)
    with pytest.raises(ValueError if isinstance(wrong, str) else Exception):
        board.fen = wrong
    assert board.fen == "7/7/1N5/7/7/4n2/7 w"


def test_the_script_fetches_nothing() -> None:
    """Check that it imports no file, and names no address but those of XML."""
    script = Board._esm
    assert not re.findall(r"^import\b|\bimport\(|\bfetch\(|importScripts", script, re.MULTILINE)
    assert set(re.findall(r"https?://[\w./]+", script)) <= {"http://www.w3.org/2000/svg"}


def test_the_style_stays_in_the_widget() -> None:
    """Check that nothing is left of what a shadow root cannot match, or the system's theme."""
    style = page_style()
    assert not re.findall(r":root|\bbody\s*\{|prefers-color-scheme", style)
    assert style.count(':host([data-theme="dark"])') == 1
