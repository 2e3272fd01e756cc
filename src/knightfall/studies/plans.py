"""The plans of games that re-run the studies: a tournament for each study and budget, and a league.

A study is played by its own protocol: its test agents against its seven opponents. All test agents
meet an opponent from the same openings, and no opening is repeated. The earlier course played each
one twice, which adds nothing for deterministic agents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from knightfall.agents import COURSE_NODES, Agent, DeepeningAgent, parse_agent
from knightfall.arena.plan import Entrant, Match, Plan, round_robin
from knightfall.errors import KnightfallError, nearest
from knightfall.search.budget import Budget
from knightfall.studies.node_costs import BASELINE, compiled_costs, equal_time_nodes, large_costs
from knightfall.studies.playing_conditions import (
    Condition,
    faithful_plan,
    study_tournament_plan,
    tournament_plan,
)
from knightfall.studies.published import (
    BUDGETS,
    BudgetName,
    Measure,
    Study,
    agent_of,
    studies,
)
from knightfall.studies.student_options import STUDENTS_TIME

STUDENTS: tuple[BudgetName, ...] = ("course", "never")
"""The budgets in which agents play as students wrote them, with and without resigning."""

TITLES: Mapping[str, str] = {
    "course": "course conditions",
    "time": "equal time",
    "nodes": "equal nodes",
    "never": "never resigning",
}

PAIRS = 700
"""Default pairs for each opponent; a total's 95 % interval is then within ±1 point."""

LEAGUE_SHARE = 20
"""Divisor of the pairs for each league match, because each agent meets forty others."""

POWER = "power"
"""The budget name of plans with more computing power."""

MORE_POWER = 10
"""Factor for the time per move in plans with more computing power."""

FORFEITS = "without the safety move"
"""The budget name of plans in which agents resign instead of making some legal move."""

PLIES = (2, 3, 4)
"""Depths of the agent that searches a ply less."""

SIZES = ("7x7", "8x8")
"""Boards for claims that depend on the size of the board."""

SIZE_SHARE = 3
"""Factor for the pairs on each board: there is one opponent, not seven."""

WISHES = "wishes"
"""Prefix of the budget names of plans with the heuristics of a study's wishes."""

PLAYS_OUT = ("longest_win", "longest_win_difference")
"""Not in the league: their leaves play out whole games, so that at equal nodes a move takes as long
as a hundred games of the others. No study entered them by themselves.
"""


DEAR = (*PLAYS_OUT, "shortest_win", "shortest_win_difference")
"""Heuristics that search at every leaf: a node costs 9 to 103 times as much as with `improved`."""

DEAR_SHARE = 10
"""Divisor of the pairs for wishes with `DEAR` heuristics at equal nodes."""


def budgets_named(text: str) -> tuple[BudgetName, ...]:
    """Return the budgets that ``--budget`` names: one of them, or all."""
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
    """Return a function that gives the node budget of an agent with a given heuristic."""
    match budget:
        case "time":
            return equal_time_nodes
        case "nodes":
            return lambda heuristic: COURSE_NODES
    raise KnightfallError(f"budget {budget!r} gives agents time, not nodes")


# -- tournaments ---------------------------------------------------------------------------


def study_plan(
    study: Study,
    budget: BudgetName,
    condition: Condition,
    pairs: int = PAIRS,
    seed: int = 0,
    called: str = "",
) -> Plan:
    """Return the plan of a study's tournament at a budget; `improved` is the first test agent.

    `condition` is how its author's agents played; only some budgets use it. `called` is the name
    under which the run is stored, by default the budget's.
    """
    called = called or budget
    if budget in STUDENTS:
        faithful = condition if budget == "course" else condition.never_resigning()
        return faithful_plan(study, faithful, pairs, seed, budget=called)
    nodes = nodes_of(budget)
    opponent = partial(_opponent, nodes=nodes)
    return study_tournament_plan(
        study, lambda id: agent_of(id, nodes(id)), opponent, pairs, seed, budget=called
    )


def wish_plan(
    study: Study,
    budget: BudgetName,
    condition: Condition,
    pairs: int = PAIRS,
    seed: int = 0,
) -> Plan | None:
    """Return a study's tournament with heuristics that its author only proposed; None if none.

    The openings are those of the study's own tournament; with expensive heuristics at equal nodes,
    only the first tenth of them. No plan is needed if the wishes name only heuristics of the study.
    """
    wished = study.wished(budget)
    if budget == "nodes" and set(wished) & set(DEAR):
        pairs //= DEAR_SHARE
    if not wished or not pairs:
        return None
    few = replace(study, entrants={id: id for id in wished})
    return study_plan(few, budget, condition, pairs, seed, f"{WISHES} {budget}")


# -- games for single claims ---------------------------------------------------------------


def claim_plans(
    study: Study,
    condition: Condition,
    budgets: Sequence[BudgetName],
    pairs: int = PAIRS,
    seed: int = 0,
) -> dict[str, Plan]:
    """Return plans of additional games that single claims of a study need, by name.

    Games between the author's agents have half as many pairs and are played only if `budgets`
    includes `course`; boards are compared only if it includes `time`.
    """
    found: dict[str, Plan] = {}
    half = max(1, pairs // 2)
    if "course" in budgets and (few := _compared_by(study, "power")):
        entrants = {name: id for name, id in study.entrants.items() if id in few}
        mighty = replace(condition, time=MORE_POWER * condition.time)
        few_entrants = replace(study, entrants=entrants)
        found[POWER] = faithful_plan(few_entrants, mighty, half, seed, budget=POWER)
    if "course" in budgets and any(one.fact == "prevents_forfeits" for one in study.claims):
        careless = replace(condition, lost="forfeits")
        found[FORFEITS] = faithful_plan(study, careless, half, seed, budget=FORFEITS)
    if two := _compared_by(study, "ply"):
        deeper, shallower = two
        for depth in PLIES:
            agents = [
                f"alphabeta({deeper}, depth={depth + 1})",
                f"alphabeta({shallower}, depth={depth})",
            ]
            found[f"ply {depth}"] = _match(study, two, agents, pairs, seed, f"ply {depth}")
    if "time" in budgets and (two := _compared_by(study, "board")):
        for board, costs in zip(SIZES, (compiled_costs(), large_costs()), strict=True):
            agents = [agent_of(id, costs.nodes(id)) for id in two]
            plan = _match(study, two, agents, SIZE_SHARE * pairs, seed, f"board {board}")
            found[f"board {board}"] = replace(plan, board=board)
    return found


def _compared_by(study: Study, measure: Measure) -> tuple[str, ...]:
    """Return the heuristics that the study's claims compare by a measure, `who` before `than`."""
    claims = [claim for claim in study.claims if claim.measure == measure]
    return tuple(dict.fromkeys(id for claim in claims for id in (*claim.who, *claim.than)))


def _match(
    study: Study, names: Sequence[str], agents: Sequence[str], pairs: int, seed: int, called: str
) -> Plan:
    return Plan(
        kind="match",
        entrants=tuple(map(Entrant, agents, names)),
        matches=(Match(0, 1),),
        pairs=pairs,
        seed=seed,
        options={"study": study.id, "budget": called},
    )


def _opponent(name: str, nodes: Callable[[str], int]) -> str:
    """Return an opponent of the course; iterative deepening gets `nodes(heuristic)` nodes."""
    agent: Agent = parse_agent(name)
    if isinstance(agent, DeepeningAgent):
        agent = replace(agent, budget=Budget(nodes=nodes(agent.heuristic)))
    return str(agent)


# -- resigning -----------------------------------------------------------------------------

SWEEP_TIMES = (2_500, 10_000, 40_000, 160_000)
"""Times per move in microseconds; 10,000 µs suffice for about four hundred nodes."""

SWEEP_OPPONENTS = ("2017a:Random", "2017a:MM_Null", "2017a:MM_Improved", "2017a:AB_Improved")


def resigning_plan(pairs: int, seed: int) -> Plan:
    """Return a tournament that measures what resigning costs `improved` on the course's last board.

    At each time per move one agent resigns lost games, another plays on. A deeper search
    sees sooner that a game is lost. Resigning then gives away games that a weak opponent would
    still have lost.
    """
    tests = [
        Entrant(replace(condition, time=time).agent(BASELINE), f"{BASELINE}, {word}, {time} µs")
        for condition, word in (
            (Condition(), "resigning"),
            (Condition().never_resigning(), "playing on"),
        )
        for time in SWEEP_TIMES
    ]
    opponents = [
        Entrant(Condition().opponent(name), name.partition(":")[2]) for name in SWEEP_OPPONENTS
    ]
    return tournament_plan(tests, opponents, pairs, seed, "2017a", study="resigning")


# -- the league ----------------------------------------------------------------------------


def league_heuristics(chosen: Iterable[Study]) -> tuple[str, ...]:
    """Return the heuristics of the course and of some studies, `improved` first."""
    from knightfall.heuristics.registry import REGISTRY

    groups = {"course", *(study.id for study in chosen)}
    published = {id: study.id for study in studies().values() for id in study.heuristics}
    declared = {id: row.study for id, row in REGISTRY.items()}
    owner = published | declared  # sums are only published; improved is declared by the course
    found = [id for id in compiled_costs().ratios if owner[id] in groups and id not in PLAYS_OUT]
    return tuple(sorted(found, key=lambda id: id != BASELINE))


def league_plan(
    heuristics: Sequence[str], budget: BudgetName, pairs: int = PAIRS, seed: int = 0
) -> Plan:
    """Return the plan of a league in which every heuristic plays every other.

    `pairs` is the number for each opponent in a tournament; a league match has one in
    `LEAGUE_SHARE` of them. The matches have different openings: with the same few for all, their
    luck would stretch or shrink the whole table.
    """
    entrants = tuple(Entrant(_league_agent(id, budget), id) for id in heuristics)
    return Plan(
        kind="league",
        entrants=entrants,
        matches=tuple(
            replace(match, series=series) for series, match in enumerate(round_robin(entrants))
        ),
        pairs=max(1, pairs // LEAGUE_SHARE),
        seed=seed,
        options={"study": "all", "budget": budget},
    )


def _league_agent(heuristic: str, budget: BudgetName) -> str:
    """Return an agent string: a student agent for a budget in `STUDENTS`, else plain deepening."""
    if budget not in STUDENTS:
        return agent_of(heuristic, nodes_of(budget)(heuristic))
    condition = Condition(time=STUDENTS_TIME)
    return (condition if budget == "course" else condition.never_resigning()).agent(heuristic)
