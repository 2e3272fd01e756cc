"""``knightfall learn fit``: heuristics from labelled positions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from knightfall.cli.options.chart import Chart, Force
from knightfall.cli.options.common import Json, at_least_one, whole
from knightfall.cli.screen.output import print_report

Data = Annotated[
    Path,
    typer.Argument(metavar="DATA", help="A folder that learn data wrote.", show_default=False),
]
Out = Annotated[
    Path, typer.Argument(metavar="OUT", help="The folder for the models.", show_default=False)
]
Kinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="linear or net; both if it is not given.",
        show_default=False,
    ),
]
Epochs = Annotated[
    int,
    typer.Option(
        "--epochs", metavar="N", parser=at_least_one, help="How often the net sees all positions."
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="S", parser=whole, help="Of the order of positions.")
]
Ablate = Annotated[
    bool, typer.Option("--ablate", help="Also fit without each group of features in turn.")
]


def fit(
    data: Data,
    out: Out,
    kind: Kinds = None,
    epochs: Epochs = 50,
    seed: Seed = 0,
    ablate: Ablate = False,
    chart: Chart = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Fit a linear model and a net to labelled positions.

    Both are judged on positions from openings that they never saw.  OUT gets learned_linear.json
    and learned_net.json, and models.py with a heuristic of each, ready to play.  A fit that was
    interrupted goes on after the last whole epoch when the same is asked again.

    \b
    Examples:
      knightfall learn fit positions models
      knightfall learn fit positions models --kind linear --ablate
      knightfall learn fit positions models --epochs 20 --chart fit.svg
    """
    from knightfall.heuristics.model_file import KINDS
    from knightfall.learning.fit.fitting import fit as learn

    if chart is not None:
        from knightfall.arena.charts.style import save, writable

        writable(chart, force)
    report = learn(data, out, kinds=kind or KINDS, epochs=epochs, seed=seed, ablate=ablate)
    if chart is not None:
        save(report.plot(), chart)
    print_report(report, json=json)
