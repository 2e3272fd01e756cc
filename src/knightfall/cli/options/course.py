"""Options of the commands that let submissions of the course play."""

from __future__ import annotations

from typing import Annotated

import typer

Opponents = Annotated[
    list[str] | None,
    typer.Option(
        "--opponents",
        metavar="AGENT",
        help="An opponent; may be repeated. By default the course's seven of its year.",
    ),
]
MoveTime = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="TIME",
        help="Time for a move: 150ms, or what the submission's year had.",
    ),
]
Clock = Annotated[
    str,
    typer.Option(
        "--clock",
        metavar="CLOCK",
        help="ticks: each call of time_left() costs 0.06 ms, so results repeat; or wall.",
    ),
]
Generation = Annotated[
    str | None,
    typer.Option(
        "--generation",
        metavar="G",
        help="2017b, 2017a, early, oldest or successor. By default it is found by reading.",
    ),
]


def of_generation(agents: list[str], generation: str | None) -> list[str]:
    """Return agent strings; submissions that do not say their generation get this one."""
    from dataclasses import replace

    from knightfall.agents import parse_agent
    from knightfall.course.agent import CourseAgent
    from knightfall.course.reference import parse_reference
    from knightfall.errors import KnightfallError

    if generation is None:
        return agents
    read = [parse_agent(agent) for agent in agents]
    if not any(isinstance(agent, CourseAgent) for agent in read):
        raise KnightfallError(
            f"--generation {generation} is for submissions, and there is none: name one as in "
            "course:game_agent.py"
        )
    found = []
    for text, agent in zip(agents, read, strict=True):
        if isinstance(agent, CourseAgent) and not agent.reference.generation:
            named = parse_reference(f"{agent.heuristic}, generation={generation}")
            text = str(replace(agent, heuristic=str(named)))
        found.append(text)
    return found
