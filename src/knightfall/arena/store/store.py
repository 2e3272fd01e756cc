"""All runs in one SQLite file: the only truth about results.

::

    with Store.open() as store:
        run = store.begin(plan, engine="1", versions={})
        for batch in …:                  # from run.played on
            run.append(batch)
        run.finish({"verdict": "…"})
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from knightfall.arena.plan.plan import Plan
from knightfall.arena.plan.stored_plan import plan_of
from knightfall.arena.store.file import OF_A_RUN, StoreFile
from knightfall.arena.store.pair_rows import copy_pairs
from knightfall.arena.store.run import Run, now
from knightfall.display.printable import printable
from knightfall.errors import KnightfallError, NotFound
from knightfall.reading import parse_json
from knightfall.shape import check

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
        """Forget a run with all its games; its number is not given to another."""
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
