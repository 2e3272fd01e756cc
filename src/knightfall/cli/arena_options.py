"""Options of commands that play a run or test one sequentially, and how they are carried out."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.arena.run_options import with_run_options
from knightfall.cli.help_format import PlainCommand
from knightfall.cli.options import Dask, Json, RunWorkers, StorePath, store_path, whole_number
from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from knightfall.arena.results import RunReport
    from knightfall.statistics.sprt import Sprt

Pairs = Annotated[int, whole_number("--pairs", "Pairs of games a match.")]
Seed = Annotated[
    int, whole_number("--seed", "Decides the openings and every broken tie.", least=0, metavar="S")
]
BudgetText = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="BUDGET",
        help="For every agent that deepens: nodes=2500, depth=6 or time=150ms.",
    ),
]
BoardText = Annotated[
    str, typer.Option("--board", metavar="WxH", help="The board, unless a book is given.")
]
Book = Annotated[
    str | None,
    typer.Option(
        "--book", metavar="FILE", help="Begin with the positions of a file, a FEN a line."
    ),
]
Stratify = Annotated[
    bool,
    typer.Option("--stratify", help="Openings where the mover hunts and where it runs take turns."),
]
Again = Annotated[
    bool, typer.Option("--again", help="Play anew even if this run is in the store already.")
]


Event = tuple["Callable[..., RunReport]", dict[str, Any]]
"""A function of `knightfall.arena.api`, and what it is asked beside the options below."""


NOTHING_MEASURED = 1
"""The exit code if every game was lost by crashes, timeouts and illegal moves."""


_OPTIONS: dict[str, Any] = {
    "seed": Seed,
    "board": BoardText,
    "book": Book,
    "stratify": Stratify,
    "workers": RunWorkers,
    "dask": Dask,
    "store": StorePath,
    "again": Again,
}
"""How those fields of `RunOptions` are called on the command line that can be given there."""


def plays_a_run(command: Callable[..., Event]) -> Callable[..., None]:
    """Return a command that plays the event it names, with all options of a run, and reports.

    Typer reads the options of a command from its signature.
    """
    own = signature(command, eval_str=True)
    fields = with_run_options(Signature()).parameters
    parameters = [
        *own.parameters.values(),
        *(fields[name].replace(annotation=option) for name, option in _OPTIONS.items()),
        Parameter("json", Parameter.KEYWORD_ONLY, default=False, annotation=Json),
    ]

    @wraps(command)
    def run(**given: Any) -> None:
        how = {name: given.pop(name) for name in ("json", *_OPTIONS)}
        event, asked = command(**given)
        _play(event, **asked, **how)

    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def _play(event: Callable[..., RunReport], *, json: bool, store: str | None, **how: Any) -> None:
    """Play an event of `knightfall.arena.api` for a person, and print what came of it."""
    from knightfall.arena.store_file import user_store
    from knightfall.cli.terminal import INTERRUPTED, print_report, say

    report = event(
        store=store_path(store) or user_store(), notice=(lambda text: None) if json else say, **how
    )
    if not report.interrupted or report.results.played:
        print_report(report, json=json)
    if report.interrupted:
        say(
            f"knightfall: interrupted after {report.plan.so_far(report.results.played)}; "
            f"the same command goes on with run {report.run.id}"
        )
        raise typer.Exit(INTERRUPTED)
    if report.broken:
        raise typer.Exit(NOTHING_MEASURED)


# -- submissions of the course -----------------------------------------------------------------


Generation = Annotated[
    str | None,
    typer.Option(
        "--generation",
        metavar="G",
        help="2017b, 2017a, early, oldest or successor. By default it is found by reading.",
    ),
]


def of_generation(agents: list[str], generation: str | None) -> list[str]:
    """Return agent strings; submissions that do not say their generation get this one."""
    from knightfall.agents import parse_agent
    from knightfall.errors import KnightfallError

    if generation is None:
        return agents
    found = [parse_agent(agent).of_generation(generation) for agent in agents]
    if not any(found):
        raise KnightfallError(
            f"--generation {generation} is for submissions, and there is none: name one as in "
            "course:game_agent.py"
        )
    return [str(agent or text) for agent, text in zip(found, agents, strict=True)]


# -- a sequential test -------------------------------------------------------------------------


class NumbersCommand(PlainCommand):
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
