"""Whether timed agents keep their time: wall time per call, over thousands of calls."""

from __future__ import annotations

import time
from itertools import cycle, islice

from knightfall.agents import agent

from .measure import percentile
from .positions import FENS, fixed_positions, sampled_positions
from .result import Ratio, Result

SUMMARY = "Wall time of `Agent.choose` under a time budget ÷ the budget, every call counted"
CALLS = {
    "id(improved, time=150ms)": 1000,
    "id(improved, time=10ms)": 1000,
    "id(improved, time=1ms)": 10_000,
    "id(longest_win, time=150ms)": 100,
    "id(main, time=150ms)": 100,
    "id(main, time=10ms)": 1000,
}
"""The number of calls of each agent."""


def run(most: int = max(CALLS.values())) -> Result:
    """Measure on the twenty fixed positions and twenty from random games, repeatedly.

    No agent is called more than `most` times.
    """
    positions = [*fixed_positions(), *sampled_positions(len(FENS), seed=5)]
    ratios, rows = {}, []
    for text, calls in CALLS.items():
        player = agent(text)
        assert player.budget.seconds is not None
        budget = player.budget.seconds
        times = []
        for position in islice(cycle(positions), min(calls, most)):
            start = time.perf_counter()
            player.choose(position)
            times.append(time.perf_counter() - start)
        worst = times.index(max(times)) + 1
        times.sort()
        ratios[f"{text}: longest"] = Ratio(times[-1] / budget, at_most=1.0)
        rows.append(
            {
                "agent": text,
                "calls": len(times),
                "median ms": percentile(times, 0.5) * 1e3,
                "99 % ms": percentile(times, 0.99) * 1e3,
                "99.9 % ms": percentile(times, 0.999) * 1e3,
                "longest ms": times[-1] * 1e3,
                "in call": worst,
                "over budget": sum(spent > budget for spent in times),
            }
        )
    return Result(ratios=ratios, figures={"positions": len(positions)}, rows=rows)
