"""Which scores of a submission can be compiled, and what is in the way of the others."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from knightfall.course.student_scores.student_score import StudentScore
from knightfall.course.submission import read_submission
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import facts
from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.user_heuristic import HeuristicWarning

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
