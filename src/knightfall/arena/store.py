"""The store: all runs in one SQLite file, from which all results are computed.

::

    with Store.open() as store:
        run = store.begin(plan, engine="1", versions={})
        for batch in …:                  # from run.played on
            run.append(batch)
        run.finish({"verdict": "…"})

The stored pairs of a run are always the first ones of its schedule, without a gap.  So a run can
stop anywhere, by Ctrl-C or a power cut, and be resumed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from knightfall.arena.plan import PairRecord, Plan, Reason, run_key
from knightfall.arena.store_file import (
    RUN_TABLES,
    SUMS,
    PairWriter,
    StoreFile,
    copy_pairs,
    is_known_ending,
    pairs_from,
)
from knightfall.arena.stored_plan import read_plan
from knightfall.display.printable import printable
from knightfall.errors import KnightfallError, NotFound
from knightfall.position import Side
from knightfall.untrusted_input import check, parse_json, shown

TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", re.ASCII)
"""The format of times, see `now`."""

PAGE = 500
"""Games that are read at once, so that a slow reader does not block writers."""


class Outcomes(NamedTuple):
    """The results of all pairs of a run, in the order of the schedule."""

    matches: npt.NDArray[np.int32]
    scores: npt.NDArray[np.int8]
    """Games that `a` won: 0, 1 or 2."""
    firsts: npt.NDArray[np.int8]
    """1 where `a` won the game in which it moves first."""
    repeats: npt.NDArray[np.bool_]
    """True where a pair is identical to an earlier one, and does not count."""


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game as a row of a table.

    `first` and `second` are numbers of entrants.  Figures are sums over the moves of a side.
    `repeats` is the number of the earlier pair that this game's pair is identical to, if any.
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
        """The name of the game: run, pair and game, for example 3.17.0."""
        return f"{self.run}.{self.pair}.{self.game}"

    @property
    def plies(self) -> int:
        """The number of moves that were made."""
        return self.moves_w + self.moves_b


class Run:
    """A run in a store.  Properties are read anew each time: another process may be writing."""

    def __init__(self, file: StoreFile, id: int, plan: Plan) -> None:
        self.file = file
        self.id = id
        self.plan = plan

    def __repr__(self) -> str:
        return f"<Run: number {self.id} of {self.file.path}, a {self.plan.kind}>"

    # -- properties ------------------------------------------------------------------------

    @property
    def played(self) -> int:
        """The number of stored pairs, which is the number of the next pair."""
        found = self.file.rows(
            "SELECT max(number) FROM pairs WHERE run = ?", (self.id,), [int | None]
        )
        (last,) = found[0]
        return 0 if last is None else int(last) + 1

    @property
    def total(self) -> int:
        """The number of pairs if no rule ends the run early."""
        return int(self._field("total", int))

    @property
    def created(self) -> str:
        """The time of the beginning: UTC in ISO 8601."""
        return self._time(self._text("created"))

    @property
    def finished(self) -> str | None:
        """The time of the end: UTC in ISO 8601; None while unfinished."""
        time = self._field("finished", str | None)
        return None if time is None else self._time(time)

    @property
    def outcome(self) -> dict[str, Any] | None:
        """The result of the stop rule, as plain values; None while the run is unfinished."""
        text = self._field("outcome", str | None)
        return None if text is None else _json_object(self.file, f"outcome of run {self.id}", text)

    @property
    def versions(self) -> dict[str, Any]:
        """The versions of the software that plays the run."""
        return _json_object(self.file, f"versions of run {self.id}", self._text("versions"))

    @property
    def key(self) -> str:
        """The hash of the run's plan and engine (see `Plan.key`)."""
        return self._text("key")

    def _field(self, name: str, kind: Any) -> Any:
        """Return a column of the run's row; raise a `KnightfallError` if its type is not `kind`."""
        found = self.file.rows(f"SELECT {name} FROM runs WHERE id = ?", (self.id,), [kind])
        if not found:
            raise KnightfallError(f"run {self.id} is no longer in {self.file.path}")
        return found[0][0]

    def _text(self, name: str) -> str:
        """Return a text column of the run's row."""
        return str(self._field(name, str))

    def _time(self, text: str) -> str:
        """Return a stored time; raise a `KnightfallError` if it does not have the format `TIME`."""
        if not TIME.fullmatch(text):
            raise self.file.damaged(
                f"run {self.id} has the invalid time {shown(text)}; expected a format such as "
                "2017-05-31T12:00:00Z"
            )
        return text

    # -- writing ---------------------------------------------------------------------------

    def append(self, records: Sequence[PairRecord]) -> None:
        """Store the next pairs of the schedule, all of them or none.

        Pairs that are stored already with the same games are skipped, because another process may
        play the same run.  Raise a `KnightfallError` if their games differ, if a pair is missing
        before these, or if the run is finished.
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
                        f"run {self.id} has {next} pairs: the next one must be number {next}, not "
                        f"{record.task.number}"
                    )
                if finished is not None:
                    raise KnightfallError(f"run {self.id} is finished: no pair can be added")
                writer.add(record)
                next += 1
            writer.tally()

    def _compare(self, record: PairRecord) -> None:
        """Raise a `KnightfallError` if the stored pair with this number has different games."""
        if self.pair(record.task.number) != record:
            raise KnightfallError(
                f"pair {record.task.number} of run {self.id} is already stored with other games: "
                "another process plays the same run, and the agents' games are not reproducible"
            )

    def finish(self, outcome: Mapping[str, Any]) -> None:
        """Mark the run as finished, with an outcome; do nothing if it is finished already."""
        text = json.dumps(outcome, sort_keys=True, ensure_ascii=False)
        with self.file.writing():
            if self.finished is None:
                self.file.change(
                    "UPDATE runs SET finished = ?, outcome = ? WHERE id = ?", (now(), text, self.id)
                )
        self.file.checkpoint()

    # -- reading ---------------------------------------------------------------------------

    def outcomes(self) -> Outcomes:
        """Return the results of all pairs, with repeated ones marked."""
        with self.file.snapshot():
            rows = self.file.rows(  # packed into one number: half a million rows take a second
                f"SELECT {_NUMBERED} * number + 16 * match + 4 * score + 2 * first"
                " + (repeats IS NOT NULL) FROM pairs WHERE run = ? ORDER BY number",
                (self.id,),
                [int],
            )
            tallies = self.file.rows(_TALLIED, (self.id,), [int] * 5)
        numbers, packed = np.divmod(
            np.fromiter((row[0] for row in rows), np.int64, len(rows)), _NUMBERED
        )
        matches, scores, firsts = packed // 16, packed // 4 % 4, packed // 2 % 2
        repeats = packed % 2 == 1
        if not np.array_equal(numbers, np.arange(len(numbers))):
            raise self.file.damaged(f"the numbers of the pairs of run {self.id} have a gap")
        in_order = numbers % len(self.plan.matches) == matches
        if not np.all(in_order & (firsts <= scores) & (scores <= firsts + 1)):
            raise self.file.damaged(
                f"run {self.id} has pairs with an unknown match number or an invalid score"
            )
        kinds, counts = np.unique((3 * matches + scores)[~repeats], return_counts=True)
        found = {
            divmod(kind, 3): count
            for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True)
        }
        if tallies != [
            (match, score, count, count, score * count) for (match, score), count in found.items()
        ]:
            raise self.file.damaged(f"the tallies of run {self.id} are not those of its pairs")
        return Outcomes(
            matches=matches.astype(np.int32),
            scores=scores.astype(np.int8),
            firsts=firsts.astype(np.int8),
            repeats=repeats,
        )

    def depths(self) -> npt.NDArray[np.float64]:
        """Return the mean search depth of `a` in each pair, in plies, in schedule order.

        It is NaN for a pair in which `a` made no move.
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
        """Return the record of a pair; raise a `KnightfallError` if it is not stored."""
        found = pairs_from(self.file, self.id, self.plan, number, 1)
        if not found:
            raise KnightfallError(
                f"run {self.id} has no pair {number}: it has {self.played} pairs, numbered from 0"
            )
        return found[0]

    def pairs(self) -> Iterator[PairRecord]:
        """Yield the records of all pairs that are stored now, in schedule order."""
        played, step = self.played, PAGE // 2
        for start in range(0, played, step):
            count = min(step, played - start)
            found = pairs_from(self.file, self.id, self.plan, start, count)
            if len(found) != count:
                raise self.file.damaged(f"run {self.id} lacks pairs from {start + len(found)} on")
            yield from found

    def games(
        self,
        *,
        match: int | None = None,
        won_by: Collection[int] | None = None,
        lost_by: Collection[int] | None = None,
        reason: Reason | None = None,
        limit: int | None = None,
    ) -> Iterator[StoredGame]:
        """Yield games in schedule order, those of repeated pairs included.

        `match` is the number of a match; `won_by` and `lost_by` are numbers of entrants, one of
        which must have won or lost the game.  `limit` is the most games to yield.
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
                if not is_known_ending(row[10], row[11]) or row[7] not in ("w", "b"):
                    raise self.file.damaged(
                        f"pair {row[1]} of run {self.id} has an unknown winner, reason or hunter"
                    )
            yield from (StoredGame(*row) for row in rows)
            if len(rows) < size:
                return
            last = rows[-1][1], rows[-1][2]
            left = None if left is None else left - size


_NUMBERED = 2**32

# For each match and score: how many games have number 0, how many number 1, and how many `a` won.
_TALLIED = """
SELECT match, score, sum(games * (game = 0)), sum(games * (game = 1)),
       sum(games * ((winner = 'w') = (game = 0)))
FROM tallies WHERE run = ? GROUP BY match, score ORDER BY match, score"""

# CROSS JOIN makes SQLite visit the tables in this order, along the schedule; the plus sign keeps it
# from scanning a range of pairs where one is looked up.
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
    """Return the current time as it is stored: UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


FEW = 8
"""Most runs that the error about an unknown run lists."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """The summary of a run, as a list of runs shows it."""

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
    """The verdict of its outcome; empty if there is none."""
    files: dict[str, str]
    """The users' files that its agents come from, each path with its hash."""
    board: str
    """The board, for example 7x7; ``book`` if its openings come from a book."""


OnRefused = Callable[[int, KnightfallError], object]
"""Called with the number of a run that is damaged, and the error."""


class Store:
    """A file that holds runs."""

    def __init__(self, file: StoreFile) -> None:
        self.file = file
        self._plans: dict[int, Plan] = {}
        self._headings: dict[int, _Heading] = {}

    @staticmethod
    def open(path: str | os.PathLike[str] | None = None, *, read_only: bool = False) -> Store:
        """Open the store in a file, by default the user's own; create it unless `read_only`."""
        return Store(StoreFile(path, read_only))

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    # -- runs ------------------------------------------------------------------------------

    def begin(
        self, plan: Plan, engine: str, versions: Mapping[str, Any], again: bool = False
    ) -> Run:
        """Return the stored run of this plan and engine, or a new one; always a new one if `again`.

        `versions` are stored with a new run, together with the engine's.  A new run starts with the
        stored pairs of a run that differs only in its number of pairs.
        """
        key = plan.key(engine)
        named = {**versions, ENGINE: engine}
        text = json.dumps(named, sort_keys=True, ensure_ascii=False)
        with self.file.writing():
            attempt, id = self.latest(key)
            if id is None or again:
                id = self.insert(plan, key, attempt + 1, now(), text)
                if not again:
                    self._copy_shorter_run(id, plan, engine)
        return Run(self.file, id, plan)

    def find(self, plan: Plan, engine: str) -> Run | None:
        """Return the last run of this plan and engine; None if there is none."""
        _, id = self.latest(plan.key(engine))
        return None if id is None else Run(self.file, id, plan)

    def _copy_shorter_run(self, id: int, plan: Plan, engine: str) -> None:
        """Copy pairs into a new run from a stored one that differs only in its number of pairs.

        The pairs of a shorter plan are the first ones of a longer plan.
        """
        others = self.file.rows(
            "SELECT id FROM runs WHERE id <> ? AND kind = ?", (id, plan.kind), [int]
        )
        best, most, wanted = None, 0, _but_for_pairs(json.loads(plan.to_json()))
        for (other,) in others:
            with suppress(KnightfallError):  # a damaged run is passed over
                heading = self._heading(other)
                if heading.engine == engine and heading.but_for_pairs == wanted:
                    run = self._opened(other)
                    if run.played > most:
                        best, most = other, run.played
        if best is not None:
            copy_pairs(self.file, best, id, plan)

    def latest(self, key: str) -> tuple[int, int | None]:
        """Return how many runs have this key, and the number of the last one (None without any).

        Raise a `KnightfallError` if the plan of the last one has another key.
        """
        found = self.file.rows(
            "SELECT attempt, id FROM runs WHERE key = ? ORDER BY attempt DESC LIMIT 1",
            (key,),
            [int, int],
        )
        if not found:
            return 0, None
        ((attempt, id),) = found
        self._opened(id)
        # In a damaged file the index may differ from the table.
        if self._headings[id].key != key or not 0 < attempt < MOST_RUNS:
            raise self.file.damaged(f"run {id} is not number {shown(attempt)} with the key {key!r}")
        return attempt, id

    def insert(self, plan: Plan, key: str, attempt: int, created: str, versions: str) -> int:
        """Insert a run without pairs and return its number; the caller holds a transaction."""
        for (last,) in self.file.rows("SELECT seq FROM sqlite_sequence", (), [int]):
            if not 0 <= last < MOST_RUNS:
                raise self.file.damaged(f"the number of its last run is {shown(last)}")
        id = self.file.change(
            "INSERT INTO runs (key, attempt, kind, plan, total, created, versions)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (key, attempt, plan.kind, plan.to_json(), plan.total, created, versions),
        )
        for table in RUN_TABLES:
            if self.file.rows(f"SELECT 1 FROM {table} WHERE run = ? LIMIT 1", (id,)):
                raise self.file.damaged(f"its table {table} has rows of run {id}, which is new")
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
        """Return the run with a number; raise `NotFound` if there is none."""
        self._check_exists(id)
        return self._opened(id)

    def _check_exists(self, id: int) -> None:
        if not self.file.rows("SELECT 1 FROM runs WHERE id = ?", (id,)):
            raise NotFound(f"there is no run {id} in {self.file.path}: {self._known()}")

    def last(self) -> Run:
        """Return the run that was begun last; raise `NotFound` if there is none."""
        ((id,),) = self.file.rows("SELECT max(id) FROM runs", (), [int | None])
        if id is None:
            raise NotFound(f"no runs yet in {self.file.path}")
        return self._opened(id)

    def _opened(self, id: int) -> Run:
        """Return a run after checking that its rows and its key are those of its plan."""
        if id not in self._plans:
            with self.file.snapshot():
                self._plans[id] = self._checked_plan(id)
        return Run(self.file, id, self._plans[id])

    def _checked_plan(self, id: int) -> Plan:
        """Return the plan of a run; raise a `KnightfallError` if its other rows differ."""
        self._heading(id)
        ((text, kind),) = self.file.rows(
            "SELECT plan, kind FROM runs WHERE id = ?", (id,), [str, str]
        )
        try:
            plan = read_plan(text)
        except KnightfallError as error:
            raise self.file.damaged(f"run {id}: {error}") from None
        agents = self.file.rows(
            "SELECT number, agent, name FROM entrants WHERE run = ? ORDER BY number LIMIT ?",
            (id, len(plan.entrants) + 1),
        )
        matches = self.file.rows(
            "SELECT number, a, b, series FROM matches WHERE run = ? ORDER BY number LIMIT ?",
            (id, len(plan.matches) + 1),
        )
        fits = (
            kind == plan.kind
            and [(number, agent, printable(str(name))) for number, agent, name in agents]
            == [(number, one.agent, one.name) for number, one in enumerate(plan.entrants)]
            and matches == [(at, one.a, one.b, one.series) for at, one in enumerate(plan.matches)]
        )
        if not fits:
            raise self.file.damaged(f"the agents and matches of run {id} are not those of its plan")
        return plan

    def _heading(self, id: int) -> _Heading:
        """Return the facts about a run's plan, after checking that they give the run's key."""
        if id not in self._headings:
            found = self.file.rows(
                "SELECT key, plan, versions FROM runs WHERE id = ?", (id,), [str, str, str]
            )
            if not found:
                raise KnightfallError(f"run {id} is no longer in {self.file.path}")
            ((key, text, versions),) = found
            named = _json_object(self.file, f"versions of run {id}", versions)
            right = run_key(text, str(named.get(ENGINE)))
            if key != right:
                raise self.file.damaged(
                    f"run {id} has the key {shown(key)}, but its plan and engine have {right!r}: "
                    "one of them was changed, or it was made to pass for another run; "
                    f"knightfall runs delete {id} --yes removes it"
                )
            plan = _json_object(self.file, f"plan of run {id}", text, _HEADING)
            self._headings[id] = _Heading(
                key=key,
                names=tuple(printable(one["name"]) for one in plan["entrants"]),
                agents=tuple(printable(one["agent"]) for one in plan["entrants"]),
                files=plan.get("files", {}),
                board="book" if plan["book"] else printable(plan["board"]),
                engine=str(named.get(ENGINE)),
                but_for_pairs=_but_for_pairs(plan),
            )
        return self._headings[id]

    def _known(self) -> str:
        """Return the end of an error message that names the runs of this store."""
        ids = [str(id) for (id,) in self.file.rows("SELECT id FROM runs ORDER BY id")]
        if len(ids) > FEW:
            return f"its runs go from {ids[0]} to {ids[-1]}"
        return f"its runs are {', '.join(ids)}" if ids else "it has no runs yet"

    def runs(self, on_refused: OnRefused | None = None) -> list[RunInfo]:
        """Return summaries of all runs, in the order in which they were begun.

        A run whose rows are damaged is left out, and `on_refused` is called with its number and the
        error; without `on_refused` the error is raised.
        """
        infos = []
        with self.file.snapshot():
            for (id,) in self.file.rows("SELECT id FROM runs ORDER BY id", (), [int]):
                try:
                    infos.append(self._info(id))
                except KnightfallError as error:
                    if on_refused is None:
                        raise
                    on_refused(id, error)
        return infos

    def _info(self, id: int) -> RunInfo:
        """Return the summary of a run."""
        heading = self._heading(id)
        ((kind, played, total, created, finished, outcome),) = self.file.rows(
            "SELECT kind, (SELECT max(number) + 1 FROM pairs WHERE run = id), total,"
            " created, finished, outcome FROM runs WHERE id = ?",
            (id,),
            [str, int | None, int, str, str | None, str | None],
        )
        found = _json_object(self.file, f"outcome of run {id}", outcome or "{}")
        return RunInfo(
            id, printable(kind), heading.names, heading.agents, played or 0, total,
            printable(created), finished, str(found.get("verdict") or ""), heading.files,
            heading.board,
        )  # fmt: skip

    def delete(self, run: int) -> None:
        """Delete a run with all its games; its number is not used again.

        It may be damaged.  Raise `NotFound` if there is no such run.
        """
        with self.file.writing():
            self._check_exists(run)
            for table in RUN_TABLES:
                self.file.change(f"DELETE FROM {table} WHERE run = ?", (run,))
            self.file.change("DELETE FROM runs WHERE id = ?", (run,))
        self.file.shrink()


MOST_RUNS = 10**9

ENGINE = "knightfall"
"""The name, in `Run.versions`, of the engine's version, which is a part of the run's key."""


class _Heading(NamedTuple):
    """The facts about a run's plan that a list of runs shows, and hashes that identify the plan."""

    key: str
    names: tuple[str, ...]
    agents: tuple[str, ...]
    files: dict[str, str]
    board: str
    engine: str
    but_for_pairs: str


_HEADING = {
    "entrants": [{"agent": str, "name": str}], "files?": {str: str}, "board": str, "book": [str],
    ...: object,
}  # fmt: skip


def _but_for_pairs(plan: Mapping[str, Any]) -> str:
    """Return a hash of a plan's fields without its number of pairs."""
    others = {name: value for name, value in plan.items() if name != "pairs"}
    return hashlib.sha256(json.dumps(others, sort_keys=True).encode()).hexdigest()


def _json_object(file: StoreFile, what: str, text: str, shape: Any = None) -> dict[str, Any]:
    """Parse a JSON object of a shape, by default any; error messages call it `what`."""
    try:
        found = parse_json(text)
        check(shape or {str: object}, found)
    except KnightfallError as error:
        raise file.damaged(f"{what}: {error}") from None
    return dict(found)


__all__ = ["Run", "RunInfo", "Store"]
