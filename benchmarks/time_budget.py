"""Whether timed agents keep their time: wall time from call to return, thousands of times over.

Not part of a default run: at 150 ms a call, ten thousand calls take 25 minutes.
"""

from __future__ import annotations

import os
import time
from itertools import cycle, islice

from knightfall.agents import agent

from .measure import percentile
from .positions import FENS, fixed_positions, sampled_positions
from .result import Ratio, Result

SUMMARY = "Wall time of `Agent.choose` under a time budget ÷ the budget"
VARIABLE = "KNIGHTFALL_BENCH_CALLS"
CALLS = 10_000
AGENTS = {
    # what share of the calls each gets
    "id(improved, time=150ms)": 1.0,
    "id(improved, time=10ms)": 0.2,
    "id(improved, time=1ms)": 1.0,
    "id(longest_win, time=150ms)": 0.02,
    "id(main, time=150ms)": 0.02,
    "id(main, time=10ms)": 0.1,
}


def run(calls: int | None = None) -> Result:
    """The twenty fixed positions and twenty from anywhere in random games, round and round.

    `calls` is how often the first agents are called; ``$KNIGHTFALL_BENCH_CALLS`` if not given.
    """
    wanted = calls or int(os.environ.get(VARIABLE, CALLS))
    positions = [*fixed_positions(), *sampled_positions(len(FENS), seed=5)]
    ratios, rows = {}, []
    for text, share in AGENTS.items():
        player = agent(text)
        assert player.budget.seconds is not None
        budget = player.budget.seconds
        times = []
        for position in islice(cycle(positions), max(1, round(wanted * share))):
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
