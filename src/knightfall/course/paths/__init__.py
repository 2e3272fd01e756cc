"""Folders from which an old script of the course imports what it used to.

First on PYTHONPATH, each offers the modules `isolation`, `isolation.isolation` and
`sample_players` of one generation, which are but other names for ours.
"""

from __future__ import annotations

from pathlib import Path

from knightfall.errors import KnightfallError, nearest

GENERATIONS = ("2017b", "2017a", "early", "oldest", "successor")
"""The newest of the first course's boards, back to its oldest, and the successor's."""


def folder(generation: str) -> Path:
    """The folder of a generation."""
    if generation not in GENERATIONS:
        raise KnightfallError(
            f"no generation {generation!r} of the course: there are {', '.join(GENERATIONS)}"
            + nearest(str(generation), GENERATIONS)
        )
    return Path(__file__).resolve().parent / f"generation_{generation}"
