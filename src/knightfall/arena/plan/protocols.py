"""The course's two tournaments, as plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

from knightfall.arena.plan.entrants import enter, files_of
from knightfall.arena.plan.matches import Openings
from knightfall.arena.plan.plan import Plan, tournament
from knightfall.errors import KnightfallError
from knightfall.search.budget import Budget

RECOMMENDED = (
    "lookahead_mobility",
    "weighted_difference",
    "near_opponent+bfs_reach",
    "main",
    "open_cluster",
)
"""The heuristic that each of the five studies recommends."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """A tournament of the course: who plays by default, against whom, how often.

    `pairs` is per opponent.  Each opening is played `repeats` times from both seats.
    """

    baseline: str
    opponents: tuple[str, ...]
    pairs: int
    repeats: int = 1

    @property
    def tests(self) -> tuple[str, ...]:
        """The baseline, and what the studies recommend, all deepening as the course's agents do."""
        return (self.baseline, *(f"id({id}, nodes=2500, plain)" for id in RECOMMENDED))


PROTOCOLS = {
    "2017b": Protocol(
        "AB_Improved",
        (
            "Random",
            "MM_Open",
            "MM_Center",
            "MM_Improved",
            "AB_Open",
            "AB_Center",
            "AB_Improved",
        ),
        pairs=5,
    ),
    "2017a": Protocol(
        "ID_Improved",
        (
            "2017a:Random",
            "2017a:MM_Null",
            "2017a:MM_Open",
            "2017a:MM_Improved",
            "2017a:AB_Null",
            "2017a:AB_Open",
            "2017a:AB_Improved",
        ),
        pairs=10,
        repeats=2,
    ),
}


def protocol_named(name: str) -> Protocol:
    """The protocol of a year."""
    if name not in PROTOCOLS:
        raise KnightfallError(f"protocol {name!r} is unknown: there are {' and '.join(PROTOCOLS)}")
    return PROTOCOLS[name]


def tournament_plan(
    tests: Sequence[str] = (),
    against: Sequence[str] = (),
    *,
    protocol: str = "2017b",
    pairs: int | None = None,
    budget: Budget | None = None,
    **openings: Unpack[Openings],
) -> Plan:
    """A tournament: each test agent against each opponent, the test agents from equal openings."""
    rules = protocol_named(protocol)
    # Both lists may name the same agent: it is one entrant on either side of the table.
    tested = enter(tests or rules.tests, budget)
    opponents = enter(against or rules.opponents, budget)
    return Plan(
        kind="tournament",
        entrants=tested + opponents,
        matches=tournament(len(tested), len(opponents)),
        pairs=pairs or rules.pairs,
        repeats=rules.repeats,
        files=files_of(tested + opponents),
        options={"protocol": protocol, "tests": len(tested), "given_budget": str(budget or "")},
        **openings,
    )
