"""``knightfall stats``: what the result of a match says, from its counts alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from knightfall.cli.options.common import Json, whole
from knightfall.cli.screen.output import facts, number, print_json, print_table
from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from knightfall.statistics.pairs import MatchEstimate
    from knightfall.statistics.sprt import Sprt

stats = typer.Typer(
    name="stats",
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


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


def _count(name: str, help: str) -> Any:
    return typer.Argument(metavar=name, parser=whole, help=help, show_default=False)


Bounds = Annotated[
    str | None,
    typer.Option(
        "--sprt",
        metavar="ELO0,ELO1",
        help="Test these two strengths against each other.",
        show_default=False,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="What the strengths are: normalized (the default) or logistic Elo.",
        show_default=False,
    ),
]
Alpha = Annotated[
    str | None,
    typer.Option(
        "--alpha",
        metavar="RATE",
        help="How often ELO1 may be accepted where ELO0 is true; 0.05 by default.",
        show_default=False,
    ),
]
Beta = Annotated[
    str | None,
    typer.Option(
        "--beta",
        metavar="RATE",
        help="How often ELO0 may be accepted where ELO1 is true; 0.05 by default.",
        show_default=False,
    ),
]


@stats.callback(invoke_without_command=True)
def about(context: typer.Context) -> None:
    """Judge a result by its counts.

    Elo with errors, likelihood of superiority, sequential test.

    \b
    Examples:
      knightfall stats pairs 10 0 80 0 30 --sprt 0,50
      knightfall stats games 136 96 111
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@stats.command(name="pairs", cls=NumbersCommand)
def pairs(
    ll: Annotated[int, _count("LL", "Pairs lost twice.")],
    ld: Annotated[int, _count("LD", "Pairs of a loss and a draw (0 in our game).")],
    wl: Annotated[int, _count("WL", "Pairs split, or drawn twice.")],
    wd: Annotated[int, _count("WD", "Pairs of a win and a draw (0 in our game).")],
    ww: Annotated[int, _count("WW", "Pairs won twice.")],
    sprt: Bounds = None,
    model: Model = None,
    alpha: Alpha = None,
    beta: Beta = None,
    json: Json = False,
) -> None:
    """Judge pairs: one opening, played from both seats.

    All numbers are those of the agent whose wins are counted; errors are 95 % to either side.

    \b
    Examples:
      knightfall stats pairs 34 0 63 0 75
      knightfall stats pairs 10 0 80 0 30 --sprt 0,50
      knightfall stats pairs 223 9863 21279 10037 246 --sprt 0.5,2.5 --model logistic
    """
    from knightfall.statistics.pairs import of_pairs

    counts = (ll, ld, wl, wd, ww)
    test = _test(sprt, model, alpha, beta)
    llr = None if test is None else test.llr(counts)
    _tell("pairs", "[LL, LD, WL, WD, WW]", list(counts), of_pairs(counts), test, llr, json)


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

    For results of which the pairs are not known.  Where they are, use them: two games from one
    opening are not independent, and the errors here are then too wide.

    \b
    Examples:
      knightfall stats games 136 96 111
      knightfall stats games 36433 36027 68692 --sprt 0,2
    """
    from knightfall.statistics.pairs import of_games

    test = _test(sprt, model, alpha, beta)
    llr = None if test is None else test.llr_of_games(wins, losses, draws)
    verdict = of_games(wins, losses, draws)
    _tell("games", "[W, L, D]", [wins, losses, draws], verdict, test, llr, json)


def _test(sprt: str | None, model: str | None, alpha: str | None, beta: str | None) -> Sprt | None:
    if sprt is not None:
        return sprt_of(sprt, alpha, beta, model)
    for name, given in (("--model", model), ("--alpha", alpha), ("--beta", beta)):
        if given is not None:
            raise KnightfallError(
                f"{name} {given} belongs to a test: give its --sprt ELO0,ELO1, too"
            )
    return None


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
                "elo": number(verdict.elo),
                "elo_error": number(verdict.elo_error),
                "nelo": number(verdict.nelo),
                "nelo_error": number(verdict.nelo_error),
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
        "LOS": f"{100 * verdict.los:.2f} %",
        unit.capitalize(): f"{verdict.units:,} {classes} = {counts}",
        "Score": f"{100 * verdict.score:.2f} %",
        "95 %": f"{100 * verdict.low:.2f} to {100 * verdict.high:.2f} %, {low} to {high} Elo",
    }
    if test is not None and llr is not None and lower is not None and upper is not None:
        rows["LLR"] = (
            f"{shown(llr)} ({shown(lower)}, {shown(upper)}) "
            f"[{test.elo0:g}, {test.elo1:g}] {test.model}".replace("-", "−")
        )
    print_table(facts(rows))
    print(f"\n{_in_words(verdict)}")
    if test is not None:
        print(_test_in_words(test, accepted))


def shown(value: float) -> str:
    """A number for people."""
    rounded = round(value, 2) + 0.0  # which is never -0
    return f"{rounded:.2f}".replace("-", "−").replace("inf", "∞")


def _in_words(verdict: MatchEstimate) -> str:
    """One sentence for someone who has never heard of Elo."""
    if not verdict.units:
        return "Nothing was played, so nothing is known."
    low, high = f"{100 * verdict.low:.1f}", f"{100 * verdict.high:.1f}"
    if verdict.low <= 0.5 <= verdict.high:
        return (
            "This does not tell the two apart: in the long run the agent whose wins are counted "
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
