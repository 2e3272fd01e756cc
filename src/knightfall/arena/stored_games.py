"""Find stored runs and games by their names, and return games as scoresheets."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, overload

from knightfall.arena.store_file import position
from knightfall.errors import KnightfallError
from knightfall.notation import Scoresheet
from knightfall.search.budget import Report

if TYPE_CHECKING:
    from knightfall.arena.plan import PairRecord, Plan
    from knightfall.arena.store import Run, Store

LAST = "last"
_GAME = re.compile(r"([0-9]{1,18}|last)\.([0-9]{1,18})\.([01])", re.ASCII)


def find_run(store: Store, text: str) -> Run:
    """Return the run with the given number, or the last run if the text is `last`."""
    if text == LAST:
        return store.last()
    if not re.fullmatch(r"[0-9]{1,18}", text, re.ASCII):
        raise KnightfallError(f"run {text!r} must be a number or last (knightfall runs lists them)")
    return store.run(int(text))


def is_game_name(text: str) -> bool:
    """Return whether a text is the name of a stored game, for example ``3.17.0``."""
    return _GAME.fullmatch(text) is not None


def find_game(store: Store, text: str) -> tuple[Run, int, int]:
    """Return the run, pair and game of a name, for example ``3.17.0``.

    `last` is game 0 of the last pair of the last run.
    """
    if text == LAST:
        run = store.last()
        if not run.played:
            raise KnightfallError(f"run {run.id} has no games yet")
        return run, run.played - 1, 0
    match = _GAME.fullmatch(text)
    if match is None:
        raise KnightfallError(
            f"game {text!r} must be RUN.PAIR.GAME, where GAME is 0 or 1, as in 3.17.0, or last "
            "(knightfall games lists them)"
        )
    return find_run(store, match[1]), int(match[2]), int(match[3])


@dataclass(frozen=True, repr=False)
class PlayedGame(Scoresheet):
    """A game of a run, with what the player reported on each move.

    `seconds` is the time that the move took; `scores` are from the view of the side that moved,
    ±inf for a proven result; `depths` are in plies; `nodes` were searched.
    """

    seconds: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()
    depths: tuple[int, ...] = ()
    nodes: tuple[int, ...] = ()

    @property
    def reports(self) -> list[Report]:
        """The search report of each move, as far as it is stored."""
        columns = self.moves, self.scores, self.depths, self.nodes, self.seconds
        return [
            Report(move, score, math.isinf(score), None, depth, nodes, seconds, ())
            for move, score, depth, nodes, seconds in zip(*columns, strict=True)
        ]


class Games(Sequence[PlayedGame]):
    """The games of a run, read from its store when they are used.

    Numbers 2n and 2n + 1 are the two games of pair n.
    """

    def __init__(self, run: Run, pairs: int) -> None:
        self._run, self._numbers = run, range(2 * pairs)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, at: int) -> PlayedGame: ...
    @overload
    def __getitem__(self, at: slice) -> list[PlayedGame]: ...
    def __getitem__(self, at: int | slice) -> PlayedGame | list[PlayedGame]:
        if isinstance(at, slice):
            return [self[number] for number in self._numbers[at]]
        pair, game = divmod(self._numbers[at], 2)
        return scoresheet(self._run.plan, self._run.pair(pair), game)

    def __iter__(self) -> Iterator[PlayedGame]:
        for record in islice(self._run.pairs(), len(self) // 2):
            yield from (scoresheet(self._run.plan, record, game) for game in (0, 1))

    def __repr__(self) -> str:
        return f"<Games: {len(self)} of run {self._run.id}>"


def scoresheet(plan: Plan, record: PairRecord, game: int) -> PlayedGame:
    """Return game 0 or 1 of a pair as a scoresheet; its moves are not checked."""
    task, played = record.task, record.games[game]
    match = plan.matches[task.number % len(plan.matches)]
    seats = (match.a, match.b) if game == 0 else (match.b, match.a)
    white, black = (plan.entrants[seat].name for seat in seats)
    tags = {
        "Pair": str(task.number),
        "Game": str(game),
        "White": white,
        "Black": black,
        "Seed": str(task.seed),
    }
    if played.detail:
        tags["Detail"] = played.detail
    opening = position(task.opening)
    return PlayedGame(
        opening,
        played.moves(opening),
        played.winner,
        played.reason,
        tags,
        seconds=tuple((played.column("microseconds") / 1e6).tolist()),
        scores=tuple(played.column("scores").tolist()),
        depths=tuple(played.column("depths").tolist()),
        nodes=tuple(played.column("nodes").tolist()),
    )
