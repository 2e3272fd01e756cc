"""Is everything there under its name, can it be called as it is called, are scores floats?"""

from __future__ import annotations

import inspect
from contextlib import suppress
from functools import partial
from math import isnan
from typing import Any

from knightfall.course.checker.examination import KINDS, Finding
from knightfall.course.checker.fixtures import EARLY, LATE, MIDDLE, NEAR_THE_END, STUCK, Place
from knightfall.course.checker.recording_board import Clock, Watch
from knightfall.course.checker.submission_api import (
    Subject,
    missing_arguments,
    shown,
)
from knightfall.course.player import parameters

OTHERS = ("search_depth", "timeout")
"""What else the course's constructor takes; the tournament leaves it as it is."""


# -- the interface -------------------------------------------------------------------------------


def is_complete(subject: Subject) -> str:
    """Every name is there and takes the arguments that it is given."""
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
                f"The course's tournament of {generation} makes the players and calls get_move; "
                "its own tests call the searches and the scores as well. In your file:",
                *missing,
            ),
        )
    if odd:
        raise Finding(
            odd[0] if len(odd) == 1 else f"{len(odd)} things are not the course's",
            (
                "The tournament does not need it, but the course's file has it so, and its own "
                "tests call the searches so:",
                *odd,
            ),
            mark="warning",
        )
    return "every name is there and takes its arguments"


def _lacking(subject: Subject, name: str) -> tuple[list[str], list[str]]:
    """Return what a class lacks, and what is only otherwise than in the course's file."""
    generation = subject.generation
    made = getattr(subject.module, name, None)
    if not isinstance(made, type):
        return [f"there is no class {name}"], []
    lacking: list[str] = []
    odd: list[str] = []
    needed, taken = generation.constructor, parameters(made)
    if not _takes(made, "", dict.fromkeys(needed)):
        lacking.append(f"{name} cannot be made with {', '.join(f'{key}=' for key in needed)}")
    else:
        odd += [f"{name} cannot be made with {key}=" for key in OTHERS if key not in taken]
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
                    f"{call} misses an argument: {', '.join(missing)}"
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
    except ValueError:  # something whose signature nobody knows
        return True
    return True


# -- scores ----------------------------------------------------------------------------------------


def scores_are_floats(subject: Subject) -> str:
    """Each custom score is a float for both players, in running games and at their end."""
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
                        odd.append((name, f"{found.short} if it is asked outside of get_move"))
                    continue
                if not isinstance(value, float):  # numpy.float64 is one
                    kind = f"{type(value).__module__}.{type(value).__name__}"
                    odd.append((name, f"{kind.removeprefix('builtins.')} instead of float"))
    if at_end:
        first = at_end[0]
        raise Finding(
            f"{first.short} at the end of a game",
            (
                *first.why,
                "The game is over in this position. If your search never scores such positions, "
                "it costs nothing.",
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
                "The course asks for a float, and its own tests look at the type. In "
                f"{len(odd)} of {asked} cases: {kinds}. Nothing else is wrong with these values.",
            ),
            "float",
            kinds,
            mark="warning",
        )
    if not asked:
        raise Finding("not tried: there is no custom_score", mark="skipped")
    return f"floats, {asked} times of {asked}"


def _number(subject: Subject, name: str, place: Place, turn: str) -> Any:
    """Return what a score says of a position, if that is a number.

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
            (f"{name}(game, player), for the player who is {turn}, is no number.",),
            "a float",
            shown(value),
            place,
        )
    return value


def _serves(subject: Subject, name: str, place: Place) -> bool:
    """Whether a score gives numbers while get_move runs: it may need what get_move has noted."""
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
    """Whether it is a number other than nan; True and False are none."""
    if isinstance(value, (bool, str, bytes, complex)) or type(value).__name__ in ("bool_", "bool"):
        return False
    try:
        return not isnan(value)
    except (TypeError, ValueError, OverflowError):
        return False
