"""Import a run from the jsonl file that `export` wrote, and check it.

All moves are replayed; an error names the line of a file that was cut short or edited by hand.  The
key of the run must be that of its plan and engine.  Openings and seeds must be those of the plan if
the run was played by this version; another version may have drawn others.
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

from knightfall.arena import engine_version
from knightfall.arena.export_run import RUN_FORMAT
from knightfall.arena.plan import (
    COLUMN_FORMATS,
    REASONS,
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
from knightfall.untrusted_input import MOST as MOST_STORED
from knightfall.untrusted_input import (
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
"""Most bytes of a line: 16 MB hold even a plan with a huge book."""

MOST_SEED = 2**63 - 1
MOST = 2**53  # larger whole numbers are not exact in every JSON reader
_NOT_FINITE = ("inf", "-inf", "nan")


@dataclass(frozen=True)
class RunHeader:
    """The first line of a file: the content of the run's row in the store."""

    key: str
    engine: str
    plan: Plan
    created: str
    finished: str | None
    outcome: str | None
    versions: str
    pairs: int


class RunFile:
    """A jsonl file that holds one run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def head(self) -> RunHeader:
        """The content of the first line, checked."""
        with opened(self.path) as file, self._at(1):
            return _header(next(self._numbered(file), (1, ""))[1])

    def pairs(
        self, on_progress: OnProgress = ignore_progress, replay: bool = True
    ) -> Iterator[PairRecord]:
        """Yield the pairs in order; if `replay`, check their moves by replaying them.

        Raise a `KnightfallError` that names the line if a pair is wrong or missing.
        """
        expected = self.head.pairs
        number, line = 0, 1
        with opened(self.path) as file:
            lines = self._numbered(file)
            next(lines)
            for line, text in lines:
                if not text.strip():
                    continue
                with self._at(line):
                    _must(number < expected, f"more pairs than the first line says ({expected})")
                    record = self._pair(number, text, replay)
                number += 1
                on_progress(number)
                yield record
        with self._at(line):
            _must(number == expected, f"the file ends after {number} of {expected} pairs")

    def _pair(self, number: int, text: str, replay: bool) -> PairRecord:
        """Parse the line of a pair, and return its record."""
        content = _object(text)
        check(_PAIR, content)
        _must(content["pair"] == number, f'"pair" must be {number}, not {content["pair"]}')
        task = self._task(number, content["opening"], content["seed"])
        one, two = (_from_json(game, task, replay) for game in content["games"])
        return PairRecord(task, (one, two))

    def _task(self, number: int, fen: str, seed: int) -> PairTask:
        """Return the task of a pair, with the opening and the seed from the file."""
        plan = self.head.plan
        match = plan.matches[number % len(plan.matches)]
        opening = Position.from_fen(fen)
        _must(
            opening.placed and opening.winner is None,
            f"no game can begin with {fen!r}",
        )
        a, b = plan.entrants[match.a].agent, plan.entrants[match.b].agent
        task = PairTask(number, a, b, opening.fen, seed)
        if self.head.engine == engine_version.engine():
            _must(
                task == plan.task(number), f"pair {number} of this plan has another opening or seed"
            )
        return task

    def _numbered(self, file: IO[bytes]) -> Iterator[tuple[int, str]]:
        """Yield the lines with their numbers, from 1 on."""
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            if len(line) > LONGEST_LINE:
                raise KnightfallError(
                    f"{str(self.path)!r}, line {number} has more than {LONGEST_LINE:,} bytes: only "
                    "files written by 'runs export --format jsonl' are accepted"
                )
            yield number, decoded(line, self.path)

    @contextmanager
    def _at(self, line: int) -> Iterator[None]:
        """Prefix errors of the block with the file and the line."""
        try:
            yield
        except KnightfallError as error:
            raise KnightfallError(f"{self.path}, line {line}: {error}") from None


def _must(condition: bool, message: str) -> None:
    """Raise a `KnightfallError` with a message unless a condition holds."""
    if not condition:
        raise KnightfallError(message)


# -- the first line ----------------------------------------------------------------------------


def _object(text: str) -> dict[str, Any]:
    """Parse the JSON object of a line."""
    try:
        content = parse_json(text)
    except KnightfallError as error:
        raise KnightfallError(f"not a line of an exported run: {error}") from None
    check({...: object}, content)
    return dict(content)


def _header(text: str) -> RunHeader:
    """Parse the first line, check its content and return it."""
    _must(
        not text.startswith("%"),
        "this is an export as text, without scores and times: export with --format jsonl instead",
    )
    content = check_format(_object(text), RUN_FORMAT)
    check(_HEAD, content)
    plan, outcome = plan_of(content["plan"]), content["outcome"]
    _must("knightfall" in content["versions"], '"versions" must name the version of "knightfall"')
    for entrant in plan.entrants:
        _must(
            printable(entrant.name) == entrant.name,
            f"the name {shown(entrant.name)} contains characters that cannot be printed",
        )
    _must(
        content["pairs"] <= plan.total <= MOST_STORED,
        f"{content['pairs']} pairs, but the plan has {plan.total}",
    )
    _must(
        (content["finished"] is None) == (outcome is None),
        '"finished" and "outcome" must both be given or both be null',
    )
    for time in filter(None, (content["created"], content["finished"])):
        _must(
            TIME.fullmatch(time) is not None,
            f"time {shown(time)} must be written as in 2017-05-31T12:00:00Z",
        )
    key = plan.key(content["versions"]["knightfall"])
    _must(
        content["key"] == key,
        f"its key is {shown(content['key'])}, but its plan and engine have the key {key!r}: one of "
        "them was edited",
    )
    return RunHeader(
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


def _sorted(content: dict[str, Any]) -> str:
    """Return an object as the store keeps it: JSON with sorted keys."""
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
    """Return a game's record from plain values; raise a `KnightfallError` if they are wrong."""
    moves = content["moves"]
    cells = _checked_cells(task, moves, content.get("winner"), content["reason"], replay)
    scores = Items((float, OneOf(tuple(_NOT_FINITE))), len(moves), len(moves))
    counts = {
        name: Items(Whole(0, min(int(np.iinfo(kind).max), MOST)), len(moves), len(moves))
        for name, kind in COLUMN_FORMATS.items()
        if name != "scores"
    }
    check({"scores": scores, **counts, ...: object}, content)
    columns = {**content, "scores": [float(x) for x in content["scores"]]}
    packed = {name: np.array(columns[name], of).tobytes() for name, of in COLUMN_FORMATS.items()}
    return GameRecord(
        content["winner"], content["reason"], cells, **packed, detail=content["detail"]
    )


def _checked_cells(
    task: PairTask, moves: list[str], winner: Any, reason: str, replay: bool
) -> bytes:
    """Return the moves of a game as bytes, one cell number each.

    With `replay`, raise a `KnightfallError` if a move is illegal or the end is wrong.
    """
    opening = Position.from_fen(task.opening)
    if replay:
        position = Scoresheet.played(opening, moves).final
        _must(
            (reason == "no moves") == (position.winner is not None),
            f"the reason is {reason!r}, but after its moves the game is "
            f"{'not ' if position.winner is None else ''}over",
        )
        # The side to move has lost, for whatever reason.
        right = other(position.to_move)
        _must(winner == right, f"the winner must be {right!r}, not {shown(winner)}")
    return bytes(opening.board.cell(move) for move in moves)


def import_run(
    store: Store,
    path: str | os.PathLike[str],
    *,
    again: bool = False,
    on_progress: OnProgress = ignore_progress,
) -> Run:
    """Add the run of a file to a store, whole or not at all, and return it.

    `on_progress` is called with the number of pairs read.  Raise a `KnightfallError` if the file is
    wrong, or if the store has a run of the same plan and engine, unless `again`.
    """
    file = RunFile(Path(os.path.expanduser(path)))
    head = file.head
    if not again:
        _refuse_known(store, file)
    # Check everything before the transaction, because that takes time and blocks other writers.
    deque(file.pairs(on_progress), maxlen=0)
    with store.file.writing():
        if not again:  # another process may have added it meanwhile
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
    """Raise a `KnightfallError` if the store has a run of the same plan and engine."""
    _, known = store.latest(file.head.key)
    if known is not None:
        raise KnightfallError(
            f"{file.path}: run {known} in {store.file.path} has the same plan and engine "
            "version; --again adds a second copy"
        )
