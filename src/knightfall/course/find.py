"""Which file somebody handed in: the one that is named, or the one that lies in a folder.

Nothing of it is run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from knightfall.course.modules import MOST_FILES, NOT_HANDED_IN, tree_of
from knightfall.errors import KnightfallError

USUAL = ("game_agent.py", "my_custom_player.py", "competition_agent.py")
"""What the course called the file that students fill in; the first of them that is there."""

DEEPEST = 4
"""Folders within folders in which a submission is looked for."""


@dataclass(frozen=True, slots=True)
class Player:
    """A class that can be asked for moves; `takes` counts what `get_move` gets beside itself."""

    name: str
    line: int
    takes: int | None = None
    acts: bool = False


def player_of(node: ast.ClassDef) -> Player | None:
    """The player that a class is by its own methods."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name in ("get_move", "get_action"):
            taken = [each.arg for each in (*method.args.posonlyargs, *method.args.args)][1:]
            required = len(taken) - len(method.args.defaults)
            takes: int | None = (
                3 if any("moves" in name for name in taken[1:2]) else max(2, required)
            )
            if len(taken) < 2:  # or it takes whatever there is
                takes = None
            return Player(node.name, node.lineno, takes, acts=method.name == "get_action")
    return None


def find_file(path: str) -> Path:
    """The file that somebody wrote: the path itself, or what lies in that folder."""
    try:
        place = Path(path).expanduser()
        if place.is_file():
            return place.absolute()
        if not place.is_dir():
            raise KnightfallError(f"there is no file or folder {path!r}")
        return _within(place.absolute(), path)
    except (OSError, RuntimeError) as error:  # a name too long, a user unknown
        raise KnightfallError(f"{path!r}: {error}") from None


def _within(folder: Path, shown: str) -> Path:
    level = [folder]
    for _ in range(DEEPEST):
        for usual in USUAL:
            found = [place / usual for place in level if (place / usual).is_file()]
            if len(found) == 1:
                return found[0]
            if found:
                raise KnightfallError(
                    f"{shown!r} holds {len(found)} submissions, such as {found[0]} and {found[1]}: "
                    "name one of them"
                )
        written = [file for place in level for file in _players_in(place)]
        if len(written) == 1:
            return written[0]
        if written:
            names = ", ".join(str(file.relative_to(folder)) for file in written[:3])
            raise KnightfallError(f"{shown!r} holds players in {names}: name the file you mean")
        level = [inner for place in level for inner in _folders(place)][:MOST_FILES]
    raise KnightfallError(
        f"{shown!r} holds no submission: neither {', '.join(USUAL)} nor another file with a class "
        "that has get_move or get_action"
    )


def _folders(place: Path) -> list[Path]:
    try:
        found = [inner for inner in place.iterdir() if inner.is_dir() and not inner.is_symlink()]
    except OSError:
        return []
    return sorted(inner for inner in found if not inner.name.startswith((".", "__")))


def _players_in(place: Path) -> Iterator[Path]:
    for file in sorted(place.glob("*.py"))[:MOST_FILES]:
        if file.stem in NOT_HANDED_IN or not file.is_file():
            continue
        try:
            tree = tree_of(file)
        except KnightfallError:
            continue
        if any(player_of(node) for node in tree.body if isinstance(node, ast.ClassDef)):
            yield file
