"""Write measured node costs as the TOML file that knightfall reads."""

from __future__ import annotations

import platform
from datetime import date

from knightfall.studies.node_costs import NodeCosts

from ..machine import processor
from .positions import FENS


def as_toml(costs: NodeCosts, rounds: int, positions: int = len(FENS)) -> str:
    """Return the costs as TOML, with the machine; nodes follow from the rounded ratio."""
    ratios = {id: round(ratio, 3) for id, ratio in costs.ratios.items()}
    written = NodeCosts(ratios, costs.conditions)
    lines = [
        f"# What a node costs with each heuristic in {costs.conditions}, in nodes of improved,",
        "# and the nodes that leaves.  Written by python -m benchmarks.costs.",
        "",
        f"date = {date.today().isoformat()}",
        f'machine = "{processor()}, {platform.system()}"',
        f'python = "{platform.python_implementation()} {platform.python_version()}"',
        f"positions = {positions}",
        f"rounds = {rounds}",
    ]
    if costs.microseconds is not None:
        lines.append(f"microseconds = {costs.microseconds:.0f} # for 2,500 nodes of improved")
    lines += ["", "[cost]"]
    wide = max(len(id) for id in ratios) + 2
    for id, ratio in ratios.items():
        name = id if id.isidentifier() else f'"{id}"'
        lines.append(f"{name:<{wide}} = {{ ratio = {ratio:.3f}, nodes = {written.nodes(id)} }}")
    return "\n".join(lines) + "\n"
