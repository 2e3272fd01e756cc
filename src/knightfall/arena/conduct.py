"""Conducting a run: tasks go out, records come back in any order, the store gets them in order.

Whatever happens (Ctrl-C, a full disk, kill -9), the store holds the first so many pairs of the
schedule, and the same command goes on from there.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from knightfall.arena.game.records import PairRecord
from knightfall.arena.plan.entrants import check_files
from knightfall.arena.plan.plan import Plan
from knightfall.arena.results.standings import Rated, rated
from knightfall.arena.results.stopping import Rule, rule_of
from knightfall.arena.runners.runner import Runner
from knightfall.arena.store.repeats import Repeats
from knightfall.arena.store.store import Run

WRITE_EVERY = 0.5
"""Seconds between two writes: what a kill costs, beside pairs that wait for a slower one's turn."""


@dataclass
class Standing:
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


Told = Callable[[Standing], None]


def standing_of(run: Run) -> Standing:
    """Where a run stands, from what is stored."""
    standing = Standing(run.plan, rule_of(run.plan), counts=[[0, 0, 0] for _ in run.plan.matches])
    _, scores, firsts, repeats = run.outcomes()
    for pair in zip(scores.tolist(), firsts.tolist(), repeats.tolist(), strict=True):
        standing.count(*pair)
    return standing


def conduct(run: Run, runner: Runner, told: Told = lambda standing: None) -> Standing:
    """Play a run to its end, from where it was left."""
    standing = standing_of(run)
    told(standing)
    if run.finished:
        return standing
    over = standing.rule.verdict is not None
    if not over and standing.played < run.plan.total:
        _play_on(run, runner, standing, told)
    run.finish(standing.rule.outcome())
    return standing


def _play_on(run: Run, runner: Runner, standing: Standing, told: Told) -> None:
    plan, batch = run.plan, list[PairRecord]()
    repeats = Repeats(run)
    early: dict[int, PairRecord] = {}
    written = time.monotonic()
    with closing(runner.play(plan.tasks(standing.played))) as records:
        try:
            for record in records:
                early[record.task.number] = record
                while standing.played in early:
                    pair = early.pop(standing.played)
                    batch.append(pair)
                    standing.fresh += 1
                    if standing.count(pair.score, pair.first, repeats.seen(pair)):
                        return
                if batch and time.monotonic() - written > WRITE_EVERY:
                    pairs, batch = batch, []
                    check_files(plan)
                    run.append(pairs)
                    written = time.monotonic()
                told(standing)
        finally:
            if batch:
                check_files(plan)
                run.append(batch)
