"""A run in a file: the jsonl that `export` wrote, read back and checked.

Every game is played over: a file that was cut short or edited by hand is refused with the line
that is wrong.  That openings and seeds are those of the plan is not asked, for a run of another
version may have drawn them otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

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
from knightfall.arena.plan.plan import Plan
from knightfall.arena.store.export import RUN_FORMAT
from knightfall.display.progress import OnProgress, nobody
from knightfall.errors import KnightfallError
from knightfall.notation.scoresheet import Scoresheet
from knightfall.position import Position, other

MOST_SEED = 2**63 - 1
MOST = 2**53  # beyond it not every reader of JSON is exact
_COUNTS = {"depths": DEPTH, "nodes": NODES, "microseconds": MICROSECONDS}
_NOT_FINITE = ("inf", "-inf", "nan")


@dataclass(frozen=True)
class Head:
    """The first line of a file: the run's row."""

    key: str
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

    def pairs(self, on_progress: OnProgress = nobody, replay: bool = True) -> Iterator[PairRecord]:
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
        _must(content.get("pair") == number, f'"pair" must be {number}')
        games = content.get("games")
        _must(isinstance(games, list) and len(games) == 2, '"games" must be two')
        task = self._task(number, content.get("opening"), content.get("seed"))
        one, two = (_from_json(game, task, replay) for game in games)  # type: ignore[union-attr]
        return PairRecord(task, (one, two))

    def _task(self, number: int, fen: Any, seed: Any) -> PairTask:
        plan = self.head.plan
        match = plan.matches[number % len(plan.matches)]
        _must(type(seed) is int and 0 <= seed <= MOST_SEED, f"the seed {seed!r} is no whole number")
        opening = Position.from_fen(fen)
        _must(opening.placed and opening.winner is None, f"no game can begin with {fen!r}")
        a, b = plan.entrants[match.a].agent, plan.entrants[match.b].agent
        return PairTask(number, a, b, opening.fen, seed)

    @contextmanager
    def _lines(self) -> Iterator[Iterator[tuple[int, str]]]:
        try:
            with open(self.path, encoding="utf-8") as file:
                yield enumerate(file, start=1)
        except OSError as error:
            raise KnightfallError(f"cannot read {self.path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise KnightfallError(f"{self.path} is not a text file") from None

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
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    _must(isinstance(content, dict), "this is not a line that export wrote")
    return dict(content)


def _head(text: str) -> Head:
    _must(
        not text.startswith("%"),
        "games as text lack what was thought: import takes what export --format jsonl wrote",
    )
    content = _object(text)
    _must(content.get("format") == RUN_FORMAT, f'there is no "format": "{RUN_FORMAT}"')
    for name, kinds in _HEAD.items():
        right = name in content and isinstance(content[name], kinds)
        _must(right, f'"{name}" is missing or of the wrong kind')
    plan = _plan(content["plan"])
    pairs, outcome = content["pairs"], content["outcome"]
    _must(0 <= pairs <= plan.total, f"{pairs} pairs, but the plan has {plan.total}")
    return Head(
        key=content["key"],
        plan=plan,
        created=content["created"],
        finished=content["finished"],
        outcome=None if outcome is None else _sorted(outcome),
        versions=_sorted(content["versions"]),
        pairs=pairs,
    )


_HEAD: dict[str, Any] = {
    "key": str,
    "plan": dict,
    "created": str,
    "finished": (str, type(None)),
    "outcome": (dict, type(None)),
    "versions": dict,
    "pairs": int,
}


def _sorted(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True, ensure_ascii=False)


def _plan(content: dict[str, Any]) -> Plan:
    try:
        plan = Plan.from_json(json.dumps(content))
        entrants = range(len(plan.entrants))
        sound = (
            plan.matches
            and all(match.a in entrants and match.b in entrants for match in plan.matches)
            and all(isinstance(x, str) for e in plan.entrants for x in (e.agent, e.name))
            and all(type(x) is int for x in (plan.total, *(match.series for match in plan.matches)))
            and isinstance(plan.kind, str)
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise KnightfallError(f"the plan cannot be read: {error}") from None
    _must(bool(sound), "the plan cannot be read: its matches or entrants are wrong")
    return plan


# -- games ---------------------------------------------------------------------------------------


def _from_json(content: Any, task: PairTask, replay: bool) -> GameRecord:
    _must(isinstance(content, dict), "a game must be an object")
    moves, detail = content.get("moves"), content.get("detail")
    _must(isinstance(moves, list), '"moves" must be a list of cells')
    _must(isinstance(detail, str), '"detail" must be a text')
    cells = _played_over(task, moves, content.get("winner"), content.get("reason"), replay)
    scores = content.get("scores")
    _must(
        isinstance(scores, list)
        and len(scores) == len(cells)
        and all(_is_score(x) for x in scores),
        f'"scores" must be {len(cells)} numbers',
    )
    packed = {"scores": np.array([float(x) for x in scores], SCORE).tobytes()}
    for name, kind in _COUNTS.items():
        numbers, most = content.get(name), min(int(np.iinfo(kind).max), MOST)
        _must(
            isinstance(numbers, list)
            and len(numbers) == len(cells)
            and all(type(x) is int and 0 <= x <= most for x in numbers),
            f'"{name}" must be {len(cells)} whole numbers from 0 to {most}',
        )
        packed[name] = np.array(numbers, kind).tobytes()
    return GameRecord(content["winner"], content["reason"], cells, **packed, detail=detail)


def _is_score(thing: Any) -> bool:
    whole = type(thing) is int and abs(thing) <= MOST
    return whole or type(thing) is float or thing in _NOT_FINITE


def _played_over(task: PairTask, moves: list[Any], winner: Any, reason: Any, replay: bool) -> bytes:
    """The cells of a game; an error unless every move is legal and the end is as it is told."""
    opening = Position.from_fen(task.opening)
    if not replay:
        return bytes(opening.board.cell(move) for move in moves)
    position = Scoresheet.played(opening, moves).final
    _must(reason in REASONS, f"the reason {reason!r} is not one of {', '.join(REASONS)}")
    _must(
        (reason == "no moves") == (position.winner is not None),
        f"the game is {'not ' if position.winner is None else ''}over after its moves, but the "
        f"reason is {reason!r}",
    )
    # Whoever fails to answer, for whatever reason, is the one to move.
    right = other(position.to_move)
    _must(winner == right, f"the winner is {right}, not {winner!r}")
    return bytes(opening.board.cell(move) for move in moves)
