"""What resigning costs: the same agent with more and more time, giving up and playing on.

A deeper search sees that a game is lost sooner.  Whoever resigns then gives away games that a weak
opponent would have lost again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from knightfall.arena.plan.plan import Entrant, Plan, tournament
from knightfall.arena.store.run import Run
from knightfall.studies.conditions.condition import Condition
from knightfall.studies.costs.costs import BASELINE
from knightfall.studies.judging.measured import Rate, tournament_of

TIMES = (2_500, 10_000, 40_000, 160_000)
"""Of a move, in microseconds: a hundredth of a second is some four hundred nodes."""

OPPONENTS = ("2017a:Random", "2017a:MM_Null", "2017a:MM_Improved", "2017a:AB_Improved")


@dataclass(frozen=True)
class Sweep:
    """Win rates against each opponent at each time: resigning, and playing on."""

    opponents: tuple[str, ...]
    times: tuple[int, ...]
    nodes: tuple[int, ...]
    """A move, on average, playing on."""
    resigning: tuple[tuple[Rate, ...], ...]
    playing_on: tuple[tuple[Rate, ...], ...]
    forfeits: tuple[tuple[float, ...], ...]
    """Games given up, in %."""

    def totals(self, rates: Sequence[Sequence[Rate]]) -> list[float]:
        """The mean over the opponents, at each time."""
        return [sum(rate.rate for rate in row) / len(row) for row in rates]


def resigning_plan(pairs: int, seed: int) -> Plan:
    """`improved` on the later board, with each time once giving up and once not."""
    tests = [
        Entrant(replace(condition, time=time).agent(BASELINE), f"{BASELINE}, {word}, {time} µs")
        for condition, word in (
            (Condition(), "resigning"),
            (Condition().never_resigning(), "playing on"),
        )
        for time in TIMES
    ]
    opponents = [Entrant(Condition().opponent(name), name.partition(":")[2]) for name in OPPONENTS]
    return Plan(
        kind="tournament",
        entrants=(*tests, *opponents),
        matches=tournament(len(tests), len(opponents)),
        pairs=pairs,
        seed=seed,
        options={"protocol": "2017a", "tests": len(tests), "study": "resigning"},
    )


def sweep_of(run: Run) -> Sweep:
    """The results of a run that is over."""
    found = tournament_of(run)
    rows = [tuple(found.against(name)) for name in found.heuristics]
    number = len(TIMES)
    return Sweep(
        opponents=found.opponents,
        times=TIMES,
        nodes=tuple(round(float(nodes)) for nodes in found.nodes[number:]),
        resigning=tuple(rows[:number]),
        playing_on=tuple(rows[number:]),
        forfeits=tuple(tuple(map(float, row)) for row in found.forfeits[:number]),
    )
