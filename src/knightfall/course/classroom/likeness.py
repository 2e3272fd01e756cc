"""Submissions that are nearly the same, whatever their names, comments and layout.

A program is taken for the list of its syntax tree's node kinds, without names, texts and comments,
and that list for the set of its stretches of `STRETCH` kinds.  Stretches that many in the class
share are the exercise's own, or what a textbook prints; they say nothing.  Two programs are alike
as far as they share the rest.  That is a reason to look, and no more.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from knightfall.course.classroom.roster import Student
from knightfall.course.modules import reachable
from knightfall.errors import KnightfallError

STRETCH = 16
"""Node kinds in a stretch: about a line and a half of a program."""

COMMON = 0.5
"""What more than this share of a class has, and more than three of it, is common."""

FEW = 60
"""With fewer stretches of its own than these, a program has too little to be compared by."""

ALIKE = 0.7
"""The share of common stretches from which on two programs are pointed out."""

Kinds = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Likeness:
    """Two submissions, and what they have in common of what the class has not."""

    a: str
    b: str
    share: float
    same: str = ""
    """What is wholly the same: the files, or all but names, comments and layout."""

    @property
    def words(self) -> str:
        """The same for people."""
        return self.same or f"{100 * self.share:.0f} % of what is their own"


def near_identical(students: Sequence[Student], alike: float = ALIKE) -> list[Likeness]:
    """The couples that are alike, the most alike first."""
    programs = {student.name: _program(student) for student in students}
    known = {name: program for name, program in programs.items() if program is not None}
    sets = {name: _stretches(kinds) for name, (kinds, _) in known.items()}
    # Copies count once, or what a few have copied would pass for what the class has in common.
    distinct = {kinds: sets[name] for name, (kinds, _) in known.items()}
    spread = Counter(stretch for found in distinct.values() for stretch in found)
    most = max(3, COMMON * len(distinct))
    own = {name: {s for s in found if spread[s] <= most} for name, found in sets.items()}
    return sorted(_couples(known, own, alike), key=lambda found: (-found.share, found.a, found.b))


def _couples(
    known: dict[str, tuple[Kinds, str]], own: dict[str, set[int]], alike: float
) -> Iterator[Likeness]:
    for a, b in combinations(known, 2):
        if known[a][1] == known[b][1]:
            yield Likeness(a, b, 1.0, "the same file, byte for byte")
        elif known[a][0] == known[b][0]:
            yield Likeness(a, b, 1.0, "the same but for names, numbers, comments and layout")
        else:
            share = _shared(own[a], own[b])
            if share >= alike:
                yield Likeness(a, b, share)


def _shared(a: set[int], b: set[int]) -> float:
    """Of what either has, the part that both have; nothing can be said of very little."""
    if min(len(a), len(b)) < FEW:
        return 0.0
    return len(a & b) / len(a | b)


def _program(student: Student) -> tuple[Kinds, str] | None:
    """The node kinds of all that a student wrote, and a hash of the files; None if unreadable."""
    if student.submission is None:
        return None
    try:
        trees = reachable(student.submission.file)
    except KnightfallError:
        return None
    kinds: list[str] = []
    digest = hashlib.sha256()
    for file, tree in sorted(trees.items(), key=lambda item: item[0].name):
        kinds += _kinds(tree)
        digest.update(_content(file))
    return tuple(kinds), digest.hexdigest()


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _kinds(tree: ast.AST) -> Iterator[str]:
    """The kinds of nodes from top to bottom, without texts that stand for themselves."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring, or a remark in its form
        if not isinstance(node, ast.expr_context):
            yield type(node).__name__
        stack += reversed(list(ast.iter_child_nodes(node)))


def _stretches(kinds: Kinds) -> set[int]:
    return {hash(kinds[at : at + STRETCH]) for at in range(len(kinds) - STRETCH + 1)}
