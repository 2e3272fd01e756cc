"""A plan that was written down: in a store, or in a file that somebody sent.

It is read with distrust.  What comes out is a plan that everything else can work with, and names
that can be printed; or a `KnightfallError` says what is wrong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from knightfall.arena.plan import Entrant, Match, Plan, tournament
from knightfall.board import Board
from knightfall.display.printable import printable
from knightfall.errors import KnightfallError
from knightfall.openings import checked_book
from knightfall.reading import OneOf, Whole, check, parse_json, texts_in
from knightfall.search.budget import parse_budget
from knightfall.statistics.sprt import Sprt

MOST_PAIRS = 2**40
"""More than anybody will ever play: sums over a run stay far from what a store can hold."""

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
    """The plan of a text that `Plan.to_json` wrote, its names made printable."""
    plan = plan_of(parse_json(text))
    entrants = tuple(replace(one, name=printable(one.name)) for one in plan.entrants)
    return replace(plan, entrants=entrants)


def plan_of(content: Any) -> Plan:
    """The plan of a value of JSON, just as it is."""
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
        _check_sense(plan)
    except KnightfallError as error:
        raise KnightfallError(f"the plan cannot be read: {error}") from None
    return plan


def _check_sense(plan: Plan) -> None:
    if any("\0" in text for text in texts_in(list(plan.files) + [e.agent for e in plan.entrants])):
        raise KnightfallError("the name of a file holds a zero byte")
    if not plan.matches:
        raise KnightfallError("it has no matches")
    for match in plan.matches:
        if max(match.a, match.b) >= len(plan.entrants) or match.a == match.b:
            raise KnightfallError(f"no entrants {match.a} and {match.b} can meet")
    Board.named(plan.board)
    if "x" not in plan.board:
        raise KnightfallError(f"board {plan.board!r} is written as in 7x7")
    if plan.book and tuple(checked_book(plan.book)) != plan.book:
        raise KnightfallError("the positions of its book are written otherwise")
    rule = plan.stop.get("rule")
    if not (rule is None or isinstance(rule, str)) or rule not in _STOP:
        known = ", ".join(name for name in _STOP if name)
        raise KnightfallError(f"unknown rule {rule!r}; known: {known}")
    check(_STOP[rule], dict(plan.stop), "stop")
    if rule == "sprt":
        Sprt(**{name: value for name, value in plan.stop.items() if name != "rule"})
        if len(plan.matches) != 1:
            raise KnightfallError("a sequential test is of one match")
    if rule == "decided" and plan.kind != "tournament":
        raise KnightfallError(f"the rule 'decided' ends a tournament, not a {plan.kind}")
    _check_options(plan)
    _check_who_meets_whom(plan)


def _check_who_meets_whom(plan: Plan) -> None:
    """Each kind but the league has matches of its own, and its report relies on them."""
    entrants = len(plan.entrants)
    wanted = {
        "match": [(0, 1)],
        "worth": [(2 * at, 2 * at + 1) for at in range(entrants // 2)],
    }.get(plan.kind)
    if plan.kind == "tournament":
        tests = plan.options["tests"]
        wanted = [(match.a, match.b) for match in tournament(tests, entrants - tests)]
    met = [(match.a, match.b) for match in plan.matches]
    if wanted is not None and (met != wanted or entrants != 1 + max(b for _, b in wanted)):
        raise KnightfallError(f"its entrants do not meet as those of a {plan.kind} do")


def _check_options(plan: Plan) -> None:
    shape = {"given_budget?": str, **_OPTIONS.get(plan.kind, {})}
    known = {name.rstrip("?") for name in shape}
    options = {name: value for name, value in plan.options.items() if name in known}
    check(shape, options, "options")
    if plan.kind == "tournament" and options["tests"] >= len(plan.entrants):
        raise KnightfallError(f"{options['tests']} of its entrants cannot be tested")
    if plan.kind == "worth":
        _check_worth(plan)


def _check_worth(plan: Plan) -> None:
    budgets, converted = plan.options["budgets"], plan.options["converted"]
    if len(budgets) != len(plan.matches):
        raise KnightfallError("a worth has a match for each of its budgets")
    for text in budgets:
        measure, _, amount = text.partition("=")
        if measure not in ("nodes", "time"):
            raise KnightfallError(f"{text!r} is not a budget of nodes or of time")
        parse_budget({measure: amount})
        if measure == "time" and len(converted.get(text, ())) != 2:
            raise KnightfallError(f"it does not say how many nodes {text} is worth")
