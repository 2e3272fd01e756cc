"""``knightfall runs``: the runs in a store, listed, reported, drawn, exported and deleted.

The commands about single games, `games` and `replay`, are in `games.py`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from knightfall.cli.commands.games import games, replay
from knightfall.cli.help_format import PlainGroup, command_group
from knightfall.cli.options import (
    LAST,
    Force,
    Json,
    RunName,
    StorePath,
    reading,
    store_path,
)
from knightfall.cli.terminal import BAD_INPUT, print_json, print_line, say
from knightfall.display.numbers import count, some
from knightfall.display.progress import progress
from knightfall.errors import KnightfallError, nearest

if TYPE_CHECKING:
    from knightfall.arena.store import RunInfo


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
    A damaged run is not listed: a line names it, and the exit code is 2.

    \b
    Examples:
      knightfall runs
      knightfall runs list --store course.sqlite --json
    """
    from knightfall.arena.reports import RunList
    from knightfall.display.report import print_parts

    refused: list[tuple[int, str]] = []
    with reading(store) as opened:
        found = opened.runs(lambda id, error: refused.append((id, str(error))))
        path = opened.file.path
    if json:
        print_json({"store": str(path), **RunList(found, refused).to_dict()})
    elif found:
        print_parts(RunList(found).parts())
    elif not refused:
        raise KnightfallError(f"no runs yet in {path}")
    for line in RunList((), refused).refusals():
        say(f"knightfall: {line}")
    if refused:
        raise typer.Exit(BAD_INPUT)


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
    from knightfall.arena.stored_games import find_run
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
    from knightfall.arena.stored_games import find_run

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
    path = Path(os.path.expanduser(output))
    if output.endswith("/") or path.is_dir() or not path.suffix:
        return path, None
    format_of(path)
    return path.parent, path


# -- export -----------------------------------------------------------------------------------


Format = Annotated[
    str, typer.Option("--format", metavar="F", help="Format: csv, jsonl, parquet or text.")
]
ExportOutput = Annotated[
    Path | None,
    typer.Option("--output", metavar="FILE", help="Write to this file instead of stdout."),
]


def export(
    run: RunName = LAST,
    *,
    format: Format,
    output: ExportOutput = None,
    force: Force = False,
    store: StorePath = None,
) -> None:
    """Write a run to a file for other programs.

    csv has a line per game; parquet the same with the numbers of every move, and needs --output;
    jsonl has a line per pair and everything that is stored: knightfall runs import reads it back;
    text has tags and numbered moves, for people.

    \b
    Examples:
      knightfall runs export --format csv > games.csv
      knightfall runs export 3 --format jsonl --output run3.jsonl
      knightfall runs export 3 --format parquet --output run3.parquet
    """
    from knightfall.arena.export_run import FORMATS, export_lines, export_parquet
    from knightfall.arena.stored_games import find_run
    from knightfall.user_folders import atomic_writer, check_output

    if format not in FORMATS:
        raise KnightfallError(
            f"--format {format!r} is not one of {', '.join(FORMATS)}{nearest(format, FORMATS)}"
        )
    if format == "parquet" and output is None:
        raise KnightfallError("--format parquet needs a file: add --output FILE")
    if output is not None:
        check_output(output, force=force)
    with reading(store) as opened:
        found = find_run(opened, run)
        if output is None:
            sys.stdout.writelines(export_lines(found, format))
            return
        with progress("pairs", found.played) as tell, atomic_writer(output) as file:
            if format == "parquet":
                export_parquet(found, file, tell)
            else:
                file.writelines(line.encode() for line in export_lines(found, format, tell))


# -- import -----------------------------------------------------------------------------------


RunFileName = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="A file that the command 'runs export --format jsonl' has written."
    ),
]
Again = Annotated[
    bool, typer.Option("--again", help="Add the run even if the same run is in the store.")
]


def import_(
    file: RunFileName, again: Again = False, store: StorePath = None, json: Json = False
) -> None:
    """Add a run from a file to the store.

    Every game is replayed first; if anything is wrong with one of them, nothing is stored.  To
    continue a run that was not finished, repeat the command that began it.

    \b
    Examples:
      knightfall runs import run3.jsonl
      knightfall runs import run3.jsonl --store course.sqlite
    """
    from knightfall.arena.import_run import RunFile, import_run
    from knightfall.arena.store import Store

    expected = RunFile(file).head.pairs
    with Store.open(store_path(store)) as opened:
        with progress("pairs", expected) as tell:
            run = import_run(opened, file, again=again, on_progress=tell)
        names = [entrant.name for entrant in run.plan.entrants]
        pairs, id = run.played, run.id
    if json:
        print_json({"run": id, "pairs": pairs})
    else:
        print_line(f"Run {id}: {run.plan.kind} of {some(names)}, {count(pairs, 'pair')}.")


# -- backup -----------------------------------------------------------------------------------


CopyName = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="The file to write the backup to.", show_default=False),
]


def backup(
    file: CopyName, force: Force = False, store: StorePath = None, json: Json = False
) -> None:
    """Copy the whole store to a file.

    SQLite makes the copy, which is complete even while runs are being played or after one was
    killed.  The copy is a store: read it with --store FILE, or use it to replace a lost one.

    \b
    Examples:
      knightfall runs backup arena-monday.sqlite
      knightfall runs backup /mnt/usb/course.sqlite --store course.sqlite --force
    """
    from knightfall.arena.export_run import back_up
    from knightfall.arena.store import Store

    with reading(store) as opened, progress() as shown:
        source = opened.file.path
        target = back_up(
            opened,
            file,
            force=force,
            on_progress=lambda left, of: shown.say(f"{of - left:,} of {of:,} pages copied"),
        )
    with Store.open(target, read_only=True) as copy:
        damaged: list[int] = []
        runs = copy.runs(lambda id, _: damaged.append(id))
    if damaged:
        damage = count(len(damaged), "damaged run")
        say(f"knightfall: {damage} also copied as it is, and not counted")
    games = 2 * sum(info.played for info in runs)
    size = target.stat().st_size
    if json:
        facts = {"store": str(source), "file": str(target), "runs": len(runs), "games": games}
        print_json({**facts, "bytes": size})
    else:
        told = f"{count(len(runs), 'run')}, {count(games, 'game')}, {size / 1e6:,.1f} MB"
        print_line(f"{told} copied to {target}")


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
    from knightfall.arena.stored_games import find_run

    with reading(store) as opened:  # reading never creates a store that is missing
        if yes and run.isdecimal():  # a damaged run cannot be looked up, but deleted
            id = int(run)
        else:
            id = find_run(opened, run).id
            info = next(info for info in opened.runs(lambda *_: None) if info.id == id)
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
