"""The loop that plays a run: it hands out tasks, stores records in the order of the schedule, and
lets a rule end the run before its last pair.

After Ctrl-C, a full disk or kill -9 the store holds the first pairs of the schedule without a gap,
and the same plan continues after them.  A rule sees the pairs in the order of the schedule, not in
the order in which they finish, so it ends the run after the same pair on any runner.
"""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from knightfall.arena.plan import PairRecord, Plan, may_repeat
from knightfall.arena.report_statistics import (
    BaselineComparison,
    EntrantRatings,
    PairOutcomes,
    compare_with_baseline,
    pair_counts,
    rate_entrants,
)
from knightfall.arena.store import Run
from knightfall.errors import KnightfallError, RunnerFailure
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.statistics.sprt import Sprt

if TYPE_CHECKING:
    from knightfall.arena.runner import Runner

WRITE_EVERY = 0.5
"""Seconds between two writes.  Kill -9 loses the pairs played since the last write, and finished
pairs that wait for a slower earlier one."""

OnPairs = Callable[["Scoreboard"], None]
"""A function that is called with the scoreboard each time pairs were counted."""


def play_to_end(
    run: Run,
    runner: Runner,
    on_pairs: OnPairs = lambda board: None,
) -> Scoreboard:
    """Play the pairs of a run that are not stored yet, until its end; return the scoreboard."""
    enable_keyboard_interrupt()
    board = scoreboard_of(run)
    on_pairs(board)
    if run.finished:
        return board
    if board.rule.verdict is None and board.played < run.plan.total:
        try:
            _play_rest(run, runner, board, on_pairs)
        except RunnerFailure as failure:
            raise KnightfallError(f"{failure}{_resume_hint(run)}") from None
    run.finish(board.rule.outcome())
    return board


def _resume_hint(run: Run) -> str:
    """Return the end of an error message that says how many pairs are stored, if any are."""
    if run.file.in_memory:
        return ""
    pairs = run.plan.so_far(run.played)
    return f"; {pairs} of run {run.id} are stored, and starting it again continues after them"


def _play_rest(run: Run, runner: Runner, board: Scoreboard, on_pairs: OnPairs) -> None:
    """Play and store pairs until the plan ends or the rule has a verdict."""
    plan, batch = run.plan, list[PairRecord]()
    repeats = RepeatDetector(run)
    early: dict[int, PairRecord] = {}  # records that wait for an earlier pair
    written = time.monotonic()
    with closing(runner.play(plan.tasks(board.played))) as records:
        try:
            for record in records:
                early[record.task.number] = record
                while board.played in early:
                    pair = early.pop(board.played)
                    batch.append(pair)
                    board.fresh += 1
                    if board.count(pair.score, pair.first, repeats.is_repeat(pair)):
                        return
                if batch and time.monotonic() - written > WRITE_EVERY:
                    run.append(batch)
                    batch = []  # after the write: if Ctrl-C interrupts it, `finally` repeats it
                    written = time.monotonic()
                on_pairs(board)
        finally:
            if batch:
                run.append(batch)


@dataclass
class Scoreboard:
    """The counts of a run so far, for the live display and for the rule that may end it.

    `counts` holds, for each match, the pairs that ended LL, WL and WW for its first entrant;
    `outcomes` is the array that `report_statistics.outcomes_of` returns.
    """

    plan: Plan
    rule: Rule
    played: int = 0
    repeats: int = 0
    counts: list[list[int]] = field(default_factory=list)
    outcomes: array[int] = field(default_factory=lambda: array("b"))
    fresh: int = 0  # pairs played by this process

    def count(self, score: int, first: int, repeated: bool) -> bool:
        """Count the next pair; return whether the rule ends the run with it."""
        match = self.played % len(self.plan.matches)
        self.played += 1
        if repeated:
            self.repeats += 1
            self.outcomes.append(-1)
        else:
            self.counts[match][score] += 1
            self.outcomes.append(2 * first + (score - first))
        self.rule.update(self.counts, self.outcomes)
        return self.rule.verdict is not None

    @property
    def ratings(self) -> EntrantRatings:
        """The ratings so far."""
        # From a copy, because the display reads them in another thread.
        return rate_entrants(self.plan, np.frombuffer(self.outcomes.tobytes(), np.int8))


def scoreboard_of(run: Run) -> Scoreboard:
    """Return the scoreboard of a run's stored pairs."""
    board = Scoreboard(run.plan, rule_of(run.plan), counts=[[0, 0, 0] for _ in run.plan.matches])
    _, scores, firsts, repeats = run.outcomes()
    for pair in zip(scores.tolist(), firsts.tolist(), repeats.tolist(), strict=True):
        board.count(*pair)
    return board


Counts = Sequence[Sequence[int]]
"""For each match, the pairs that ended LL, WL and WW for its first entrant."""


class Rule:
    """Base class of the rules that may end a run early; this class itself never does.

    `verdict` is None until the rule ends the run.
    """

    name = ""
    """The value of "rule" in `Plan.stop`."""

    def __init__(self) -> None:
        self.verdict: str | None = None

    @property
    def expected(self) -> int | None:
        """An estimate of how many pairs the run will have at its end; None for `Plan.total`."""
        return None

    def update(self, counts: Counts, outcomes: array[int]) -> None:
        """Update the verdict; see `report_statistics.outcomes_of` for `outcomes`."""

    def outcome(self) -> dict[str, Any]:
        """Return the rule's name and its verdict, for the store.

        The verdict is None if all pairs were played without one.
        """
        return {"rule": self.name, "verdict": self.verdict} if self.name else {}


class SprtRule(Rule):
    """Wald's sequential test after each pair of a match; the verdict is the accepted hypothesis."""

    name = "sprt"

    def __init__(self, sprt: Sprt) -> None:
        super().__init__()
        self.sprt = sprt
        self.llr = 0.0

    def update(self, counts: Counts, outcomes: array[int]) -> None:
        """Update the log-likelihood ratio and the verdict."""
        self.llr = self.sprt.llr(pair_counts(counts[0]))
        self.verdict = self.sprt.verdict(self.llr)

    def outcome(self) -> dict[str, Any]:
        """Return the verdict and the last log-likelihood ratio."""
        return {**super().outcome(), "llr": self.llr}


FIRST_LOOK = 20
"""Rounds before the first look: with fewer, the estimated errors are too rough."""


class PeriodicRule(Rule):
    """A rule that checks the results only from time to time, after whole rounds.

    The first check is after `first_look` rounds.  The rule checks again each time the number of
    rounds has grown by one part in `share`.
    """

    def __init__(self, plan: Plan, first_look: int, share: int) -> None:
        super().__init__()
        self.plan = plan
        self._next = first_look
        self._share = share  # 10: check again after a tenth more rounds

    def update(self, counts: Counts, outcomes: array[int]) -> None:
        """Call `look` if enough rounds were played since the last call."""
        rounds, rest = divmod(len(outcomes), len(self.plan.matches))
        if rest or rounds < self._next:
            return
        self._next = rounds + max(1, rounds // self._share)
        self.look(np.frombuffer(outcomes.tobytes(), np.int8))

    @abstractmethod
    def look(self, outcomes: PairOutcomes) -> None:
        """Set the verdict if these outcomes are enough to end the run."""


LOOKING_FACTOR = 1.75
"""Multiple of its 95 % error that a difference must exceed to end a league.

It corrects for repeated looks.  Sixty looks, more than a league has, at a level of 0.05/60 each
(3.34 standard errors, 1.70 times 1.96) are wrong in at most one league of twenty, however they
depend on each other (Bonferroni); the rest allows for estimated errors.
"""


class RankingRule(PeriodicRule):
    """Ends a league when every two neighbours in the ranking differ significantly.

    A difference that is known to within `error` Elo is also enough.  The rule looks after 20 rounds
    and then each time a tenth more are played, and corrects for it by `LOOKING_FACTOR`.
    """

    name = "until"

    def __init__(self, plan: Plan, error: float) -> None:
        super().__init__(plan, FIRST_LOOK, share=10)
        self.error = error

    def look(self, outcomes: PairOutcomes) -> None:
        """Set the verdict if each difference of neighbours is significant or its error small."""
        ratings = rate_entrants(self.plan, outcomes)
        ranking = ratings.ranking(range(len(self.plan.entrants)))
        for better, worse in pairwise(ranking):
            difference, error = ratings.difference(better, worse)
            if difference <= LOOKING_FACTOR * error and error > self.error:
                return
        self.verdict = f"every neighbour told apart, or within {self.error:g} Elo"


USUAL_PAIRS = 2700
"""Pairs of a test agent after which its difference from the baseline is usually known to within two
points: the course's test agents took 2,716 against the seven opponents."""


class ComparisonRule(PeriodicRule):
    """Ends a tournament when each comparison with the first test agent is settled.

    A comparison is settled when its difference is significant, or known to within `within`.  The
    rule looks after 20 rounds, or the course's own number if that is larger, and then each time a
    twentieth more are played, at intervals that stay valid under repeated looks.
    """

    name = "decided"

    def __init__(self, plan: Plan, within: float, course: int) -> None:
        super().__init__(plan, max(course, FIRST_LOOK), share=20)
        self.within = within
        self.comparisons: list[BaselineComparison] = []

    def look(self, outcomes: PairOutcomes) -> None:
        """Compare each test agent with the first; set the verdict if all comparisons are settled.

        The verdict says how many comparisons have each result: "3 better, 1 worse", for example.
        """
        self.comparisons = compare_with_baseline(self.plan, outcomes, sequential=True)
        if all(one.settled(self.within) for one in self.comparisons):
            words = Counter(verdict(one) for one in self.comparisons)
            self.verdict = ", ".join(f"{number} {word}" for word, number in words.most_common())

    @property
    def expected(self) -> int | None:
        """See `Rule`.  An interval is assumed to shrink with the square root of its pairs."""
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


def verdict(one: BaselineComparison) -> str:
    """Return a comparison's verdict: "better", "perhaps worse", "cannot be told apart", …"""
    word = "better" if one.difference > 0 else "worse"
    if one.same:
        return "the same agent"
    if one.real:
        return word
    return f"perhaps {word}" if one.uncertain else "cannot be told apart"


def test_of(plan: Plan) -> Sprt | None:
    """Return the sequential test of a plan; None if it has none."""
    stop = dict(plan.stop)
    return Sprt(**stop) if stop.pop("rule", None) == "sprt" else None


def rule_of(plan: Plan) -> Rule:
    """Return the stop rule of a plan."""
    test = test_of(plan)
    if test is not None:
        return SprtRule(test)
    if plan.stop.get("rule") == "until":
        return RankingRule(plan, plan.stop["error"])
    if plan.stop.get("rule") == "decided":
        return ComparisonRule(plan, plan.stop["within"], plan.stop["course"])
    return Rule()


class RepeatDetector:
    """Finds pairs with the same moves as an earlier pair of the same match.

    It remembers the moves of all pairs, unless the plan rules out such repeats (see `may_repeat`).
    """

    def __init__(self, run: Run) -> None:
        self._plan = run.plan
        self._possible = may_repeat(run.plan)
        self._seen: set[tuple[int, str, bytes, bytes]] = set()
        if self._possible:
            for pair in run.pairs():
                self.is_repeat(pair)

    def is_repeat(self, pair: PairRecord) -> bool:
        """Return whether an earlier pair of this match had the same moves; remember this pair."""
        if not self._possible:
            return False
        match = pair.task.number % len(self._plan.matches)
        first, second = pair.games
        what = (match, pair.task.opening, first.cells, second.cells)
        if what in self._seen:
            return True
        self._seen.add(what)
        return False
