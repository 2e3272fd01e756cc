"""What a run was played with: two runs of one plan are the same only if this is the same."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from knightfall.extensions import added

GAMES = (
    "knightfall.agents",
    "knightfall.arena.play",
    "knightfall.arena.plan",
)
"""What plays games and says which ones; everything else that has a part in them is imported there
or added by an extension."""


@cache
def engine() -> str:
    """Return the version of everything that decides how a game goes."""
    from knightfall import __version__
    from knightfall.kernel.sources import hash_of

    return f"{__version__}+{hash_of(*deciding_modules())}"


def deciding_modules() -> tuple[str, ...]:
    """Return the modules whose imports together decide how games go.

    What an extension promises and does not have decides nothing.
    """
    from knightfall.heuristics.registry import added_tables
    from knightfall.kernel.sources import has_source

    modules = {
        path.partition(":")[0]
        for part in ("agents", "heuristics")
        for _, path in added(part).values()
    }
    modules |= {row.module for table in added_tables() for row in table.rows}
    return (*GAMES, *sorted(filter(has_source, modules)))


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of all that a run is played with, for the record."""
    import platform
    from importlib.metadata import version

    return {
        "knightfall": engine(),
        "python": platform.python_version(),
        "numba": version("numba"),
        "numpy": version("numpy"),
        "system": f"{platform.system()} {platform.machine()}",
    }
