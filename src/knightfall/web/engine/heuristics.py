"""The heuristics that the browser's engine has: all published ones, in the order of numbers."""

from __future__ import annotations

from typing import Any

from knightfall.heuristics.registry import REGISTRY, USER
from knightfall.heuristics.signature import ready
from knightfall.web.engine.entry_points import static_reach, weighted_sum

SUM = "sum"
"""What `weighted_sum` is called: no id of a heuristic's."""


def heuristics() -> dict[str, Any]:
    """Every heuristic by its id, compiled; a family goes by its name and takes its parameter
    from the sum it is in.
    """
    found: dict[str, Any] = {SUM: weighted_sum}
    for id, row in REGISTRY.items():
        if row.study == USER:
            continue
        if row.parameter:
            assert id == "static_reach", f"the engine does not know how to give {id} its parameter"
            found[id] = static_reach
        else:
            found[id] = ready(row.score)
    return found
