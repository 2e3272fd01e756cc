"""The plan of a run: who meets whom, from which openings, in which order.

A plan is a value.  Everything about a run follows from it: pair number 17 is the same pair on one
process, on two or on a cluster, today and when the run is taken up again.  Pairs come round by
round, each match playing one pair a round, so a run that was stopped early is a fair one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from knightfall.arena.game.records import PairTask
from knightfall.board import Board
from knightfall.display.numbers import count
from knightfall.errors import KnightfallError
from knightfall.openings import by_hunter, openings, shuffled


@dataclass(frozen=True, slots=True)
class Entrant:
    """An agent that takes part: its full string, and what to call it in a table."""

    agent: str
    name: str


@dataclass(frozen=True, slots=True)
class Match:
    """Two entrants, by number, who meet in every round.

    Matches of one series play the same openings with the same seeds: that is what makes two test
    agents comparable opening by opening.
    """

    a: int
    b: int
    series: int = 0


@dataclass(frozen=True)
class Plan:
    """All that decides what is played.

    `pairs` is how many each match wants; where the openings do not suffice it gets `rounds`.
    Each opening is used `repeats` times in a row, with new seeds.  `stop` names a rule that may
    end the run sooner (see `knightfall.arena.results.stopping`).  `files` holds the hashes of
    users' files that agents come from: a file that was edited makes another plan.
    """

    kind: str
    entrants: tuple[Entrant, ...]
    matches: tuple[Match, ...]
    pairs: int
    seed: int = 0
    board: str = "7x7"
    book: tuple[str, ...] = ()
    stratify: bool = False
    repeats: int = 1
    stop: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def starts(self) -> tuple[str, ...]:
        """The positions games may begin with, in no particular order."""
        return self.book or tuple(_every_opening(self.board))

    @property
    def rounds(self) -> int:
        """How many pairs each match gets: no opening is used more often than `repeats` says."""
        return min(self.pairs, len(self.starts) * self.repeats)

    @property
    def exhausted(self) -> bool:
        """Whether there are fewer openings than were asked for."""
        return self.rounds < self.pairs

    @property
    def total(self) -> int:
        """How many pairs the run has if nothing stops it sooner."""
        return self.rounds * len(self.matches)

    def so_far(self, played: int) -> str:
        """Say how many pairs are played, and of how many unless a rule may end the run sooner."""
        return count(played, "pair") if self.stop else f"{played:,} of {count(self.total, 'pair')}"

    def task(self, number: int) -> PairTask:
        """Pair number 0, 1, 2, …"""
        round, place = divmod(number, len(self.matches))
        match = self.matches[place]
        return PairTask(
            number=number,
            a=self.entrants[match.a].agent,
            b=self.entrants[match.b].agent,
            opening=self.order(match.series)[round // self.repeats],
            seed=_pair_seed(self.seed, match.series, round),
        )

    def tasks(self, start: int = 0) -> Iterator[PairTask]:
        """The pairs from a number on."""
        return (self.task(number) for number in range(start, self.total))

    def order(self, series: int) -> list[str]:
        """The openings of a series, in the order they are played."""
        if series not in self._orders:
            order = shuffled(self.starts, self.seed, series)
            self._orders[series] = by_hunter(order) if self.stratify else order
        return self._orders[series]

    @cached_property
    def _orders(self) -> dict[int, list[str]]:
        return {}

    # -- as text ---------------------------------------------------------------------------

    def to_json(self) -> str:
        """The plan as JSON; equal plans give equal texts."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)

    def key(self, engine: str) -> str:
        """What tells this run from all others: the plan, played by this version of the engine."""
        return hashlib.sha256(f"{engine}\n{self.to_json()}".encode()).hexdigest()[:20]


@lru_cache(maxsize=8)
def _every_opening(board: str) -> tuple[str, ...]:
    width, height = (int(side) for side in board.split("x"))
    found = openings(Board.of(width, height))
    if not found:
        raise KnightfallError(f"board {board}: no opening leaves a move to make")
    return tuple(found)


def _pair_seed(seed: int, series: int, round: int) -> int:
    """From 1 on: 0 is the seed of agents that were given none."""
    digest = hashlib.sha256(f"pair {seed}/{series}/{round}".encode()).digest()
    return 1 + int.from_bytes(digest[:4], "big") % (2**31 - 1)


def may_repeat(plan: Plan) -> bool:
    """Whether a match can come to the same opening twice: only then can it repeat its games."""
    return plan.repeats > 1 or len(set(plan.book)) < len(plan.book)


# -- who meets whom ------------------------------------------------------------------------


def everyone(entrants: Sequence[Entrant]) -> tuple[Match, ...]:
    """A round robin: each couple once a round, all from the same openings."""
    numbers = range(len(entrants))
    return tuple(Match(a, b) for a in numbers for b in numbers if a < b)


def gauntlet(entrants: Sequence[Entrant], runners: int = 1) -> tuple[Match, ...]:
    """The first few entrants each meet all the others, but not each other."""
    numbers = range(len(entrants))
    return tuple(Match(a, b) for a in numbers[:runners] for b in numbers[runners:])


def tournament(tests: int, opponents: int) -> tuple[Match, ...]:
    """Each of the first entrants meets each of the others; a series of openings per opponent."""
    return tuple(
        Match(test, tests + opponent, series=opponent)
        for opponent in range(opponents)
        for test in range(tests)
    )
