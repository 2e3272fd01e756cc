r"""Games as text: the class `Scoresheet`, the parser `read_game`, and the files of saved games.

`Scoresheet.to_dict` returns the game for JSON.  `Scoresheet.to_text` returns text for people, with
tags in brackets and numbered moves::

    [White "AB_Improved"]
    [Black "MM_Open"]
    [Opening "7/7/1N5/7/7/4n2/7 w"]
    [Result "1-0"]
    [Reason "no moves"]

    1. d4 f4 2. e6 d3 3. c5 b2 1-0

White is the first player, whose knight is N.  In a tag, a quote is written \", a backslash \\.
If Black begins, the moves begin with 1... and Black's move.

`read_game` reads each of these forms::

    b5 e2 d4 f4 …                          placements and moves on an empty 7×7 board
    7/7/1N5/7/7/4n2/7 w d4 f4 …            the same from a FEN
    [Opening "…"] … 1. d4 f4 2. …          tags and numbered moves, as above
    {"start": FEN, "moves": [...], …}      a saved game, or the output of ``watch`` and
                                           ``replay`` with ``--json``
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from knightfall.display.printable import printable
from knightfall.errors import KnightfallError, nearest
from knightfall.position import Position, Side, other
from knightfall.untrusted_input import OneOf, check, parse_json, read_text
from knightfall.untrusted_input import shown as _short
from knightfall.user_folders import data_folder

NO_MOVES = "no moves left"
RESIGNED = "resigned"
SEAT: dict[Side, str] = {"w": "first", "b": "second"}
SIDE: dict[str, Side] = {seat: side for side, seat in SEAT.items()}
NAME_TAG: dict[Side, str] = {"w": "White", "b": "Black"}
"""The tags that name the player of each side."""
RESULT: dict[Side | None, str] = {"w": "1-0", "b": "0-1", None: "*"}

_WIDTH = 80


@dataclass(frozen=True)
class Scoresheet:
    """A game.  `winner` is None if it is unfinished; `reason` is why the loser lost.

    `tags` hold everything else, for example the players' names (White and Black).  The constructor
    checks nothing; `played` checks that the moves are legal.
    """

    start: Position
    moves: tuple[str, ...]
    winner: Side | None = None
    reason: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def played(
        start: Position,
        moves: Iterable[str],
        winner: Side | None = None,
        reason: str | None = None,
        tags: Mapping[str, str] | None = None,
    ) -> Scoresheet:
        """Return the game with these `moves` from `start`, after checking that they are legal.

        The other arguments are fields of the class: `winner`, `reason` and `tags`.  Raise
        KnightfallError with the number of the first illegal move, or if the winner is wrong.
        If the side to move at the end has no move, its opponent has won even if none is given.
        """
        positions, names = [start], []
        for number, move in enumerate(moves, start=1):
            try:
                positions.append(positions[-1].play(move))
            except KnightfallError as error:
                raise KnightfallError(f"move {number}: {error}") from None
            names.append(move)
        true_winner = positions[-1].winner
        if true_winner is not None:
            if winner not in (None, true_winner):
                raise KnightfallError(
                    f"after the last move the winner is {true_winner}, not {winner!r}"
                )
            winner, reason = true_winner, reason or NO_MOVES
        sheet = Scoresheet(start, tuple(names), winner, reason, tags or {})
        vars(sheet)["positions"] = tuple(positions)
        return sheet

    @cached_property
    def positions(self) -> tuple[Position, ...]:
        """The positions from the start to the end, one more than there are moves."""
        return self.played(self.start, self.moves).positions

    @property
    def final(self) -> Position:
        """The position after the last move."""
        return self.positions[-1]

    @property
    def loser(self) -> Side | None:
        """The side that lost, or None if the game is unfinished."""
        return None if self.winner is None else other(self.winner)

    def name(self, side: Side) -> str | None:
        """Return the name of a side's player, or None if it is unknown."""
        return self.tags.get(NAME_TAG[side])

    # -- writing -----------------------------------------------------------------------------

    def __repr__(self) -> str:
        names = " against ".join(self.name(side) or SEAT[side] for side in SEAT)
        result = f"{len(self.moves)} moves, {RESULT[self.winner]}"
        return printable(f"<{type(self).__name__}: {names}, {result}, from {self.start.fen}>")

    def to_dict(self) -> dict[str, Any]:
        """Return the game as plain values for JSON, without the players' names."""
        return {
            "fen": self.start.fen,
            "moves": list(self.moves),
            "final": self.final.fen,
            "winner": self.winner,
            "reason": self.reason,
        }

    def to_text(self) -> str:
        """Return the tags, an empty line and the moves as text.  The moves are not checked."""
        fixed = {"Opening": self.start.fen, "Result": RESULT[self.winner]}
        if self.reason is not None:
            fixed["Reason"] = self.reason
        tags = "".join(
            f'[{name} "{_escaped(value)}"]\n' for name, value in {**self.tags, **fixed}.items()
        )
        words = " ".join([*self._numbered(), RESULT[self.winner]])
        wrapped = textwrap.fill(words, _WIDTH, break_long_words=False, break_on_hyphens=False)
        return f"{tags}\n{wrapped}\n"

    def _numbered(self) -> Iterator[str]:
        """Yield the moves, with a move number before each of White's."""
        turn = 0 if self.start.to_move == "w" else 1
        for at, move in enumerate(self.moves, start=turn):
            if at % 2 == 0:
                yield f"{at // 2 + 1}."
            elif at == turn:
                yield "1..."
            yield move


def _escaped(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace('"', '\\"')


# -- reading ------------------------------------------------------------------------------------


_CELL = re.compile(r"[a-z][1-9][0-9]?", re.ASCII)
_ROWS = re.compile(r"[0-9*Nn]+(?:/[0-9*Nn]+)+(?:\[[Nn]*\])?", re.ASCII)
_FURTHER_FIELD = re.compile(r"-|[0-9]+", re.ASCII)
_NUMBER = re.compile(r"[0-9]+\.(?:\.\.)?", re.ASCII)
_TAG = re.compile(r'\[([A-Za-z]+) "((?:[^"\\]|\\.)*)"\]')
_EXPECTED = "give placements and moves in order, as in 'b5 e2 d4 f4'"
_NO_TAGS: Mapping[str, str] = {}

_WINNER: dict[str, Side | None] = {result: side for side, result in RESULT.items()}


def looks_like_a_game(text: str) -> bool:
    """Return whether a text is written like a game, as opposed to the name of a saved one."""
    words = text.split()
    if not words or words[0][0] in "{[%" or _begins_with_fen(words):
        return True
    return any(pattern.fullmatch(words[0]) for pattern in (_CELL, _NUMBER))


def read_game(text: str) -> Scoresheet:
    """Return the game that a text describes, in any form that this module's docstring lists."""
    begin = text.lstrip()[:1]
    if begin == "{":
        return _from_json(text)
    if begin in ("[", "%"):
        return _from_tagged(text)
    words = text.split()
    if not words:
        raise KnightfallError(f"the game {_short(text)} is empty: {_EXPECTED}")
    start = Position.start()
    if _begins_with_fen(words):
        start = Position.from_fen(" ".join(words[:2]))
        del words[:2]
        while words and _FURTHER_FIELD.fullmatch(words[0]):
            del words[0]
    return _from_words(start, words)


def _begins_with_fen(words: list[str]) -> bool:
    return _ROWS.fullmatch(words[0]) is not None or words[1:2] in (["w"], ["b"])


def _from_words(
    start: Position, words: list[str], reason: str | None = None, tags: Mapping[str, str] = _NO_TAGS
) -> Scoresheet:
    """Return the game of a list of moves; move numbers and a result at the end are optional."""
    winner: Side | None = None
    if words and words[-1] in _WINNER:
        winner = _WINNER[words[-1]]
        words = words[:-1]
    moves = [word for word in words if not _NUMBER.fullmatch(word)]
    return _from_moves(start, moves, winner, reason, tags)


def _from_moves(
    start: Position,
    moves: list[str],
    winner: Side | None,
    reason: str | None,
    tags: Mapping[str, str],
) -> Scoresheet:
    for number, move in enumerate(moves, start=1):
        if not _CELL.fullmatch(move):
            raise KnightfallError(f"move {number}: {_short(move)} is not a cell such as c4")
    return Scoresheet.played(start, moves, winner, reason, tags)


def _from_tagged(text: str) -> Scoresheet:
    tags: dict[str, str] = {}
    words: list[str] = []
    for line in map(str.strip, text.splitlines()):
        tag = _TAG.fullmatch(line)
        if tag and words:
            raise KnightfallError("the text holds more than one game: give one of them")
        if tag:
            tags[tag[1]] = re.sub(r"\\(.)", r"\1", tag[2])
        elif not line.startswith("%"):  # such as the first lines of an exported run
            words += line.split()
    opening, reason = tags.pop("Opening", None), tags.pop("Reason", None)
    tags.pop("Result", None)  # it also stands after the moves
    start = Position.start() if opening is None else Position.from_fen(opening)
    return _from_words(start, words, reason, tags)


def _from_json(text: str) -> Scoresheet:
    try:
        content = parse_json(text)
    except KnightfallError as error:
        raise KnightfallError(f"{_short(text)} begins like JSON, but {error}") from None
    return game_of(content)


def game_of(content: Mapping[str, Any]) -> Scoresheet:
    """Return the game of a JSON object that ``play`` saved or ``watch`` or ``replay`` printed."""
    named = "fen" if "fen" in content and "start" not in content else "start"
    shape = {named: str, "moves": [str], "winner?": (OneOf(("w", "b")), None), ...: object}
    check(shape, content)
    start, moves = content[named], content["moves"]
    winner, reason = content.get("winner"), content.get("reason")
    names = {side: content.get(seat) for side, seat in SEAT.items()}
    you = SIDE.get(str(content.get("you")))
    if you is not None:
        names = {you: "you", other(you): content.get("agent")}
        if content.get("resigned") is True:
            winner, reason = other(you), RESIGNED
        elif content.get("agent_resigned") is True:
            winner, reason = you, RESIGNED
    tags = {NAME_TAG[side]: name for side, name in names.items() if isinstance(name, str)}
    reason = reason if isinstance(reason, str) else None
    return _from_moves(Position.from_fen(start), moves, winner, reason, tags)


# -- the games that ``knightfall play`` saves, one file per game ---------------------------------


LAST = "last"
MOST_BYTES = 2**20
"""More bytes than the longest game has."""


def games_folder() -> Path:
    """Return the folder of saved games."""
    return data_folder() / "games"


def saved_games() -> list[Path]:
    """Return the files of all saved games, the newest first."""
    files = [path for path in games_folder().glob("*.json") if path.is_file()]
    return sorted(files, key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)


def saved_game(name: str) -> Path:
    """Return the file of the saved game with a name."""
    files = {path.stem: path for path in saved_games()}
    if name not in files:
        raise KnightfallError(
            f"there is no saved game {name!r}, neither as a file nor in {games_folder()}"
            f"{nearest(name, files)}"
        )
    return files[name]


def read_game_file(file: Path) -> Scoresheet:
    """Return the game in a file, saved or written by hand."""
    text = read_text(file, MOST_BYTES)
    try:
        return read_game(text)
    except KnightfallError as error:
        raise KnightfallError(f"{str(file)!r}: {error}") from None
