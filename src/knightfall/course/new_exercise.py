"""A fresh exercise: what a student of the course fills in, with tests and the task in words.

The files of each generation lie in `exercise_files` as they are handed out, but for the `.txt`
behind their names, so that no tool takes them for ours.
"""

from __future__ import annotations

import os
from pathlib import Path

from knightfall.errors import KnightfallError, nearest
from knightfall.files import make_folder

HANDED_OUT = Path(__file__).resolve().parent / "exercise_files"
GENERATIONS = ("2017b", "2017a")
FILES = ("README.md", "game_agent.py", "test_game_agent.py")


def begin(folder: str | Path, generation: str = "2017b") -> list[Path]:
    """Write the files of an exercise; they are returned.

    The folder is made if it is not there.  If any of the files is there already, none is written.
    """
    if generation not in GENERATIONS:
        raise KnightfallError(
            f"there is no exercise for generation {generation!r}: there are "
            f"{' and '.join(GENERATIONS)}{nearest(generation, GENERATIONS)}"
        )
    try:
        target = Path(folder).expanduser()
        there = [name for name in FILES if os.path.lexists(target / name)]
        if there:
            raise KnightfallError(
                f"{str(folder)!r} holds {' and '.join(there)} already, and nothing is overwritten: "
                "name another folder"
            )
        make_folder(target)
        written = []
        for name in FILES:
            text = (HANDED_OUT / generation / f"{name}.txt").read_text(encoding="utf-8")
            with open(target / name, "x", encoding="utf-8") as file:
                file.write(text)
            written.append(target / name)
    except (OSError, RuntimeError) as error:  # a name too long, a user unknown, a file in the way
        reason = getattr(error, "strerror", None) or error
        raise KnightfallError(f"{str(folder)!r}: {reason}") from None
    except ValueError as error:
        if isinstance(error, KnightfallError):
            raise
        raise KnightfallError(f"{str(folder)!r}: {error}") from None
    return written
