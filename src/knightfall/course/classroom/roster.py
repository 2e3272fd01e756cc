"""Who handed in what: the submissions of a folder, those that cannot be used among them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from knightfall.course.checker.examination import Examination
from knightfall.course.find import USUAL
from knightfall.course.paths import folder as generation_folder
from knightfall.course.reference import Reference, parse_reference
from knightfall.course.submission import Submission, read_submission
from knightfall.course.trial.never_moved import NeverMoved
from knightfall.display.numbers import count
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
        generation_folder(generation)  # which refuses what is none
        found[name] = generation
    return found


def _one_game(students: list[Student]) -> list[Student]:
    """Leave out submissions for 11×9 where there are others, too: the two games do not mix."""
    games = {one.submission.generation == "successor" for one in students if one.submission}
    if len(games) < 2:
        return students
    problem = "plays the successor's game on 11×9: such submissions need a folder of their own"
    return [
        replace(one, problem=f"{one.submission.file.name} {problem}")
        if one.submission and one.submission.generation == "successor"
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
