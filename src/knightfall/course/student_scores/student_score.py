"""Heuristics named ``course:PATH#custom_score``: read the name, load the score, give it a board."""

from __future__ import annotations

import inspect
import os
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache, update_wrapper
from pathlib import Path
from types import FunctionType
from typing import Any, Literal

from knightfall.course.board_common import KNIGHT_STEPS, Cell, lay_out
from knightfall.course.generation_2017b import OUR_OWN, RandomPlayer
from knightfall.course.generations import Generation
from knightfall.course.import_context import import_environment
from knightfall.course.scores import ScorePlayer
from knightfall.course.submission import Reference, Submission, find_file, read_submission, sources
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import facts
from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.registry import Score
from knightfall.heuristics.user_heuristic import HeuristicWarning, SchemeFunction
from knightfall.user_files import LoadContext, load

FORM = "course:PATH#custom_score"


_TEXT = re.compile(r"course:\s*((?!-)[^,()*+#\x00-\x1f]+?)\s*#([A-Za-z_][A-Za-z0-9_]*)", re.ASCII)


def read_score(text: str) -> tuple[StudentScore, int]:
    """Parse a text that starts with ``course:PATH#score``; return the score and the length read.

    Raise ValueError if the text starts with anything else.
    """
    found = _TEXT.match(text)
    if found is None:
        raise ValueError(
            f"{text!r} is not a student's score: write {FORM}, with a path without , ( ) * + and #"
        )
    return StudentScore(found[1], found[2]), found.end()


class StudentScore(SchemeFunction):
    """A score function of a course submission, or one of the course's own scores."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"course:{self.path}#{self.name}"

    def absolute(self) -> StudentScore:
        """Return the same score with an absolute path."""
        return replace(self, path=Reference(self.path).absolute().path)

    def submission(self) -> Submission:
        """Read the submission; raise `KnightfallError` if it lacks this score or is for 11×9."""
        file = find_file(self.path)
        status = file.stat()
        found = _read(file, status.st_mtime_ns, status.st_size)
        found.check("", self.name)
        if found.generation.on_11x9:
            raise KnightfallError(
                f"heuristic {self}: {found.file.name} is written for the 11×9 game of the course's "
                "successor; only score functions for the 7×7 game can be heuristics"
            )
        if self.name in {player.name for player in found.players}:
            raise KnightfallError(
                f"heuristic {self}: {self.name} is a player class, but a heuristic must be a "
                f"function (game, player), as in {FORM}; where an agent is expected, {self} is "
                "this player"
            )
        return found

    def load(self, what: str) -> Any:
        """Return the function; raise `KnightfallError` if it does not take (game, player)."""
        found = self.submission()
        there = LoadContext(import_environment, (found.file, found.generation.name))
        loaded = load(found.file.resolve(), found.file.name, there)
        vars(loaded.module).setdefault("print", silent)
        score = getattr(loaded.module, self.name, None)
        if score is None:
            score = found.generation.sample_players.get(self.name)
        if not isinstance(score, FunctionType) or not _takes_two(score):
            raise KnightfallError(
                f"{what} {self}: {self.name!r} is not a function of two arguments, game and player"
            )
        return score

    def as_heuristic(self) -> Score:
        """See `SchemeFunction`; the score runs on the course's own board."""
        return as_heuristic(self.load("heuristic"), self.submission().generation)

    def compile(self, python: Score) -> tuple[Any, str]:
        """See `SchemeFunction`."""
        from knightfall.course.student_scores.compiled_score import (
            compile_score,  # imported here because it loads Numba
        )

        return compile_score(str(self), self.load("heuristic"), python)

    def sources(self) -> tuple[str, ...]:
        """Return the files that the score depends on, found by reading the submission."""
        return sources(self.path)

    def files_to_copy(self) -> tuple[str, ...]:
        """See `UserFunction`."""
        return sources(os.path.realpath(self.path))


def silent(*values: object, **options: object) -> None:
    """Do nothing; this replaces `print` in submissions, because their output is discarded."""


@lru_cache(maxsize=64)
def _read(file: Path, edited: int, size: int) -> Submission:
    """Read a submission; the result is cached by the file's modification time and size."""
    return read_submission(str(file))


def _takes_two(score: FunctionType) -> bool:
    try:
        inspect.signature(score).bind(None, None)
    except (TypeError, ValueError):
        return False
    return True


# -- a score on the course's board ----------------------------------------------------------------


@cache
def in_order(kind: Any) -> type[Any]:
    """Return a subclass of a flat board whose moves are not shuffled, so that scores repeat."""

    def moves(self: Any, loc: Cell | None) -> list[Cell]:
        if loc is None:
            return self.get_blank_spaces()  # type: ignore[no-any-return]
        row, column = loc
        cells = ((row + down, column + right) for down, right in KNIGHT_STEPS)
        return [cell for cell in cells if self.move_is_legal(cell)]

    class Board(kind):  # type: ignore[misc]
        """The course's board with moves in the fixed order in which they are generated."""

        def get_legal_moves(self, player: Any = None) -> list[Cell]:
            if player is None:
                player = self._active_player
            return moves(self, self.get_player_location(player))

        __get_moves__ = _Board__get_moves = moves

    OUR_OWN.add(Board)  # it does not override `copy`
    return Board


def as_heuristic(
    score: Callable[[Any, Any], float], generation: Generation
) -> Callable[[Any, int, int, int, int], float]:
    """Wrap a student's score(game, player) as a heuristic (board, open, me, opp, to_move)."""
    player, opponent = ScorePlayer(score), RandomPlayer()
    kind = in_order(generation.board) if generation.shuffles else generation.board

    def asked(board: Any, open: int, me: int, opp: int, to_move: int) -> float:
        width, height, open = int(board.width), int(board.height), int(open)
        gone = width * height - open.bit_count()
        mine = bool(to_move == me)
        first = mine == (gone % 2 == 0)  # whether `me` is player 1
        players = (player, opponent) if first else (opponent, player)
        game = kind(*players, width, height)
        knights = (me, opp) if first else (opp, me)
        turn = (player, opponent) if mine else (opponent, player)
        lay_out(game, open, knights, turn, {knights[1]: 2})
        return score(game, player)

    return update_wrapper(asked, score)


# -- a survey of a submission's scores -------------------------------------------------------------

TOLD = {"compiled": "compiled", "plain": "plain Python", "broken": "does not work"}


@dataclass(frozen=True)
class ScoreHeuristic:
    """How a score runs as a heuristic: compiled, in Python or not at all, and why."""

    name: str
    heuristic: str
    runs: Literal["compiled", "plain", "broken"]
    why: str = ""

    def __str__(self) -> str:
        return f"{TOLD[self.runs]}: {self.why}" if self.why else TOLD[self.runs]


@dataclass(frozen=True, repr=False)
class SubmissionScores(Displayable):
    """The report of ``course scores``: how each score of a submission runs as a heuristic."""

    path: str
    generation: str
    scores: tuple[ScoreHeuristic, ...]

    def parts(self) -> Iterator[Part]:
        """Yield a line for each score, then an example command."""
        yield Heading(f"{self.path}, generation {self.generation}: its scores as heuristics")
        yield ""
        if not self.scores:
            yield "No scores found: the file has no function of (game, player)."
            return
        yield facts({found.name: str(found) for found in self.scores})
        usable = [found for found in self.scores if found.runs != "broken"]
        if usable:
            yield ""
            yield f'Try: knightfall match "id({usable[0].heuristic}, nodes=2500)" AB_Improved'

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON-compatible values."""
        scores = [asdict(found) for found in self.scores]
        return {"path": self.path, "generation": self.generation, "scores": scores}


def survey(path: str) -> SubmissionScores:
    """Try to compile each score of a submission, and report the results."""
    found = read_submission(path)
    scores = tuple(_found(StudentScore(path, name)) for name in found.scores)
    return SubmissionScores(path, found.generation.name, scores)


def _found(score: StudentScore) -> ScoreHeuristic:
    """Try to compile a score and return the result."""
    name, heuristic = score.name, str(score)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HeuristicWarning)
            ready = evaluator(heuristic)
    except KnightfallError as error:
        return ScoreHeuristic(name, heuristic, "broken", str(error))
    if ready.compiled:
        return ScoreHeuristic(name, heuristic, "compiled")
    return ScoreHeuristic(name, heuristic, "plain", ready.terms[0].why_plain)
