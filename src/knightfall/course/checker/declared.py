"""Is everything there under its name, can it be called as it is called, are scores floats?"""

from __future__ import annotations

import inspect
from math import isnan
from typing import Any

from knightfall.course.checker.outcome import KINDS, Finding
from knightfall.course.checker.places import Place
from knightfall.course.checker.searching import EARLY, LATE, MIDDLE, NEAR_THE_END, STUCK
from knightfall.course.checker.subject import CLASSES, SCORES, TIMEOUTS, Subject, shown
from knightfall.course.checker.watched import Watch

CONSTRUCTOR: dict[str, dict[str, Any]] = {
    "2017b": {"search_depth": 3, "score_fn": None, "timeout": 10.0},
    "2017a": {
        "search_depth": 3,
        "score_fn": None,
        "iterative": True,
        "method": "minimax",
        "timeout": 10.0,
    },
}

METHODS: dict[str, dict[str, tuple[tuple[str, ...], ...]]] = {
    "2017b": {
        "get_move": (("game", "time_left"),),
        "minimax": (("game", "depth"),),
        "alphabeta": (("game", "depth"), ("game", "depth", "alpha", "beta")),
    },
    "2017a": {
        "get_move": (("game", "legal_moves", "time_left"),),
        "minimax": (("game", "depth"), ("game", "depth", "maximizing_player")),
        "alphabeta": (
            ("game", "depth"),
            ("game", "depth", "alpha", "beta"),
            ("game", "depth", "alpha", "beta", "maximizing_player"),
        ),
    },
}
"""How methods are called, beside self: by position."""


# -- the interface -------------------------------------------------------------------------------


def is_complete(subject: Subject) -> str:
    """Every name is there and takes the arguments that it is given."""
    generation, module = subject.generation, subject.module
    missing = [
        f"there is no function {name}"
        for name in SCORES[generation]
        if not callable(getattr(module, name, None))
    ]
    missing += [
        f"{name} cannot be called as {name}(game, player)"
        for name in SCORES[generation]
        if callable(getattr(module, name, None)) and not _takes(getattr(module, name), "gp")
    ]
    timeout = getattr(module, TIMEOUTS[generation], None)
    if not (isinstance(timeout, type) and issubclass(timeout, BaseException)):
        missing.append(f"there is no exception {TIMEOUTS[generation]}")
    classes = list(dict.fromkeys(CLASSES[generation].values()))
    for name in classes:
        missing += _lacking(subject, name)
    if missing:
        raise Finding(
            missing[0] if len(missing) == 1 else f"{len(missing)} things are missing",
            (
                f"The course's tournament of {generation} calls these by name. In your file:",
                *missing,
            ),
        )
    return "every name is there and takes its arguments"


def _lacking(subject: Subject, name: str) -> list[str]:
    """What a class lacks."""
    generation = subject.generation
    made = getattr(subject.module, name, None)
    if not isinstance(made, type):
        return [f"there is no class {name}"]
    lacking = []
    options = CONSTRUCTOR[generation]
    if not _takes(made, "", options):
        lacking.append(f"{name} cannot be made with {', '.join(f'{key}=' for key in options)}")
    kinds = [kind for kind in KINDS if CLASSES[generation][kind] == name]
    for method in ("get_move", *kinds):
        found = getattr(made, method, None)
        if not callable(found):
            lacking.append(f"{name} has no method {method}")
            continue
        for arguments in METHODS[generation][method]:
            if not _takes(found, ("self", *arguments)):
                lacking.append(
                    f"{name}.{method} cannot be called as {method}({', '.join(arguments)})"
                )
                break
    return lacking


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
    odd: list[tuple[str, str, Place]] = []
    asked = 0
    for name in SCORES[subject.generation]:
        score = getattr(subject.module, name, None)
        if not callable(score):
            continue
        for place in (EARLY, MIDDLE, LATE, NEAR_THE_END, *STUCK):
            for turn in ("to move", "not to move"):
                value = _score(subject, name, score, place, turn == "to move")
                asked += 1
                kind = type(value)
                if kind is float and not isnan(value):
                    continue
                if not _is_real(value):
                    raise Finding(
                        f"{name} returns {shown(value)}",
                        (f"{name}(game, player), for the player who is {turn}, is no number.",),
                        "a float",
                        shown(value),
                        place,
                    )
                odd.append((name, f"{kind.__module__}.{kind.__name__}", place))
    if odd:
        names = ", ".join(dict.fromkeys(name for name, _, _ in odd))
        kinds = ", ".join(dict.fromkeys(k.removeprefix("builtins.") for _, k, _ in odd))
        raise Finding(
            f"{names}: {kinds} instead of float",
            (
                f"The course asks for a float, and its own tests look at the type. {names} "
                f"returns {kinds} in {len(odd)} of {asked} cases; float(value) mends it. Nothing "
                "else is wrong with these values.",
            ),
            "float",
            kinds,
            mark="warning",
        )
    if not asked:
        raise Finding("not tried: there is no custom_score", mark="skipped")
    return f"floats, {asked} times of {asked}"


def _score(subject: Subject, name: str, score: Any, place: Place, to_move: bool) -> Any:
    """Scores may read their players' attributes, so the players are the submission's own."""
    player, opponent = subject.player("alphabeta"), subject.player("alphabeta")
    game = place.board(player, Watch(), opponent)
    asked = player if to_move else opponent
    return subject.call(lambda: score(game, asked), name, place)


def _is_real(value: Any) -> bool:
    """Whether it is a number other than nan; True and False are none."""
    if isinstance(value, (bool, str, bytes, complex)) or type(value).__name__ in ("bool_", "bool"):
        return False
    try:
        return not isnan(value)
    except (TypeError, ValueError, OverflowError):
        return False
