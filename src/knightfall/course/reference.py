"""How a submission is named: ``PATH``, ``PATH#Class`` or ``PATH#Class(score_fn)``.

``, generation=G`` behind it says of which generation it is.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace

from knightfall.course.paths import folder
from knightfall.errors import KnightfallError

_GENERATION = re.compile(r",\s*generation\s*=\s*(\w*)\s*$")
_CHOICE = re.compile(r"#([A-Za-z_]\w*)(?:\(\s*([A-Za-z_]\w*)?\s*\))?\s*$")


@dataclass(frozen=True, slots=True)
class Reference:
    """A file or folder, and what is wanted of it; by default what the course's tournament took."""

    path: str
    name: str = ""
    score: str = ""
    generation: str = ""
    """Found out by reading it if it is empty."""

    def __str__(self) -> str:
        score = f"({self.score})" if self.score else ""
        choice = f"#{self.name}{score}" if self.name else ""
        generation = f", generation={self.generation}" if self.generation else ""
        return f"{self.path}{choice}{generation}"

    def absolute(self) -> Reference:
        """The same by its full path: good in any folder."""
        return replace(self, path=os.path.join(os.getcwd(), os.path.expanduser(self.path)))


def parse_reference(text: str) -> Reference:
    """Return what a text names, checked for its form; nothing is looked at."""
    generation = _GENERATION.search(text)
    named = (text[: generation.start()] if generation else text).strip()
    if generation:
        folder(generation[1])  # which refuses what is none
    choice = _CHOICE.search(named)
    path = named[: choice.start()].strip() if choice else named
    if not path or path == ".." or "\0" in path or "\n" in path:
        raise KnightfallError(
            f"{named!r} names no submission: write a file or folder, and perhaps a class with its "
            "score, as in game_agent.py#AlphaBetaPlayer(custom_score_2)"
        )
    normal = os.path.normpath(path) if ".." not in path.split(os.sep) else path
    name, score = (choice[1], choice[2] or "") if choice else ("", "")
    return Reference(normal, name, score, generation[1] if generation else "")
