"""A run in the store: its plan, and the pairs that were played so far.

The pairs of a run are always the first ones of its schedule, without a gap.  So a run can stop
anywhere, by Ctrl-C or a power cut, and go on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from knightfall.arena.game.records import PairRecord, Reason
from knightfall.arena.plan.plan import Plan
from knightfall.arena.store.file import SUMS, StoreFile
from knightfall.arena.store.pair_rows import PairWriter, pairs_from
from knightfall.errors import KnightfallError
from knightfall.position import Side

PAGE = 500
"""How many games are read at once: nobody who writes waits for a slow reader."""


class Outcomes(NamedTuple):
    """All pairs in schedule order."""

    matches: npt.NDArray[np.int32]
    scores: npt.NDArray[np.int8]
    """How many games `a` won."""
    firsts: npt.NDArray[np.int8]
    """1 where `a` won the game in which it is the first player."""
    repeats: npt.NDArray[np.bool_]
    """Whether it is identical to an earlier pair, and does not count."""


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game as a line of a table.

    `first` and `second` are the numbers of the entrants.  Figures are sums over the moves of a
    side.  `repeats` is the earlier pair that this game's pair is identical to.
    """

    run: int
    pair: int
    game: int
    match: int
    first: int
    second: int
    opening: str
    hunter: Side
    seed: int
    repeats: int | None
    winner: Side
    reason: Reason
    moves_w: int
    moves_b: int
    depth_w: int
    depth_b: int
    nodes_w: int
    nodes_b: int
    microseconds_w: int
    microseconds_b: int

    @property
    def id(self) -> str:
        """What to call it: run, pair and game."""
        return f"{self.run}.{self.pair}.{self.game}"

    @property
    def plies(self) -> int:
        """How many moves were made."""
        return self.moves_w + self.moves_b


class Run:
    """A run in a store.  Whatever it tells, it has just read: another process may be writing."""

    def __init__(self, file: StoreFile, id: int, plan: Plan | None = None) -> None:
        self.file = file
        self.id = id
        if plan is not None:
            vars(self)["plan"] = plan

    # -- what it is ------------------------------------------------------------------------

    @cached_property
    def plan(self) -> Plan:
        """What is to be played."""
        return Plan.from_json(self._field("plan"))

    @property
    def played(self) -> int:
        """How many pairs are stored: the number of the next one."""
        (last,) = self.file.rows("SELECT max(number) FROM pairs WHERE run = ?", (self.id,))[0]
        return 0 if last is None else int(last) + 1

    @property
    def total(self) -> int:
        """How many pairs there are if nothing stops the run sooner."""
        return int(self._field("total"))

    @property
    def created(self) -> str:
        """When it was begun: UTC, as ISO 8601 writes it."""
        return str(self._field("created"))

    @property
    def finished(self) -> str | None:
        """When it was finished, or None."""
        time: str | None = self._field("finished")
        return time

    @property
    def outcome(self) -> dict[str, Any] | None:
        """What came of it, or None before it is finished."""
        text = self._field("outcome")
        return None if text is None else dict(json.loads(text))

    @property
    def versions(self) -> dict[str, Any]:
        """What it is played by."""
        return dict(json.loads(self._field("versions")))

    @property
    def key(self) -> str:
        """What tells it from runs of other plans or engines."""
        return str(self._field("key"))

    def _field(self, name: str) -> Any:
        found = self.file.rows(f"SELECT {name} FROM runs WHERE id = ?", (self.id,))
        if not found:
            raise KnightfallError(f"run {self.id} is no longer in {self.file.path}")
        return found[0][0]

    # -- writing ---------------------------------------------------------------------------

    def append(self, records: Sequence[PairRecord]) -> None:
        """Store the next pairs of the schedule, all of them or none.

        Pairs that are there already, with the same games, do not count: another process may be
        playing the same run.
        """
        for record in records:
            number = record.task.number
            if number >= self.plan.total or record.task != self.plan.task(number):
                raise KnightfallError(f"pair {number} is not in the schedule of run {self.id}")
        with self.file.writing():
            next, finished = self.played, self.finished
            writer = PairWriter(self.file, self.id, self.plan)
            for record in records:
                if record.task.number < next:
                    self._compare(record)
                    continue
                if record.task.number > next:
                    raise KnightfallError(
                        f"run {self.id} has {next} pairs: number {next} comes next, not "
                        f"{record.task.number}"
                    )
                if finished is not None:
                    raise KnightfallError(f"run {self.id} is finished: it takes no more pairs")
                writer.add(record)
                next += 1
            writer.tally()

    def _compare(self, record: PairRecord) -> None:
        if self.pair(record.task.number) != record:
            raise KnightfallError(
                f"pair {record.task.number} of run {self.id} is stored already, with other games: "
                "another process plays the same run, and not everything in it is repeatable"
            )

    def finish(self, outcome: Mapping[str, Any]) -> None:
        """Say what came of it; who says so first is right."""
        text = json.dumps(outcome, sort_keys=True, ensure_ascii=False)
        with self.file.writing():
            if self.finished is None:
                self.file.change(
                    "UPDATE runs SET finished = ?, outcome = ? WHERE id = ?", (now(), text, self.id)
                )

    # -- reading ---------------------------------------------------------------------------

    def outcomes(self) -> Outcomes:
        """The results of all pairs, repeated ones marked."""
        rows = self.file.rows(  # packed, for half a million rows of four numbers take a second
            "SELECT 16 * match + 4 * score + 2 * first + (repeats IS NOT NULL) FROM pairs"
            " WHERE run = ? ORDER BY number",
            (self.id,),
        )
        packed = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        return Outcomes(
            matches=(packed // 16).astype(np.int32),
            scores=(packed // 4 % 4).astype(np.int8),
            firsts=(packed // 2 % 2).astype(np.int8),
            repeats=packed % 2 == 1,
        )

    def scores(
        self, match: int | None = None
    ) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int32]]:
        """The scores that count, of all pairs or of one match, and the matches they are from."""
        matches, scores, _, repeats = self.outcomes()
        counts = ~repeats if match is None else ~repeats & (matches == match)
        return scores[counts], matches[counts]

    def pair(self, number: int) -> PairRecord:
        """A pair with everything known about it."""
        found = pairs_from(self.file, self.id, number, 1)
        if not found:
            raise KnightfallError(
                f"run {self.id} has no pair {number}: it has {self.played}, counted from 0"
            )
        return found[0]

    def pairs(self) -> Iterator[PairRecord]:
        """All pairs that are stored by now, in schedule order."""
        played, step = self.played, PAGE // 2
        for start in range(0, played, step):
            yield from pairs_from(self.file, self.id, start, min(step, played - start))

    def games(
        self,
        *,
        match: int | None = None,
        won_by: Collection[int] | None = None,
        lost_by: Collection[int] | None = None,
        reason: Reason | None = None,
        limit: int | None = None,
    ) -> Iterator[StoredGame]:
        """The games in schedule order, those of repeated pairs too.

        Entrants are given by their numbers, in any of which a game may agree.
        """
        wanted, values = "", list[Any]()
        for column, value in (("p.match", match), ("g.reason", reason)):
            if value is not None:
                wanted += f" AND {column} = ?"
                values.append(value)
        for sign, numbers in (("=", won_by), ("<>", lost_by)):
            if numbers is not None:
                marks = ", ".join("?" * len(numbers))
                wanted += (
                    f" AND CASE WHEN (g.winner = 'w') {sign} (g.game = 0) THEN m.a ELSE m.b END"
                    f" IN ({marks})"
                )
                values += numbers
        last, left = (-1, 1), limit
        while left is None or left > 0:
            size = PAGE if left is None else min(PAGE, left)
            rows = self.file.rows(
                f"{_GAMES} {wanted} ORDER BY g.pair, g.game LIMIT ?",
                (self.id, last[0], *last, *values, size),
            )
            yield from (StoredGame(*row) for row in rows)
            if len(rows) < size:
                return
            last = rows[-1][1], rows[-1][2]
            left = None if left is None else left - size


# CROSS JOIN looks the tables up in this order, along the schedule, and the plus sign keeps SQLite
# from thinking that a range of pairs would do where there is just the one.
_GAMES = f"""
SELECT g.run, g.pair, g.game, p.match, iif(g.game = 0, m.a, m.b), iif(g.game = 0, m.b, m.a),
       o.fen, o.hunter, p.seed, p.repeats, g.winner, g.reason, {", ".join(f"g.{s}" for s in SUMS)}
FROM games g
CROSS JOIN pairs p ON p.run = g.run AND p.number = +g.pair
CROSS JOIN matches m ON m.run = g.run AND m.number = p.match
CROSS JOIN openings o ON o.run = g.run AND o.number = p.opening
WHERE g.run = ? AND g.pair >= ? AND (g.pair, g.game) > (?, ?)"""


def now() -> str:
    """The time as it is stored: UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
