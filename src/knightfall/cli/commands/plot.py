"""``knightfall plot``: a run as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knightfall.cli.options.common import Json
from knightfall.cli.options.store import LAST, RunName, StorePath, find_run, reading
from knightfall.cli.screen.output import print_json, print_line
from knightfall.errors import KnightfallError

Kind = Annotated[
    str | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="ratings, crosstable, llr, score, tournament or worth; by default all that fit.",
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        metavar="PATH",
        help="A file for one chart, which ends in .svg, .png or .pdf; or a folder for "
        "run-7-ratings.svg and so on. By default, this folder.",
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

    Ratings and crosstable of a league, the course of a match, a tournament, a heuristic's worth.

    \b
    Examples:
      knightfall plot
      knightfall plot 7 --kind crosstable --output league.pdf
      knightfall plot last --output charts/ --force
    """
    from knightfall.arena.charts.charts import checked, draw, save
    from knightfall.arena.charts.style import writable
    from knightfall.arena.results.tallies import results

    folder, file = _split(output)
    with reading(store) as opened:
        found = results(find_run(opened, run))
        wanted = checked(found, kind)
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
    """Return the folder that ``--output`` means and, if it names a file, that file.

    A folder ends in a slash, exists as one, or has no ending such as ``.svg``; an ending that is
    no chart's is a KnightfallError.
    """
    from knightfall.arena.charts.style import format_of

    if output is None:
        return Path(), None
    path = Path(output).expanduser()
    if output.endswith("/") or path.is_dir() or not path.suffix:
        return path, None
    format_of(path)
    return path.parent, path
