"""``knightfall runs``: the runs in a store, listed, reported, drawn and deleted.

`games`, `replay`, `export`, `import_` and `backup` have modules of their own.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.cli.commands.export import backup, export, import_
from knightfall.cli.commands.games import games
from knightfall.cli.commands.replay import replay
from knightfall.cli.help_format import PlainGroup, command_group
from knightfall.cli.options import (
    FEW,
    LAST,
    Json,
    RunName,
    StorePath,
    find_run,
    reading,
    some,
    store_path,
)
from knightfall.cli.terminal import print_json, print_line, say
from knightfall.display.numbers import count
from knightfall.display.term_explanations import legend
from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from knightfall.arena.store import RunInfo


HASH = 7
"""Number of shown characters of a file's hash."""


class RunsGroup(PlainGroup):
    """The commands of ``knightfall runs``, which lists the runs if no command is given."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line, with ``list`` in the place of a missing command."""
        missing = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
        if missing and not ctx.resilient_parsing:  # it is set by shell completion
            args = ["list", *args]
        return super().parse_args(ctx, args)


runs = command_group(
    "runs",
    """List stored runs; show, replay, plot, export or delete one.

    A run is everything that one command played: a match, a tournament, a league.  It is made of
    pairs: two games from one opening, with the seats swapped.

    \b
    Examples:
      knightfall runs
      knightfall runs show 3
      knightfall runs games 3 --limit 10
      knightfall runs replay 3.17.0
    """,
    cls=RunsGroup,
)


# -- list -------------------------------------------------------------------------------------


def list_runs(store: StorePath = None, json: Json = False) -> None:
    """List the runs in the store.

    A run is not finished while it is being played, or after it was stopped: to continue it, repeat
    the command that began it.  Submissions of the course are named with their paths and clocks.  If
    runs of the same agents differ in a file of yours, a short hash of that file tells them apart.

    \b
    Examples:
      knightfall runs
      knightfall runs list --store course.sqlite --json
    """
    from knightfall.display.report import print_parts
    from knightfall.display.table import Lines, Table

    with reading(store) as opened:
        found, path = opened.runs(), opened.file.path
    if json:
        print_json({"store": str(path), "runs": [_as_json(info) for info in found]})
        return
    if not found:
        raise KnightfallError(f"no runs yet in {path}")
    table = Table(["run", "kind", "agents", "outcome", "board", "pairs", "begun"], labels=4)
    for info in found:
        pairs = f"{info.played:,}" if info.finished else f"{info.played:,}/{info.total:,}"
        board = info.board.replace("x", "×")
        outcome = (info.verdict or "finished") if info.finished else "not finished"
        agents = Lines([some(info.names) + _edition(info, found), *_submissions(info)])
        table.add(str(info.id), info.kind, agents, outcome, board, pairs, _here(info.created))
    print_parts([table, "", legend("pair")])


def _as_json(info: RunInfo) -> dict[str, Any]:
    from knightfall.agents import submissions

    return {**asdict(info), "submissions": [one._asdict() for one in submissions(info.agents)]}


def _submissions(info: RunInfo) -> list[str]:
    """Return the paths of the first few submissions that have other names, one a line."""
    from knightfall.agents import submissions

    named = zip(info.names, info.agents, strict=True)
    found = [str(one) for one in submissions(agent for name, agent in named if name != agent)]
    more = [f"and {count(len(found) - FEW, 'more submission')}"] if len(found) > FEW else []
    return found[:FEW] + more


def _edition(info: RunInfo, found: Sequence[RunInfo]) -> str:
    """Return names and hashes of the run's files that differ in other runs of the same agents."""
    others = [other.files for other in found if other.names == info.names]
    edited = [
        f"{PurePath(path).name} {hash[:HASH]}"
        for path, hash in info.files.items()
        if any(files.get(path, hash) != hash for files in others)
    ]
    return f" ({', '.join(edited)})" if edited else ""


def _here(time: str) -> str:
    """Return a stored time in the local time zone, with the year if it is not the current one."""
    from datetime import datetime

    try:
        here = datetime.fromisoformat(time).astimezone()
    except ValueError:
        return time
    this_year = here.year == datetime.now().year
    return here.strftime("%d %b %H:%M" if this_year else "%d %b %Y")


# -- show -------------------------------------------------------------------------------------


def show(run: RunName = LAST, store: StorePath = None, json: Json = False) -> None:
    """Show the report of a run.

    This works while the run is being played, too.

    \b
    Examples:
      knightfall runs show
      knightfall runs show 3 --json
    """
    from knightfall.arena.reports import report_on
    from knightfall.cli.terminal import print_report

    with reading(store) as opened:
        print_report(report_on(find_run(opened, run)), json=json)


# -- plot -------------------------------------------------------------------------------------


Kind = Annotated[
    str | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="Chart to draw: ratings, crosstable, llr, score, tournament or worth; by default "
        "every chart that the run has.",
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="PATH",
        help="A file for one chart, ending in .svg, .png or .pdf; or a folder for files such as "
        "run-7-ratings.svg. By default the current folder.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]


def plot(
    run: RunName = LAST,
    kind: Kind = None,
    output: Output = None,
    force: Force = False,
    store: StorePath = None,
    json: Json = False,
) -> None:
    """Draw a run as SVG, PNG or PDF.

    The charts are: ratings and crosstable of a league; score of a match after each pair; llr, the
    log-likelihood ratio of a sequential test; tournament; and worth of a heuristic.

    \b
    Examples:
      knightfall runs plot
      knightfall runs plot 7 --kind crosstable --output league.pdf
      knightfall runs plot last --output charts/ --force
    """
    from knightfall.arena.chart_style import save, writable
    from knightfall.arena.charts import charts_to_draw, draw
    from knightfall.arena.results import results

    folder, file = _split(output)
    with reading(store) as opened:
        found = results(find_run(opened, run))
        wanted = charts_to_draw(found, kind)
        files = {name: file or folder / f"run-{found.run.id}-{name}.svg" for name in wanted}
        if file is not None and len(files) > 1:
            raise KnightfallError(
                f"--output {output} is one file: say which chart with --kind, {' or '.join(wanted)}"
            )
        for path in files.values():
            writable(path, force)
        for name, path in files.items():
            save(draw(name, found), path)
    if json:
        charts = [{"kind": name, "file": str(path)} for name, path in files.items()]
        print_json({"run": found.run.id, "charts": charts})
        return
    for name, path in files.items():
        print_line(f"{name}: {path}")


def _split(output: str | None) -> tuple[Path, Path | None]:
    """Return the folder of ``--output`` and, if it names a file, that file.

    It is a folder if it ends in a slash, exists as a folder, or has no suffix.  Raise
    KnightfallError for a suffix that no chart can have.
    """
    from knightfall.arena.chart_style import format_of

    if output is None:
        return Path(), None
    path = Path(output).expanduser()
    if output.endswith("/") or path.is_dir() or not path.suffix:
        return path, None
    format_of(path)
    return path.parent, path


# -- delete -----------------------------------------------------------------------------------


Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]


def delete(run: RunName, yes: Yes = False, store: StorePath = None, json: Json = False) -> None:
    """Delete a run with all its games from the store.

    It asks for confirmation on a terminal; elsewhere it needs --yes.  The number of a deleted run
    is not used again.  A run that is being played looks like one that was stopped: end the command
    that plays it first.

    \b
    Examples:
      knightfall runs delete 3
      knightfall runs delete last --yes
    """
    from knightfall.arena.store import Store

    with reading(store) as opened:  # reading never creates a store that is missing
        if yes and run.isdecimal():  # a damaged run cannot be looked up, but deleted
            id = int(run)
        else:
            id = find_run(opened, run).id
            info = next(info for info in opened.runs() if info.id == id)
            if not yes and not _confirmed(info):
                say("knightfall: nothing was deleted")
                raise typer.Exit(1)
    with Store.open(store_path(store)) as opened:
        opened.delete(id)
    if json:
        print_json({"deleted": id})
    else:
        print_line(f"Run {id} is deleted.")


def _confirmed(info: RunInfo) -> bool:
    """Ask on the terminal whether to delete a run; raise KnightfallError without a terminal."""
    if not sys.stdin.isatty():
        raise KnightfallError(
            f"run {info.id} was not deleted: there is no terminal on which to ask; add --yes"
        )
    state = "" if info.finished else ", not finished"
    what = f"{info.kind} of {some(info.names)}, {2 * info.played:,} games{state}"
    return typer.confirm(f"Delete run {info.id} ({what})?", err=True)


# -- the group --------------------------------------------------------------------------------


runs.command(name="list")(list_runs)
runs.command(name="show")(show)
runs.command(name="games")(games)
runs.command(name="replay")(replay)
runs.command(name="plot")(plot)
runs.command(name="export")(export)
runs.command(name="import")(import_)
runs.command(name="backup")(backup)
runs.command(name="delete")(delete)
