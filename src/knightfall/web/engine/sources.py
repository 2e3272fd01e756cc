"""Which files the browser's engine is made from."""

from __future__ import annotations

from knightfall.kernel.sources import COMPILED, hash_of

MADE_FROM = (
    *COMPILED,
    *(f"web/engine/{name}.py" for name in ("layout", "memory", "geometry", "entry_points")),
    *(f"web/engine/{name}.py" for name in ("heuristics", "llvm", "build", "sources")),
    "heuristics/published.py",
    "heuristics/variants.py",
)
"""The kernels, and what turns them into the file."""


def source_hash() -> str:
    """What the shipped engine must have been built from."""
    return hash_of(MADE_FROM)
