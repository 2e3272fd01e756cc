"""A fit as a figure: the loss by epoch, and how far predictions come true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knightfall.arena.charts.style import BLUE, RED, page, remark, styled
from knightfall.heuristics.model_file import VIEWS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from knightfall.learning.fit.report import FitReport

_COLOURS = dict(zip(VIEWS, (BLUE, "#6a98cb", RED, "#da8259"), strict=True))


@styled
def fit_plot(report: FitReport) -> Figure:
    """Two panels: training curves, and calibration of every model."""
    figure = page(f"seed {report.seed}", "What was learned from the truth", 9, 4.2)
    left, right = figure.subplots(1, 2)
    for view, curve in report.curves.items():
        epochs = range(1, len(curve["training"]) + 1)
        left.plot(epochs, curve["training"], ":", color=_COLOURS[view])
        left.plot(epochs, curve["validation"], "-", color=_COLOURS[view], label=view)
    left.set_xlabel("epoch of the net")
    left.set_ylabel("log-loss")
    if report.curves:
        left.legend(title="view")
    right.plot([0, 1], [0, 1], "-", color="0.7", linewidth=1)
    for kind, views in report.judged.items():
        for view, found in views.items():
            bins = found["calibration"]
            right.plot(
                [one["predicted"] for one in bins],
                [one["won"] for one in bins],
                "o-" if kind == "net" else "s--",
                color=_COLOURS[view],
                markersize=4,
                label=f"{kind}, {view}",
            )
    right.set_xlabel("predicted")
    right.set_ylabel("won")
    right.legend()
    remark(figure, "left: dots training, line validation", "right: ten equal groups")
    return figure
