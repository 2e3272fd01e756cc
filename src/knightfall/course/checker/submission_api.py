"""A submission's interface: call its players as their generation does, and check what it has.

Errors become `Finding`s.
"""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf, isnan
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from knightfall.course.board_common import Cell
from knightfall.course.checker.check_report import KINDS, Finding, Kind
from knightfall.course.checker.recording_board import (
    EARLY,
    LATE,
    MIDDLE,
    MOST_CALLS,
    NEAR_THE_END,
    OPPONENT,
    STUCK,
    Clock,
    Endless,
    Place,
    ScoreFn,
    Watch,
    recording,
)
from knightfall.course.generation_2017b import NO_MOVE
from knightfall.course.generations import generation_named
from knightfall.course.import_context import load_module, running
from knightfall.course.submission_player import (
    Returned,
    find_return,
    make_player,
    parameters,
    without_addresses,
)

T = TypeVar("T")

PLENTY = 10_000.0
"""Milliseconds left for a call in which time does not matter."""

FRAMES = 6


@dataclass(frozen=True, slots=True)
class Way:
    """A way to call a search directly; `but` is what the report says if no simpler way works."""

    but: str = ""
    after_get_move: bool = False
    sets_depth: bool = False


WAYS = (
    Way(),
    Way("only after get_move has been called", after_get_move=True),
    Way("only if the player is created with search_depth=depth", sets_depth=True),
)
"""First as the tournament creates players, without a call of get_move before.  A search that needs
another way loses no game by it, because the tournament only calls get_move."""


class Subject:
    """The submission under test, in its own process."""

    def __init__(self, file: Path, generation: str) -> None:
        self.file, self.folder = file, file.parent
        self.generation = generation_named(generation)
        self.module = ModuleType("nothing")
        """The imported module, set by `load`."""
        self.ways: dict[Kind, Way] = {}
        """The way to call each search; by default the first of `WAYS`."""

    # -- classes, players, boards --------------------------------------------------------------

    def load(self) -> None:
        """Import the submission; if it was imported before, reload it with all its modules."""
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(f"{self.folder}{os.sep}"):
                del sys.modules[name]
        self.module = load_module(self.file, self.generation)

    def afresh(self, question: Callable[[], T]) -> T:
        """Run a test; if it raises a `Finding`, reload the submission and run it once more.

        In the tournament each process plays one game, so state of earlier tests must not count.
        """
        try:
            return question()
        except Finding as found:
            if found.mark == "skipped":
                raise
        self.load()
        return question()

    def class_of(self, kind: Kind) -> Any:
        """Return the class with this search; raise a "skipped" `Finding` if there is none."""
        name = self.generation.classes[kind]
        found = getattr(self.module, name, None)
        if not isinstance(found, type):
            raise Finding(f"not tried: there is no class {name}", mark="skipped")
        return found

    @property
    def timeout(self) -> type[BaseException]:
        """Return the exception class that the submission raises when its time is over."""
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
        """Create the submission's player for a search, as the course's tournament does."""
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
        """Return ``Class.method``, and the search's name if one class does both searches."""
        names = self.generation.classes
        both = len(set(names.values())) < len(names)
        return f"{names[kind]}.{method}" + (f" with method={kind!r}" if both else "")

    def direct_call(self, kind: Kind, depth: int) -> str:
        """Return the call of a search as text, for messages."""
        more = _more_arguments(getattr(self.class_of(kind), kind, None))
        return f"{kind}(game, depth={depth}{''.join(f', {k}={v}' for k, v in more.items())})"

    # -- calls ---------------------------------------------------------------------------------

    def ask_search(
        self,
        kind: Kind,
        depth: int,
        place: Place,
        watch: Watch,
        score: ScoreFn,
        clock: Clock | None = None,
    ) -> tuple[Any, float | None, Any]:
        """Call `minimax` or `alphabeta` in a position.

        Return the player, the value (None in 2017b) and the move.  With a clock, the submission's
        own timeout exception passes through.
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
            handed_out[:] = [time_left]  # the player may have kept the function
            watch.forget()
        agent.time_left = time_left
        method = getattr(agent, kind, None)
        if method is None:
            raise Finding(f"not tried: there is no method {kind}", mark="skipped")
        what = self.direct_call(kind, depth)
        if way.sets_depth:
            what += f" of a player created with search_depth={depth}"
        game, more = self.board(place, agent, watch), _more_arguments(method)
        answer = self.call(
            lambda: method(game, depth, **more), what, place, passes=clock is not None, clock=clock
        )
        if not self.generation.answers_values:
            return agent, None, answer
        if not isinstance(answer, tuple) or len(answer) != 2 or not _is_number(answer[0]):
            raise Finding(
                "does not return (value, move)",
                (f"{what} must return a pair: the value, and the move that leads to it.",),
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
        """Call `get_move` with `time_left` (by default `clock`) and return its answer."""
        asked = time_left or clock

        def ask() -> Any:
            if self.generation.gives_moves:
                return agent.get_move(game, game.get_legal_moves(), asked)
            return agent.get_move(game, asked)

        return self.call(ask, "get_move", place, clock=clock)

    def source_of(self, ask: Callable[[], Any], answer: Any) -> Returned | None:
        """Repeat a call; return the line that returned `answer`, None if the result differs now."""
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
        """Run code of the submission; turn its exceptions into a `Finding` with the traceback.

        If `passes`, the submission's own timeout exception is raised unchanged.
        """
        try:
            with running(clock and clock.seconds):
                return work()
        except Finding:
            raise
        except NotImplementedError as error:
            raise Finding(
                "is not written yet",
                (f"{what} raises NotImplementedError: write this part.",),
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
                (f"{what} raises {error_text(error)}.",),
                place=place,
                trace=self.trace(error),
            ) from None

    def trace(self, error: BaseException) -> tuple[str, ...]:
        """Return the submission's lines in an error's traceback, innermost last."""
        found = []
        for frame in traceback.extract_tb(error.__traceback__):
            with suppress(ValueError):
                file = Path(frame.filename).relative_to(self.folder)
                found.append(f"{file}:{frame.lineno} in {frame.name}: {frame.line}"[:300])
        return tuple(found[-FRAMES:])


def _endless(what: str, clock: Clock | None) -> str:
    if clock is None:
        return f"{what} was still running after {MOST_CALLS:,} calls to the board."
    asked = f"It called time_left() {clock.questions} times."
    if not clock.questions:
        asked = "It never called time_left()."
    return f"{what} was still running long after its time was over. {asked}"


MORE: tuple[tuple[tuple[str, ...], Any], ...] = (
    (("alpha",), -inf),
    (("beta",), inf),
    (("max", "is_max"), True),
)
"""Values for extra arguments that some searches require, by the beginnings of their names."""


def _more_arguments(method: Any) -> dict[str, Any]:
    """Return values for a search's required extra arguments.

    Raise a "skipped" `Finding` if an argument is unknown.
    """
    more: dict[str, Any] = {}
    for name in missing_arguments(method):
        given = [value for starts, value in MORE if name.lower().startswith(starts)]
        if not given:
            raise Finding(f"not tried: it requires an unknown argument, {name}", mark="skipped")
        more[name] = given[0]
    return more


def missing_arguments(method: Any) -> list[str]:
    """Return the arguments that a search requires besides game and depth."""
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
    """Return whether an answer is one of these moves, compared as the course's board does."""
    return isinstance(answer, tuple) and len(answer) == 2 and answer in moves


def is_no_move(answer: Any) -> bool:
    """Return whether an answer is (-1, -1), which means "no move"."""
    return is_move(answer, [NO_MOVE])


def shown(value: Any) -> str:
    """Return a value's repr, shortened."""
    try:
        text = without_addresses(repr(value))
    except Exception:
        text = f"something of type {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def error_text(error: BaseException) -> str:
    """Return an error's class and message, shortened."""
    text = without_addresses(" ".join(str(error).split()))
    name = type(error).__name__
    return f"{name}: {text[:200]}" if text else name


OTHERS = ("search_depth", "timeout")
"""Further arguments of the course's constructor, which the tournament does not pass."""


# -- the interface -------------------------------------------------------------------------------


def is_complete(subject: Subject) -> str:
    """Check that every required name exists and accepts the arguments of the course's calls."""
    generation, module = subject.generation, subject.module
    wanted = generation.scores
    missing = [
        f"there is no function {name}"
        for name in wanted
        if not callable(getattr(module, name, None))
    ]
    missing += [
        f"{name} cannot be called as {name}(game, player)"
        for name in wanted
        if callable(getattr(module, name, None)) and not _takes(getattr(module, name), "gp")
    ]
    odd: list[str] = []
    usual = getattr(module, generation.timeout, None)
    if not (isinstance(usual, type) and issubclass(usual, BaseException)):
        odd.append(f"there is no exception {generation.timeout}")
    for name in dict.fromkeys(generation.classes.values()):
        lacking, unusual = _lacking(subject, name)
        missing, odd = missing + lacking, odd + unusual
    if missing:
        raise Finding(
            missing[0] if len(missing) == 1 else f"{len(missing)} things are missing",
            (
                f"The course's tournament of {generation} creates the players and calls get_move; "
                "its tests also call the searches and the scores. In your file:",
                *missing,
            ),
        )
    if odd:
        raise Finding(
            odd[0] if len(odd) == 1 else f"{len(odd)} things differ from the course's file",
            (
                "The tournament does not need this, but the course's file has it, and the course's "
                "tests use it:",
                *odd,
            ),
            mark="warning",
        )
    return "all names exist and accept their arguments"


def _lacking(subject: Subject, name: str) -> tuple[list[str], list[str]]:
    """Return the errors in a class's interface, and the harmless differences from the course's."""
    generation = subject.generation
    made = getattr(subject.module, name, None)
    if not isinstance(made, type):
        return [f"there is no class {name}"], []
    lacking: list[str] = []
    odd: list[str] = []
    needed, taken = generation.constructor, parameters(made)
    if not _takes(made, "", dict.fromkeys(needed)):
        lacking.append(f"{name} does not accept {', '.join(f'{key}=' for key in needed)}")
    else:
        odd += [f"{name} does not accept {key}=" for key in OTHERS if key not in taken]
    kinds = [kind for kind in KINDS if generation.classes[kind] == name]
    for method in ("get_move", *kinds):
        found = getattr(made, method, None)
        if not callable(found):
            lacking.append(f"{name} has no method {method}")
            continue
        for number, arguments in enumerate(generation.methods[method]):
            if not _takes(found, ("self", *arguments)):
                call = f"{method}({', '.join(arguments)})"
                missing = [] if number or method == "get_move" else missing_arguments(found)
                (odd if number or missing else lacking).append(
                    f"{call} fails: it also requires {', '.join(missing)}"
                    if missing
                    else f"{name}.{method} cannot be called as {call}"
                )
                break
    return lacking, odd


def _takes(called: Any, arguments: Any, options: dict[str, Any] | None = None) -> bool:
    try:
        inspect.signature(called).bind(*arguments, **(options or {}))
    except TypeError:
        return False
    except ValueError:  # no signature available
        return True
    return True


# -- scores ----------------------------------------------------------------------------------------


def scores_are_floats(subject: Subject) -> str:
    """Check that each custom score returns a float for both players, also at the game's end."""
    odd: list[tuple[str, str]] = []
    at_end: list[Finding] = []
    asked = 0
    for name in subject.generation.scores:
        if not callable(getattr(subject.module, name, None)):
            continue
        for place in (EARLY, MIDDLE, LATE, NEAR_THE_END, *STUCK):
            for turn in ("to move", "not to move"):
                asked += 1
                question = partial(_number, subject, name, place, turn)
                try:
                    value = subject.afresh(question)
                except Finding as found:
                    if place in STUCK:
                        at_end.append(found)
                    elif not _serves(subject, name, place):
                        raise
                    else:
                        odd.append((name, f"{found.short} if it is called outside get_move"))
                    continue
                if not isinstance(value, float):  # numpy.float64 counts as float
                    kind = f"{type(value).__module__}.{type(value).__name__}"
                    odd.append((name, f"{kind.removeprefix('builtins.')} instead of float"))
    if at_end:
        first = at_end[0]
        raise Finding(
            f"{first.short} at the end of a game",
            (
                *first.why,
                "The game is over in this position. If your search never scores such positions, "
                "this costs no game.",
            ),
            first.expected,
            first.got,
            first.place,
            first.trace,
            mark="warning",
        )
    if odd:
        names = ", ".join(dict.fromkeys(name for name, _ in odd))
        kinds = ", ".join(dict.fromkeys(kind for _, kind in odd))
        raise Finding(
            f"{names}: {kinds}",
            (
                "The course requires a float, and its tests check the type. In "
                f"{len(odd)} of {asked} cases: {kinds}. Otherwise these values are fine.",
            ),
            "float",
            kinds,
            mark="warning",
        )
    if not asked:
        raise Finding("not tried: there is no custom_score", mark="skipped")
    return f"floats, {asked} times of {asked}"


def _number(subject: Subject, name: str, place: Place, turn: str) -> Any:
    """Return a score's value in a position; raise a `Finding` if it is not a number.

    Scores may read their players' attributes, so both players are the submission's own.
    """
    score = getattr(subject.module, name)
    player, opponent = subject.player("alphabeta"), subject.player("alphabeta")
    game = subject.board(place, player, Watch(), opponent)
    asked = player if turn == "to move" else opponent
    value = subject.call(lambda: score(game, asked), name, place)
    if not _is_real(value):
        raise Finding(
            f"{name} returns {shown(value)}",
            (f"{name}(game, player), for the player who is {turn}, must return a number.",),
            "a float",
            shown(value),
            place,
        )
    return value


def _serves(subject: Subject, name: str, place: Place) -> bool:
    """Return whether a score function returns numbers when it is called by `get_move`.

    A score may depend on state that `get_move` sets up.
    """
    given: list[Any] = []

    def noting(game: Any, player: Any) -> Any:
        given.append(None)
        given[-1] = getattr(subject.module, name)(game, player)
        return given[-1]

    watch = Watch()
    with suppress(Finding):
        agent = subject.player("alphabeta", noting)
        game = subject.board(place, agent, watch)
        subject.get_move(agent, game, Clock(watch, 150.0), place)
    return bool(given) and all(_is_real(value) for value in given)


def _is_real(value: Any) -> bool:
    """Return whether a value is a number other than nan and not a bool."""
    if isinstance(value, (bool, str, bytes, complex)) or type(value).__name__ in ("bool_", "bool"):
        return False
    try:
        return not isnan(value)
    except (TypeError, ValueError, OverflowError):
        return False
