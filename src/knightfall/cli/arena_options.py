"""Options of commands that play a run, and options of sequential tests."""

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

Pairs = Annotated[
    int, whole_number("--pairs", "Pairs per match; a pair is two games, seats swapped.")
]
Seed = Annotated[
    int,
    whole_number(
        "--seed",
        "Seed of the openings and of random choices between equal moves.",
        least=0,
        metavar="S",
    ),
]
BudgetText = Annotated[
    str | None,
    typer.Option(
        "--budget",
        metavar="BUDGET",
        help="Budget per move of every deepening agent: nodes=2500, depth=6 or time=150ms.",
    ),
]
BoardText = Annotated[
    str,
    typer.Option(
        "--board",
        metavar="WxH",
        help="Width and height of the board; --book determines it by its positions.",
    ),
]
Book = Annotated[
    str | None,
    typer.Option(
        "--book",
        metavar="FILE",
        help="Start games from the positions of this file, one FEN per line.",
    ),
]
Stratify = Annotated[
    bool,
    typer.Option(
        "--stratify",
        help="Alternate openings in which the first player is the hunter and openings in which it "
        "is the runner; only the hunter can take cells that the other knight could move to.",
    ),
]
InProcess = Annotated[
    bool,
    typer.Option(
        "--in-process",
        help="Call python(…) agents directly, without a process of their own: much faster, for "
        "code that you trust.",
    ),
]
Again = Annotated[
    bool, typer.Option("--again", help="Play again even if the same run is in the store.")
]


Event = tuple["Callable[..., RunReport]", dict[str, Any]]
"""A function of `knightfall.arena.api`, and its arguments other than the options below."""


NOTHING_MEASURED = 1
"""The exit code if every game was lost by a crash, a timeout or an illegal move."""


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
"""The options for those fields of `RunOptions` that the command line can set."""


def plays_a_run(command: Callable[..., Event]) -> Callable[..., None]:
    """Decorate a command: add all options of a run, play the run and print its report.

    `command` returns a function of `knightfall.arena.api` and its arguments.  The options are added
    to the signature, because Typer reads them from there.
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
    """Call a function of `knightfall.arena.api` and print its report.

    Exit with INTERRUPTED after Ctrl-C, and with NOTHING_MEASURED if no game was decided on the
    board.
    """
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
            f"repeat the command to continue run {report.run.id}"
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
        help="Version of the course that the submissions are written for: 2017b, 2017a, early, "
        "oldest or successor. By default it is inferred from their files.",
    ),
]


def of_generation(agents: list[str], generation: str | None) -> list[str]:
    """Return the agent strings, with `generation` added to submissions that name none.

    Raise KnightfallError if a generation is given and no agent is a submission.
    """
    from knightfall.agents import parse_agent
    from knightfall.errors import KnightfallError

    if generation is None:
        return agents
    found = [parse_agent(agent).of_generation(generation) for agent in agents]
    if not any(found):
        raise KnightfallError(
            f"--generation {generation} applies to submissions only: name one, as in "
            "course:game_agent.py"
        )
    return [str(agent or text) for agent, text in zip(found, agents, strict=True)]


# -- a sequential test -------------------------------------------------------------------------


class NumbersCommand(PlainCommand):
    """A command that reads -5 as a number, not as an option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line with the options moved to the front."""
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
                    if value is None:  # Typer has the right message for a missing value
                        return super().parse_args(ctx, args)
                    options.append(value)
        return super().parse_args(ctx, [*options, "--", *others])


def real(text: str, what: str) -> float:
    """Convert a text to a number.

    If it is not a number, raise a KnightfallError that says that the text is not `what`.
    """
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", text, re.ASCII | re.I):
        raise KnightfallError(f"{text!r} is not {what}")
    return float(text)


def elo_bounds(text: str) -> tuple[float, float]:
    """Return the two strengths that a test decides between, from a text such as ``0,10``."""
    first, comma, second = text.partition(",")
    if not comma:
        raise KnightfallError(
            f"{text!r} is not two Elo differences with a comma between them: try 0,10"
        )
    what = f"an Elo difference in {text!r}: numbers are accepted, as in 0,10"
    return real(first.strip(), what), real(second.strip(), what)


def given_test(
    bounds: str | None, alpha: str | None, beta: str | None, model: str | None
) -> Sprt | None:
    """Return the test that the command line describes, or None without ``--sprt``.

    Raise KnightfallError if another option of the test is given without ``--sprt``.
    """
    if bounds is not None:
        return sprt_of(bounds, alpha, beta, model)
    for name, given in (("--model", model), ("--alpha", alpha), ("--beta", beta)):
        if given is not None:
            raise KnightfallError(f"{name} {given} needs --sprt, as in --sprt 0,20")
    return None


def sprt_of(bounds: str, alpha: str | None, beta: str | None, model: str | None) -> Sprt:
    """Return the test with these bounds; None means the default rate or model."""
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
        "--sprt",
        metavar="ELO0,ELO1",
        help="Test sequentially whether the Elo difference is ELO0 or ELO1; the report shows LLR, "
        "the log-likelihood ratio of the two.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="MODEL",
        help="Unit of ELO0 and ELO1: normalized (nElo, the default) or logistic Elo.",
    ),
]
Alpha = Annotated[
    str | None,
    typer.Option(
        "--alpha",
        metavar="RATE",
        help="Accepted chance of choosing ELO1 if ELO0 is true; 0.05 by default.",
    ),
]
Beta = Annotated[
    str | None,
    typer.Option(
        "--beta",
        metavar="RATE",
        help="Accepted chance of choosing ELO0 if ELO1 is true; 0.05 by default.",
    ),
]
