"""Where a run stands while it goes on: kept up to date pair by pair, in schedule order."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np

from knightfall.arena.plan.plan import Plan
from knightfall.arena.results.standings import Rated, rated
from knightfall.arena.results.stopping import Rule, rule_of
from knightfall.arena.store.run import Run


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
