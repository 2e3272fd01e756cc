"""The submissions of a class's folder."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from knightfall.course.checker.check_report import Examination
from knightfall.course.generations import generation_named
from knightfall.course.submission import (
    USUAL,
    Reference,
    Submission,
    parse_reference,
    read_submission,
)
from knightfall.course.trial.game_judging import NeverMoved
from knightfall.display.numbers import count
from knightfall.errors import KnightfallError, nearest
from knightfall.isolation.scratch_folder import leads_out

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

    @property
    def tally(self) -> str:
        """Return the number of checks passed, such as "13 of 14"; "" if it was not checked."""
        return self.examination.tally if self.examination else ""

    @property
    def complaints(self) -> list[str]:
        """Return one line for each failed check and each warning."""
        return self.examination.complaints if self.examination else []


def read_class(
    folder: str, leave_out: Path | None = None, generations: Iterable[str] = ()
) -> list[Student]:
    """Return the students with a folder or file in `folder`, sorted by name; no code is run.

    Hidden files and `leave_out` are skipped.  `generations` overrides inferred generations: ``G``
    for all, ``NAME=G`` for one student.
    """
    top = Path(os.path.expanduser(folder))
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
        name = os.fsencode(name).decode(errors="replace")
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
            problem = str(error).replace(f"{path}/", "").replace(str(path), name)
            yield Student(name, path, page, problem=problem)


def _submission(path: Path, generation: str) -> Submission:
    """Read a student's submission; raise `KnightfallError` if it cannot be used."""
    try:
        path.name.encode()
    except UnicodeEncodeError:
        raise KnightfallError("its name is not valid UTF-8: rename the file or folder") from None
    if path.name.lower().endswith(ARCHIVES) and path.is_file():
        raise KnightfallError(f"{path.name} is an archive: unpack it into a folder")
    if parse_reference(str(path)).path != str(path):
        raise KnightfallError(
            f"{path.name}: the end of this name would be read as the choice of a class, #Class: "
            "rename the file or folder"
        )
    found = read_submission(str(path), generation)
    if path.is_dir() and leads_out(found.file, path):
        raise KnightfallError(f"{found.file.name} is a link to a file in another folder")
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
