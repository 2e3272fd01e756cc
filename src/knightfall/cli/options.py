"""Arguments and options that several commands share, and how their values are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.board import Board
from knightfall.display.numbers import some
from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from knightfall.agents import Agent
    from knightfall.arena.store import Store
    from knightfall.position import Position

STARTPOS = "startpos"
MOST = 2**63 - 1

Fen = Annotated[
    str,
    typer.Argument(
        metavar="FEN",
        help="The position, in quotes; startpos or a size such as 8x8 is an empty board.",
    ),
]
MaybeFen = Annotated[
    str | None,
    typer.Argument(
        metavar="FEN",
        help="The first position, in quotes; startpos or a size such as 8x8 is an empty board.",
    ),
]


def whole(given: str | int, least: int = 0) -> int:
    """Return the whole number of a text; raise BadParameter unless it is from `least` to `MOST`."""
    text = str(given)  # Typer passes defaults through this function as well
    if not re.fullmatch(r"[0-9]{1,4000}", text, re.ASCII) or int(text) < least:
        raise typer.BadParameter(f"{text!r} is not accepted: give a whole number, at least {least}")
    if int(text) > MOST:
        raise typer.BadParameter(f"{text!r} is not accepted: give at most {MOST:,}")
    return int(text)


Out = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER",
        help="The folder to write into; an unfinished result in it is continued.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


def at_least_one(given: str | int) -> int:
    """Return the whole number of a text; raise BadParameter unless it is at least 1."""
    return whole(given, 1)


def whole_number(name: str, help: str, *, least: int = 1, metavar: str = "N", **more: Any) -> Any:
    """Return an option that takes a whole number of at least `least`, which is 0 or 1."""
    parser = at_least_one if least else whole
    return typer.Option(name, metavar=metavar, parser=parser, help=help, **more)


SHARED = "Processes that share the work; 0 works in this process."
Workers = Annotated[int | None, whole_number("--workers", SHARED, least=0)]
RunWorkers = Annotated[
    int | None,
    whole_number("--workers", f"{SHARED} By default one per core where it pays.", least=0),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Compute on the Dask cluster at this address, not on this machine.",
    ),
]


def chosen_map(workers: int | None, dask: str | None, describe: Callable[[Any], str]) -> Any:
    """Return the parallel map for --workers or --dask; None if the work stays in this process."""
    from knightfall.isolation.parallel_map import RunnerOptions, parallel_map

    options = RunnerOptions(workers, dask)
    options.check()
    return partial(parallel_map, options=options, describe=describe) if options.leaves else None


TableMb = Annotated[
    int | None,
    whole_number("--table-mb", "Memory for the solver's table, in megabytes.", metavar="MB"),
]

BoardSize = Annotated[
    str, typer.Option("--board", metavar="WxH", help="Width and height of the board.")
]
BoardName = Annotated[
    str, typer.Argument(metavar="BOARD", help="Width and height of the board, as in 7x7.")
]


def agent_named(text: str, *, quiet: bool = False) -> Agent:
    """Return the agent of a string.

    Unless `quiet`, print a line on stderr if it is a name that students give their own agents, but
    plays the heuristic of a published study.
    """
    from knightfall.agents import parse_agent
    from knightfall.agents.parse import borrowed
    from knightfall.cli.terminal import say

    agent = parse_agent(text)
    if not quiet and borrowed(agent.name, agent):
        say(borrowed(agent.name, agent))
    return agent


def position_named(text: str) -> Position:
    """Return the position of a FEN, of ``startpos`` (empty 7×7) or of a size such as ``8x8``."""
    from knightfall.position import Position

    if text == STARTPOS:
        return Position.start()
    if re.fullmatch(r"[0-9]+[x×][0-9]+", text, re.ASCII):
        board = Board.named(text)
        return Position.start(board.width, board.height)
    return Position.from_fen(text)


Chart = Annotated[
    Path | None,
    typer.Option(
        "--chart",
        metavar="FILE",
        help="Draw the result into this file; its name ends in .svg, .png or .pdf.",
        show_default=False,
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that exists.")]
SvgChart = Annotated[
    Path | None,
    typer.Option(
        "--chart", metavar="FILE", help="Draw the result into this file; its name ends in .svg."
    ),
]


def check_svg(chart: Path | None) -> None:
    """Raise a KnightfallError if the file of an `SvgChart`, if one is given, cannot be written."""
    from knightfall.user_folders import check_output

    if chart is not None and chart.suffix.lower() != ".svg":
        raise KnightfallError(
            f"--chart {str(chart)!r} must end in .svg: this chart is an SVG image"
        )
    if chart is not None:
        check_output(chart)


def chart_writer(chart: Path | None, force: bool) -> Callable[[Any], None]:
    """Return a function that draws a report's plot into the file of ``--chart``, if one is given.

    Raise at once if that file cannot be written: before any work, not after it.
    """
    if chart is None:
        return lambda report: None
    from knightfall.arena.chart_style import save, writable

    writable(chart, force)
    return lambda report: save(report.plot(), chart)


def agent_argument(metavar: str, help: str) -> Any:
    """Return a required argument that takes an agent, whose name the shell completes."""
    return typer.Argument(
        metavar=metavar, help=help, show_default=False, autocompletion=agent_names
    )


def agent_names(incomplete: str) -> list[str]:
    """Return completions: the names of the course's agents and of all kinds, such as ``id(``."""
    from knightfall.agents import AGENT_KINDS, COURSE

    known = [name for names in COURSE.values() for name in names]
    known += [name if not kind.argument else f"{name}(" for name, kind in AGENT_KINDS.items()]
    return [name for name in dict.fromkeys(known) if name.startswith(incomplete)]


# -- stores and runs ---------------------------------------------------------------------------

LAST = "last"


def run_numbers(incomplete: str) -> list[tuple[str, str]]:
    """Return completions: the numbers of the runs in the user's store, with their agents."""
    from knightfall.arena.store import Store

    try:
        with Store.open(read_only=True) as store:
            runs = {str(info.id): some(info.names) for info in store.runs(lambda *_: None)}
    except KnightfallError:  # there is no store yet, or it cannot be read
        return []
    return [(id, who) for id, who in runs.items() if id.startswith(incomplete)]


StorePath = Annotated[
    str | None,
    typer.Option(
        "--store", metavar="FILE", help="The store of runs; by default the one in your data folder."
    ),
]
RunName = Annotated[
    str,
    typer.Argument(
        metavar="RUN",
        help="A run's number; last is the run begun last.",
        autocompletion=run_numbers,
    ),
]


def store_path(given: str | None) -> str | None:
    """Return the path that ``--store`` names; None means the user's own store."""
    if given is not None and not given.strip():
        raise KnightfallError(f"--store {given!r} is not the name of a file")
    return given


@contextmanager
def reading(given: str | None) -> Iterator[Store]:
    """Yield the store, opened for reading only."""
    from knightfall.arena.store import Store

    with Store.open(store_path(given), read_only=True) as store:
        yield store
