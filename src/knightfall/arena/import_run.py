"""A run in a file: the jsonl that `export` wrote, read back and checked.

Every game is played over: a file that was cut short or edited by hand is refused with the line
that is wrong.  What a run is taken for, its `key`, follows from its plan and engine: a file that
says otherwise is refused.  That openings and seeds are those of the plan is asked only of a run of
this version: another one may have drawn them otherwise.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np

from knightfall.arena import version
from knightfall.arena.export import RUN_FORMAT
from knightfall.arena.plan import (
    DEPTH,
    MICROSECONDS,
    NODES,
    REASONS,
    SCORE,
    GameRecord,
    PairRecord,
    PairTask,
    Plan,
)
from knightfall.arena.store import TIME, Run, Store
from knightfall.arena.store_file import PairWriter
from knightfall.arena.stored_plan import plan_of
from knightfall.display.printable import printable
from knightfall.display.progress import OnProgress, ignore_progress
from knightfall.errors import KnightfallError
from knightfall.notation import Scoresheet
from knightfall.position import Position, other
from knightfall.reading import MOST as MOST_STORED
from knightfall.reading import (
    Items,
    OneOf,
    Whole,
    check,
    check_format,
    decoded,
    opened,
    parse_json,
    shown,
)

LONGEST_LINE = 2**24
"""16 MB, the plan with a huge book included."""

MOST_SEED = 2**63 - 1
MOST = 2**53  # beyond it not every reader of JSON is exact
_COUNTS = {"depths": DEPTH, "nodes": NODES, "microseconds": MICROSECONDS}
_NOT_FINITE = ("inf", "-inf", "nan")


@dataclass(frozen=True)
class Head:
    """The first line of a file: the run's row."""

    key: str
    engine: str
    plan: Plan
    created: str
    finished: str | None
    outcome: str | None
    versions: str
    pairs: int


class RunFile:
    """A file that holds one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def head(self) -> Head:
        """What the first line says."""
        with self._lines() as lines, self._at(1):
            return _head(next(lines, (1, ""))[1])

    def pairs(
        self, on_progress: OnProgress = ignore_progress, replay: bool = True
    ) -> Iterator[PairRecord]:
        """The pairs in order, each game played over if asked for."""
        expected = self.head.pairs
        number, line = 0, 1
        with self._lines() as lines:
            next(lines)
            for line, text in lines:
                if not text.strip():
                    continue
                with self._at(line):
                    _must(number < expected, f"more pairs than the {expected} of the first line")
                    record = self._pair(number, text, replay)
                number += 1
                on_progress(number)
                yield record
        with self._at(line):
            _must(number == expected, f"the file ends after {number} of {expected} pairs")

    def _pair(self, number: int, text: str, replay: bool) -> PairRecord:
        content = _object(text)
        check(_PAIR, content)
        _must(content["pair"] == number, f'"pair" must be {number}, not {content["pair"]}')
        task = self._task(number, content["opening"], content["seed"])
        one, two = (_from_json(game, task, replay) for game in content["games"])
        return PairRecord(task, (one, two))

    def _task(self, number: int, fen: str, seed: int) -> PairTask:
        plan = self.head.plan
        match = plan.matches[number % len(plan.matches)]
        opening = Position.from_fen(fen)
        _must(opening.placed and opening.winner is None, f"no game can begin with {fen!r}")
        a, b = plan.entrants[match.a].agent, plan.entrants[match.b].agent
        task = PairTask(number, a, b, opening.fen, seed)
        if self.head.engine == version.engine():
            _must(
                task == plan.task(number), f"pair {number} of this plan has another opening or seed"
            )
        return task

    @contextmanager
    def _lines(self) -> Iterator[Iterator[tuple[int, str]]]:
        with opened(self.path) as file:
            yield self._numbered(file)

    def _numbered(self, file: IO[bytes]) -> Iterator[tuple[int, str]]:
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise KnightfallError(
                    f"{str(self.path)!r}, line {number} has more than {LONGEST_LINE:,} bytes: this "
                    "is not a file that export wrote"
                )
            yield number, decoded(line, self.path)

    @contextmanager
    def _at(self, line: int) -> Iterator[None]:
        try:
            yield
        except KnightfallError as error:
            raise KnightfallError(f"{self.path}, line {line}: {error}") from None


def _must(right: bool, otherwise: str) -> None:
    if not right:
        raise KnightfallError(otherwise)


# -- the first line ----------------------------------------------------------------------------


def _object(text: str) -> dict[str, Any]:
    try:
        content = parse_json(text)
    except KnightfallError as error:
        raise KnightfallError(f"this is not a line that export wrote: {error}") from None
    check({...: object}, content)
    return dict(content)


def _head(text: str) -> Head:
    _must(
        not text.startswith("%"),
        "games as text lack what was thought: import takes what export --format jsonl wrote",
    )
    content = check_format(_object(text), RUN_FORMAT)
    check(_HEAD, content)
    plan, outcome = plan_of(content["plan"]), content["outcome"]
    _must("knightfall" in content["versions"], '"versions" must name that of knightfall')
    _check_names(plan)
    _must(
        content["pairs"] <= plan.total <= MOST_STORED,
        f"{content['pairs']} pairs, but the plan has {plan.total}",
    )
    _must((content["finished"] is None) == (outcome is None), "an outcome is told at the end")
    for time in filter(None, (content["created"], content["finished"])):
        _must(
            TIME.fullmatch(time) is not None, f"{shown(time)} is no time as in 2017-05-31T12:00:00Z"
        )
    key = plan.key(content["versions"]["knightfall"])
    _must(
        content["key"] == key,
        f"its key is {shown(content['key'])}, but that of its plan and engine is {key!r}: "
        "it is not the run it says it is",
    )
    return Head(
        key=key,
        engine=content["versions"]["knightfall"],
        plan=plan,
        created=content["created"],
        finished=content["finished"],
        outcome=None if outcome is None else _sorted(outcome),
        versions=_sorted(content["versions"]),
        pairs=content["pairs"],
    )


_HEAD: dict[str, Any] = {
    "format": str,
    "key": str,
    "plan": object,
    "created": str,
    "finished": (str, None),
    "outcome": ({str: object}, None),
    "versions": {str: str},
    "pairs": Whole(),
}


def _check_names(plan: Plan) -> None:
    """Those of our own runs are printable: `enter` sees to it."""
    for entrant in plan.entrants:
        _must(
            printable(entrant.name) == entrant.name,
            f"the name {shown(entrant.name)} holds characters that cannot be shown",
        )


def _sorted(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False)


_PAIR: dict[Any, Any] = {
    "pair": Whole(),
    "opening": str,
    "seed": Whole(0, MOST_SEED),
    "games": Items({"moves": [str], "detail": str, "reason": OneOf(REASONS), ...: object}, 2, 2),
    ...: object,
}


# -- games ---------------------------------------------------------------------------------------


def _from_json(content: Any, task: PairTask, replay: bool) -> GameRecord:
    moves = content["moves"]
    cells = _played_over(task, moves, content.get("winner"), content["reason"], replay)
    scores = Items((float, OneOf(tuple(_NOT_FINITE))), len(moves), len(moves))
    counts = {
        name: Items(Whole(0, min(int(np.iinfo(kind).max), MOST)), len(moves), len(moves))
        for name, kind in _COUNTS.items()
    }
    check({"scores": scores, **counts, ...: object}, content)
    packed = {"scores": np.array([float(x) for x in content["scores"]], SCORE).tobytes()}
    for name, kind in _COUNTS.items():
        packed[name] = np.array(content[name], kind).tobytes()
    return GameRecord(
        content["winner"], content["reason"], cells, **packed, detail=content["detail"]
    )


def _played_over(task: PairTask, moves: list[str], winner: Any, reason: str, replay: bool) -> bytes:
    """The cells of a game; an error unless every move is legal and the end is as it is told."""
    opening = Position.from_fen(task.opening)
    if not replay:
        return bytes(opening.board.cell(move) for move in moves)
    position = Scoresheet.played(opening, moves).final
    _must(
        (reason == "no moves") == (position.winner is not None),
        f"the game is {'not ' if position.winner is None else ''}over after its moves, but the "
        f"reason is {reason}",
    )
    # Whoever fails to answer, for whatever reason, is the one to move.
    right = other(position.to_move)
    _must(winner == right, f"the winner is {right}, not {shown(winner)}")
    return bytes(opening.board.cell(move) for move in moves)


def import_run(
    store: Store,
    path: str | os.PathLike[str],
    *,
    again: bool = False,
    on_progress: OnProgress = ignore_progress,
) -> Run:
    """Add the run of a file to a store, whole or not at all; `on_progress` hears of pairs read.

    A run whose plan and engine the store has already is refused unless `again`.
    """
    file = RunFile(Path(os.path.expanduser(path)))
    head = file.head
    if not again:
        _refuse_known(store, file)
    # First check all, which takes time, and only then keep others from writing.
    deque(file.pairs(on_progress), maxlen=0)
    with store.file.writing():
        if not again:  # somebody may have been quicker
            _refuse_known(store, file)
        attempt, _ = store.latest(head.key)
        id = store.insert(head.plan, head.key, attempt + 1, head.created, head.versions)
        writer = PairWriter(store.file, id, head.plan)
        for record in file.pairs(replay=False):
            writer.add(record)
        writer.tally()
        store.file.change(
            "UPDATE runs SET finished = ?, outcome = ? WHERE id = ?",
            (head.finished, head.outcome, id),
        )
    return Run(store.file, id, head.plan)


def _refuse_known(store: Store, file: RunFile) -> None:
    _, known = store.latest(file.head.key)
    if known is not None:
        raise KnightfallError(
            f"{file.path}: run {known} in {store.file.path} has the same plan and engine already; "
            "--again adds it as another"
        )
