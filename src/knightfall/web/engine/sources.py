"""The version of what the browser's engine is made from."""

from __future__ import annotations

from knightfall.heuristics.registry import REGISTRY, USER
from knightfall.kernel.sources import hash_of

MADE_FROM = (
    "knightfall.web.engine.entry_points",
    "knightfall.web.engine.heuristics",
    "knightfall.web.engine.llvm",
)
"""The modules whose imports, with those of the heuristics, are what the engine is made from."""


def source_hash() -> str:
    """Return the hash of the sources that the shipped engine must have been built from."""
    scores = {row.module for row in REGISTRY.values() if row.study != USER}
    return hash_of(*MADE_FROM, *sorted(scores), lazy=False)
