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
