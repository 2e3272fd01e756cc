"""Rules that end a run before its last pair.

A rule hears of every pair in the order of the schedule, never in the order of finishing, so it
ends the run after the same pair whoever played it.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from knightfall.arena.plan.plan import Plan
from knightfall.arena.results.standings import rated
from knightfall.statistics.sprt import Sprt

Counts = Sequence[Sequence[int]]
"""For each match, how many pairs ended LL, WL and WW for its first entrant."""


class Rule(Protocol):
    """What may stop a run; `verdict` is None until it does."""

    verdict: str | None

    def feed(self, counts: Counts, outcomes: array[int]) -> None:
        """Hear how it stands; `outcomes` has an item a pair, see `standings.outcomes_of`."""

    def outcome(self) -> dict[str, Any]:
        """What there is to say of the end, for the store."""


class PlayAll:
    """No rule: all pairs are played."""

    verdict: str | None = None

    def feed(self, counts: Counts, outcomes: array[int]) -> None:
        """Nothing to decide."""

    def outcome(self) -> dict[str, Any]:
        """Nothing to say."""
        return {}


class SequentialTest:
    """Wald's test after every pair of a match; the verdict is the hypothesis that is accepted."""

    def __init__(self, sprt: Sprt) -> None:
        self.sprt = sprt
        self.llr = 0.0
        self.verdict: str | None = None

    def feed(self, counts: Counts, outcomes: array[int]) -> None:
        """Test again."""
        lost, split, won = counts[0]
        self.llr = self.sprt.llr((lost, 0, split, 0, won))
        self.verdict = self.sprt.verdict(self.llr)

    def outcome(self) -> dict[str, Any]:
        """The verdict (None if all pairs were played without one) and the last ratio."""
        return {"rule": "sprt", "verdict": self.verdict, "llr": self.llr}


SURELY = 1.75
"""So many times its 95 % error must a difference be to end a league.

Whoever looks often enough sees what is not there.  Sixty looks, more than a league has, at the
level of 0.05/60 each (3.34 standard errors, 1.70 times 1.96) are wrong once in twenty leagues at
most, however they hang together; the rest allows for errors that are known only roughly.
"""

FIRST_LOOK = 20
"""Rounds before which errors are too rough to be believed that far."""


class Separated:
    """Ends a league once each neighbour in the ranking is told apart, or is within `error` Elo.

    It looks after 20 rounds and then each time a tenth more are played, and is the stricter for
    looking so often.
    """

    def __init__(self, plan: Plan, error: float) -> None:
        self.plan = plan
        self.error = error
        self.verdict: str | None = None
        self._next = FIRST_LOOK

    def feed(self, counts: Counts, outcomes: array[int]) -> None:
        """Look at the ranking, if it is time to."""
        rounds, within = divmod(len(outcomes), len(self.plan.matches))
        if within or rounds < self._next:
            return
        self._next = rounds + max(1, rounds // 10)
        ratings = rated(self.plan, np.frombuffer(outcomes.tobytes(), np.int8))
        ranking = ratings.ranking(range(len(self.plan.entrants)))
        for better, worse in pairwise(ranking):
            difference, error = ratings.difference(better, worse)
            if difference <= SURELY * error and error > self.error:
                return
        self.verdict = f"every neighbour told apart, or within {self.error:g} Elo"

    def outcome(self) -> dict[str, Any]:
        """Whether it was reached."""
        return {"rule": "until", "verdict": self.verdict}


def test_of(plan: Plan) -> Sprt | None:
    """The sequential test of a plan, if it has one."""
    stop = dict(plan.stop)
    return Sprt(**stop) if stop.pop("rule", None) == "sprt" else None


def rule_of(plan: Plan) -> Rule:
    """The rule that a plan names."""
    test = test_of(plan)
    if test is not None:
        return SequentialTest(test)
    if plan.stop.get("rule") == "until":
        return Separated(plan, plan.stop["error"])
    return PlayAll()
