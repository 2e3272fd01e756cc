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
    from knightfall.agents import parse_agent
    from knightfall.errors import KnightfallError

    if generation is None:
        return agents
    found = [parse_agent(agent).of_generation(generation) for agent in agents]
    if not any(found):
        raise KnightfallError(
            f"--generation {generation} is for submissions, and there is none: name one as in "
            "course:game_agent.py"
        )
    return [str(agent or text) for agent, text in zip(found, agents, strict=True)]
