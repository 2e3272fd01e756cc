"""The course's tournament with a submission in it, as a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from knightfall.agents import Agent
from knightfall.arena.plan import Plan, enter, files_of, tournament
from knightfall.arena.tournament_plan import PROTOCOLS
from knightfall.course.agent import CourseAgent
from knightfall.course.reference import Reference, parse_reference
from knightfall.course.submission import Submission, checked
from knightfall.errors import KnightfallError
from knightfall.search.budget import Budget

TIME = 150_000
"""Microseconds of a move in every generation.  (The oldest board's own default is 200 ms, but
nearly all repositories that have that board play with 150.)"""


@dataclass(frozen=True, slots=True)
class Tested:
    """A player of a submission under the name that the course's table gave it."""

    name: str
    reference: Reference


def trial_plan(
    path: str,
    *,
    opponents: Sequence[str] = (),
    pairs: int | None = None,
    time: int | None = None,
    counted: bool = False,
    seed: int = 0,
) -> tuple[Submission, Plan]:
    """What a submission's generation played: its players against the course's seven.

    A move has 150 ms unless it is told otherwise.
    """
    reference = parse_reference(path).absolute()
    found = checked(reference)
    if found.generation == "successor":
        raise KnightfallError(
            f"{found.file} plays the successor's game on 11×9, which is no tournament of 7×7"
        )
    protocol = "2017b" if found.generation == "2017b" else "2017a"
    rules = PROTOCOLS[protocol]
    tests = tested(reference, found)
    agents = [course_agent(test.reference, time or TIME, counted) for test in tests]
    entered = enter([str(agent) for agent in agents])
    players = tuple(replace(one, name=test.name) for one, test in zip(entered, tests, strict=True))
    against = enter(list(opponents) or rules.opponents, protocol=protocol)
    return found, Plan(
        kind="tournament",
        entrants=players + against,
        matches=tournament(len(players), len(against)),
        pairs=pairs or rules.pairs,
        repeats=rules.repeats,
        seed=seed,
        files=files_of(players + against),
        options={
            "protocol": protocol,
            "tests": len(players),
            "given_budget": "",
        },
    )


def tested(reference: Reference, found: Submission) -> list[Tested]:
    """Those whom the course's tournament tested: the course's own score first, then the student's.

    All of them think with the student's search.  Whoever names a class tests that alone.
    """
    if reference.name:
        score = f"({reference.score})" if reference.score else ""
        return [Tested(f"{reference.name}{score}", reference)]
    name = found.default

    def with_score(label: str, score: str) -> Tested:
        return Tested(label, replace(reference, name=name, score=score))

    if found.competition or "custom_score" not in {*found.scores, *found.names}:
        return [Tested("Student", reference)]
    if found.generation != "2017b":
        return [
            with_score("ID_Improved", "improved_score"),
            with_score("Student", "custom_score"),
        ]
    rest = ("custom_score_2", "custom_score_3")
    customs = ["custom_score", *(score for score in rest if score in found.names)]
    kind = "AB" if name == "AlphaBetaPlayer" else "MM" if name == "MinimaxPlayer" else name
    return [
        with_score(f"{kind}_Improved", "improved_score"),
        *(with_score(score.replace("custom_score", f"{kind}_Custom"), score) for score in customs),
    ]


def course_agent(reference: Reference, time: int, counted: bool) -> Agent:
    """Return a submission's agent with so many microseconds a move, counted or by the wall."""
    if counted:
        return CourseAgent(str(reference), ticks=time)
    return CourseAgent(str(reference), Budget(time=time))
