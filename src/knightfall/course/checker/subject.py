"""A submission, asked in the manner of its generation; what it does wrong becomes a `Finding`."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from knightfall.course.checker.outcome import NO_MOVE, Finding, Kind
from knightfall.course.checker.places import Place
from knightfall.course.checker.watched import MOST_CALLS, Clock, Endless, ScoreFn
from knightfall.course.knights import Cell

CLASSES: dict[str, dict[Kind, str]] = {
    "2017b": {"minimax": "MinimaxPlayer", "alphabeta": "AlphaBetaPlayer"},
    "2017a": {"minimax": "CustomPlayer", "alphabeta": "CustomPlayer"},
}
SCORES = {
    "2017b": ("custom_score", "custom_score_2", "custom_score_3"),
    "2017a": ("custom_score",),
}
TIMEOUTS = {"2017b": "SearchTimeout", "2017a": "Timeout"}

PLENTY = 10_000.0
"""Milliseconds for whoever is not to look at the clock."""

FRAMES = 6


class Subject:
    """A loaded submission."""

    def __init__(self, module: ModuleType, generation: str, folder: Path) -> None:
        self.module = module
        self.generation = generation
        self.folder = folder

    # -- what is there -------------------------------------------------------------------------

    def class_of(self, kind: Kind) -> Any:
        """The class that searches in this way; not tried if there is none."""
        name = CLASSES[self.generation][kind]
        found = getattr(self.module, name, None)
        if not isinstance(found, type):
            raise Finding(f"not tried: there is no class {name}", mark="skipped")
        return found

    @property
    def timeout(self) -> type[BaseException]:
        """What it raises when its time is over."""
        usual = getattr(self.module, TIMEOUTS[self.generation], None)
        others = [value for name, value in vars(self.module).items() if "timeout" in name.lower()]
        for found in (usual, *others):
            if isinstance(found, type) and issubclass(found, BaseException):
                return found
        raise Finding(
            f"not tried: there is no exception {TIMEOUTS[self.generation]}", mark="skipped"
        )

    def player(
        self, kind: Kind, depth: int = 3, score: ScoreFn | None = None, *, iterative: bool = True
    ) -> Any:
        """One of its players."""
        made = self.class_of(kind)
        options: dict[str, Any] = {"search_depth": depth}
        if score is not None:
            options["score_fn"] = score
        if self.generation == "2017a":
            options |= {"method": kind, "iterative": iterative and kind == "alphabeta"}

        def make() -> Any:
            try:
                return made(**options)
            except TypeError:  # a constructor of another kind, of which the interface check tells
                agent = made()
            agent.search_depth = depth
            if score is not None:
                agent.score = score
            return agent

        return self.call(make, f"{made.__name__}()")

    def named(self, kind: Kind, method: str) -> str:
        """A method as it is written about."""
        return f"{CLASSES[self.generation][kind]}.{method}"

    # -- questions -----------------------------------------------------------------------------

    def search(
        self, kind: Kind, agent: Any, game: Any, depth: int, place: Place, clock: Any = None
    ) -> tuple[float | None, Any]:
        """What `minimax` or `alphabeta` answers: the value (None in 2017b) and the move.

        With a clock, the submission's own timeout is raised here.
        """
        agent.time_left = clock or (lambda: PLENTY)
        method = getattr(agent, kind, None)
        if method is None:
            raise Finding(f"not tried: there is no method {kind}", mark="skipped")
        what = f"{kind}(game, depth={depth})"
        answer = self.call(lambda: method(game, depth), what, place, passes=clock is not None)
        if self.generation == "2017b":
            return None, answer
        if not isinstance(answer, tuple) or len(answer) != 2 or not _is_number(answer[0]):
            raise Finding(
                "does not answer (value, move)",
                (f"{what} has to answer a pair: the value, and the move that leads to it.",),
                "(value, (row, column))",
                shown(answer),
                place,
            )
        return float(answer[0]), answer[1]

    def get_move(self, agent: Any, game: Any, clock: Any, place: Place) -> Any:
        """What `get_move` answers."""

        def ask() -> Any:
            if self.generation == "2017a":
                return agent.get_move(game, game.get_legal_moves(), clock)
            return agent.get_move(game, clock)

        return self.call(ask, "get_move", place, clock=clock)

    def call(
        self,
        work: Callable[[], Any],
        what: str,
        place: Place | None = None,
        *,
        passes: bool = False,
        clock: Clock | None = None,
    ) -> Any:
        """Have the submission do something; what it raises is told with its own lines.

        What it raises as its timeout `passes`, where that is what is expected.
        """
        try:
            return work()
        except Finding:
            raise
        except NotImplementedError as error:
            raise Finding(
                "is not written yet",
                (f"{what} raises NotImplementedError: fill in that place.",),
                place=None,
                trace=self.trace(error),
                fatal=True,
            ) from None
        except Endless:
            raise Finding(
                "does not come to an end",
                (_endless(what, clock),),
                place=place,
            ) from None
        except BaseException as error:
            if passes and isinstance(error, self.timeout):
                raise
            raise Finding(
                f"raises {type(error).__name__}",
                (f"{what} raises {told(error)}.",),
                place=place,
                trace=self.trace(error),
            ) from None

    def trace(self, error: BaseException) -> tuple[str, ...]:
        """The lines of the submission that an error came from, the last one last."""
        found = []
        for frame in traceback.extract_tb(error.__traceback__):
            with suppress(ValueError):
                file = Path(frame.filename).relative_to(self.folder)
                found.append(f"{file}:{frame.lineno} in {frame.name}: {frame.line}"[:300])
        return tuple(found[-FRAMES:])


def _endless(what: str, clock: Clock | None) -> str:
    if clock is None:
        return f"{what} was still at it after {MOST_CALLS:,} questions asked of the board."
    asked = f"It asked time_left() {clock.questions} times."
    if not clock.questions:
        asked = "It never asked time_left()."
    return f"{what} was still at it long after its time was over. {asked}"


def _is_number(value: Any) -> bool:
    with suppress(Exception):
        float(value)
        return not isinstance(value, (str, bytes))
    return False


def is_move(answer: Any, moves: list[Cell]) -> bool:
    """Whether an answer is one of these moves, as the course's board sees it."""
    return isinstance(answer, tuple) and len(answer) == 2 and answer in moves


def is_no_move(answer: Any) -> bool:
    """Whether an answer is what players say that cannot move."""
    return isinstance(answer, tuple) and is_move(answer, [NO_MOVE])


def shown(value: Any) -> str:
    """A value as Python writes it, shortened."""
    try:
        text = repr(value)
    except Exception:
        text = f"something of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def told(error: BaseException) -> str:
    """An error in half a line."""
    text = " ".join(str(error).split())
    name = type(error).__name__
    return f"{name}: {text[:200]}" if text else name
