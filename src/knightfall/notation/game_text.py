r"""Games as text: tags in brackets, then numbered moves and the result.

::

    [Pair "17"]
    [Game "0"]
    [White "AB_Improved"]
    [Black "MM_Open"]
    [Opening "7/7/1N5/7/7/4n2/7 w"]
    [Seed "813264543"]
    [Result "1-0"]
    [Reason "no moves"]

    1. d4 f4 2. e6 d3 3. c5 b2 1-0

White is the first player, whose knight is N.  A quote in a tag is written \", a backslash \\.
Where Black begins, the moves do so with 1... and its move.  A game that did not end for want of
moves may have a last tag, Detail, that says more.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from knightfall.errors import KnightfallError
from knightfall.position import Side

RESULT: dict[Side, str] = {"w": "1-0", "b": "0-1"}
_WIDTH = 80
_TAG = re.compile(r'\[([A-Za-z]+) "((?:[^"\\]|\\.)*)"\]')
_NUMBER = re.compile(r"[0-9]+\.(?:\.\.)?", re.ASCII)


def game_text(tags: Mapping[str, str], moves: Iterable[str], first: Side) -> str:
    """A game: its tags (`Result` among them), and the moves from whoever moves first."""
    lines = [f'[{name} "{_escaped(value)}"]' for name, value in tags.items()]
    words = [*_numbered(moves, first), tags["Result"]]
    text = textwrap.fill(" ".join(words), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return "\n" + "\n".join(lines) + f"\n\n{text}\n"


def _numbered(moves: Iterable[str], first: Side) -> Iterator[str]:
    """Moves with the numbers of White's before them."""
    turn = 0 if first == "w" else 1
    for at, move in enumerate(moves, start=turn):
        if at % 2 == 0:
            yield f"{at // 2 + 1}."
        elif at == turn:
            yield "1..."
        yield move


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


@dataclass
class WrittenGame:
    """A game as it stands in a text; `line` is where it begins."""

    line: int
    tags: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    @property
    def moves(self) -> list[str]:
        """The moves without their numbers."""
        return [word for word in self.words[:-1] if not _NUMBER.fullmatch(word)]

    def tag(self, name: str) -> str:
        """A tag that must be there."""
        if name not in self.tags:
            raise KnightfallError(f'no tag [{name} "…"]')
        return self.tags[name]


def read_games(lines: Iterable[tuple[int, str]]) -> Iterator[WrittenGame]:
    """The games of a text, from its numbered lines; what they say is not checked yet."""
    game: WrittenGame | None = None
    for number, line in lines:
        text = line.strip()
        if not text:
            continue
        tag = _TAG.fullmatch(text)
        if game is None or (tag and game.words):
            if game is not None:
                yield game
            game = WrittenGame(number)
        if tag:
            game.tags[tag[1]] = re.sub(r"\\(.)", r"\1", tag[2])
        else:
            game.words += text.split()
    if game is not None:
        yield game
