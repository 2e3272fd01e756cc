"""What is played to re-run the studies: a tournament for each study and budget, and a league.

A study is played by its own protocol: its test agents against its seven opponents.  All test
agents meet an opponent from the same openings, and no opening comes twice: the earlier course
played each one twice, which tells nothing new of agents that always choose the same move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal, get_args

from knightfall.agents import COURSE_NODES, STUDENTS_TIME, Agent, parse_agent
from knightfall.arena.plan.plan import Entrant, Plan, everyone
from knightfall.errors import KnightfallError, nearest
from knightfall.search.budget import Budget
from knightfall.studies.conditions.condition import Condition
from knightfall.studies.conditions.trials import tournament_plan
from knightfall.studies.costs.costs import BASELINE, compiled_costs
from knightfall.studies.published.published import Study, agent_of, studies

BudgetName = Literal["course", "time", "nodes", "never"]
BUDGETS: tuple[BudgetName, ...] = get_args(BudgetName)
"""In the order of the report: what the authors had comes first."""

STUDENTS: tuple[BudgetName, ...] = ("course", "never")
"""The ones in which agents play as students wrote them: as they did, and without resigning."""

TITLES: Mapping[str, str] = {
    "course": "course conditions",
    "time": "equal time",
    "nodes": "equal nodes",
    "never": "never resigning",
}

PAIRS = 700
"""For each opponent, unless said otherwise: a total's 95 % interval is then within ±1 point."""

LEAGUE_SHARE = 20
"""A league's couple plays this part of a tournament's pairs: everyone meets forty others."""

POWER = "power"
"""What plans with more computing power call their budget."""

MORE_POWER = 10
"""So many times the time of a move."""

PLAYS_OUT = ("longest_win", "longest_win_difference")
"""Not in the league: a leaf of theirs plays out whole games, so that at equal nodes a move takes as
long as a hundred games of the others, and no study entered them by themselves."""


def budgets_named(text: str) -> tuple[BudgetName, ...]:
    """What ``--budget`` asks for: one of them, or all."""
    if text == "all":
        return BUDGETS
    found = tuple(budget for budget in BUDGETS if budget == text)
    if not found:
        known = (*BUDGETS, "all")
        raise KnightfallError(
            f"unknown budget {text!r}{nearest(text, known)} (there are {', '.join(known)})"
        )
    return found


def nodes_of(budget: BudgetName) -> Callable[[str], int]:
    """How many nodes a heuristic's agent gets."""
    match budget:
        case "time":
            return compiled_costs().nodes
        case "nodes":
            return lambda heuristic: COURSE_NODES
    raise KnightfallError(f"under {TITLES[budget]} agents have time, not nodes")


# -- tournaments ---------------------------------------------------------------------------


def study_plan(
    study: Study,
    budget: BudgetName,
    condition: Condition,
    pairs: int = PAIRS,
    seed: int = 0,
) -> Plan:
    """A study's tournament, `improved` first among the test agents.

    `condition` is how its author's agents played, where that is what the budget asks for.
    """
    if budget in STUDENTS:
        faithful = condition if budget == "course" else condition.never_resigning()
        test = partial(faithful.test_agent, study)
        return tournament_plan(study, test, faithful.opponent, pairs, seed, budget=budget)
    nodes = nodes_of(budget)
    opponent = partial(_opponent, nodes=nodes)
    return tournament_plan(
        study, lambda id: agent_of(id, nodes(id)), opponent, pairs, seed, budget=budget
    )


def power_plan(
    study: Study, condition: Condition, pairs: int = PAIRS, seed: int = 0
) -> Plan | None:
    """The tournament as the author's agents played it, all with ten times the time.

    Only heuristics take part that a claim compares so; None where no claim does.
    """
    claims = [claim for claim in study.claims if claim.measure == "power"]
    wanted = {id for claim in claims for id in (*claim.who, *claim.than)}
    if not wanted:
        return None
    entrants = {name: id for name, id in study.entrants.items() if id in wanted}
    mighty = replace(condition, time=MORE_POWER * condition.time)
    test = partial(mighty.test_agent, study)
    few = replace(study, entrants=entrants)
    return tournament_plan(few, test, mighty.opponent, pairs, seed, budget=POWER)


def _opponent(name: str, nodes: Callable[[str], int]) -> str:
    """An opponent of the course: whoever deepens gets the budget of its heuristic."""
    agent: Agent = parse_agent(name)
    if agent.kind == "id":
        agent = replace(agent, budget=Budget(nodes=nodes(agent.heuristic)))
    return str(agent)


# -- the league ----------------------------------------------------------------------------


def league_heuristics(chosen: Iterable[Study]) -> tuple[str, ...]:
    """Who takes part: the heuristics of the course and of these studies, `improved` first."""
    from knightfall.heuristics.registry import REGISTRY

    groups = {"course", *(study.id for study in chosen)}
    published = {id: study.id for study in studies().values() for id in study.heuristics}
    declared = {id: row.study for id, row in REGISTRY.items()}
    owner = published | declared  # a sum is only published, improved is the course's
    found = [id for id in compiled_costs().ratios if owner[id] in groups and id not in PLAYS_OUT]
    return tuple(sorted(found, key=lambda id: id != BASELINE))


def league_plan(
    heuristics: Sequence[str], budget: BudgetName, pairs: int = PAIRS, seed: int = 0
) -> Plan:
    """Everyone against everyone; `pairs` are those of the tournaments.

    Each couple has openings of its own: with the same few for all, luck with these would stretch
    or shrink the whole table.
    """
    entrants = tuple(Entrant(_league_agent(id, budget), id) for id in heuristics)
    return Plan(
        kind="league",
        entrants=entrants,
        matches=tuple(
            replace(match, series=series) for series, match in enumerate(everyone(entrants))
        ),
        pairs=max(1, pairs // LEAGUE_SHARE),
        seed=seed,
        options={"study": "all", "budget": budget},
    )


def _league_agent(heuristic: str, budget: BudgetName) -> str:
    """Everyone as the later course's students, or with so many nodes."""
    if budget not in STUDENTS:
        return agent_of(heuristic, nodes_of(budget)(heuristic))
    condition = Condition(time=STUDENTS_TIME)
    return (condition if budget == "course" else condition.never_resigning()).agent(heuristic)
