"""Charts of the studies' report: totals, ratings, grades, games needed, fit, resigning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Literal

from knightfall.arena.chart_style import (
    BLACK,
    BLUE,
    DASHES,
    EDGE,
    INK,
    PAPER,
    RED,
    image,
    styled,
)
from knightfall.display.numbers import count
from knightfall.studies.node_costs import BASELINE
from knightfall.studies.plans import TITLES
from knightfall.studies.published import BUDGETS
from knightfall.studies.run_results import GAPS, STUDIES_GAMES, NeededGames, Sweep, gap_words
from knightfall.studies.studies_report import StudiesLeague, StudiesReport, StudyReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAR = "#a3c2e3"
COLOURS: Mapping[str, str] = {
    "course": BLUE,
    "time": "#3f8f6b",
    "nodes": "#a8772f",
    "never": "#7a5aa6",
}
SHADES = (RED, "#c98a3a", "#5f93b8", BLUE)
"""Colours of the curves, from small differences to large ones."""

STUDY_COLOURS = (BLUE, "#3f8f6b", "#a8772f", RED, "#7a5aa6")
"""Colours of the studies, in their order."""

MARKS: Mapping[str, str] = {"course": "o", "time": "^", "nodes": "D", "never": "s"}
WIDTH = 8.2
"""Width of every chart in inches."""


def charts(report: StudiesReport) -> dict[str, tuple[str, str]]:
    """Return all charts of a report by name: the SVG, and its alternative text."""
    found: dict[str, tuple[str, str]] = {}

    def add(name: str, figure: Figure, description: str) -> None:
        found[name] = _svg(figure), description

    for study in report.studies:
        description = f"Win rates of the {study.id} study: published as dots, measured as bars"
        add(study.id, study_chart(study, report.headline), description)
    if report.league:
        add("league", league_chart(report.league), "Ratings of all heuristics at each budget")
        if report.league.correlations:
            description = "Rating of each heuristic against the oracle's grade"
            add("grades", grade_chart(report.league), description)
    if any(fit.cells for fit in report.fits):
        description = "Published win rates against those that faithful games have"
        add("calibration", calibration_chart(report), description)
        description = "How far published win rates are off, by opponent"
        add("residuals", residual_chart(report), description)
    if report.sweep:
        description = "Win rates against the time of a move, resigning and not"
        add("resigning", resigning_chart(report.sweep), description)
    if report.needed.curves:
        description = "Chance of a correct ranking against the number of games"
        add("needed-games", needed_chart(report.needed), description)
    return found


def _svg(figure: Figure) -> str:
    text = image(figure, "svg").decode("utf-8")
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _titled(title: str, height: float) -> Figure:
    """Return an empty figure with a title."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    figure.suptitle(title, x=0.01, ha="left", fontsize=10.5)
    return figure


def _figure(title: str, height: float) -> tuple[Figure, Axes]:
    """Return a figure with a title and one chart."""
    figure = _titled(title, height)
    return figure, figure.add_subplot()


def _grid(axes: Axes, axis: Literal["both", "x", "y"] = "both") -> None:
    """Draw grid lines below the data."""
    axes.grid(axis=axis)
    axes.set_axisbelow(True)


def _log_scale(axes: Axes, values: Sequence[float], text: Callable[[float], str]) -> None:
    """Make the horizontal axis logarithmic, with ticks only at `values`; `text` labels them."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    axes.set_xscale("log")
    axes.set_xticks(values)
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))


def _rows(axes: Axes, names: list[str]) -> None:
    """Label one row of the chart for each name, the first on top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    _grid(axes, "x")
    axes.spines["left"].set_visible(False)


@styled
def study_chart(study: StudyReport, headline: str) -> Figure:
    """Draw totals: a bar with its error for the headline's budget, marks for the others, and a dot
    for the published rate with the error of its few games.
    """
    rows = study.rows
    figure, axes = _figure(
        f"{study.title}: games won, in %\n"
        f"bar: measured, {TITLES[headline]}; dot: published, with the error of its games",
        1.5 + 0.36 * len(rows),
    )
    others = [budget for budget in BUDGETS if budget != headline]
    for at, row in enumerate(rows):
        if headline in row.measured:
            total = row.measured[headline].total
            axes.barh(at, total.rate, height=0.62, color=BAR, zorder=2)
            axes.plot([total.low, total.high], [at + 0.1] * 2, color=BLACK, linewidth=2.6, zorder=4)
        for budget in others:
            if budget in row.measured:
                rate = row.measured[budget].total.rate
                axes.plot(
                    [rate, rate],
                    [at - 0.31, at + 0.31],
                    color=COLOURS[budget],
                    linewidth=2,
                    zorder=3,
                )
        shown = row.published.rate
        high = at - 0.13 if row.measured else at
        axes.plot([shown.low, shown.high], [high] * 2, color=f"{RED}90", linewidth=1.4, zorder=5)
        axes.plot(shown.rate, high, "o", color=RED, markeredgecolor=PAPER, markersize=6.5, zorder=6)
        if row.not_reproducible:
            axes.text(
                shown.high + 1, at, "cannot be played again", va="center", fontsize=8, color=INK
            )
    _rows(axes, [row.heuristic for row in rows])
    base = next(row for row in rows if row.heuristic == BASELINE)
    if headline in base.measured:
        axes.axvline(
            base.measured[headline].total.rate, color=INK, linewidth=0.9, linestyle=DASHES, zorder=1
        )
    axes.set_xlim(_left(study), 100)
    axes.plot([], [], color=BLACK, linewidth=2.6, label="measured: 95 % interval")
    for budget in others:
        if any(budget in row.measured for row in rows):
            axes.plot([], [], color=COLOURS[budget], linewidth=2, label=f"at {TITLES[budget]}")
    axes.plot([], [], "o", color=RED, markeredgecolor=PAPER, label="published")
    axes.plot([], [], color=INK, linewidth=0.9, linestyle=DASHES, label=f"{BASELINE}, measured")
    figure.legend(loc="outside lower left", ncols=5, frameon=False, fontsize=8)
    return figure


def _left(study: StudyReport) -> float:
    """Return where the axis begins in %: below every bar and interval, at a multiple of 10."""
    lowest = min(
        min([row.published.rate.low, *(m.total.low for m in row.measured.values())])
        for row in study.rows
    )
    return max(0.0, 10 * (lowest // 10))


@styled
def league_chart(league: StudiesLeague) -> Figure:
    """Draw the ratings at each budget, sorted by those at the first budget."""
    budgets = [budget for budget in BUDGETS if budget in league.ratings]
    order = [row.heuristic for row in league.ratings[budgets[0]]]
    figure, axes = _figure(
        f"Elo above {BASELINE}, everyone against everyone, ± 95 %\nsorted by {TITLES[budgets[0]]}",
        1.3 + 0.27 * len(order),
    )
    for shift, budget in enumerate(budgets):
        place = {row.heuristic: row for row in league.ratings[budget]}
        rows = [place[id] for id in order]
        axes.errorbar(
            [row.elo for row in rows],
            [at + 0.2 * (shift - (len(budgets) - 1) / 2) for at in range(len(rows))],
            xerr=[row.error for row in rows],
            fmt=MARKS[budget],
            color=COLOURS[budget],
            ecolor=f"{COLOURS[budget]}70",
            elinewidth=1.3,
            markersize=4.5,
            label=TITLES[budget],
        )
    axes.axvline(0, color=INK, linewidth=0.9, linestyle=DASHES, zorder=1)
    _rows(axes, order)
    for at in range(0, len(order), 2):
        axes.axhspan(at - 0.5, at + 0.5, color=EDGE, alpha=0.25, linewidth=0, zorder=0)
    axes.set_xlabel("Elo")
    figure.legend(loc="outside lower left", ncols=4, frameon=False, fontsize=8)
    return figure


@styled
def grade_chart(league: StudiesLeague) -> Figure:
    """Draw rating against grade; the ratings are those at equal nodes if they were played."""
    budget = "nodes" if "nodes" in league.ratings else next(iter(league.ratings))
    ratings = {row.heuristic: row for row in league.ratings[budget]}
    figure, axes = _figure(
        f"Wins against the others (Elo, {TITLES[budget]}) and wins not given away (the oracle)",
        4.6,
    )
    points = []
    for grade in league.grades:
        if row := ratings.get(grade.heuristic):
            points.append((grade.kept, row.elo, grade.heuristic))
            axes.errorbar(
                grade.kept,
                row.elo,
                xerr=grade.error,
                yerr=row.error,
                fmt="o",
                markersize=4.5,
                color=COLOURS[budget],
                ecolor=f"{COLOURS[budget]}40",
                elinewidth=0.9,
            )
    points.sort()
    by_elo = sorted(points, key=lambda point: point[1])
    named = {points[0][2], points[-1][2], by_elo[0][2], by_elo[-1][2], BASELINE}
    for kept, elo, name in points:
        if name in named:
            axes.annotate(
                name, (kept, elo), xytext=(5, 5), textcoords="offset points", fontsize=8, zorder=9
            )
    found = league.correlations[budget]
    axes.set_xlabel("won positions kept won, in % of those with a real choice")
    axes.set_ylabel(f"Elo above {BASELINE}")
    axes.set_title(
        f"Spearman {found.spearman:.2f} ({found.low:.2f} to {found.high:.2f}), "
        f"Kendall {found.kendall:.2f}",
        fontsize=9,
        color=INK,
    )
    _grid(axes)
    return figure


@styled
def needed_chart(needed: NeededGames) -> Figure:
    """Draw the chance of a correct ranking against the games: a curve per true difference."""
    figure, axes = _figure(
        "How many games do I need?\nchance that the better of two heuristics comes out ahead", 4.4
    )
    for curve in needed.curves:
        axes.plot(
            needed.sizes,
            [100 * chance for chance in curve.chances],
            "o-",
            color=SHADES[[least for least, _ in GAPS].index(curve.least)],
            markersize=4,
            label=f"{gap_words(curve.least, curve.most)} ({count(curve.couples, 'couple')})",
        )
    axes.axvline(STUDIES_GAMES, color=INK, linewidth=1, linestyle=DASHES, zorder=1)
    axes.annotate(
        f"{STUDIES_GAMES} games:\none tournament",
        (STUDIES_GAMES, 52),
        xytext=(4, 0),
        textcoords="offset points",
        fontsize=8,
        color=INK,
    )
    axes.axhline(95, color=INK, linewidth=0.7, linestyle=(0, (1, 3)), zorder=1)
    _log_scale(axes, needed.sizes, lambda games: f"{games:,.0f}")
    axes.set_ylim(48, 101)
    axes.set_xlabel("games of each heuristic")
    axes.set_ylabel("ranked correctly, in %")
    _grid(axes, "y")
    axes.legend(loc="lower right", fontsize=8, title="really apart by", title_fontsize=8)
    return figure


# -- the fit, and resigning ------------------------------------------------------------


@styled
def calibration_chart(report: StudiesReport) -> Figure:
    """Draw published against predicted win rates: a dot with its standard deviation per cell."""
    figure, axes = _figure(
        "Published against predicted: games won in %, one dot for each opponent of each heuristic",
        5.6,
    )
    for study, shade in zip(report.studies, cycle(STUDY_COLOURS), strict=False):
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
    _grid(axes)
    axes.legend(loc="upper left", fontsize=8)
    return figure


@styled
def residual_chart(report: StudiesReport) -> Figure:
    """Draw deviations by opponent in standard deviations; 95 % should be between −2 and 2."""
    shown = [study for study in report.studies if study.fit and study.fit.cells]
    figure = _titled(
        "Published less predicted, in standard deviations, by opponent\n"
        "dots between the dotted lines are ordinary luck",
        1.1 + 1.55 * len(shown),
    )
    grid = figure.subplots(len(shown), 1, squeeze=False)
    for axes, study, shade in zip(grid[:, 0], shown, cycle(STUDY_COLOURS), strict=False):
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
    """Draw win rates against the time per move, with and without resigning."""
    figure, axes = _figure(
        "Whoever resigns gains nothing by searching longer: games won in %, by time of a move\n"
        "solid: playing on; dashed: resigning when every line seen is lost",
        4.4,
    )
    times = [time / 1000 for time in sweep.times]
    for column, (opponent, shade) in enumerate(zip(sweep.opponents, STUDY_COLOURS, strict=False)):
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
    _log_scale(axes, times, lambda time: f"{time:g} ms")
    axes.set_xlabel("time of a move (a student's search in plain Python, by what its steps cost)")
    axes.set_ylabel("games won, in %")
    _grid(axes, "y")
    figure.legend(loc="outside lower left", ncols=4, frameon=False, fontsize=8)
    return figure
