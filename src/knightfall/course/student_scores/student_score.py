"""A student's score by its name, ``course:PATH#custom_score``: read, found and loaded."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any, Literal

from knightfall.course.import_context import visiting
from knightfall.course.submission import Reference, Submission, read_submission, sources
from knightfall.course.submission_files import find_file
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import facts
from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.registry import Score
from knightfall.heuristics.user_heuristic import HeuristicWarning, SchemeFunction
from knightfall.user_files import Surroundings, load

FORM = "course:PATH#custom_score"


_TEXT = re.compile(r"course:\s*((?!-)[^,()*+#\x00-\x1f]+?)\s*#([A-Za-z_][A-Za-z0-9_]*)", re.ASCII)


def read_score(text: str) -> tuple[StudentScore, int]:
    """Return the score that a text begins with, and its length; a `ValueError` if there is none."""
    found = _TEXT.match(text)
    if found is None:
        raise ValueError(
            f"{text!r} names no student's score: write {FORM}, with a path without , ( ) * + and #"
        )
    return StudentScore(found[1], found[2]), found.end()


class StudentScore(SchemeFunction):
    """A function of a game and a player in a submission of the course, or one of the course's."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"course:{self.path}#{self.name}"

    def absolute(self) -> StudentScore:
        """The same by its full path: good in any folder."""
        return replace(self, path=Reference(self.path).absolute().path)

    def submission(self) -> Submission:
        """What its file holds; refused if the score is not there, or is for another game."""
        file = find_file(self.path)
        status = file.stat()
        found = _read(file, status.st_mtime_ns, status.st_size)
        found.check("", self.name)
        if found.generation.on_11x9:
            raise KnightfallError(
                f"heuristic {self}: {found.file.name} is for the successor's game on 11×9, whose "
                "boards are not ours"
            )
        if self.name in {player.name for player in found.players}:
            raise KnightfallError(
                f"heuristic {self}: {self.name} is a player, and a heuristic is a function of a "
                f"game and a player, as in {FORM}; the player is an agent, {self}"
            )
        return found

    def load(self, what: str) -> Any:
        """The function; an error if it takes anything but a game and a player."""
        found = self.submission()
        there = Surroundings(visiting, (found.file, found.generation.name))
        loaded = load(found.file.resolve(), found.file.name, there)
        vars(loaded.module).setdefault("print", silent)
        score = getattr(loaded.module, self.name, None)
        if score is None:
            score = found.generation.sample_players.get(self.name)
        if not isinstance(score, FunctionType) or not _takes_two(score):
            raise KnightfallError(f"{what} {self}: {self.name!r} is no function of game and player")
        return score

    def as_heuristic(self) -> Score:
        """See `SchemeFunction`: it is asked on the course's own board."""
        from knightfall.course.board_from_position import as_heuristic

        return as_heuristic(self.load("heuristic"), self.submission().generation)

    def compile(self, python: Score) -> tuple[Any, str]:
        """See `SchemeFunction`."""
        from knightfall.course.student_scores.compiled_score import (
            compile_score,  # here: it is compiled
        )

        return compile_score(str(self), self.load("heuristic"), python)

    def sources(self) -> tuple[str, ...]:
        """The files that decide what it does, found by reading as for the submission itself."""
        return sources(self.path)


def silent(*values: object, **options: object) -> None:
    """What a submission prints goes nowhere, here as at play."""


@lru_cache(maxsize=64)
def _read(file: Path, edited: int, size: int) -> Submission:
    """What a file held then: reading it again takes longer than to ask a score."""
    return read_submission(str(file))


def _takes_two(score: FunctionType) -> bool:
    try:
        inspect.signature(score).bind(None, None)
    except (TypeError, ValueError):
        return False
    return True


# -- a survey of a submission's scores -------------------------------------------------------------

TOLD = {"compiled": "compiled", "plain": "plain Python", "broken": "does not work"}


@dataclass(frozen=True)
class Found:
    """One score: how it runs as a heuristic, and why not better."""

    name: str
    heuristic: str
    runs: Literal["compiled", "plain", "broken"]
    why: str = ""

    def __str__(self) -> str:
        return f"{TOLD[self.runs]}: {self.why}" if self.why else TOLD[self.runs]


@dataclass(frozen=True)
class Survey(Displayable):
    """The scores of a submission as heuristics."""

    path: str
    generation: str
    scores: tuple[Found, ...]

    def parts(self) -> Iterator[Part]:
        """A line for each score, and how to use one."""
        yield Heading(f"{self.path}, generation {self.generation}: its scores as heuristics")
        yield ""
        if not self.scores:
            yield "It has none: no function of game and player."
            return
        yield facts({found.name: str(found) for found in self.scores})
        usable = [found for found in self.scores if found.runs != "broken"]
        if usable:
            yield ""
            yield f'Try: knightfall match "id({usable[0].heuristic}, nodes=2500)" AB_Improved'

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        scores = [asdict(found) for found in self.scores]
        return {"path": self.path, "generation": self.generation, "scores": scores}


def survey(path: str) -> Survey:
    """Compile each score of a submission, as far as that is possible."""
    found = read_submission(path)
    scores = tuple(_found(StudentScore(path, name)) for name in found.scores)
    return Survey(path, found.generation.name, scores)


def _found(score: StudentScore) -> Found:
    name, heuristic = score.name, str(score)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HeuristicWarning)
            ready = evaluator(heuristic)
    except KnightfallError as error:
        return Found(name, heuristic, "broken", str(error))
    if ready.compiled:
        return Found(name, heuristic, "compiled")
    return Found(name, heuristic, "plain", ready.terms[0].why_plain)
