"""A sequential test on the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from knightfall.statistics.sprt import Sprt


class NumbersCommand(TyperCommand):
    """Takes -5 for a number and not for an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line: options first, then everything that is none."""
        valued = {
            name
            for option in self.params
            if option.param_type_name == "option" and not getattr(option, "is_flag", False)
            for name in option.opts
        }
        options: list[str] = []
        others: list[str] = []
        words = iter(args)
        for word in words:
            if word == "--":
                others += words
            elif not word.startswith("-") or re.match(r"-[0-9.,]|-$", word):
                others.append(word)
            else:
                options.append(word)
                if word in valued:
                    value = next(words, None)
                    if value is None:  # what is missing is told best by the one who misses it
                        return super().parse_args(ctx, args)
                    options.append(value)
        return super().parse_args(ctx, [*options, "--", *others])


def real(text: str, what: str) -> float:
    """A number as people write them; the error says what it should have been."""
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", text, re.ASCII | re.I):
        raise KnightfallError(f"{text!r} is not {what}")
    return float(text)


def elo_bounds(text: str) -> tuple[float, float]:
    """The two strengths a test decides between, as in 0,10."""
    first, comma, second = text.partition(",")
    if not comma:
        raise KnightfallError(f"{text!r} is not two strengths with a comma between them: try 0,10")
    what = f"a strength in {text!r}: numbers are accepted, as in 0,10"
    return real(first.strip(), what), real(second.strip(), what)


def given_test(
    bounds: str | None, alpha: str | None, beta: str | None, model: str | None
) -> Sprt | None:
    """The test that the command line describes, if it does; nothing of one is given without it."""
    if bounds is not None:
        return sprt_of(bounds, alpha, beta, model)
    for name, given in (("--model", model), ("--alpha", alpha), ("--beta", beta)):
        if given is not None:
            raise KnightfallError(f"{name} {given} needs --sprt, as in --sprt 0,20")
    return None


def sprt_of(bounds: str, alpha: str | None, beta: str | None, model: str | None) -> Sprt:
    """The test that the command line describes."""
    from knightfall.statistics.sprt import Sprt

    rates = {
        name: real(given, f"a number between 0 and 0.5 for {name}")
        for name, given in (("alpha", alpha), ("beta", beta))
        if given is not None
    }
    elo0, elo1 = elo_bounds(bounds)
    return Sprt(elo0, elo1, model="normalized" if model is None else model, **rates)


Bounds = Annotated[
    str | None,
    typer.Option(
        "--sprt", metavar="ELO0,ELO1", help="Test these two strengths against each other."
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="What the strengths are: normalized (the default) or logistic Elo.",
    ),
]
Alpha = Annotated[
    str | None,
    typer.Option(
        "--alpha",
        metavar="RATE",
        help="How often ELO1 may be accepted where ELO0 is true; 0.05 by default.",
    ),
]
Beta = Annotated[
    str | None,
    typer.Option(
        "--beta",
        metavar="RATE",
        help="How often ELO0 may be accepted where ELO1 is true; 0.05 by default.",
    ),
]
