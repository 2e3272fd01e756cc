"""``knightfall stats``: statistics without playing a game.

It judges a result by its counts, and forecasts the length of a sequential test.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.cli.arena_options import (
    Alpha,
    Beta,
    Bounds,
    Model,
    NumbersCommand,
    elo_bounds,
    given_test,
    real,
    sprt_of,
)
from knightfall.cli.help_format import PlainGroup, command_group
from knightfall.cli.options import Json, whole
from knightfall.cli.terminal import print_json
from knightfall.display.numbers import for_json, percent
from knightfall.display.report import legend, print_parts
from knightfall.display.table import Table, facts
from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from knightfall.statistics.pairs import MatchEstimate
    from knightfall.statistics.sprt import Sprt, SprtForecast


class StatsGroup(PlainGroup):
    """The commands of ``knightfall stats``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; if bounds such as 0,10 are given instead, say what to type."""
        if "," in args[0]:
            low, high = sorted(elo_bounds(args[0]))
            raise KnightfallError(
                f"{args[0]!r} is not a command: try knightfall stats plan {low:g},{high:g}"
            )
        return super().resolve_command(ctx, args)


stats = command_group(
    "stats",
    """Judge a result by its counts, or plan a sequential test.

    A pair is two games from one opening, with the seats swapped.  A sequential test is a match that
    ends when its question is decided.

    \b
    Examples:
      knightfall stats pairs 10 80 30 --sprt 0,50
      knightfall stats games 136 96 111
      knightfall stats plan 0,10
    """,
    cls=StatsGroup,
)


def _count(name: str, help: str) -> Any:
    return typer.Argument(metavar=name, parser=whole, help=help)


@stats.command(name="pairs", cls=NumbersCommand)
def pairs(
    counts: Annotated[
        list[int],
        _count(
            "LL WL WW",
            "Number of pairs lost twice, split and won twice; or, with draws, of all five classes: "
            "LL LD WL WD WW, where two draws count as split.",
        ),
    ],
    sprt: Bounds = None,
    model: Model = None,
    alpha: Alpha = None,
    beta: Beta = None,
    json: Json = False,
) -> None:
    """Judge the results of pairs of games.

    A pair is two games from one opening, with the seats swapped.  All numbers are for the agent
    whose wins are counted, with 95 % errors: Elo; nElo, normalized Elo, which is the advantage
    relative to how much results vary; and LOS, the likelihood that the agent is the better one.
    With --sprt also LLR, the log-likelihood ratio of the test.

    \b
    Examples:
      knightfall stats pairs 34 63 75
      knightfall stats pairs 10 80 30 --sprt 0,50
      knightfall stats pairs 223 9863 21279 10037 246 --sprt 0.5,2.5 --model logistic
    """
    from knightfall.statistics.pairs import of_pairs

    if len(counts) == 3:
        five, classes = (counts[0], 0, counts[1], 0, counts[2]), "[LL, WL, WW]"
    elif len(counts) == 5:
        a, b, c, d, e = counts
        five, classes = (a, b, c, d, e), "[LL, LD, WL, WD, WW]"
    else:
        raise KnightfallError(
            f"{len(counts)} counts of pairs cannot be read: three are accepted (LL WL WW), or five "
            "where there are draws (LL LD WL WD WW)"
        )
    test = given_test(sprt, alpha, beta, model)
    llr = None if test is None else test.llr(five)
    _tell("pairs", classes, counts, of_pairs(five), test, llr, json)


@stats.command(name="games", cls=NumbersCommand)
def games(
    wins: Annotated[int, _count("W", "Games won.")],
    losses: Annotated[int, _count("L", "Games lost.")],
    draws: Annotated[int, _count("D", "Games drawn (0 in our game).")],
    sprt: Bounds = None,
    model: Model = None,
    alpha: Alpha = None,
    beta: Beta = None,
    json: Json = False,
) -> None:
    """Judge single games, as if all were independent.

    Use it for results whose pairs are not known, and stats pairs otherwise: two games from one
    opening are not independent, and the errors here are then too wide.

    \b
    Examples:
      knightfall stats games 136 96 111
      knightfall stats games 36433 36027 68692 --sprt 0,2
    """
    from knightfall.statistics.pairs import of_games

    test = given_test(sprt, alpha, beta, model)
    llr = None if test is None else test.llr_of_games(wins, losses, draws)
    verdict = of_games(wins, losses, draws)
    _tell("games", "[W, L, D]", [wins, losses, draws], verdict, test, llr, json)


def _tell(
    unit: str,
    classes: str,
    counts: list[int],
    verdict: MatchEstimate,
    test: Sprt | None,
    llr: float | None,
    json: bool,
) -> None:
    accepted = None if test is None or llr is None else test.verdict(llr)
    lower, upper = (None, None) if test is None else test.bounds
    if json:
        print_json(
            {
                "elo": for_json(verdict.elo),
                "elo_error": for_json(verdict.elo_error),
                "nelo": for_json(verdict.nelo),
                "nelo_error": for_json(verdict.nelo_error),
                "los": verdict.los,
                "llr": llr,
                "lower": lower,
                "upper": upper,
                "verdict": accepted,
                unit: verdict.units,
                "score": verdict.score,
                "score_low": verdict.low,
                "score_high": verdict.high,
            }
        )
        return
    low, high = (shown(end) for end in verdict.elo_interval)
    rows = {
        "Elo": f"{shown(verdict.elo)} ± {shown(verdict.elo_error)}",
        "nElo": f"{shown(verdict.nelo)} ± {shown(verdict.nelo_error)}",
        "LOS": percent(verdict.los, 2),
        unit.capitalize(): f"{verdict.units:,} {classes} = {counts}",
        "Score": percent(verdict.score, 2),
        "95 %": f"{100 * verdict.low:.2f} to {100 * verdict.high:.2f} %, {low} to {high} Elo",
    }
    if test is not None and llr is not None and lower is not None and upper is not None:
        rows["LLR"] = (
            f"{shown(llr)} ({shown(lower)}, {shown(upper)}) "
            f"[{test.elo0:g}, {test.elo1:g}] {test.model}".replace("-", "−")
        )
    terms = [*(["pair"] if unit == "pairs" else []), "nElo", "LOS", *(["LLR"] if test else [])]
    tested = [] if test is None else [_test_in_words(test, accepted)]
    print_parts([facts(rows), "", legend(*terms), "", _in_words(verdict), *tested])


def shown(value: float) -> str:
    """Return a number with two decimals, a true minus sign, and ∞ for infinity."""
    rounded = round(value, 2) + 0.0  # + 0.0 turns -0.0 into 0.0
    return f"{rounded:.2f}".replace("-", "−").replace("inf", "∞")


def _in_words(verdict: MatchEstimate) -> str:
    """Return the finding in one sentence that needs no knowledge of Elo."""
    if not verdict.units:
        return "No game was played, so nothing is known."
    low, high = f"{100 * verdict.low:.1f}", f"{100 * verdict.high:.1f}"
    if verdict.low <= 0.5 <= verdict.high:
        return (
            "The two cannot be told apart: in the long run the agent whose wins are counted "
            f"may score anything from {low} to {high} %."
        )
    word = "better" if verdict.low > 0.5 else "worse"
    return (
        f"The agent whose wins are counted is {word}: in the long run it scores "
        f"{low} to {high} %, with 95 % confidence."
    )


def _test_in_words(test: Sprt, accepted: str | None) -> str:
    unit = "nElo" if test.model == "normalized" else "Elo"
    elo0, elo1 = (f"{elo:g}".replace("-", "−") for elo in (test.elo0, test.elo1))
    if accepted is None:
        return f"The test goes on: neither {elo0} nor {elo1} {unit} is accepted yet."
    name, elo, other = ("H1", elo1, elo0) if accepted == "H1" else ("H0", elo0, elo1)
    return f"The test is over and accepts {name}: {elo} {unit} rather than {other}."


# -- what a test will cost ---------------------------------------------------------------------


BoundsArgument = Annotated[
    str,
    typer.Argument(
        metavar="ELO0,ELO1", help="The two Elo differences to decide between, as in 0,10."
    ),
]
TrueElo = Annotated[
    list[str] | None,
    typer.Option(
        "--true-elo",
        metavar="ELO",
        help="A true Elo difference for which to forecast the test, in the unit of --model; may be "
        "repeated.",
    ),
]
Split = Annotated[
    str | None,
    typer.Option(
        "--split",
        metavar="SHARE",
        help="Share of pairs in which two equal agents win a game each, from 0.5 to 0.9999; 0.667 "
        "by default.",
    ),
]


@stats.command(name="plan", cls=NumbersCommand)
def plan(
    bounds: BoundsArgument,
    true_elo: TrueElo = None,
    split: Split = None,
    model: Model = None,
    alpha: Alpha = None,
    beta: Beta = None,
    json: Json = False,
) -> None:
    """Forecast how often a sequential test passes, and its length.

    A test passes if it accepts ELO1.  The true strength is unknown beforehand, so the table has a
    line for each bound, for the middle between them, where a test takes longest, and for some
    strengths outside.  Lengths are means: one test in thirty is three times as long.

    \b
    Examples:
      knightfall stats plan 0,10
      knightfall stats plan -5,0 --alpha 0.01 --beta 0.01
      knightfall stats plan 0,20 --model logistic --true-elo 12 --split 0.8
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
    normalized = test.model == "normalized"
    unit, elo = ("nElo", ["Elo"]) if normalized else ("Elo", [])
    table = Table([f"true {unit}", *elo, "passes", "pairs", "games"], labels=0)
    for each in plans:
        row = [f"{each.true_elo:g}", *([shown(each.elo)] if normalized else [])]
        row += [percent(each.passes), f"{each.pairs:,.0f}", f"{2 * each.pairs:,.0f}"]
        table.add(*(text.replace("-", "−") for text in row))
    said = (
        f"H0: {test.elo0:g} {unit}, H1: {test.elo1:g} {unit}, alpha {test.alpha:g}, "
        f"beta {test.beta:g}; equal agents split {percent(share, 0)} of their pairs".replace(
            "-", "−"
        )
    )
    terms = ["pair", "nElo"] if normalized else ["pair"]
    print_parts([said, "", table, "", legend(*terms)])


def _json(test: Sprt, share: float, plans: list[SprtForecast]) -> dict[str, Any]:
    lower, upper = test.bounds
    found = {**asdict(test), "lower": lower, "upper": upper, "split": share}
    return {**found, "plans": [asdict(each) for each in plans]}
