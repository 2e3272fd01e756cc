"""The version of the code that plays games, which is a part of a run's identity."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from knightfall.extensions import added

GAMES = (
    "knightfall.agents",
    "knightfall.arena.play",
    "knightfall.arena.plan",
)
"""The modules that play games and choose them; all other code that can change a game is imported by
these or added by an extension."""


@cache
def engine() -> str:
    """Return the version of all code that can change a game: the release and a hash of sources."""
    from knightfall import __version__
    from knightfall.kernel.source_hashes import hash_of

    return f"{__version__}+{hash_of(*deciding_modules())}"


def deciding_modules() -> tuple[str, ...]:
    """Return the modules that, with their imports, contain all code that can change a game.

    Modules that an extension names but that do not exist are left out.
    """
    from knightfall.heuristics.registry import added_tables
    from knightfall.kernel.source_hashes import has_source

    modules = {
        path.partition(":")[0]
        for part in ("agents", "heuristics")
        for _, path in added(part).values()
    }
    modules |= {row.module for table in added_tables() for row in table.rows}
    return (*GAMES, *sorted(filter(has_source, modules)))


@cache
def versions() -> Mapping[str, str]:
    """Return the versions of knightfall, Python, its packages and the system, for the store."""
    import platform
    from importlib.metadata import version

    return {
        "knightfall": engine(),
        "python": platform.python_version(),
        "numba": version("numba"),
        "numpy": version("numpy"),
        "system": f"{platform.system()} {platform.machine()}",
    }
