"""The files of a submission: which one holds the player, and what it imports and opens.

None of the code is run.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from knightfall.errors import KnightfallError
from knightfall.user_files import is_file, parse_source, parsed_modules, path_here

NOT_HANDED_IN = (
    "isolation", "sample_players", "agent_test", "tournament", "setup", "run_match",
    "isoviz", "viz",
)  # fmt: skip
"""Modules that the course provided beside the student's file."""

MOST_FILES = 4000
"""Maximum number of files of a folder that are examined."""


def _inside(file: Path, folder: Path) -> bool:
    return Path(os.path.normpath(file)).is_relative_to(folder)


def reachable(file: Path, *, broken: bool = False) -> dict[Path, ast.Module]:
    """Parse a submission's file and its own modules; see `parsed_modules`."""
    return parsed_modules(file, broken=broken, leave_out=NOT_HANDED_IN)


def imports_numpy(tree: ast.Module) -> bool:
    """Return whether a module imports numpy or scipy."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        else:
            continue
        if any(name.partition(".")[0] in ("numpy", "scipy") for name in modules):
            return True
    return False


def files_named(trees: dict[Path, ast.Module], folder: Path) -> set[Path]:
    """Return the files in a folder whose names appear as strings in some modules."""
    words = {
        node.value
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 200
    }
    words.add("data.pickle")  # read by the successor's DataPlayer
    named = {
        folder / word
        for word in words
        if word.strip() and "\0" not in word and not os.path.isabs(word)
    }
    return {one for one in named if is_file(one) and _inside(one, folder)}


# -- finding the file --------------------------------------------------------------------------


USUAL = ("game_agent.py", "my_custom_player.py", "competition_agent.py")
"""The names of the file that students complete; the first that exists is taken."""

DEEPEST = 4
"""How many levels of folders are searched for a submission."""


@dataclass(frozen=True, slots=True)
class PlayerClass:
    """A class with `get_move` or `get_action`; `takes` is the number of arguments after self."""

    name: str
    takes: int | None
    """None if it accepts any number of arguments."""
    acts: bool
    """Whether the method is `get_action`."""


def player_of(node: ast.ClassDef) -> PlayerClass | None:
    """Return a class's `PlayerClass` if it defines `get_move` or `get_action` itself, else None."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name in ("get_move", "get_action"):
            taken = [each.arg for each in (*method.args.posonlyargs, *method.args.args)][1:]
            takes: int | None = max(2, len(taken) - len(method.args.defaults))
            if len(taken) < 2:  # *args: any number
                takes = None
            elif "moves" in taken[1]:
                takes = 3
            return PlayerClass(node.name, takes, acts=method.name == "get_action")
    return None


def find_file(path: str) -> Path:
    """Return the submission's file: the path itself, or the one found in that folder."""
    try:
        place = Path(path_here(path)).expanduser()
        if place.is_file():
            return place.absolute()
        if not place.is_dir():
            raise KnightfallError(f"there is no file or folder {path!r}")
        return _within(place.absolute(), path)
    except (OSError, RuntimeError) as error:  # name too long, unknown user
        raise KnightfallError(f"{path!r}: {error}") from None


def _within(folder: Path, shown: str) -> Path:
    """Return the one submission in a folder, searched level by level; raise if not exactly one."""
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
    """Yield the Python files of a folder that define a player class."""
    for file in sorted(place.glob("*.py"))[:MOST_FILES]:
        if file.stem in NOT_HANDED_IN or not file.is_file():
            continue
        try:
            tree = parse_source(file)
        except KnightfallError:
            continue
        if any(player_of(node) for node in tree.body if isinstance(node, ast.ClassDef)):
            yield file
