"""The submissions of a class's folder, and which of them are nearly identical."""

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

from knightfall.course.checker.check_report import Examination
from knightfall.course.generations import generation_named
from knightfall.course.submission import Reference, Submission, parse_reference, read_submission
from knightfall.course.submission_files import USUAL, reachable
from knightfall.course.trial.game_judging import NeverMoved
from knightfall.display.numbers import count, percent
from knightfall.errors import KnightfallError, nearest

ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar")

LONGEST_NAME = 180
"""Maximum bytes of the name of a student's page; file systems accept 255."""

MOST = 2000
"""Maximum number of submissions in a class."""


@dataclass(frozen=True)
class Student:
    """A student and the submission, named after its folder or file.

    `problem` says why the submission does not play; it is empty if it plays.
    """

    name: str
    path: Path
    page: str
    """The name of the student's page, without its ending."""
    submission: Submission | None = None
    problem: str = ""
    never_moved: NeverMoved | None = None
    """Set if the problem is that it never made a legal move."""
    examination: Examination | None = None
    """The result of `course check`."""
    generation: str = ""
    """The generation given by the caller; empty if it was inferred."""

    @property
    def reference(self) -> Reference:
        """Return the reference of the student's submission."""
        return Reference(str(self.path), generation=self.generation)


def read_class(
    folder: str, leave_out: Path | None = None, generations: Iterable[str] = ()
) -> list[Student]:
    """Return the students with a folder or file in `folder`, sorted by name; no code is run.

    Hidden files and `leave_out` are skipped.  `generations` overrides inferred generations: ``G``
    for all, ``NAME=G`` for one student.
    """
    top = Path(folder).expanduser()
    if not top.is_dir():
        what = "is not a folder" if top.exists() else "does not exist"
        raise KnightfallError(f"{folder!r} {what}: name the folder that holds the submissions")
    alone = [name for name in USUAL if (top / name).is_file()]
    if alone:
        raise KnightfallError(
            f"{folder!r} holds {alone[0]} itself, so it is one submission: name the folder that "
            f"holds all submissions, or use knightfall course run"
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
        raise KnightfallError(
            f"{folder!r} holds {len(found):,} submissions; at most {MOST:,} are accepted"
        )
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
    """Parse ``NAME=G`` and ``G`` into generations by student; "" is the key of all others."""
    found: dict[str, str] = {}
    for text in texts:
        name, _, generation = text.rpartition("=")
        generation_named(generation)  # raises for an unknown name
        found[name] = generation
    return found


def _one_game(students: list[Student]) -> list[Student]:
    """Exclude submissions for 11×9 if there are others: a class plays one of the two games."""
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
    """Return a sort key that puts student 9 before student 10."""
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
    """Yield a student with a unique page name for each path; set `problem` if it is unreadable."""
    names: set[str] = set()
    pages: set[str] = set()
    for path in paths:
        name = path.stem if path.suffix == ".py" and path.stem not in names else path.name
        names.add(name)
        page = plain = file_name(name)
        number = 1
        while page.casefold() in pages:  # some file systems ignore case
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
    """Read a student's submission; raise `KnightfallError` if it cannot be used."""
    if path.name.lower().endswith(ARCHIVES) and path.is_file():
        raise KnightfallError(f"{path.name} is an archive: unpack it into a folder")
    if parse_reference(str(path)).path != str(path):
        raise KnightfallError(
            f"{path.name}: the end of this name would be read as the choice of a class, #Class: "
            "rename the file or folder"
        )
    found = read_submission(str(path), generation)
    if not found.players and not found.scores:
        raise KnightfallError(f"{found.file.name} has neither a player class nor a score function")
    return found


def described(students: Sequence[Student]) -> str:
    """Return the number of submissions, and how many of them cannot be used."""
    broken = sum(bool(student.problem) for student in students)
    text = count(len(students), "submission")
    return f"{text}, {broken} of which cannot be used" if broken else text


def refuse_if_none_plays(students: Sequence[Student]) -> None:
    """Raise `KnightfallError` if every student has a problem."""
    if all(student.problem for student in students):
        first = students[0]
        raise KnightfallError(
            f"none of {count(len(students), 'submission')} can be used; the first is "
            f"{first.name}: {first.problem}"
        )


# -- nearly identical submissions --------------------------------------------------------------
#
# Programs are compared by their stretches: sequences of `STRETCH` syntax nodes, without names,
# values, comments and layout.

STRETCH = 16
"""Syntax nodes in a stretch: about a line and a half of a program."""

COMMON = 0.5
"""A stretch in more than this share of the programs, and in more than three, is not compared."""

FEW = 60
"""Minimum number of a program's own stretches; with fewer it is not compared."""

ALIKE = 0.7
"""Two programs are reported as nearly identical from this share of common stretches on."""

Kinds = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Likeness:
    """Two submissions, and the share of their code (sequences of syntax nodes) that both have."""

    a: str
    b: str
    share: float
    same: str = ""
    """A phrase for fully identical programs; empty if only a share of them is identical."""

    @property
    def words(self) -> str:
        """Return a phrase that says how much is identical."""
        return self.same or f"{percent(self.share, 0)} of their own code is the same"


def near_identical(students: Sequence[Student], alike: float = ALIKE) -> list[Likeness]:
    """Return the pairs of submissions whose share of equal code is at least `alike`, sorted."""
    programs = {student.name: _program(student) for student in students}
    known = {name: program for name, program in programs.items() if program is not None}
    sets = {name: _stretches(kinds) for name, (kinds, _) in known.items()}
    # Copies count once; otherwise what a few have copied would count as common to the class.
    distinct = {kinds: sets[name] for name, (kinds, _) in known.items()}
    spread = Counter(stretch for found in distinct.values() for stretch in found)
    most = max(3, COMMON * len(distinct))
    own = {name: {s for s in found if spread[s] <= most} for name, found in sets.items()}
    found = []
    for a, b in combinations(known, 2):
        if known[a][1] == known[b][1]:
            found.append(Likeness(a, b, 1.0, "the same file, byte for byte"))
        elif known[a][0] == known[b][0]:
            same = "the same but for names, numbers, comments and layout"
            found.append(Likeness(a, b, 1.0, same))
        elif min(len(own[a]), len(own[b])) >= FEW:
            share = len(own[a] & own[b]) / len(own[a] | own[b])
            if share >= alike:
                found.append(Likeness(a, b, share))
    return sorted(found, key=lambda one: (-one.share, one.a, one.b))


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
    """Yield the types of all syntax nodes in order, without docstrings."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # a docstring, or a string used as a comment
        if not isinstance(node, ast.expr_context):
            yield type(node).__name__
        stack += reversed(list(ast.iter_child_nodes(node)))


def _stretches(kinds: Kinds) -> set[int]:
    return {hash(kinds[at : at + STRETCH]) for at in range(len(kinds) - STRETCH + 1)}
