"""Charts on the fit: published against predicted, residuals, and what resigning does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knightfall.arena.charts.style import BLACK, BLUE, DASHES, INK, PAPER, RED, styled
from knightfall.studies.judging.resigning import Sweep
from knightfall.studies.report.report import StudiesReport

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 8.2
SHADES = (BLUE, "#3f8f6b", "#a8772f", RED, "#7a5aa6")
"""Of the studies, in their order."""


def _figure(title: str, height: float) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10.5)
    return figure


@styled
def calibration_chart(report: StudiesReport) -> Figure:
    """A dot for each published cell, with one standard deviation of its few games."""
    figure = _figure(
        "Published against predicted: games won in %, one dot for each opponent of each heuristic",
        5.6,
    )
    axes = figure.add_subplot()
    for study, shade in zip(report.studies, SHADES, strict=False):
        if study.fit is None or not study.fit.cells:
            continue
        cells = study.fit.cells
        axes.errorbar(
            [cell.predicted for cell in cells],
            [cell.published for cell in cells],
            yerr=[cell.error for cell in cells],
            fmt="o",
            color=shade,
            ecolor=f"{shade}30",
            markersize=4,
            markeredgecolor=PAPER,
            markeredgewidth=0.4,
            label=study.id,
        )
    axes.plot([0, 100], [0, 100], color=INK, linewidth=0.9, linestyle=DASHES, zorder=1)
    axes.set_xlim(20, 100)
    axes.set_ylim(20, 104)
    axes.set_xlabel("predicted by faithful games")
    axes.set_ylabel("published")
    axes.grid()
    axes.set_axisbelow(True)
    axes.legend(loc="upper left", fontsize=8)
    return figure


@styled
def residual_chart(report: StudiesReport) -> Figure:
    """Deviations by opponent, in standard deviations: 19 of 20 should be between −2 and 2."""
    shown = [study for study in report.studies if study.fit and study.fit.cells]
    figure = _figure(
        "Published less predicted, in standard deviations, by opponent\n"
        "dots between the dotted lines are ordinary luck",
        1.1 + 1.55 * len(shown),
    )
    grid = figure.subplots(len(shown), 1, squeeze=False)
    for axes, study, shade in zip(grid[:, 0], shown, SHADES, strict=False):
        assert study.fit is not None
        for at, opponent in enumerate(study.opponents):
            cells = [cell.z for cell in study.fit.cells if cell.opponent == opponent]
            axes.plot([at] * len(cells), cells, "o", color=f"{shade}a0", markersize=4)
            if cells:
                axes.plot(at, sum(cells) / len(cells), "_", color=BLACK, markersize=14)
        for limit in (-1.96, 1.96):
            axes.axhline(limit, color=INK, linewidth=0.7, linestyle=(0, (1, 3)))
        axes.axhline(0, color=INK, linewidth=0.7)
        axes.set_ylim(-4, 4)
        axes.set_xlim(-0.5, len(study.opponents) - 0.5)
        axes.set_xticks(range(len(study.opponents)), study.opponents, fontsize=7.5)
        axes.set_ylabel(study.id, fontsize=8)
    return figure


@styled
def resigning_chart(sweep: Sweep) -> Figure:
    """Win rate against the time of a move: whoever resigns gains little by searching longer."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    figure = _figure(
        "Whoever resigns gains nothing by searching longer: games won in %, by time of a move\n"
        "solid: playing on; dashed: resigning when every line seen is lost",
        4.4,
    )
    axes = figure.add_subplot()
    times = [time / 1000 for time in sweep.times]
    for column, (opponent, shade) in enumerate(zip(sweep.opponents, SHADES, strict=False)):
        for rows, style in ((sweep.playing_on, "-"), (sweep.resigning, "--")):
            rates = [row[column] for row in rows]
            axes.errorbar(
                times,
                [rate.rate for rate in rates],
                yerr=[
                    [rate.rate - rate.low for rate in rates],
                    [rate.high - rate.rate for rate in rates],
                ],
                fmt="o",
                linestyle=style,
                color=shade,
                ecolor=f"{shade}60",
                markersize=4.5,
                label=f"against {opponent}" if style == "-" else None,
            )
    axes.set_xscale("log")
    axes.set_xticks(times)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda time, _: f"{time:g} ms"))
    axes.set_xlabel("time of a move (a student's search in plain Python, by what its steps cost)")
    axes.set_ylabel("games won, in %")
    axes.grid(axis="y")
    axes.set_axisbelow(True)
    figure.legend(loc="outside lower left", ncols=4, frameon=False, fontsize=8)
    return figure
