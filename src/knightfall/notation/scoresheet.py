"""A game that was written down: where it began, and what was played.

Three ways of writing are read::

    b5 e2 d4 f4 …                          placements and moves on an empty 7×7 board
    7/7/1N5/7/7/4n2/7 w d4 f4 …            the same from a FEN
    {"start": FEN, "moves": [...], …}      a saved game, or what ``knightfall watch --json`` prints
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from knightfall.errors import KnightfallError
from knightfall.position import Position, Side

_CELL = re.compile(r"[a-z][1-9][0-9]?", re.ASCII)
_ROWS = re.compile(r"[0-9*Nn]+(?:/[0-9*Nn]+)+(?:\[[Nn]*\])?", re.ASCII)
_FURTHER_FIELD = re.compile(r"-|[0-9]+", re.ASCII)
_EXPECTED = "give placements and moves in order, as in 'b5 e2 d4 f4'"
_SEATS: dict[object, Side] = {"first": "w", "second": "b"}


@dataclass(frozen=True)
class Scoresheet:
    """Positions from the start on, one more than moves; `resigned` is who gave up, if anybody."""

    line: tuple[Position, ...]
    moves: tuple[str, ...]
    resigned: Side | None = None

    @property
    def start(self) -> Position:
        """The position the game began with."""
        return self.line[0]

    @property
    def final(self) -> Position:
        """The position after the last move."""
        return self.line[-1]


def looks_like_a_game(text: str) -> bool:
    """Whether a text can only be meant as a game, not as the name of one."""
    words = text.split()
    if not words or text.lstrip().startswith("{"):
        return True
    return _CELL.fullmatch(words[0]) is not None or _begins_with_fen(words)


def _begins_with_fen(words: list[str]) -> bool:
    return _ROWS.fullmatch(words[0]) is not None or words[1:2] in (["w"], ["b"])


def scoresheet(start: Position, moves: Iterable[str], resigned: Side | None = None) -> Scoresheet:
    """Play a game over; an illegal move is named with its number, and no move is no game."""
    line, played = [start], []
    for number, move in enumerate(moves, start=1):
        if not isinstance(move, str) or not _CELL.fullmatch(move):
            raise KnightfallError(f"move {number}: {_short(move)} is not a cell such as c4")
        try:
            line.append(line[-1].play(move))
        except KnightfallError as error:
            raise KnightfallError(f"move {number}: {error}") from None
        played.append(move)
    if not played:
        raise KnightfallError(f"the game from {start.fen!r} has no moves: {_EXPECTED}")
    return Scoresheet(tuple(line), tuple(played), resigned)


def read(text: str) -> Scoresheet:
    """The game of a text."""
    if text.lstrip().startswith("{"):
        return _from_json(text)
    words = text.split()
    if not words:
        raise KnightfallError(f"the game {_short(text)} is empty: {_EXPECTED}")
    start = Position.start()
    if _begins_with_fen(words):
        start = Position.from_fen(" ".join(words[:2]))
        del words[:2]
        while words and _FURTHER_FIELD.fullmatch(words[0]):
            del words[0]
    return scoresheet(start, words)


def _from_json(text: str) -> Scoresheet:
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise KnightfallError(f"{_short(text)} begins like JSON, but is not") from None
    start, moves = content.get("start", content.get("fen")), content.get("moves")
    if not isinstance(start, str):
        raise KnightfallError(f'"start" (or "fen") must be a FEN, not {_short(start)}')
    if not isinstance(moves, list):
        raise KnightfallError(f'"moves" must be a list of cell names, not {_short(moves)}')
    resigned = _SEATS.get(str(content.get("you"))) if content.get("resigned") is True else None
    return scoresheet(Position.from_fen(start), moves, resigned)


def _short(thing: object) -> str:
    """A value as an error names it."""
    text = repr(thing)
    return text if len(text) <= 40 else f"{text[:39]}…"
