"""The loop that plays a run: tasks go out, records come back in any order, the store gets them in
order, and a rule may end the run before its last pair.

Whatever happens (Ctrl-C, a full disk, kill -9), the store holds the first so many pairs of the
schedule, and the same plan goes on from there.  A rule is fed every pair in the order of the
schedule, never in the order of finishing, so it ends the run after the same pair whoever played it.
"""

from __future__ import annotations

import math
import time
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from knightfall.arena.plan import PairRecord, Plan, check_unchanged, may_repeat
from knightfall.arena.standings import Compared, Rated, compared, pair_counts, rated
from knightfall.arena.store import Run
from knightfall.errors import KnightfallError, RunnerFailure
from knightfall.isolation.sigint import enable_keyboard_interrupt
from knightfall.statistics.sprt import Sprt

if TYPE_CHECKING:
    from knightfall.arena.runner import Runner

WRITE_EVERY = 0.5
"""Seconds between two writes: what a kill costs, beside pairs that wait for a slower one's turn."""

OnPairs = Callable[["Scoreboard"], None]
"""Hears where the run stands, each time pairs were counted."""


def conduct(
    run: Run,
    runner: Runner,
    on_pairs: OnPairs = lambda board: None,
    files: Mapping[str, str] | None = None,
) -> Scoreboard:
    """Play a run to its end, from where it was left.

    Raise a `KnightfallError` if one of `files` (path to hash) is edited meanwhile.  By default
    these are all files of the plan; a run that plays from copies has fewer to watch.
    """
    enable_keyboard_interrupt()
    board = scoreboard_of(run)
    on_pairs(board)
    if run.finished:
        return board
    if board.rule.verdict is None and board.played < run.plan.total:
        try:
            _play_on(run, runner, board, on_pairs, run.plan.files if files is None else files)
        except RunnerFailure as failure:
            raise KnightfallError(f"{failure}{_how_to_go_on(run)}") from None
    run.finish(board.rule.outcome())
    return board


def _how_to_go_on(run: Run) -> str:
    if run.file.in_memory:
        return ""
    pairs = run.plan.so_far(run.played)
    return f"; {pairs} of run {run.id} are stored, and starting it again goes on from there"


def _play_on(
    run: Run, runner: Runner, board: Scoreboard, on_pairs: OnPairs, files: Mapping[str, str]
) -> None:
    plan, batch = run.plan, list[PairRecord]()
    repeats = Repeats(run)
    early: dict[int, PairRecord] = {}
    written = time.monotonic()
    with closing(runner.play(plan.tasks(board.played))) as records:
        try:
            for record in records:
                early[record.task.number] = record
                while board.played in early:
                    pair = early.pop(board.played)
                    batch.append(pair)
                    board.fresh += 1
                    if board.count(pair.score, pair.first, repeats.seen(pair)):
                        return
                if batch and time.monotonic() - written > WRITE_EVERY:
                    check_unchanged(files)
                    run.append(batch)
                    batch = []  # only now: a write that Ctrl-C cuts short is made again below
                    written = time.monotonic()
                on_pairs(board)
        finally:
            if batch:
                check_unchanged(files)
                run.append(batch)


@dataclass
class Scoreboard:
    """Where a run stands: what counts for the display and for the rule that may stop it.

    `counts` holds, for each match, how many pairs ended LL, WL and WW for its first entrant;
    `outcomes` is what `standings.outcomes_of` would say.
    """

    plan: Plan
    rule: Rule
    played: int = 0
    repeats: int = 0
    counts: list[list[int]] = field(default_factory=list)
    outcomes: array[int] = field(default_factory=lambda: array("b"))
    fresh: int = 0  # pairs played since this process began

    def count(self, score: int, first: int, repeated: bool) -> bool:
        """Take the next pair into account; True if the rule says that it was the last."""
        match = self.played % len(self.plan.matches)
        self.played += 1
        if repeated:
            self.repeats += 1
            self.outcomes.append(-1)
        else:
            self.counts[match][score] += 1
            self.outcomes.append(2 * first + (score - first))
        self.rule.feed(self.counts, self.outcomes)
        return self.rule.verdict is not None

    @property
    def rated(self) -> Rated:
        """The ratings so far."""
        # A copy: the run goes on while somebody looks.
        return rated(self.plan, np.frombuffer(self.outcomes.tobytes(), np.int8))


def scoreboard_of(run: Run) -> Scoreboard:
    """Where a run stands, from what is stored."""
    board = Scoreboard(run.plan, rule_of(run.plan), counts=[[0, 0, 0] for _ in run.plan.matches])
    _, scores, firsts, repeats = run.outcomes()
    for pair in zip(scores.tolist(), firsts.tolist(), repeats.tolist(), strict=True):
        board.count(*pair)
    return board


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
        self.llr = self.sprt.llr(pair_counts(counts[0]))
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


class Repeats:
    """Remembers the pairs of a run, as far as any can be repeated."""

    def __init__(self, run: Run) -> None:
        self._plan = run.plan
        self._possible = may_repeat(run.plan)
        self._seen: set[tuple[int, str, bytes, bytes]] = set()
        if self._possible:
            for pair in run.pairs():
                self.seen(pair)

    def seen(self, pair: PairRecord) -> bool:
        """Whether its match has had this very pair before; from now on it has."""
        if not self._possible:
            return False
        match = pair.task.number % len(self._plan.matches)
        first, second = pair.games
        what = (match, pair.task.opening, first.cells, second.cells)
        if what in self._seen:
            return True
        self._seen.add(what)
        return False
