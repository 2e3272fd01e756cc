"""Checks of a submission's interface: required names, accepted arguments, scores as floats."""

from __future__ import annotations

import inspect
from contextlib import suppress
from functools import partial
from math import isnan
from typing import Any

from knightfall.course.checker.check_report import KINDS, Finding
from knightfall.course.checker.fixtures import EARLY, LATE, MIDDLE, NEAR_THE_END, STUCK, Place
from knightfall.course.checker.recording_board import Clock, Watch
from knightfall.course.checker.submission_api import (
    Subject,
    missing_arguments,
    shown,
)
from knightfall.course.submission_player import parameters

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
