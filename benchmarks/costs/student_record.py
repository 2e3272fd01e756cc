"""Write the measured costs of a student's search as the TOML file that knightfall reads."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING

from ..machine import processor

if TYPE_CHECKING:
    from .students import BoardCosts

STEPS = ("forecast", "listing", "per_move", "call")


def as_toml(costs: Mapping[str, BoardCosts], positions: int, rounds: int) -> str:
    """Return the costs on each board as TOML, with the machine."""
    lines = [
        "# What the steps of a student's search cost in plain Python, in nanoseconds, over the",
        "# board that the course began with and the one it ended with.",
        "# Written by python -m benchmarks.costs.students.",
        "#",
        "# listing: a list of moves; per_move: each move in it.  An evaluation costs score, and",
        "# open for each open cell, and move for each move of either player.  residual: how far",
        "# off that is as a rule, as a part of what it costs on average.  whole: how long whole",
        "# searches took, where 1 is what their steps add up to.",
        "",
        f"date = {date.today().isoformat()}",
        f'machine = "{processor()}, {platform.system()}"',
        f'python = "{platform.python_implementation()} {platform.python_version()}"',
        f"positions = {positions}",
        f"rounds = {rounds}",
    ]
    for name, board in costs.items():
        lines += ["", f"[{name}]"]
        lines += [f"{step} = {getattr(board, step)}" for step in STEPS]
        lines += [f"whole = {board.whole:.3f}", "", f"[{name}.score]"]
        wide = max(len(id) for id in board.scores) + 2
        for id, fit in board.scores.items():
            key = id if id.isidentifier() else f'"{id}"'
            lines.append(
                f"{key:<{wide}} = {{ score = {fit.score}, open = {fit.open}, "
                f"move = {fit.move}, residual = {fit.residual:.3f} }}"
            )
    return "\n".join(lines) + "\n"
