"""Who handed in what: the submissions of a folder, and which of them are nearly the same."""

from __future__ import annotations

import ast
import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from knightfall.course.checker.examination import Examination
from knightfall.course.generations import generation_named
from knightfall.course.submission import Reference, Submission, parse_reference, read_submission
from knightfall.course.submission_files import USUAL, reachable
from knightfall.course.trial.game_judging import NeverMoved
from knightfall.display.numbers import count, percent
from knightfall.errors import KnightfallError, nearest

ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")

LONGEST_NAME = 180
"""Bytes of the name of a student's page; file systems take 255."""

MOST = 2000
"""Submissions that one class may have."""


@dataclass(frozen=True)
class Student:
    """One who handed something in, by the name of the folder or file.

    `problem` says why it takes no part; it is empty as long as nothing is known against it.
    """

    name: str
    path: Path
    page: str
    """What the student's own page is called, without its ending."""
    submission: Submission | None = None
    problem: str = ""
    never_moved: NeverMoved | None = None
    """If that is its problem: what it answered instead of a move, and where."""
    examination: Examination | None = None
    """What `course check` says of it."""
    generation: str = ""
    """What somebody said it is; empty if it was found by reading."""

    @property
    def reference(self) -> Reference:
        """How its agent is named."""
        return Reference(str(self.path), generation=self.generation)


def read_class(
    folder: str, leave_out: Path | None = None, generations: Iterable[str] = ()
) -> list[Student]:
    """Return everybody who has a folder or a file in this one, by name; nothing of theirs is run.

    Hidden files are nobody's, and neither is what lies in `leave_out`.  `generations` corrects
    what is found by reading: ``G`` for everybody, ``NAME=G`` for one.
    """
    top = Path(folder).expanduser()
    if not top.is_dir():
        what = "is not a folder" if top.exists() else "does not exist"
        raise KnightfallError(f"{folder!r} {what}: name the folder that holds the submissions")
    alone = [name for name in USUAL if (top / name).is_file()]
    if alone:
        raise KnightfallError(
            f"{folder!r} holds {alone[0]} itself, so it is one submission: name the folder that "
            f"holds everybody's, or use knightfall course run"
        )
    try:
        found = [path for path in top.absolute().iterdir() if _is_handed_in(path)]
    except OSError as error:
        raise KnightfallError(f"{folder!r}: {error.strerror or error}") from None
    left_out = leave_out and leave_out.resolve()
    found = sorted((p for p in found if p.resolve() != left_out), key=_natural)
    if not found:
        raise KnightfallError(
            f"{folder!r} holds no submissions: a folder or a .py file for each is expected"
        )
    if len(found) > MOST:
        raise KnightfallError(f"{folder!r} holds {len(found):,} submissions; {MOST:,} are accepted")
    named = _generations(generations)
    students = list(_students(found, named))
    unknown = named.keys() - {student.name for student in students} - {""}
    if unknown:
        raise KnightfallError(
            f"generation of {min(unknown)!r}: {folder!r} holds no submission of that name"
            + nearest(min(unknown), [student.name for student in students])
        )
    return _one_game(students)


def _generations(texts: Iterable[str]) -> dict[str, str]:
    """Return the generation to take for each student by name; the key "" is for all others."""
    found: dict[str, str] = {}
    for text in texts:
        name, _, generation = text.rpartition("=")
        generation_named(generation)  # which refuses what is none
        found[name] = generation
    return found


def _one_game(students: list[Student]) -> list[Student]:
    """Leave out submissions for 11×9 where there are others, too: the two games do not mix."""
    games = {one.submission.generation.on_11x9 for one in students if one.submission}
    if len(games) < 2:
        return students
    problem = "plays the successor's game on 11×9: such submissions need a folder of their own"
    return [
        replace(one, problem=f"{one.submission.file.name} {problem}")
        if one.submission and one.submission.generation.on_11x9
        else one
        for one in students
    ]


def _is_handed_in(path: Path) -> bool:
    if path.name.startswith((".", "__")):
        return False
    return path.is_dir() or path.suffix == ".py" or path.name.lower().endswith(ARCHIVES)


def _natural(path: Path) -> tuple[list[tuple[int, str]], str]:
    """So that student 9 comes before student 10."""
    pieces = re.split(r"(\d+)", path.name.casefold())
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces], path.name


def file_name(name: str) -> str:
    """Return a name for a student's file: letters and digits of any script, ``.``, ``-``, ``_``.

    It cannot leave its folder, is not hidden, and is short enough for any file system.
    """
    text = unicodedata.normalize("NFC", name)
    kept = "".join(c if c.isalnum() or unicodedata.combining(c) or c in ".-" else "_" for c in text)
    short = re.sub("_+", "_", kept).encode()[:LONGEST_NAME].decode(errors="ignore")
    return short.strip("._") or "student"


def _students(paths: Iterable[Path], generations: Mapping[str, str]) -> Iterator[Student]:
    names: set[str] = set()
    pages: set[str] = set()
    for path in paths:
        name = path.stem if path.suffix == ".py" and path.stem not in names else path.name
        names.add(name)
        page = plain = file_name(name)
        number = 1
        while page.casefold() in pages:  # some systems do not tell A from a
            number += 1
            page = f"{plain}-{number}"
        pages.add(page.casefold())
        try:
            generation = generations.get(name, generations.get("", ""))
            yield Student(name, path, page, _submission(path, generation), generation=generation)
        except KnightfallError as error:
            problem = str(error).replace(f"{path}/", "").replace(str(path), path.name)
            yield Student(name, path, page, problem=problem)


def _submission(path: Path, generation: str) -> Submission:
    if path.name.lower().endswith(ARCHIVES) and path.is_file():
        raise KnightfallError(f"{path.name} is an archive: unpack it into a folder")
    if parse_reference(str(path)).path != str(path):
        raise KnightfallError(f"{path.name}: a name that ends like a choice of class: rename it")
    found = read_submission(str(path), generation)
    if not found.players and not found.scores:
        raise KnightfallError(f"{found.file.name} holds no player")
    return found


def described(students: list[Student]) -> str:
    """How many there are, and how many of them cannot be used."""
    broken = sum(bool(student.problem) for student in students)
    text = count(len(students), "submission")
    return f"{text}, {broken} of which cannot be used" if broken else text


# -- nearly the same ---------------------------------------------------------------------------


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
        return self.same or f"{percent(self.share, 0)} of what is their own"


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
    """Return the kinds of syntax nodes of a student's code, and a hash of the files.

    Return None if the code cannot be parsed.
    """
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
