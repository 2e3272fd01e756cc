"""``knightfall plot``: a run as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from knightfall.cli.options.common import Json
from knightfall.cli.options.store import LAST, RunName, StorePath, find_run, reading
from knightfall.cli.screen.output import print_json
from knightfall.errors import KnightfallError

if TYPE_CHECKING:
    from knightfall.arena.results.tallies import Results

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
        metavar="FILE",
        help="Where to write one chart; the name ends in .svg, .png or .pdf.",
    ),
]
OutputDir = Annotated[
    str,
    typer.Option("--output-dir", metavar="FOLDER", help="Where to write run-7-ratings.svg, ...."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]


def plot(
    run: RunName = LAST,
    kind: Kind = None,
    output: Output = None,
    output_dir: OutputDir = ".",
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
      knightfall plot last --output-dir charts --force
    """
    from knightfall.arena.charts.charts import checked, draw, save
    from knightfall.arena.charts.style import writable
    from knightfall.arena.results.tallies import results

    if output is not None and output_dir != ".":
        raise KnightfallError(f"--output {output} and --output-dir {output_dir}: choose one")
    with reading(store) as opened:
        found = results(find_run(opened, run))
        wanted = checked(found, kind)
        files = {name: _file(found, name, output, output_dir) for name in wanted}
        if output is not None and len(files) > 1:
            raise KnightfallError(
                f"--output {output} is one file: say which chart with --kind, {' or '.join(wanted)}"
            )
        for file in files.values():
            writable(file, force)
        for name, file in files.items():
            save(draw(name, found), file)
    if json:
        charts = [{"kind": name, "file": str(file)} for name, file in files.items()]
        print_json({"run": found.run.id, "charts": charts})
        return
    for name, file in files.items():
        print(f"{name}: {file}")


def _file(found: Results, name: str, output: str | None, folder: str) -> Path:
    if output is not None:
        return Path(output).expanduser()
    return Path(folder).expanduser() / f"run-{found.run.id}-{name}.svg"
