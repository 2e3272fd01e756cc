"""Pairs as rows of the store, and rows as pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from knightfall.arena.game.records import (
    DEPTH,
    MICROSECONDS,
    NODES,
    REASONS,
    SCORE,
    GameRecord,
    PairRecord,
    PairTask,
)
from knightfall.arena.plan.plan import Plan, may_repeat
from knightfall.arena.store.file import SUMS, StoreFile
from knightfall.arena.store.scoresheets import position
from knightfall.errors import KnightfallError
from knightfall.position import Position


class PairWriter:
    """Adds pairs to a run, inside of a transaction that the caller holds."""

    def __init__(self, file: StoreFile, run: int, plan: Plan) -> None:
        self.file, self.run = file, run
        self.places = len(plan.matches)
        self.may_repeat = may_repeat(plan)
        self.added: list[int] = []

    def add(self, record: PairRecord) -> None:
        """Insert the pair's rows."""
        number, match = record.task.number, record.task.number % self.places
        opening = self._opening(record.task.opening)
        repeats = self._earlier(match, opening, record) if self.may_repeat else None
        self.file.change(
            "INSERT INTO pairs VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self.run,
                number,
                match,
                opening,
                record.task.seed,
                record.score,
                record.first,
                repeats,
            ),
        )
        first_mover = record.task.opening.split()[1]
        for game, played in enumerate(record.games):
            _check(played, f"pair {number}, game {game}")
            self.file.change(
                "INSERT INTO games VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (self.run, number, game, played.winner, played.reason, *_sums(played, first_mover)),
            )
            self.file.change(
                "INSERT INTO thinking VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (self.run, number, game, played.cells, played.scores, played.depths, played.nodes,
                 played.microseconds, played.detail),
            )  # fmt: skip
        self.added.append(number)

    def tally(self) -> None:
        """Count what was added since the last time, so that nobody has to count it again."""
        if self.added:
            self.file.change(_TALLY, (self.run, self.added[0], self.added[-1]))
            self.added.clear()

    def _opening(self, fen: str) -> int:
        """The number of an opening; a new one gets the next."""
        found = self.file.rows(
            "SELECT number FROM openings WHERE run = ? AND fen = ?", (self.run, fen)
        )
        if found:
            return int(found[0][0])
        ((number,),) = self.file.rows(
            "SELECT coalesce(max(number) + 1, 0) FROM openings WHERE run = ?", (self.run,)
        )
        self.file.change(
            "INSERT INTO openings VALUES (?, ?, ?, ?)",
            (self.run, number, fen, Position.from_fen(fen).hunter),
        )
        return int(number)

    def _earlier(self, match: int, opening: int, record: PairRecord) -> int | None:
        """The first pair of the same match whose two games went the same way, move for move."""
        cells = [game.cells for game in record.games]
        found = self.file.rows(_EARLIER, (self.run, match, opening, *cells))
        return int(found[0][0]) if found else None


def copy_pairs(file: StoreFile, source: int, target: int, plan: Plan) -> None:
    """Give a new run the first pairs of another one of the same schedule, as many as it wants.

    Inside of a transaction that the caller holds.
    """
    for table, columns, number in _COPIED:
        file.change(
            f"INSERT INTO {table} SELECT ?, {columns} FROM {table} WHERE run = ? AND {number} < ?",
            (target, source, plan.total),
        )
    file.change(
        "INSERT INTO openings SELECT ?, number, fen, hunter FROM openings WHERE run = ?"
        " AND number IN (SELECT opening FROM pairs WHERE run = ?)",
        (target, source, target),
    )
    file.change(_TALLY, (target, 0, plan.total - 1))


_COPIED = (
    ("pairs", "number, match, opening, seed, score, first, repeats", "number"),
    ("games", f"pair, game, winner, reason, {', '.join(SUMS)}", "pair"),
    ("thinking", "pair, game, cells, scores, depths, nodes, microseconds, detail", "pair"),
)


def pairs_from(file: StoreFile, run: int, start: int, how_many: int) -> list[PairRecord]:
    """So many pairs from a number on, as far as they are there."""
    rows = file.rows(_PAIRS, (run, start, start + how_many), _KINDS)
    games = [_game(file, row) for row in rows]
    if [row[0] for row in rows[::2]] != [row[0] for row in rows[1::2]]:
        raise file.damaged(f"run {run} has pairs that lack a game")
    return [
        PairRecord(PairTask(*row[:5]), both)
        for row, both in zip(rows[::2], zip(games[::2], games[1::2], strict=True), strict=True)
    ]


def _game(file: StoreFile, row: Sequence[Any]) -> GameRecord:
    game = GameRecord(*row[5:])
    try:
        right = right_game(game.winner, game.reason)
        _check(game, f"pair {row[0]}")
        cells = position(row[3]).board.cells
    except KnightfallError as error:
        raise file.damaged(error) from None
    if not right or any(cell >= cells for cell in game.cells):
        raise file.damaged(f"pair {row[0]} has a game that makes no sense")
    return game


def right_game(winner: object, reason: object) -> bool:
    """Whether a game may end so."""
    return winner in ("w", "b") and reason in REASONS


def _sums(game: GameRecord, first_mover: str) -> list[int]:
    """The figures of `SUMS`: w's moves are every second one, from the first or the second on."""
    sums = []
    for column in (_ONES[: game.plies], *(game.column(name).tolist() for name in _SUMMED)):
        mover, waiter = sum(column[0::2]), sum(column[1::2])
        sums += [mover, waiter] if first_mover == "w" else [waiter, mover]
    return sums


_ONES = [1] * 64  # moves are counted as ones are summed up
_SUMMED: tuple[Literal["depths", "nodes", "microseconds"], ...]
_SUMMED = ("depths", "nodes", "microseconds")  # in the order of `SUMS`, after the moves


def _check(game: GameRecord, where: str) -> None:
    for name, size in _SIZES.items():
        items = len(getattr(game, name)) / size
        if items != game.plies:
            raise KnightfallError(f"{where}: {items:g} {name} for {game.plies} moves")


_SIZES = {
    "scores": np.dtype(SCORE).itemsize,
    "depths": np.dtype(DEPTH).itemsize,
    "nodes": np.dtype(NODES).itemsize,
    "microseconds": np.dtype(MICROSECONDS).itemsize,
}

# CROSS JOIN looks the tables up in this order, and the plus sign keeps SQLite from thinking that a
# range of pairs would do where there is just the one.
_PAIRS = """
SELECT p.number, a.agent, b.agent, o.fen, p.seed,
       g.winner, g.reason, t.cells, t.scores, t.depths, t.nodes, t.microseconds, t.detail
FROM pairs p
CROSS JOIN games g ON g.run = p.run AND g.pair = +p.number
CROSS JOIN thinking t ON t.run = p.run AND t.pair = +p.number AND t.game = g.game
CROSS JOIN matches m ON m.run = p.run AND m.number = p.match
CROSS JOIN entrants a ON a.run = p.run AND a.number = m.a
CROSS JOIN entrants b ON b.run = p.run AND b.number = m.b
CROSS JOIN openings o ON o.run = p.run AND o.number = p.opening
WHERE p.run = ? AND p.number >= ? AND p.number < ?
ORDER BY p.number, g.game"""
_KINDS = (int, str, str, str, int, str, str, bytes, bytes, bytes, bytes, bytes, str)

_EARLIER = """
SELECT p.number
FROM pairs p
CROSS JOIN thinking t ON t.run = p.run AND t.pair = p.number AND t.game = 0
CROSS JOIN thinking u ON u.run = p.run AND u.pair = p.number AND u.game = 1
WHERE p.run = ? AND p.match = ? AND p.opening = ? AND p.repeats IS NULL
  AND t.cells = ? AND u.cells = ?
LIMIT 1"""

_TALLY = f"""
INSERT INTO tallies
SELECT p.run, p.match, p.score, g.game, o.hunter, g.winner, g.reason,
       count(*), {", ".join(f"sum(g.{name})" for name in SUMS)}
FROM pairs p
CROSS JOIN games g ON g.run = p.run AND g.pair = +p.number
CROSS JOIN openings o ON o.run = p.run AND o.number = p.opening
WHERE p.run = ? AND p.number BETWEEN ? AND ? AND p.repeats IS NULL
GROUP BY p.run, p.match, p.score, g.game, o.hunter, g.winner, g.reason
ON CONFLICT DO UPDATE SET
  {", ".join(f"{name} = {name} + excluded.{name}" for name in ("games", *SUMS))}"""
