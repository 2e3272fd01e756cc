"""Read a plan from a store or from an exported file, and check it.

The file may be damaged or malicious.  The result is a plan that all other modules can use; if it is
not valid, a `KnightfallError` says what is wrong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from knightfall.arena.plan import Entrant, Match, Plan, tournament_matches
from knightfall.board import Board
from knightfall.display.printable import printable
from knightfall.errors import KnightfallError
from knightfall.openings import checked_book
from knightfall.search.budget import parse_budget
from knightfall.statistics.sprt import Sprt
from knightfall.untrusted_input import OneOf, Whole, check, parse_json, texts_in

MOST_PAIRS = 2**40
"""Upper bound of the pairs of a plan; sums over a run then fit into 64 bits."""

SHAPE: dict[Any, Any] = {
    "kind": OneOf(("match", "tournament", "league", "worth")),
    "entrants": [{"agent": str, "name": str}],
    "matches": [{"a": Whole(), "b": Whole(), "series": Whole()}],
    "pairs": Whole(1, MOST_PAIRS),
    "seed": int,
    "board": str,
    "book": [str],
    "stratify": bool,
    "repeats": Whole(1, 2**20),
    "stop": {str: object},
    "files": {str: str},
    "options": {str: object},
}
_STOP: dict[Any, Any] = {
    None: {},
    "until": {"rule": str, "error": float},
    "decided": {"rule": str, "within": float, "course": Whole(1, MOST_PAIRS)},
    "sprt": {
        "rule": str, "elo0": float, "elo1": float, "alpha?": float, "beta?": float, "model?": str,
    },
}  # fmt: skip
_OPTIONS: dict[str, dict[Any, Any]] = {
    "tournament": {
        "tests": Whole(1), "protocol": str, "time_limit?": str, "timer_threshold?": str,
    },
    "worth": {
        "a": str, "b": str, "agents": [str], "budgets": [str], "converted": {str: [Whole(1)]},
    },
}  # fmt: skip


def read_plan(text: str) -> Plan:
    """Parse the text that `Plan.to_json` wrote; return the plan with printable names."""
    plan = plan_of(parse_json(text))
    entrants = tuple(replace(one, name=printable(one.name)) for one in plan.entrants)
    return replace(plan, entrants=entrants)


def plan_of(content: Any) -> Plan:
    """Check a parsed JSON value and return the plan that it describes.

    The names of entrants are returned as they are, even if they are not printable.
    """
    try:
        check(SHAPE, content)
        plan = Plan(
            **{
                **content,
                "entrants": tuple(Entrant(**entrant) for entrant in content["entrants"]),
                "matches": tuple(Match(**match) for match in content["matches"]),
                "book": tuple(content["book"]),
            }
        )
        _check_values(plan)
    except KnightfallError as error:
        raise KnightfallError(f"the plan cannot be read: {error}") from None
    return plan


def _check_values(plan: Plan) -> None:
    """Raise a `KnightfallError` if a field has the right type but a value that is not valid."""
    if any("\0" in text for text in texts_in(list(plan.files) + [e.agent for e in plan.entrants])):
        raise KnightfallError("a file name or an agent contains a NUL character")
    if not plan.matches:
        raise KnightfallError("the plan has no matches; at least one is needed")
    for match in plan.matches:
        if max(match.a, match.b) >= len(plan.entrants) or match.a == match.b:
            raise KnightfallError(
                f"a match is between entrants {match.a} and {match.b}: two different numbers from "
                f"0 to {len(plan.entrants) - 1} are expected"
            )
    Board.named(plan.board)
    if "x" not in plan.board:
        raise KnightfallError(f"board {plan.board!r} must be width x height, for example 7x7")
    if plan.book and tuple(checked_book(plan.book)) != plan.book:
        raise KnightfallError("a FEN of the plan's book is not in normal form")
    rule = plan.stop.get("rule")
    if not (rule is None or isinstance(rule, str)) or rule not in _STOP:
        known = ", ".join(name for name in _STOP if name)
        raise KnightfallError(f"unknown stop rule {rule!r}; known: {known}")
    check(_STOP[rule], dict(plan.stop), "stop")
    if rule == "sprt":
        Sprt(**{name: value for name, value in plan.stop.items() if name != "rule"})
        if len(plan.matches) != 1:
            raise KnightfallError(f"a sequential test needs 1 match, not {len(plan.matches)}")
    if rule == "decided" and plan.kind != "tournament":
        raise KnightfallError(f"stop rule 'decided' is for tournaments only, not for a {plan.kind}")
    _check_options(plan)
    _check_matches(plan)


def _check_matches(plan: Plan) -> None:
    """Raise a `KnightfallError` if a plan's matches are not those of its kind.

    A league may have any matches.
    """
    entrants = len(plan.entrants)
    wanted = {
        "match": [(0, 1)],
        "worth": [(2 * at, 2 * at + 1) for at in range(entrants // 2)],
    }.get(plan.kind)
    if plan.kind == "tournament":
        tests = plan.options["tests"]
        wanted = [(match.a, match.b) for match in tournament_matches(tests, entrants - tests)]
    met = [(match.a, match.b) for match in plan.matches]
    if wanted is not None and (met != wanted or entrants != 1 + max(b for _, b in wanted)):
        raise KnightfallError(
            f"the plan's matches are {met}; a {plan.kind} of these entrants has {wanted}"
        )


def _check_options(plan: Plan) -> None:
    """Raise a `KnightfallError` if an option that the report uses is missing or not valid."""
    shape = {"given_budget?": str, **_OPTIONS.get(plan.kind, {})}
    known = {name.rstrip("?") for name in shape}
    options = {name: value for name, value in plan.options.items() if name in known}
    check(shape, options, "options")
    if plan.kind == "tournament" and options["tests"] >= len(plan.entrants):
        raise KnightfallError(
            f"{options['tests']} test agents among {len(plan.entrants)} entrants leave no opponent"
        )
    if plan.kind == "worth":
        _check_worth(plan)


def _check_worth(plan: Plan) -> None:
    """Raise a `KnightfallError` if the budgets of a `worth` plan do not fit its matches."""
    budgets, converted = plan.options["budgets"], plan.options["converted"]
    if len(budgets) != len(plan.matches):
        raise KnightfallError(f"{len(budgets)} budgets but {len(plan.matches)} matches")
    for text in budgets:
        measure, _, amount = text.partition("=")
        if measure not in ("nodes", "time"):
            raise KnightfallError(f"budget {text!r} must begin with nodes= or time=")
        parse_budget({measure: amount})
        if measure == "time" and len(converted.get(text, ())) != 2:
            raise KnightfallError(
                f"the plan's option 'converted' lacks the node budgets of A and B for {text}"
            )
