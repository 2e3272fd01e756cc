"""Stored gradings: a file of JSON lines for each, in a folder next to the store of runs.

The first line says what is graded; each line after it is a game with the solver's judgement of its
moves.  Lines are only ever added, so a grading can be interrupted anywhere and goes on with the
next game.  A line that was cut short by a kill is ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

from knightfall.agents import parse_agent
from knightfall.board import Board
from knightfall.display.numbers import for_json
from knightfall.display.printable import printable
from knightfall.errors import KnightfallError
from knightfall.oracle.grade import Grade, grade_of_records
from knightfall.oracle.graded_games import PHASES, ROLES, Analyst, Decision, Record, for_game
from knightfall.position import Position
from knightfall.search.budget import Report
from knightfall.untrusted_input import Whole, check, parse_json, read_bytes

IDENTITY = ("agent", "board", "openings", "seed", "files", "engine")
"""The header fields that identify a grading; it is found again by their hash."""

HEADER: dict[str, Any] = {
    "agent": str, "name": str, "board": str, "openings": Whole(1),
    "seed": Whole(), "files": {str: str}, "engine": str, "created": str,
}  # fmt: skip

GAME: dict[str, Any] = {
    "number": Whole(), "opening": str, "moves": [str], "blunders": [Whole()],
    "family": object, "decisions": [object],
}  # fmt: skip


@dataclass(frozen=True)
class StoredGrading:
    """A grading as it was read from its file."""

    id: int
    header: Mapping[str, Any]
    games: tuple[dict[str, Any], ...]
    records: tuple[Record, ...]

    @property
    def key(self) -> str:
        """The hash that identifies the grading: of its agent, openings, files and engine."""
        return key_of(self.header)

    @property
    def finished(self) -> bool:
        """Whether all games of the grading have been played."""
        return len(self.games) >= int(self.header["openings"])

    def grade(self) -> Grade | None:
        """Return the grade computed from the games so far; None before the first has ended."""
        if not self.records:
            return None
        about = self.header
        who, board = parse_agent(about["agent"]), Board.named(about["board"])
        found = grade_of_records(who, board, about["openings"], about["seed"], self.records)
        return replace(found, player=printable(about["name"]))


def key_of(header: Mapping[str, Any]) -> str:
    """Return the hash of the header fields that identify a grading."""
    text = json.dumps({name: header[name] for name in IDENTITY}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


class Gradings:
    """The gradings of a store, kept as files in a folder next to it."""

    def __init__(self, store: str) -> None:
        self._folder = Path(store).with_suffix(".gradings")
        self._kept: dict[int, tuple[tuple[int, int], StoredGrading]] = {}

    def all(self) -> list[StoredGrading]:
        """Return every grading that can be read, in the order they were begun."""
        return [found for id in self._ids() if (found := self.one(id)) is not None]

    def one(self, id: int) -> StoredGrading | None:
        """Return a grading by its number; None if it does not exist or cannot be read.

        Its file is read again only if it has changed.
        """
        try:
            status = os.stat(self._path(id))
            stamp = status.st_mtime_ns, status.st_size
            known = self._kept.get(id)
            if known is None or known[0] != stamp:
                known = self._kept[id] = stamp, _parsed(id, read_bytes(self._path(id)))
            return known[1]
        except (OSError, KnightfallError):  # deleted, or not a grading
            return None

    def begin(self, header: Mapping[str, Any]) -> StoredGrading:
        """Return the stored grading that this header identifies; create it if there is none."""
        for found in self.all():
            if found.key == key_of(header):
                return found
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            id = max(self._ids(), default=0) + 1
            with open(self._path(id), "x", encoding="utf-8") as file:
                file.write(json.dumps(dict(header), sort_keys=True) + "\n")
        except OSError as error:
            raise KnightfallError(f"{self._folder}: {error.strerror or error}") from None
        return StoredGrading(id, header, (), ())

    def append(self, id: int, number: int, game: Mapping[str, Any], record: Record) -> None:
        """Append the next game of a grading to its file."""
        line = {
            **game,
            "number": number,
            "family": record.family,
            "decisions": [
                [for_json(value) if isinstance(value, float) else value for value in astuple(one)]
                for one in record.decisions
            ],
        }
        try:
            with open(self._path(id), "ab+") as file:
                end = file.seek(0, os.SEEK_END)
                file.seek(max(0, end - 1))
                cut_short = file.read(1) != b"\n"
                file.write(b"\n" * cut_short + json.dumps(line).encode() + b"\n")
        except OSError as error:
            raise KnightfallError(f"{self._path(id)}: {error.strerror or error}") from None

    # -- reading -----------------------------------------------------------------------------

    def _path(self, id: int) -> Path:
        return self._folder / f"{id}.jsonl"

    def _ids(self) -> list[int]:
        try:
            names = os.listdir(self._folder)
        except OSError:  # nothing was graded yet
            return []
        stems = [name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl")]
        return sorted(int(stem) for stem in stems if stem.isascii() and stem.isdigit())


def _parsed(id: int, content: bytes) -> StoredGrading:
    lines = list(_lines(content))
    if not lines:
        raise KnightfallError(f"grading {id} is empty")
    header = lines[0]
    check(HEADER, header)
    parse_agent(header["agent"])  # raises a KnightfallError if invalid, as the next line does
    Board.named(header["board"])
    games: list[dict[str, Any]] = []
    records: list[Record] = []
    for line in lines[1:]:
        try:
            check(GAME, line)
            record = Record(_family(line["family"]), tuple(map(_decision, line["decisions"])))
        except (KnightfallError, TypeError, ValueError):
            continue
        if line["number"] == len(games):  # two processes may have played the same game
            games.append({name: line[name] for name in ("opening", "moves", "blunders")})
            records.append(record)
    return StoredGrading(id, header, tuple(games), tuple(records))


def _lines(content: bytes) -> Iterator[Any]:
    """Yield the value of each line that is valid JSON."""
    for line in content.split(b"\n"):
        try:
            yield parse_json(line.decode())
        except (KnightfallError, ValueError):
            continue


def _family(stored: Any) -> tuple[int, int] | None:
    if stored is None:
        return None
    one, two = stored
    return int(one), int(two)


def _decision(stored: Any) -> Decision:
    ply, role, phase, legal, winning, kept, score, proven = stored
    if role not in ROLES or phase not in PHASES or not 0 <= winning <= legal or not legal:
        raise ValueError(stored)
    number = None if score is None else float(score)
    return Decision(
        int(ply), role, phase, int(legal), int(winning), bool(kept), number, bool(proven)
    )


# -- playing the games ------------------------------------------------------------------------


class RecordingPlayer:
    """A player that asks another one for its moves and records the game against itself."""

    def __init__(self, player: Analyst) -> None:
        self._player = player
        self._opening: Position | None = None
        self._moves: list[str] = []
        self._now: Position | None = None

    def analyse(self, position: Position) -> Report:
        """Return the wrapped player's move, and record it."""
        if self._now is None or position.fen != self._now.fen:  # a new game
            self._opening, self._moves = position, []
            self._player = for_game(self._player, position.board)
        report = self._player.analyse(position)
        self._moves.append(report.move)
        self._now = position.play(report.move)
        return report

    def game(self, record: Record) -> dict[str, Any]:
        """Return the game that has just ended, with the plies at which a win was given away."""
        assert self._opening is not None
        moves, opening, self._now = self._moves, self._opening, None
        return {
            "opening": opening.fen,
            "moves": moves,
            "blunders": [one.ply for one in record.decisions if one.blunder],
        }
