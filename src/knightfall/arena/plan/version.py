"""What a run was played with: two runs of one plan are the same only if this is the same."""

from __future__ import annotations

from functools import cache

DECIDES = (
    "position.py",
    "machine.py",
    "extensions.py",
    "scratch.py",
    "openings.py",
    *(f"agents/{name}.py" for name in ("base", "course", "kinds", "parse", "registry")),
    "course/agent.py",
    *(f"studies/student_{name}" for name in ("agent.py", "costs.py", "costs.toml")),
    "python_agent.py",
    *(f"course/{name}.py" for name in ("reference", "submission", "find", "modules", "visit")),
    *(f"course/{name}.py" for name in ("player", "clocks", "seat_board", "laid_out", "crashes")),
    *(f"course/{name}.py" for name in ("score_player", "old_names")),
    *(f"course/{name}.py" for name in ("successor", "successor_moves")),
    *(f"course/board_{name}.py" for name in ("2017b", "2017a", "oldest", "file")),
    *(f"course/{name}.py" for name in ("knights", "game_loop", "scores", "drawing")),
    *(f"course/sample_players_{name}.py" for name in ("2017b", "2017a")),
    *(f"heuristics/{name}.py" for name in ("expression", "printed_names")),
    *(f"heuristics/{name}.py" for name in ("evaluator", "interpreted")),
    *(f"heuristics/{name}.py" for name in ("published", "ours", "variants", "registry")),
    "heuristics/user_heuristic.py",
    *(f"course/student_scores/{name}.py" for name in ("student_score", "python_board")),
    *(f"course/student_scores/{name}.py" for name in ("numba_rewrite", "compiled")),
    *(f"search/{name}.py" for name in ("budget", "habits", "settings", "think", "report")),
    *(f"solver/{name}.py" for name in ("engine", "atlas", "solve", "perfect")),
    "solver/atlas.json",
    *(f"opponents/{name}.py" for name in ("models", "chances", "memory", "beliefs")),
    *(f"opponents/{name}.py" for name in ("agent", "room", "practice", "champion")),
    "opponents/chances.json",
    *(
        f"arena/game/{name}.py"
        for name in ("records", "limits", "play", "compiled", "agent_server")
    ),
    "arena/plan/plan.py",
)
"""Beside what is compiled, the files that decide which moves are made and how they are recorded."""


@cache
def engine() -> str:
    """The version of everything that decides how a game goes."""
    from knightfall import __version__
    from knightfall.kernel.sources import COMPILED, hash_of

    return f"{__version__}+{hash_of(COMPILED + DECIDES)}"


def versions() -> dict[str, str]:
    """What a run was played with, for the record."""
    import platform
    from importlib.metadata import version

    return {
        "knightfall": engine(),
        "python": platform.python_version(),
        "numba": version("numba"),
        "numpy": version("numpy"),
        "system": f"{platform.system()} {platform.machine()}",
    }
