"""What a heuristic costs in our own searches, and so how many nodes it gets for equal time.

Compiled, knowledge has another price than in plain Python: counting moves is a few machine words,
and a breadth-first search is still a loop.  Games by the clock would never repeat, so time is
turned into nodes once: each heuristic gets as many as its search gets through in the time in which
that of `improved` gets through 2,500.

``python -m knightfall.studies.costs.compiled_costs`` measures anew and writes
`compiled_costs.toml`.
"""

from __future__ import annotations

import platform
import sys
import time
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources
from pathlib import Path

from knightfall.agents import COURSE_NODES
from knightfall.errors import KnightfallError, nearest
from knightfall.position import Position
from knightfall.studies.costs.course_conditions import BASELINE, Cost, recorded_costs
from knightfall.studies.costs.course_positions import FENS

FILE = "compiled_costs.toml"
ROUNDS = 25


@dataclass(frozen=True)
class Costs:
    """What a node costs with each heuristic, in nodes of `improved`, and what its 2,500 take."""

    cost: dict[str, Cost]
    microseconds: float
    """For 2,500 nodes of `improved`, on the machine that measured."""


# -- as recorded ---------------------------------------------------------------------------


@cache
def recorded() -> Costs:
    """The costs that were measured once and for all."""
    text = resources.files("knightfall.studies.costs").joinpath(FILE).read_text("utf-8")
    table = tomllib.loads(text)
    return Costs(
        {id: Cost(row["ratio"]) for id, row in table["cost"].items()}, float(table["microseconds"])
    )


def time_budget(heuristic: str) -> int:
    """The nodes an agent gets for a heuristic at equal time; 2,500 for `improved`."""
    costs = recorded().cost
    if heuristic not in costs:
        raise KnightfallError(
            f"nobody has timed {heuristic!r} in compiled searches{nearest(heuristic, costs)} "
            "(only the studies' heuristics were)"
        )
    return costs[heuristic].nodes


# -- measuring -----------------------------------------------------------------------------


def measure(
    heuristics: Iterable[str],
    positions: Sequence[str] = FENS,
    rounds: int = ROUNDS,
    told: Callable[[int], None] = lambda round: None,
) -> Costs:
    """The cost of each heuristic, which must include `improved`.

    As in the course's conditions: all take turns, the fastest of several rounds counts, time is
    the processor's on this thread, and what is averaged over the positions is how many nodes are
    searched in the time of one of the baseline's.  A turn is all positions one after the other: a
    search takes some 30 µs, so its code must be at hand as it is in a game, and the processor must
    not know the position from the moment before.
    """
    searches = {id: _Search(id) for id in heuristics}
    if BASELINE not in searches:
        raise KnightfallError(f"{BASELINE} must be among the heuristics: it is what others cost")
    best = {id: [0.0] * len(positions) for id in searches}
    places = [Position.from_fen(fen) for fen in positions]
    for round in range(rounds):
        for id, search in searches.items():
            search.nodes_per_second(places[-1])  # not counted: brings the code along
            for at, position in enumerate(places):
                best[id][at] = max(best[id][at], search.nodes_per_second(position))
        told(round + 1)
    baseline = best[BASELINE]
    relative = {
        id: sum(mine / theirs for mine, theirs in zip(speeds, baseline, strict=True))
        for id, speeds in best.items()
    }
    return Costs(
        {id: Cost(len(positions) / sum_) for id, sum_ in relative.items()},
        microseconds=1e6 * COURSE_NODES * sum(1 / speed for speed in baseline) / len(positions),
    )


class _Search:
    """The search of ``id(heuristic, nodes=2500, plain)``, without anything around it."""

    def __init__(self, heuristic: str) -> None:
        from knightfall.heuristics.evaluator import evaluator

        self._evaluator = evaluator(heuristic)

    def nodes_per_second(self, position: Position) -> float:
        from knightfall.kernel.rules import words
        from knightfall.search.alphabeta import plain_deepening
        from knightfall.search.budget import Budget
        from knightfall.search.settings import records_for, settings_for

        budget = Budget(nodes=COURSE_NODES)
        settings = settings_for("plain_deepening", self._evaluator, budget)
        boards, states = records_for(position.board, settings, 0)
        place = words(position)
        start = time.thread_time()
        plain_deepening(boards, states, *place)
        return float(states["nodes"][0]) / (time.thread_time() - start)


# -- recording -----------------------------------------------------------------------------


def as_toml(costs: Costs, rounds: int = ROUNDS) -> str:
    """What `compiled_costs.toml` holds."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    lines = [
        "# What a node costs with each heuristic in a compiled search, in nodes of improved, and",
        "# the nodes that leaves.  Written by python -m knightfall.studies.costs.compiled_costs.",
        "",
        f"date = {date.today().isoformat()}",
        f'machine = "{platform.system()} {platform.machine()}"',
        f'python = "{python}"',
        f"positions = {len(FENS)}",
        f"rounds = {rounds}",
        f"microseconds = {costs.microseconds:.0f} # for 2,500 nodes of improved",
        "",
        "[cost]",
    ]
    wide = max(len(id) for id in costs.cost) + 2
    for id, cost in costs.cost.items():
        name = id if id.isidentifier() else f'"{id}"'
        lines.append(f"{name:<{wide}} = {{ ratio = {cost.ratio:.3f}, nodes = {cost.nodes} }}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure what was measured in the course's conditions, print a table, write the file."""

    def told(round: int) -> None:
        print(f"round {round} of {ROUNDS}", file=sys.stderr, flush=True)

    found = measure(recorded_costs(), told=told)
    # What is written is what counts, to the last digit.
    cost = {id: Cost(round(each.ratio, 3)) for id, each in found.cost.items()}
    Path(__file__).with_name(FILE).write_text(as_toml(Costs(cost, found.microseconds)), "utf-8")
    print(f"2,500 nodes of {BASELINE}: {found.microseconds:.0f} µs")
    print(f"{'heuristic':<26}{'cost':>9}{'nodes':>7}")
    for id, each in cost.items():
        print(f"{id:<26}{each.ratio:>9.3f}{each.nodes:>7}")


if __name__ == "__main__":
    main()
