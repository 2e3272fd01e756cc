"""How a submission is named: ``PATH``, ``PATH#Class`` or ``PATH#Class(score_fn)``."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace

from knightfall.errors import KnightfallError

_CHOICE = re.compile(r"#([A-Za-z_]\w*)(?:\(\s*([A-Za-z_]\w*)?\s*\))?\s*$")


@dataclass(frozen=True, slots=True)
class Reference:
    """A file or folder, and what is wanted of it; by default what the course's tournament took."""

    path: str
    name: str = ""
    score: str = ""

    def __str__(self) -> str:
        score = f"({self.score})" if self.score else ""
        return f"{self.path}#{self.name}{score}" if self.name else self.path

    def absolute(self) -> Reference:
        """The same by its full path: good in any folder."""
        return replace(self, path=os.path.join(os.getcwd(), os.path.expanduser(self.path)))


def parse_reference(text: str) -> Reference:
    """What a text names, checked for its form; nothing is looked at."""
    text = text.strip()
    choice = _CHOICE.search(text)
    path = text[: choice.start()].strip() if choice else text
    if not path or path == ".." or "\0" in path or "\n" in path:
        raise KnightfallError(
            f"{text!r} names no submission: write a file or folder, and perhaps a class with its "
            "score, as in game_agent.py#AlphaBetaPlayer(custom_score_2)"
        )
    normal = os.path.normpath(path) if ".." not in path.split(os.sep) else path
    return Reference(normal, choice[1], choice[2] or "") if choice else Reference(normal)
