"""Games read from text, in whichever of these ways they are written::

b5 e2 d4 f4 …                          placements and moves on an empty 7×7 board
7/7/1N5/7/7/4n2/7 w d4 f4 …            the same from a FEN
[Opening "…"] … 1. d4 f4 2. …          tags and numbered moves, as `Scoresheet.to_text` writes
{"start": FEN, "moves": [...], …}      a saved game, or what ``watch`` and ``replay`` print
                                       with ``--json``
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from knightfall.errors import KnightfallError
from knightfall.notation.scoresheet import NAME_TAG, RESIGNED, RESULT, SEAT, SIDE, Scoresheet
from knightfall.position import Position, Side, other
from knightfall.reading import parse_json
from knightfall.shape import shown as _short

_CELL = re.compile(r"[a-z][1-9][0-9]?", re.ASCII)
_ROWS = re.compile(r"[0-9*Nn]+(?:/[0-9*Nn]+)+(?:\[[Nn]*\])?", re.ASCII)
_FURTHER_FIELD = re.compile(r"-|[0-9]+", re.ASCII)
_NUMBER = re.compile(r"[0-9]+\.(?:\.\.)?", re.ASCII)
_TAG = re.compile(r'\[([A-Za-z]+) "((?:[^"\\]|\\.)*)"\]')
_EXPECTED = "give placements and moves in order, as in 'b5 e2 d4 f4'"
_NO_TAGS: Mapping[str, str] = {}

_WINNER: dict[str, Side | None] = {result: side for side, result in RESULT.items()}


def looks_like_a_game(text: str) -> bool:
    """Whether a text can only be meant as a game, not as the name of one."""
    words = text.split()
    if not words or words[0][0] in "{[%" or _begins_with_fen(words):
        return True
    return any(pattern.fullmatch(words[0]) for pattern in (_CELL, _NUMBER))


def read_game(text: str) -> Scoresheet:
    """The one game of a text."""
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
    """Moves, with numbers and a result at the end or without."""
    winner: Side | None = None
    if words and words[-1] in _WINNER:
        winner = _WINNER[words[-1]]
        words = words[:-1]
    moves = [word for word in words if not _NUMBER.fullmatch(word)]
    return _from_moves(start, moves, winner, reason, tags)


def _from_moves(
    start: Position,
    moves: list[Any],
    winner: Side | None,
    reason: str | None,
    tags: Mapping[str, str],
) -> Scoresheet:
    for number, move in enumerate(moves, start=1):
        if not isinstance(move, str) or not _CELL.fullmatch(move):
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
        elif not line.startswith("%"):  # as the export of a run begins
            words += line.split()
    opening, reason = tags.pop("Opening", None), tags.pop("Reason", None)
    tags.pop("Result", None)  # it stands behind the moves, too
    start = Position.start() if opening is None else Position.from_fen(opening)
    return _from_words(start, words, reason, tags)


def _from_json(text: str) -> Scoresheet:
    try:
        content = parse_json(text)
    except KnightfallError as error:
        raise KnightfallError(f"{_short(text)} begins like JSON, but {error}") from None
    return game_of(content)


def game_of(content: Mapping[str, Any]) -> Scoresheet:
    """The game of a JSON object: a saved one, or one that was watched or replayed."""
    start, moves = content.get("start", content.get("fen")), content.get("moves")
    if not isinstance(start, str):
        raise KnightfallError(f'"start" (or "fen") must be a FEN, not {_short(start)}')
    if not isinstance(moves, list):
        raise KnightfallError(f'"moves" must be a list of cell names, not {_short(moves)}')
    winner, reason = content.get("winner"), content.get("reason")
    if winner not in ("w", "b", None):
        raise KnightfallError(f'"winner" must be w, b or null, not {_short(winner)}')
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
