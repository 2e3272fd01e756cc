"""``knightfall runs export``, ``import`` and ``backup``: runs to files and back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from knightfall.cli.options import Json, RunName, StorePath, find_run, reading, some, store_path
from knightfall.cli.terminal import print_json, print_line
from knightfall.errors import KnightfallError, nearest

Format = Annotated[
    str, typer.Option("--format", metavar="F", help="Format: csv, jsonl, parquet or text.")
]
Output = Annotated[
    Path | None,
    typer.Option("--output", metavar="FILE", help="Write to this file instead of stdout."),
]
Overwrite = Annotated[bool, typer.Option("--force", help="Replace a file that exists.")]


def export(
    run: RunName = "last",
    *,
    format: Format,
    output: Output = None,
    force: Overwrite = False,
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
    from knightfall.display.progress import progress
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
    from knightfall.display.progress import progress

    expected = RunFile(file).head.pairs
    with Store.open(store_path(store)) as opened:
        with progress("pairs", expected) as tell:
            run = import_run(opened, file, again=again, on_progress=tell)
        names = [entrant.name for entrant in run.plan.entrants]
        pairs, id = run.played, run.id
    if json:
        print_json({"run": id, "pairs": pairs})
    else:
        word = "pair" if pairs == 1 else "pairs"
        print_line(f"Run {id}: {run.plan.kind} of {some(names)}, {pairs:,} {word}.")


# -- backup -----------------------------------------------------------------------------------


CopyName = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="The file to write the backup to.", show_default=False),
]


def backup(
    file: CopyName, force: Overwrite = False, store: StorePath = None, json: Json = False
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
    from knightfall.display.numbers import count
    from knightfall.display.progress import progress

    with reading(store) as opened, progress() as shown:
        source = opened.file.path
        target = back_up(
            opened,
            file,
            force=force,
            on_progress=lambda left, of: shown.say(f"{of - left:,} of {of:,} pages copied"),
        )
    with Store.open(target, read_only=True) as copy:
        runs = copy.runs()
    games = 2 * sum(info.played for info in runs)
    size = target.stat().st_size
    if json:
        facts = {"store": str(source), "file": str(target), "runs": len(runs), "games": games}
        print_json({**facts, "bytes": size})
    else:
        told = f"{count(len(runs), 'run')}, {count(games, 'game')}, {size / 1e6:,.1f} MB"
        print_line(f"{told} copied to {target}")
