"""Who meets whom in a class, as plans: one for each submission and one for its classmates.

A submission that is handed in again changes its own plans and those of two classmates.  All the
others are in the store as they were, and are not played again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from knightfall.agents import COURSE
from knightfall.arena.plan import Entrant, Match, Plan, enter, files_of, tournament
from knightfall.arena.tournament_plan import PROTOCOLS
from knightfall.course.agent import course_agent
from knightfall.course.classroom.roster import Student
from knightfall.course.generations import all_generations
from knightfall.course.trial.successor_games import SAMPLES


@dataclass(frozen=True)
class Conditions:
    """How a class plays: a move's microseconds, by a clock that counts or by the wall's."""

    opponents: tuple[str, ...]
    pairs: int = 5
    classmates: int = 4
    time: int = 150_000
    counted: bool = True
    seed: int = 0
    successor: bool = False
    """Whether the game is that of 11×9, which no store and no solver here can hold."""

    @property
    def clock(self) -> str:
        """Return how time is kept."""
        wanted = f"{self.time / 1000:g} ms a move"
        if self.counted and self.successor:
            return f"{wanted}, by a clock that counts the questions asked of the state"
        if self.counted:
            return f"{wanted}, by a clock that counts how often it is asked"
        return f"{wanted} by the wall clock"


def is_successor(students: Sequence[Student]) -> bool:
    """Return whether a class plays the successor's game: all of it does, or nobody."""
    known = [student.submission for student in students if student.submission is not None]
    return bool(known) and all(one.generation.on_11x9 for one in known)


def usual_opponents(students: Sequence[Student]) -> tuple[str, ...]:
    """Return the seven of the later tournament, unless nobody was in that; or the successor's."""
    return tuple(SAMPLES) if is_successor(students) else PROTOCOLS[protocol_of(students)].opponents


def protocol_of(students: Sequence[Student]) -> str:
    """Return the protocol in force for a class: the later one, unless nobody was in that."""
    known = {student.submission.generation for student in students if student.submission}
    latest = [one for one in all_generations() if one in known and not one.on_11x9]
    return latest[0].protocol if latest else "2017a"


def in_protocol(opponents: Sequence[str], students: Sequence[Student]) -> tuple[str, ...]:
    """Return opponents by names that say the protocol where they mean that of the class."""
    if is_successor(students):
        return tuple(opponents)
    protocol = protocol_of(students)
    return tuple(
        f"{protocol}:{text}"
        if protocol != "2017b" and text.partition("(")[0].strip() in COURSE[protocol]
        else text
        for text in opponents
    )


def entrant_of(student: Student, conditions: Conditions) -> Entrant:
    """A submission as the agent that the course's tournament would have made of it."""
    agent = course_agent(student.reference, conditions.time, conditions.counted)
    return replace(enter([str(agent)])[0], name=student.name)


def own_plan(student: Student, conditions: Conditions, pairs: int | None = None) -> Plan:
    """A submission against the course's opponents, from the openings that everybody has."""
    against = enter(list(conditions.opponents))
    entrants = (entrant_of(student, conditions), *against)
    return Plan(
        kind="tournament",
        entrants=entrants,
        matches=tournament(1, len(against)),
        pairs=pairs or conditions.pairs,
        seed=conditions.seed,
        files=files_of(entrants),
        options={"protocol": "class", "tests": 1, "given_budget": ""},
    )


def classmates_plans(students: Sequence[Student], conditions: Conditions) -> list[Plan]:
    """Submissions among themselves: each meets the next ones in a circle, and so as many before."""
    plans = []
    for place, followers in enumerate(circle(len(students), conditions.classmates)):
        if not followers:
            continue
        entrants = tuple(entrant_of(students[number], conditions) for number in (place, *followers))
        plans.append(
            Plan(
                kind="league",
                entrants=entrants,
                matches=tuple(Match(0, other) for other in range(1, len(entrants))),
                pairs=conditions.pairs,
                seed=conditions.seed,
                files=files_of(entrants),
                options={"given_budget": ""},
            )
        )
    return plans


def circle(people: int, wanted: int) -> list[list[int]]:
    """Whom each meets of those after it, so that everybody meets about `wanted` others.

    An odd number is met by every other one only; all others, if so many are not there.
    """
    if wanted >= people - 1:
        return [list(range(place + 1, people)) for place in range(people)]
    steps = range(1, wanted // 2 + 1)
    found = [[(place + step) % people for step in steps] for place in range(people)]
    if wanted % 2:
        half = people // 2
        for place in range(half):
            found[place].append(place + half)
    return found
