"""Rules that end a run before its last pair.

A rule hears of every pair in the order of the schedule, never in the order of finishing, so it
ends the run after the same pair whoever played it.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from knightfall.arena.plan.plan import Plan
from knightfall.arena.results.standings import Compared, compared, rated
from knightfall.statistics.sprt import Sprt

Counts = Sequence[Sequence[int]]
"""For each match, how many pairs ended LL, WL and WW for its first entrant."""


class Rule(Protocol):
    """What may stop a run; `verdict` is None until it does."""

    verdict: str | None

    @property
    def expected(self) -> int | None:
        """Return about how many pairs the run will have in all; None if the plan's number."""

    def feed(self, counts: Counts, outcomes: array[int]) -> None:
        """Hear how it stands; `outcomes` has an item a pair, see `standings.outcomes_of`."""

    def outcome(self) -> dict[str, Any]:
        """What there is to say of the end, for the store."""


class PlayAll:
    """No rule: all pairs are played."""

    verdict: str | None = None
    expected: int | None = None

    def feed(self, counts: Counts, outcomes: array[int]) -> None:
        """Nothing to decide."""

    def outcome(self) -> dict[str, Any]:
        """Nothing to say."""
        return {}


class SequentialTest:
    """Wald's test after every pair of a match; the verdict is the hypothesis that is accepted."""

    expected: int | None = None

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

    expected: int | None = None

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


USUAL_PAIRS = 2700
"""Pairs after which a difference is usually known to within two points: the course's test agents
took 2,716 pairs each with its seven opponents."""


class Decided:
    """Ends a tournament once each comparison with the first test agent is settled.

    A comparison is settled when its difference is surely not 0, or known to within `within`.  The
    rule looks after 20 rounds, or the course's own number if that is larger, and then each time a
    twentieth more are played, by intervals that hold however often one looks.
    """

    def __init__(self, plan: Plan, within: float, course: int) -> None:
        self.plan = plan
        self.within = within
        self.verdict: str | None = None
        self.comparisons: list[Compared] = []
        self._next = max(course, FIRST_LOOK)

    def feed(self, counts: Counts, outcomes: array[int]) -> None:
        """Compare again, if it is time to."""
        rounds, rest = divmod(len(outcomes), len(self.plan.matches))
        if rest or rounds < self._next:
            return
        self._next = rounds + max(1, rounds // 20)
        known = np.frombuffer(outcomes.tobytes(), np.int8)
        self.comparisons = compared(self.plan, known, sequential=True)
        if all(one.settled(self.within) for one in self.comparisons):
            self.verdict = self._summary()

    def _summary(self) -> str:
        """Count the verdicts, as in "2 better, 1 cannot be told apart"."""
        words = Counter(verdict(one) for one in self.comparisons)
        return ", ".join(f"{number} {word}" for word, number in words.most_common())

    @property
    def expected(self) -> int | None:
        """See `Rule`: the interval of a comparison shrinks with the root of its pairs."""
        wide = [
            (one.high - one.low) / 2 for one in self.comparisons if not one.settled(self.within)
        ]
        opponents = len({match.b for match in self.plan.matches})
        needed = USUAL_PAIRS * (0.02 / self.within) ** 2 if self.within else math.inf
        if wide:
            needed = self.comparisons[0].pairs * (max(wide) / self.within) ** 2
        elif self.comparisons:
            return None
        rounds = min(self.plan.rounds, math.ceil(needed / opponents))
        return rounds * len(self.plan.matches)

    def outcome(self) -> dict[str, Any]:
        """Return the verdict; None if all openings were played without one."""
        return {"rule": "decided", "verdict": self.verdict}


def verdict(one: Compared) -> str:
    """Name what is known of a comparison in a word or a few."""
    word = "better" if one.difference > 0 else "worse"
    if one.same:
        return "the same agent"
    if one.real:
        return word
    return f"perhaps {word}" if one.uncertain else "cannot be told apart"


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
    if plan.stop.get("rule") == "decided":
        return Decided(plan, plan.stop["within"], plan.stop["course"])
    return PlayAll()
