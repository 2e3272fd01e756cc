"""``knightfall sprt``: what a sequential test will cost, before it is begun."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from knightfall.cli.arena_options import (
    Alpha,
    Beta,
    Model,
    NumbersCommand,
    elo_bounds,
    real,
    sprt_of,
)
from knightfall.cli.commands.stats import shown
from knightfall.cli.options import Json, command_group
from knightfall.cli.terminal import print_json
from knightfall.display.numbers import percent
from knightfall.display.report import print_parts
from knightfall.display.table import Table
from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from knightfall.statistics.sprt import Sprt, SprtForecast


class SprtGroup(TyperGroup):
    """The commands of ``knightfall sprt``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; bounds in its place are answered with the command to type."""
        if "," in args[0]:
            low, high = sorted(elo_bounds(args[0]))
            raise KnightfallError(
                f"{args[0]!r} is not a command: try knightfall sprt plan {low:g},{high:g}"
            )
        return super().resolve_command(ctx, args)


sprt = command_group(
    "sprt",
    """Plan a sequential test.

    That is a match that ends when its question is decided.

    \b
    Example:
      knightfall sprt plan 0,10
    """,
    cls=SprtGroup,
)


BoundsArgument = Annotated[
    str, typer.Argument(metavar="ELO0,ELO1", help="The strengths to decide between.")
]
TrueElo = Annotated[
    list[str] | None,
    typer.Option(
        "--true-elo",
        metavar="ELO",
        help="A true strength to plan for, in the units of the model; may be given again.",
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        "--split",
        metavar="SHARE",
        help="The share of pairs that equals split, from 0.5 to below 1; 0.667 by default.",
    ),
]


@sprt.command(name="plan", cls=NumbersCommand)
def plan(
    bounds: BoundsArgument,
    true_elo: TrueElo = None,
    split: Split = None,
    model: Model = None,
    alpha: Alpha = None,
    beta: Beta = None,
    json: Json = False,
) -> None:
    """Tell how often a test passes and how many pairs it takes.

    It passes if it accepts ELO1.  Which of the two strengths is true is not known beforehand, so
    there is a line for each, for the middle between them, where a test takes longest, and for
    some strengths outside.  Lengths are means: one test in thirty is three times as long.

    \b
    Examples:
      knightfall sprt plan 0,10
      knightfall sprt plan -5,0 --alpha 0.01 --beta 0.01
      knightfall sprt plan 0,20 --model logistic --true-elo 12 --split 0.8
    """
    from knightfall.statistics.sprt import LARGEST_ELO, USUAL_SPLIT, forecast

    test = sprt_of(bounds, alpha, beta, model)
    share = USUAL_SPLIT if split is None else real(split, "a share of split pairs, as in 0.7")
    if true_elo:
        strengths = [real(text, "a true strength, as in 5") for text in true_elo]
    else:
        half = (test.elo1 - test.elo0) / 2
        strengths = [test.elo0 + k * half for k in range(-1, 5)]
        strengths = [elo for elo in strengths if abs(elo) <= LARGEST_ELO]
    plans = [forecast(test, elo, share) for elo in strengths]
    if json:
        print_json(_json(test, share, plans))
    else:
        _show(test, share, plans)


def _show(test: Sprt, share: float, plans: list[SprtForecast]) -> None:
    unit = "nElo" if test.model == "normalized" else "Elo"
    titles = [f"true {unit}", "passes", "pairs", "games"]
    if test.model == "normalized":
        titles.insert(1, "Elo")
    table = Table(titles, labels=0)
    for each in plans:
        row = [
            f"{each.true_elo:g}",
            percent(each.passes),
            f"{each.pairs:,.0f}",
            f"{2 * each.pairs:,.0f}",
        ]
        if test.model == "normalized":
            row.insert(1, shown(each.elo))
        table.add(*(text.replace("-", "−") for text in row))
    said = (
        f"H0: {test.elo0:g} {unit}, H1: {test.elo1:g} {unit}, alpha {test.alpha:g}, "
        f"beta {test.beta:g}; equals split {percent(share, 0)} of their pairs".replace("-", "−")
    )
    print_parts([said, "", table])


def _json(test: Sprt, share: float, plans: list[SprtForecast]) -> dict[str, Any]:
    lower, upper = test.bounds
    return {
        "elo0": test.elo0,
        "elo1": test.elo1,
        "alpha": test.alpha,
        "beta": test.beta,
        "model": test.model,
        "lower": lower,
        "upper": upper,
        "split": share,
        "plans": [
            {"true_elo": each.true_elo, "elo": each.elo, "passes": each.passes, "pairs": each.pairs}
            for each in plans
        ],
    }
