"""All runs in one SQLite file: the only truth about results.

::

    with Store.open() as store:
        run = store.begin(plan, engine="1", versions={})
        for batch in …:                  # from run.played on
            run.append(batch)
        run.finish({"verdict": "…"})

The pairs of a run are always the first ones of its schedule, without a gap.  So a run can stop
anywhere, by Ctrl-C or a power cut, and go on where it was.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from knightfall.arena.plan import PairRecord, Plan, Reason
from knightfall.arena.store_file import (
    OF_A_RUN,
    SUMS,
    PairWriter,
    StoreFile,
    copy_pairs,
    pairs_from,
    right_game,
)
from knightfall.arena.stored_plan import plan_of, read_plan
from knightfall.display.printable import printable
from knightfall.errors import KnightfallError, NotFound
from knightfall.position import Side
from knightfall.reading import check, parse_json

TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", re.ASCII)
"""What `now` writes."""

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


class MatchSums(NamedTuple):
    """Added up over the games of a match: those `a` and `b` gave up, the moves and nodes of `a`."""

    match: int
    games: int
    forfeits: int
    conceded: int
    moves: int
    nodes: int


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
        """Return the number of moves that were made."""
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
        with self._told("its plan"):
            return read_plan(self._text("plan"))

    @property
    def played(self) -> int:
        """How many pairs are stored: the number of the next one."""
        found = self.file.rows(
            "SELECT max(number) FROM pairs WHERE run = ?", (self.id,), [int | None]
        )
        (last,) = found[0]
        return 0 if last is None else int(last) + 1

    @property
    def total(self) -> int:
        """How many pairs there are if nothing stops the run sooner."""
        return int(self._field("total", int))

    @property
    def created(self) -> str:
        """When it was begun: UTC, as ISO 8601 writes it."""
        return self._time(self._text("created"))

    @property
    def finished(self) -> str | None:
        """When it was finished, or None."""
        time = self._field("finished", str | None)
        return None if time is None else self._time(time)

    @property
    def outcome(self) -> dict[str, Any] | None:
        """What came of it, or None before it is finished."""
        text = self._field("outcome", str | None)
        return None if text is None else self._object("its outcome", text)

    @property
    def versions(self) -> dict[str, Any]:
        """What it is played by."""
        return self._object("its versions", self._text("versions"))

    @property
    def key(self) -> str:
        """What tells it from runs of other plans or engines."""
        return self._text("key")

    def _field(self, name: str, kind: Any) -> Any:
        found = self.file.rows(f"SELECT {name} FROM runs WHERE id = ?", (self.id,), [kind])
        if not found:
            raise KnightfallError(f"run {self.id} is no longer in {self.file.path}")
        return found[0][0]

    def _text(self, name: str) -> str:
        return str(self._field(name, str))

    def _time(self, text: str) -> str:
        if not TIME.fullmatch(text):
            raise self.file.damaged(f"run {self.id} is of no time")
        return text

    def _object(self, what: str, text: str) -> dict[str, Any]:
        with self._told(what):
            found = parse_json(text)
            check({str: object}, found)
        return dict(found)

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        try:
            yield
        except KnightfallError as error:
            raise self.file.damaged(f"{what} (run {self.id}): {error}") from None

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
        self.file.checkpoint()

    # -- reading ---------------------------------------------------------------------------

    def outcomes(self) -> Outcomes:
        """The results of all pairs, repeated ones marked."""
        rows = self.file.rows(  # packed, for half a million rows of four numbers take a second
            "SELECT 16 * match + 4 * score + 2 * first + (repeats IS NOT NULL) FROM pairs"
            " WHERE run = ? ORDER BY number",
            (self.id,),
            [int],
        )
        packed = np.fromiter((row[0] for row in rows), np.int64, len(rows))
        matches, scores, firsts = packed // 16, packed // 4 % 4, packed // 2 % 2
        in_order = np.arange(len(packed)) % len(self.plan.matches) == matches
        if not np.all(in_order & (firsts <= scores) & (scores <= firsts + 1)):
            raise self.file.damaged(f"the pairs of run {self.id} make no sense")
        return Outcomes(
            matches=matches.astype(np.int32),
            scores=scores.astype(np.int8),
            firsts=firsts.astype(np.int8),
            repeats=packed % 2 == 1,
        )

    def sums(self) -> list[MatchSums]:
        """How the games of each match went for its `a`, in the order of the plan."""
        rows = self.file.rows(
            "SELECT p.match, COUNT(*),"
            " SUM(g.reason = 'forfeit' AND (g.winner = 'w') <> (g.game = 0)),"
            " SUM(g.reason = 'forfeit' AND (g.winner = 'w') = (g.game = 0)),"
            " SUM(iif(g.game = 0, g.moves_w, g.moves_b)),"
            " SUM(iif(g.game = 0, g.nodes_w, g.nodes_b))"
            " FROM games g CROSS JOIN pairs p ON p.run = g.run AND p.number = g.pair"
            " WHERE g.run = ? GROUP BY p.match ORDER BY p.match",
            (self.id,),
            [int] * 6,
        )
        return [MatchSums(*row) for row in rows]

    def depths(self) -> npt.NDArray[np.float64]:
        """The plies that `a` searched for a move, on average over each pair, in schedule order.

        Nan where it made no move.
        """
        rows = self.file.rows(
            "SELECT g.pair, SUM(iif(g.game = 0, g.depth_w, g.depth_b)),"
            " SUM(iif(g.game = 0, g.moves_w, g.moves_b))"
            " FROM games g WHERE g.run = ? GROUP BY g.pair ORDER BY g.pair",
            (self.id,),
            [int] * 3,
        )
        return np.array([depth / moves if moves else np.nan for _, depth, moves in rows], float)

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
                _KINDS,
            )
            for row in rows:
                if not right_game(row[10], row[11]) or row[7] not in ("w", "b"):
                    raise self.file.damaged(f"pair {row[1]} of run {self.id} has no result")
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


_KINDS = (int,) * 6 + (str, str, int, int | None, str, str) + (int,) * len(SUMS)


def now() -> str:
    """The time as it is stored: UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


FEW = 8
"""Runs that are named when one was asked for that does not exist."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run in short: enough for a list."""

    id: int
    kind: str
    names: tuple[str, ...]
    agents: tuple[str, ...]
    """The entrants' full strings."""
    played: int
    total: int
    created: str
    finished: str | None
    verdict: str
    """What its outcome says under that word; empty if nothing."""
    files: dict[str, str]
    """The users' files that its agents come from, with their hashes."""
    board: str
    """Such as 7x7; ``book`` if its openings, and so its boards, come from a file."""


class Store:
    """A file of runs."""

    def __init__(self, file: StoreFile) -> None:
        self.file = file

    @staticmethod
    def open(path: str | os.PathLike[str] | None = None, *, read_only: bool = False) -> Store:
        """The store of that file, or the user's own; it is made unless `read_only`."""
        return Store(StoreFile(path, read_only))

    def close(self) -> None:
        """Let go of the file."""
        self.file.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- runs ------------------------------------------------------------------------------

    def begin(
        self, plan: Plan, engine: str, versions: Mapping[str, Any], again: bool = False
    ) -> Run:
        """The run of this plan and engine, begun, half played or finished; a new one if `again`."""
        key = plan.key(engine)
        text = json.dumps(versions, sort_keys=True, ensure_ascii=False)
        with self.file.writing():
            attempt, id = self.latest(key)
            if id is None or again:
                id = self.insert(plan, key, attempt + 1, now(), text)
                if not again:
                    self._take_over(id, plan, engine)
        return Run(self.file, id, plan)

    def find(self, plan: Plan, engine: str) -> Run | None:
        """The last run of this plan and engine."""
        _, id = self.latest(plan.key(engine))
        return None if id is None else Run(self.file, id, plan)

    def _take_over(self, id: int, plan: Plan, engine: str) -> None:
        """Begin a run with the pairs of one that is the same but for the number of pairs.

        Which pairs a plan has does not depend on how many are wanted: those of the shorter plan
        are the first ones of the longer.
        """
        others = self.file.rows(
            "SELECT id, key, plan FROM runs WHERE id <> ? AND kind = ?"
            " AND json_remove(plan, '$.pairs') = json_remove(?, '$.pairs')",
            (id, plan.kind, plan.to_json()),
        )
        same = [Run(self.file, other) for other, key, text in others if _key(text, engine) == key]
        if same:
            copy_pairs(self.file, max(same, key=lambda run: run.played).id, id, plan)

    def latest(self, key: str) -> tuple[int, int | None]:
        """How often a key was played, and the last run that has it."""
        found = self.file.rows(
            "SELECT attempt, id FROM runs WHERE key = ? ORDER BY attempt DESC LIMIT 1",
            (key,),
            [int, int],
        )
        return found[0] if found else (0, None)

    def insert(self, plan: Plan, key: str, attempt: int, created: str, versions: str) -> int:
        """A new run without pairs, inside of a transaction that the caller holds; its number."""
        id = self.file.change(
            "INSERT INTO runs (key, attempt, kind, plan, total, created, versions)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (key, attempt, plan.kind, plan.to_json(), plan.total, created, versions),
        )
        for number, entrant in enumerate(plan.entrants):
            self.file.change(
                "INSERT INTO entrants VALUES (?, ?, ?, ?)",
                (id, number, entrant.agent, entrant.name),
            )
        for number, match in enumerate(plan.matches):
            self.file.change(
                "INSERT INTO matches VALUES (?, ?, ?, ?, ?)",
                (id, number, match.a, match.b, match.series),
            )
        return id

    def run(self, id: int) -> Run:
        """The run of that number."""
        if not self.file.rows("SELECT 1 FROM runs WHERE id = ?", (id,)):
            raise NotFound(f"there is no run {id} in {self.file.path}: {self._known()}")
        return Run(self.file, id)

    def last(self) -> Run:
        """The run that was begun last."""
        ((id,),) = self.file.rows("SELECT max(id) FROM runs")
        if id is None:
            raise NotFound(f"no runs yet in {self.file.path}")
        return Run(self.file, id)

    def _known(self) -> str:
        ids = [str(id) for (id,) in self.file.rows("SELECT id FROM runs ORDER BY id")]
        if len(ids) > FEW:
            return f"its runs go from {ids[0]} to {ids[-1]}"
        return f"it has {' '.join(ids)}" if ids else "it has none yet"

    def runs(self) -> list[RunInfo]:
        """All runs in short, in the order they were begun."""
        with self.file.snapshot():
            names: dict[int, list[str]] = {}
            agents: dict[int, list[str]] = {}
            for run, name, agent in self.file.rows(
                "SELECT run, name, agent FROM entrants ORDER BY run, number", (), [int, str, str]
            ):
                names.setdefault(run, []).append(printable(name))
                agents.setdefault(run, []).append(printable(agent))
            rows = self.file.rows(
                "SELECT id, kind, (SELECT max(number) + 1 FROM pairs WHERE run = id), total,"
                " created, finished, outcome, json_extract(plan, '$.files'),"
                " iif(json_array_length(plan, '$.book'), 'book', json_extract(plan, '$.board'))"
                " FROM runs ORDER BY id",
                (),
                [int, str, int | None, int, str, str | None, str | None, str | None, str],
            )
        return [
            RunInfo(
                id, printable(kind), tuple(names.get(id, ())), tuple(agents.get(id, ())),
                played or 0, total, printable(created), finished,
                str(self._object(outcome, object).get("verdict") or ""), self._object(files, str),
                printable(board),
            )
            for id, kind, played, total, created, finished, outcome, files, board in rows
        ]  # fmt: skip

    def _object(self, text: str | None, of: Any) -> dict[str, Any]:
        try:
            found = parse_json(text or "{}")
            check({str: of}, found)
        except KnightfallError as error:
            raise self.file.damaged(error) from None
        return dict(found)

    def delete(self, run: int) -> None:
        """Delete a run with all its games in one transaction; its number is not used again."""
        with self.file.writing():
            self.run(run)
            for table in OF_A_RUN:
                self.file.change(f"DELETE FROM {table} WHERE run = ?", (run,))
            self.file.change("DELETE FROM runs WHERE id = ?", (run,))
        self.file.shrink()


def _key(plan: str, engine: str) -> str | None:
    try:
        return plan_of(parse_json(plan)).key(engine)
    except KnightfallError:  # whatever it is, it is no run of ours
        return None


__all__ = ["Run", "RunInfo", "Store"]
