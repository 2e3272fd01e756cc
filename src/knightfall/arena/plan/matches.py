"""Plans of matches and leagues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TypedDict, Unpack

from knightfall.arena.plan.entrants import enter, files_of
from knightfall.arena.plan.plan import Match, Plan, everyone, gauntlet
from knightfall.errors import KnightfallError
from knightfall.search.budget import Budget
from knightfall.statistics.sprt import Sprt

PAIRS = 100
"""Pairs of a match unless said otherwise; a sequential test may take all openings there are."""

MOST_ELO = 10_000


class Openings(TypedDict, total=False):
    """Where games begin, and what decides their order: see `Plan`."""

    seed: int
    board: str
    book: tuple[str, ...]
    stratify: bool


def match_plan(
    a: str,
    b: str,
    *,
    pairs: int | None = None,
    test: Sprt | None = None,
    budget: Budget | None = None,
    **openings: Unpack[Openings],
) -> Plan:
    """Two agents, a number of pairs or until a sequential test is decided."""
    entrants = enter([a, b], budget)
    plan = Plan(
        kind="match",
        entrants=entrants,
        matches=(Match(0, 1),),
        pairs=pairs or (PAIRS if test is None else 1_000_000),
        stop={} if test is None else {"rule": "sprt", **asdict(test)},
        files=files_of(entrants),
        options={"given_budget": str(budget or "")},
        **openings,
    )
    return replace(plan, pairs=plan.rounds) if pairs is None else plan


def league_plan(
    agents: Sequence[str],
    *,
    pairs: int = 50,
    gauntlet_of: int | None = None,
    until: float | None = None,
    budget: Budget | None = None,
    **openings: Unpack[Openings],
) -> Plan:
    """Everyone meets everyone, or the first few all the others, at most until all are told apart.

    `until` is the error in Elo that is small enough where two cannot be told apart.
    """
    if len(agents) < 2:
        given = f"only {agents[0]!r}" if agents else "none"
        raise KnightfallError(f"a league needs two agents or more, not {given}")
    if gauntlet_of is not None and not 1 <= gauntlet_of < len(agents):
        raise KnightfallError(
            f"gauntlet={gauntlet_of} leaves no opponents: there are {len(agents)} agents"
        )
    if until is not None and not 0 < until < MOST_ELO:
        raise KnightfallError(f"{until:g} is not a number of Elo above 0, as in 10")
    entrants = enter(agents, budget)
    return Plan(
        kind="league",
        entrants=entrants,
        matches=everyone(entrants) if gauntlet_of is None else gauntlet(entrants, gauntlet_of),
        pairs=pairs,
        stop={} if until is None else {"rule": "until", "error": until},
        files=files_of(entrants),
        options={"given_budget": str(budget or "")},
        **openings,
    )
