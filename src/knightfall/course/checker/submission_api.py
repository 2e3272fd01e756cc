"""A submission, asked in the manner of its generation; what it does wrong becomes a `Finding`."""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from knightfall.course.board_common import Cell
from knightfall.course.checker.examination import NO_MOVE, Finding, Kind
from knightfall.course.checker.fixtures import OPPONENT, Place
from knightfall.course.checker.recording_board import (
    MOST_CALLS,
    Clock,
    Endless,
    ScoreFn,
    Watch,
    recording,
)
from knightfall.course.clocks import running
from knightfall.course.generations import generation_named
from knightfall.course.import_context import load_module
from knightfall.course.player import make_player
from knightfall.course.source_lines import Returned, find_return, without_addresses

T = TypeVar("T")

PLENTY = 10_000.0
"""Milliseconds for a question in which time does not matter."""

FRAMES = 6


@dataclass(frozen=True, slots=True)
class Way:
    """How a search is asked directly; `but` says what is odd if it is right only so."""

    but: str = ""
    after_get_move: bool = False
    sets_depth: bool = False


WAYS = (
    Way(),
    Way("only after get_move has been called", after_get_move=True),
    Way("only if the player is made with search_depth=depth", sets_depth=True),
)
"""First as the tournament makes players, with no get_move before; the others cost no game either,
for the tournament asks get_move and nothing else."""


class Subject:
    """A submission in the process in which it is examined."""

    def __init__(self, file: Path, generation: str) -> None:
        self.file, self.folder = file, file.parent
        self.generation = generation_named(generation)
        self.module = ModuleType("nothing")
        """What was imported; `load` does that."""
        self.ways: dict[Kind, Way] = {}
        """How each search is to be asked; the first way if it is not known otherwise."""

    # -- what is there -------------------------------------------------------------------------

    def load(self) -> None:
        """Import the submission, anew if it was imported before: nothing of it is remembered."""
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(f"{self.folder}{os.sep}"):
                del sys.modules[name]
        self.module = load_module(self.file, self.generation)

    def afresh(self, question: Callable[[], T]) -> T:
        """Ask a question; if something is found, load the submission anew and ask again.

        In the tournament a process plays one game, so that nothing that is kept outlives it.
        """
        try:
            return question()
        except Finding as found:
            if found.mark == "skipped":
                raise
        self.load()
        return question()

    def class_of(self, kind: Kind) -> Any:
        """Return the class that searches in this way; the check is not tried if there is none."""
        name = self.generation.classes[kind]
        found = getattr(self.module, name, None)
        if not isinstance(found, type):
            raise Finding(f"not tried: there is no class {name}", mark="skipped")
        return found

    @property
    def timeout(self) -> type[BaseException]:
        """What it raises when its time is over."""
        name = self.generation.timeout
        usual = getattr(self.module, name, None)
        others = [value for key, value in vars(self.module).items() if "timeout" in key.lower()]
        for found in (usual, *others):
            if isinstance(found, type) and issubclass(found, BaseException):
                return found
        raise Finding(f"not tried: there is no exception {name}", mark="skipped")

    def player(
        self, kind: Kind, score: ScoreFn | None = None, *, search_depth: int | None = None
    ) -> Any:
        """Make one of its players as the course's tournament makes it."""
        made = self.class_of(kind)
        usual = getattr(self.module, "custom_score", None)
        return self.call(
            lambda: make_player(
                made,
                self.generation,
                score=score,
                usual=usual,
                method=kind,
                search_depth=search_depth,
            ),
            f"{made.__name__}()",
        )

    def board(self, place: Place, player: Any, watch: Watch, opponent: Any = OPPONENT) -> Any:
        """Return a position on the board of the submission's generation."""
        return place.board(player, watch, opponent, recording(self.generation.examined_on))

    def named(self, kind: Kind, method: str) -> str:
        """Return a method's name with its class, and with the search if the class has both."""
        names = self.generation.classes
        both = len(set(names.values())) < len(names)
        return f"{names[kind]}.{method}" + (f" with method={kind!r}" if both else "")

    def direct_call(self, kind: Kind, depth: int) -> str:
        """Return the call by which a search is asked, as it is written about."""
        more = _more_arguments(getattr(self.class_of(kind), kind, None))
        return f"{kind}(game, depth={depth}{''.join(f', {k}={v}' for k, v in more.items())})"

    # -- questions -----------------------------------------------------------------------------

    def ask_search(
        self,
        kind: Kind,
        depth: int,
        place: Place,
        watch: Watch,
        score: ScoreFn,
        clock: Clock | None = None,
    ) -> tuple[Any, float | None, Any]:
        """Ask `minimax` or `alphabeta` in a position.

        Returns the player, the value (None in 2017b) and the move.  With a clock, the submission's
        own timeout is raised here.
        """
        way = self.ways.get(kind, WAYS[0])
        agent = self.player(
            kind, watch.scorer(score), search_depth=depth if way.sets_depth else None
        )
        time_left: Callable[[], float] = clock or (lambda: PLENTY)
        if way.after_get_move:
            before = Watch()
            first = Clock(before, 150.0)
            handed_out: list[Callable[[], float]] = [first]
            with suppress(Finding):
                game = self.board(place, agent, before)
                self.get_move(agent, game, first, place, lambda: handed_out[0]())
            handed_out[:] = [time_left]  # which it may have kept under another name
            watch.forget()
        agent.time_left = time_left
        method = getattr(agent, kind, None)
        if method is None:
            raise Finding(f"not tried: there is no method {kind}", mark="skipped")
        what = self.direct_call(kind, depth)
        if way.sets_depth:
            what += f" of a player made with search_depth={depth}"
        game, more = self.board(place, agent, watch), _more_arguments(method)
        answer = self.call(
            lambda: method(game, depth, **more), what, place, passes=clock is not None, clock=clock
        )
        if not self.generation.answers_values:
            return agent, None, answer
        if not isinstance(answer, tuple) or len(answer) != 2 or not _is_number(answer[0]):
            raise Finding(
                "does not answer (value, move)",
                (f"{what} has to answer a pair: the value, and the move that leads to it.",),
                "(value, (row, column))",
                shown(answer),
                place,
            )
        return agent, float(answer[0]), answer[1]

    def get_move(
        self,
        agent: Any,
        game: Any,
        clock: Clock,
        place: Place,
        time_left: Callable[[], float] | None = None,
    ) -> Any:
        """Return what `get_move` answers; it gets the clock, or `time_left` in its place."""
        asked = time_left or clock

        def ask() -> Any:
            if self.generation.gives_moves:
                return agent.get_move(game, game.get_legal_moves(), asked)
            return agent.get_move(game, asked)

        return self.call(ask, "get_move", place, clock=clock)

    def source_of(self, ask: Callable[[], Any], answer: Any) -> Returned | None:
        """Ask once more, and return the line that answers; None if the answer is another now."""
        with suppress(Finding):
            again, line = find_return(ask, self.folder)
            if again == answer:
                return line
        return None

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
            with running(clock):
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
                code="endless",
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


MORE: tuple[tuple[tuple[str, ...], Any], ...] = (
    (("alpha",), -inf),
    (("beta",), inf),
    (("max", "is_max"), True),
)
"""How the names of arguments begin that some searches want beside game and depth, and what they
are given."""


def _more_arguments(method: Any) -> dict[str, Any]:
    """Return what a search wants beside game and depth; it cannot be asked if that is unknown."""
    more: dict[str, Any] = {}
    for name in missing_arguments(method):
        given = [value for starts, value in MORE if name.lower().startswith(starts)]
        if not given:
            raise Finding(f"not tried: it cannot be called without {name}", mark="skipped")
        more[name] = given[0]
    return more


def missing_arguments(method: Any) -> list[str]:
    """Return the arguments that a search needs and the course's tests do not give it."""
    try:
        taken = list(inspect.signature(method).parameters.values())
    except (TypeError, ValueError):
        return []
    given = 2 if inspect.ismethod(method) else 3  # game and depth, and self before them
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [one.name for one in taken[given:] if one.default is one.empty and one.kind in kinds]


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
        text = without_addresses(repr(value))
    except Exception:
        text = f"something of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def told(error: BaseException) -> str:
    """An error in half a line."""
    text = without_addresses(" ".join(str(error).split()))
    name = type(error).__name__
    return f"{name}: {text[:200]}" if text else name
