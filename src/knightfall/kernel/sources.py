"""Which files machine code comes from, and what names a version of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

COMPILED = (
    "board.py",
    *(f"kernel/{name}.py" for name in ("bits", "board_view", "clock", "compile", "geometry")),
    *(f"kernel/{name}.py" for name in ("rules", "sources", "vectors")),
    "heuristics/signature.py",
    *(f"heuristics/{study}.py" for study in ("course", "lookahead", "directional")),
    *(f"heuristics/{study}.py" for study in ("reachability", "staged", "aggressive")),
    *(f"heuristics/{name}.py" for name in ("coded", "vocabulary", "features", "learned")),
    *(f"heuristics/{name}.py" for name in ("model_file", "race", "study_terms", "wishes")),
    *(f"heuristics/models/learned_{kind}.json" for kind in ("linear", "net")),
    *(f"course/student_scores/{name}.py" for name in ("cells", "game")),
    *(f"search/{name}.py" for name in ("state", "table", "ties", "ordering", "separation")),
    *(f"search/{name}.py" for name in ("symmetry", "minimax", "alphabeta", "deepening")),
    *(f"search/{name}.py" for name in ("student", "game_loop")),
    *(f"solver/{name}.py" for name in ("state", "proof_table", "thread_marks", "reflection")),
    *(f"solver/{name}.py" for name in ("winloss", "distance")),
    *(f"opponents/{name}.py" for name in ("state", "asking", "replies", "stranger")),
    *(f"opponents/{name}.py" for name in ("answers", "trials")),
)
"""The modules that machine code comes from."""


def hash_of(files: Iterable[str]) -> str:
    """A short hash over some files of the package and the compiler's version."""
    digest = hashlib.sha256(version("numba").encode())
    root = Path(__file__).parent.parent
    for name in files:
        if (root / name).exists():  # the folder of an extension may be missing
            digest.update(name.encode())
            digest.update((root / name).read_bytes())
    return digest.hexdigest()[:16]
