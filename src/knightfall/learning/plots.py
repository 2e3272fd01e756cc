"""Charts of a fit and of a tuning; importing this module loads matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knightfall.arena.chart_style import BLUE, INK, RED, even_line, page, remark, styled
from knightfall.display.numbers import interval, percent
from knightfall.heuristics.model_file import VIEWS
from knightfall.learning.weight_vectors import numbers, written

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from knightfall.learning.fitting import FitReport
    from knightfall.learning.tune_report import TuneReport


# -- a fit: the loss by epoch, and the calibration --------------------------------------------


_COLOURS = dict(zip(VIEWS, (BLUE, "#6a98cb", RED, "#da8259"), strict=True))


@styled
def fit_plot(report: FitReport) -> Figure:
    """Draw two panels: training curves, and the calibration of every model."""
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


# -- a tuning: the weights and the scores by generation ---------------------------------------


_DASHES = ("-", "--", ":", "-.")


@styled
def tune_plot(report: TuneReport) -> Figure:
    """Draw two panels: the free weights, and the candidates' scores by generation."""
    settings = report.settings
    below = f"{settings.board.replace('x', '×')} · nodes={settings.nodes} · seed {settings.seed}"
    figure = page(below, f"{written(report.settings.given)}: {report.verdict}", 9, 4.2)
    left, right = figure.subplots(1, 2)
    generations = range(len(report.steps) + 1)
    means = [settings.given, *(step.mean for step in report.steps)]
    sizes = [report.sum.sizes_of(mean) for mean in means]
    for number, one in enumerate(numbers(settings.given)[1:]):
        left.plot(
            generations,
            [at[number] for at in sizes],
            _DASHES[number // 2 % len(_DASHES)],
            color=(BLUE, RED)[number % 2],
            label=one.name,
        )
    left.axhline(0, color=INK, linewidth=0.6)
    left.set_xlabel("generation")
    left.set_ylabel("size of the weight, in those of the first term")
    left.legend()
    done = range(1, len(report.steps) + 1)
    right.plot(done, [100 * step.best for step in report.steps], ":", color=INK, label="best")
    right.plot(done, [100 * step.score for step in report.steps], color=BLUE, label="all")
    even_line(right, 50)
    right.set_xlabel("generation")
    right.set_ylabel("candidates won, %")
    right.legend()
    remark(
        figure,
        "best: the luckiest of many candidates, not an estimate",
        *(
            f"confirmed at nodes={one.nodes}: {percent(one.statistics.score)} "
            f"({interval(one.statistics.low, one.statistics.high)})"
            for one in report.confirmations
        ),
    )
    return figure
