"""``knightfall export``: a run as a file for other programs, or for another store."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from knightfall.cli.options.store import RunName, StorePath, find_run, reading
from knightfall.errors import KnightfallError, nearest

Format = Annotated[str, typer.Option("--format", metavar="F", help="csv, jsonl, parquet or text.")]
Output = Annotated[
    Path | None, typer.Option("--output", metavar="FILE", help="Write there instead.")
]
Force = Annotated[bool, typer.Option("--force", help="Write over a file that exists.")]


def export(
    run: RunName = "last",
    *,
    format: Format,
    output: Output = None,
    force: Force = False,
    store: StorePath = None,
) -> None:
    """Write a run down for other programs.

    csv has a line per game; parquet the same with the figures of every move, and needs --output;
    jsonl has a line per pair and everything that is known: knightfall import reads it back; text
    is for people: tags and numbered moves.

    \b
    Examples:
      knightfall export --format csv > games.csv
      knightfall export 3 --format jsonl --output run3.jsonl
      knightfall export 3 --format parquet --output run3.parquet
    """
    from knightfall.arena.store.export import FORMATS, export_lines, export_parquet
    from knightfall.display.progress import progress
    from knightfall.files import atomic_writer, check_output

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
