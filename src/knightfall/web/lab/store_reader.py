"""``python -m knightfall.web.lab.store_reader STORE``: the lab's process that reads the store.

It never writes.  Reports of long runs take time, so they are made here and not in the server.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from knightfall.arena.store import Store
from knightfall.display.printable import json_line, printable
from knightfall.errors import KnightfallError, NotFound
from knightfall.isolation.limits import exit_with_parent
from knightfall.isolation.run_isolated import take_streams
from knightfall.web.lab import run_summary
from knightfall.web.lab.agent_names import short_names
from knightfall.web.lab.gradings import Gradings, StoredGrading
from knightfall.web.lab.run_summary import game_truth

VERDICTS = 0.5
"""Seconds that computing verdicts may take for one list of runs."""

MOST_REFUSED = 10
"""Most damaged runs that a list of runs names."""


class StoreReader:
    """A read-only view of a store of runs and its gradings; the store is opened once it exists."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._opened: Store | None = None
        self._reports: dict[int, tuple[tuple[int, str | None], dict[str, Any]]] = {}
        self._verdicts: dict[int, str] = {}
        self._truths: dict[tuple[int, int, int], dict[str, Any]] = {}
        self._gradings = Gradings(path)

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request of the server, or an error."""
        asked = getattr(self, question.pop("ask"))  # the server names one of the methods below
        try:
            return {"answer": asked(**question)}
        except KnightfallError as error:
            return {"error": printable(str(error)), "found": not isinstance(error, NotFound)}
        except Exception as error:  # for example, the store is being replaced
            self._opened = None
            return {"error": printable(f"the store cannot be read: {error}")}

    @property
    def _store(self) -> Store | None:
        """The opened store; None while no run has been stored."""
        if self._opened is None:
            try:
                self._opened = Store.open(self._path, read_only=True)
            except NotFound:
                return None
        return self._opened

    def _run(self, id: int) -> Any:
        store = self._store
        if store is None:
            raise NotFound(f"there is no run {id}: the store is still empty")
        return store.run(id)

    # -- requests --------------------------------------------------------------------------

    def watch(self, runs: list[int]) -> dict[str, Any]:
        """Return a number that changes with every write, and how many pairs each run has played."""
        store = self._store
        if store is None:
            return {"version": 0, "played": {}}
        ((version,),) = store.file.rows("PRAGMA data_version")
        played = {str(id): store.run(id).played for id in runs}
        return {"version": version + 1, "played": played}

    def runs(self, limit: int) -> dict[str, Any]:
        """Return the latest runs, the latest first; finished ones have a verdict.

        A verdict needs all pairs of its run.  Verdicts for which time ran out are empty, and
        `pending` is then true: the caller should ask again.  `refused` says which of the runs are
        damaged.
        """
        store, refused = self._store, list[str]()

        def refuse(id: int, error: KnightfallError) -> None:
            refused.append(printable(f"run {id} is not listed: {error}"))

        found = [] if store is None else store.runs(refuse)[-limit:][::-1]
        until = time.monotonic() + VERDICTS
        for info in found:
            if store is not None and info.finished and info.id not in self._verdicts:
                if time.monotonic() > until:
                    break
                try:
                    found_out = run_summary.verdict(store.run(info.id))
                except KnightfallError as error:  # list the other runs all the same
                    found_out = str(error)
                self._verdicts[info.id] = found_out or info.verdict
        return {
            "refused": refused[:MOST_REFUSED],
            "pending": any(info.finished and info.id not in self._verdicts for info in found),
            "runs": [
                {
                    "id": info.id, "kind": info.kind, "names": list(info.names),
                    "played": info.played, "total": info.total, "created": info.created,
                    "finished": info.finished, "short": short_names(info.names),
                    "verdict": printable(self._verdicts.get(info.id, "")),
                }
                for info in found
            ]
        }  # fmt: skip

    def run(self, run: int) -> dict[str, Any]:
        """Return a run with its report, which is cached until more has been played."""
        found = self._run(run)
        state = found.played, found.finished
        kept = self._reports.get(run)
        if kept is None or kept[0] != state:
            while len(self._reports) >= 16:
                self._reports.pop(next(iter(self._reports)))
            kept = self._reports[run] = state, run_summary.about(found)
        return {**kept[1], "resume": run_summary.resuming(found)}

    def games(self, run: int, **wanted: Any) -> dict[str, Any]:
        """Return the games of a run that pass some filters; see `run_summary.games`."""
        return run_summary.games(self._run(run), **wanted)

    def game(self, run: int, pair: int, game: int) -> dict[str, Any]:
        """Return one game of a run with its moves."""
        found = self._run(run)
        if pair >= found.played:
            raise NotFound(
                f"there is no pair {pair} in run {run}: it has {found.played:,}, counted from 0"
            )
        return run_summary.one_game(found, pair, game)

    def truth(self, run: int, pair: int, game: int) -> dict[str, Any]:
        """Return who was winning a game at its opening, and which moves threw the win away."""
        key = run, pair, game
        if key not in self._truths:
            self._truths[key] = game_truth(self.game(run, pair, game))
        return self._truths[key]

    def gradings(self) -> dict[str, Any]:
        """Return a summary of every stored grading, the latest first."""
        return {"gradings": [_grading_in_short(one) for one in self._gradings.all()[::-1]]}

    def grading(self, grading: int) -> dict[str, Any]:
        """Return a grading with its grade and games."""
        found = self._gradings.one(grading)
        if found is None:
            raise NotFound(f"there is no grading {grading}")
        grade = found.grade()
        return {
            "grading": _grading_in_short(found),
            "grade": None if grade is None else grade.to_dict(),
            "games": list(found.games),
            "resume": run_summary.grading_resuming(found),
            "agent": found.header["agent"],
        }


def _grading_in_short(one: StoredGrading) -> dict[str, Any]:
    about, grade = one.header, one.grade()
    kept = None if grade is None else grade.wins_kept["overall"].kept
    return {
        "id": one.id, "name": printable(about["name"]), "board": printable(about["board"]),
        "seed": about["seed"], "games": len(one.games), "openings": about["openings"],
        "created": printable(about["created"]), "finished": one.finished,
        "kept": None if kept is None else kept.rate,
        "short": short_names([printable(about["name"])])[0],
    }  # fmt: skip


def main() -> None:
    """Answer requests, each a line of JSON on standard input, until the input ends."""
    exit_with_parent()
    reading, writing = take_streams()
    reader = StoreReader(sys.argv[1])
    with os.fdopen(reading, "rb") as questions, os.fdopen(writing, "wb") as answers:
        for line in questions:
            answers.write(json_line(reader.answer(json.loads(line))).encode())
            answers.flush()


if __name__ == "__main__":
    main()
