"""The course's board that lies beside a submission: its generation, found by reading the file.

Students handed in the whole folder of the course, its `isolation` included.  Nothing of it is run.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

from knightfall.course.modules import is_file, tree_of
from knightfall.errors import KnightfallError

PLACES = ("isolation.py", "isolation/isolation.py", "isolation/__init__.py")
"""Where `import isolation` finds a board, seen from the folder of a submission or from its parent:
a script of the course may lie there."""

OLDEST = {
    "__board_state__", "__last_player_move__", "__player_symbols__", "__active_player__",
    "__inactive_player__", "__player_1__", "__player_2__",
}  # fmt: skip
"""Names that only the first board has."""


@dataclass(frozen=True, slots=True)
class BoardFile:
    """A board's file; `sign` is what tells its generation: a sentence without its subject.

    The boards of 2017a and 2017b are one, but for how `play` asks its players.
    """

    file: Path
    generation: str
    sign: str


def board_beside(submission: Path) -> BoardFile | None:
    """Return the board that a submission was written for, if it lies beside it."""
    for folder in (submission.parent, submission.parent.parent):
        for place in PLACES:
            if is_file(folder / place):
                found = read_board(folder / place)
                if found is not None:
                    return found
    return None


def read_board(file: Path) -> BoardFile | None:
    """Return what a file tells about the board in it; None if there is none that is known."""
    try:
        tree = tree_of(file)
    except KnightfallError:
        return None
    classes = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    if "Isolation" in classes and "Board" not in classes:
        return BoardFile(file, "successor", "has a class Isolation, of 11×9")
    board = classes.get("Board")
    if board is None:
        return None
    names = {node.attr for node in ast.walk(board) if isinstance(node, ast.Attribute)}
    methods = {node.name: node for node in board.body if isinstance(node, ast.FunctionDef)}
    oldest = sorted(names & OLDEST)
    if oldest:
        keeps = "rows in __board_state__" if "__board_state__" in oldest else oldest[0]
        return BoardFile(file, "oldest", f"keeps {keeps}")
    if "_board_state" not in names:
        return None
    marked = _marked(methods["__init__"]) if "__init__" in methods else set()
    if not marked & {"-2", "-2:"}:
        if "-1" in marked:
            return BoardFile(file, "early", "does not mark player 2 as not placed yet")
        if "__get_moves__" in methods:
            return BoardFile(file, "early", "keeps a flat _board_state and has __get_moves__")
    asked = {
        len(node.args)
        for node in ast.walk(board)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "get_move"
    }
    if asked == {3}:
        return BoardFile(file, "2017a", "asks get_move(game, legal_moves, time_left)")
    return BoardFile(file, "2017b", "asks get_move(game, time_left)")


def _marked(method: ast.FunctionDef) -> set[str]:
    """Return where a method writes into `_board_state`: -1 is player 1's cell, -2 player 2's."""
    return {
        ast.unparse(node.slice)
        for node in ast.walk(method)
        if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "_board_state"
    }
