"""Charts of runs: each function takes the results of a run and returns a matplotlib figure.

::

    found = results(run)
    for name in charts_for(found):
        save(draw(name, found), Path(f"{name}.svg"))
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from knightfall.arena.chart_style import (
    BLUE,
    DASHES,
    DOTS,
    INK,
    PAPER,
    RED,
    Floats,
    dots,
    even_line,
    heat_map,
    labels,
    page,
    remark,
    styled,
)
from knightfall.arena.chart_style import save as save
from knightfall.arena.report_statistics import pair_statistics, standings
from knightfall.arena.results import Results
from knightfall.arena.run_loop import test_of
from knightfall.arena.worth import Level, Measure, levels
from knightfall.display.numbers import count, plus_minus, signed
from knightfall.errors import KnightfallError, nearest
from knightfall.statistics import pairs as statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALLEST_REACH = 100.0
"""The length in Elo that an error bar may always have on the axis."""

FEW = 12
"""Most agents for which a crosstable has large squares."""

BOLD = "bold: 50 % lies outside of the 95 % interval"


@styled
def ratings_chart(found: Results) -> Figure:
    """Draw the ratings with 95 % errors: a row for each different agent, the best on top."""
    plan, ratings = found.run.plan, found.ratings
    # An agent that entered twice is drawn at its first entry.
    players = {entrant.agent: at for at, entrant in reversed([*enumerate(plan.entrants)])}
    anchored = plan.kind == "tournament"
    if anchored:
        ratings = ratings.anchored(0)
    order = ratings.ranking(sorted(players.values()))
    names, meaning = labels([plan.entrants[at] for at in order])
    elos = np.array([ratings.elo(at) for at in order])
    errors = np.array([ratings.error(at) for at in order])
    figure = page(found, f"Ratings of {count(len(order), 'agent')}", 8, 1.5 + 0.27 * len(order))
    axes = figure.subplots()
    dots(axes, names, elos, elos - errors, elos + errors)
    # An agent that won or lost all games has an infinite error, which must not stretch the axis.
    reach = np.minimum(errors, max(float(np.ptp(elos)), SMALLEST_REACH))
    low, high = (elos - reach).min(), (elos + reach).max()
    margin = 0.06 * max(high - low, 20.0)
    axes.set_xlim(low - margin, high + margin)
    even_line(axes, 0, vertical=True)
    for row, (elo, error) in enumerate(zip(elos, errors, strict=True)):
        _text_beside(axes, row, plus_minus(elo, error) if error else signed(elo))
    zero = f"{names[order.index(0)]} = 0" if anchored else "their mean = 0"
    axes.set_xlabel(f"Elo ({zero}), with 95 % errors")
    remark(figure, "the error of a difference is less than the sum of two errors", meaning)
    return figure


@styled
def crosstable_chart(found: Results) -> Figure:
    """Draw the win rates of the rows against the columns, the best on top and on the left."""
    plan = found.run.plan
    order = found.ratings.ranking(range(len(plan.entrants)))
    names, meaning = labels([plan.entrants[at] for at in order])
    rates, sure = win_rates(found, order, order)
    cell, letters = (0.5, 8.5) if len(order) <= FEW else (0.32, 6.5)
    side = cell * len(order)
    title = f"Win rates among {len(order)} agents"
    figure = page(found, title, max(6.0, side + 3.2), side + 1.6)
    axes = figure.subplots()
    heat_map(axes, rates, sure, letters)
    axes.set_aspect("equal")
    places = range(1, len(order) + 1)
    middles = np.arange(len(order)) + 0.5
    axes.set_yticks(middles, [f"{name}  {at}" for name, at in zip(names, places, strict=True)])
    axes.set_xticks(middles, [str(at) for at in places])
    axes.tick_params(labelbottom=False, labeltop=True)
    remark(figure, "per cent won by the row against the column", BOLD, meaning)
    return figure


@styled
def tournament_chart(found: Results) -> Figure:
    """Draw the win rate of each test agent with its 95 % interval, and its rates by opponent."""
    plan = found.run.plan
    tests = list(range(plan.options["tests"]))
    opponents = list(range(len(tests), len(plan.entrants)))
    rows = sorted(standings(found, tests, found.ratings), key=lambda row: (-row.rate, row.number))
    order = [row.number for row in rows]
    names, meaning = labels([plan.entrants[at] for at in order])
    others, theirs = labels([plan.entrants[at] for at in opponents], 24, "opponents")
    width = max(1.3, 0.5 * len(opponents))
    title = f"{count(len(order), 'test agent')} against {count(len(opponents), 'opponent')}"
    figure = page(found, title, 5.8 + width, 2.6 + 0.34 * len(tests))
    whole, each = figure.subplots(1, 2, width_ratios=[3.2, width])
    dots(whole, names, *(100 * np.array([[row.rate, row.low, row.high] for row in rows]).T))
    even_line(whole, 50, vertical=True)
    for at, row in enumerate(rows):
        _text_beside(whole, at, f"{100 * row.rate:.1f}")
    whole.set_xlabel("per cent won, with 95 % intervals")
    whole.set_title("all opponents")
    heat_map(each, *win_rates(found, order, opponents), 8.5)
    each.set_yticks([])
    middles = np.arange(len(opponents)) + 0.5
    each.set_xticks(middles, others, rotation=40, ha="right", rotation_mode="anchor")
    each.set_title("each opponent")
    remark(figure, BOLD, meaning, theirs)
    return figure


def win_rates(
    found: Results, rows: Sequence[int], columns: Sequence[int]
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the win rates of `rows` against `columns`, in per cent, and which differ from 50 %.

    A rate differs if 50 is outside its 95 % interval.  It is nan for entrants that did not meet.
    """
    rates = np.full((len(rows), len(columns)), np.nan)
    sure = np.zeros(rates.shape, np.bool_)
    for row, a in enumerate(rows):
        for column, b in enumerate(columns):
            if (a, b) in found.pairs_between:
                estimate = pair_statistics(found.pairs_between[a, b])
                rates[row, column] = 100 * estimate.score
                sure[row, column] = not estimate.low <= 0.5 <= estimate.high
    return rates, sure


# -- marks -------------------------------------------------------------------------------------


def _text_beside(axes: Axes, row: int, text: str) -> None:
    """Write a text to the right of a row."""
    axes.text(1.02, row, text, transform=axes.get_yaxis_transform(), va="center")


POINTS = 400
"""Most points of a curve."""

# -- a match -----------------------------------------------------------------------------------


@styled
def llr_chart(found: Results) -> Figure:
    """Draw the log-likelihood ratio of a sequential test between its two bounds."""
    test = test_of(found.run.plan)
    assert test is not None
    path = [test.llr(counts) for counts in found.running_counts(0)]
    last = len(path) - 1
    lower, upper = test.bounds
    title, meaning = _against(found)
    figure = page(found, title, 8, 4.5)
    axes = figure.subplots()
    axes.plot(range(len(path)), path, color=BLUE, linewidth=1.3)
    axes.plot(last, path[-1], "o", color=BLUE, markersize=6, markeredgecolor=PAPER)
    unit = "normalized Elo" if test.model == "normalized" else "Elo"
    for bound, name, elo in ((upper, "H1", test.elo1), (lower, "H0", test.elo0)):
        axes.axhline(bound, color=RED, linewidth=1.1, linestyle=DASHES)
        axes.annotate(
            f"{name}: better by {elo:g} {unit}".replace("-", "−"),
            (0, bound),
            (4, 4 if bound > 0 else -4),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            va="bottom" if bound > 0 else "top",
            color=RED,
        )
    axes.axhline(0, color=INK, linewidth=0.7)
    most, least = max(upper, *path), min(lower, *path)
    margin = 0.12 * (most - least)
    axes.set(ylim=(least - margin, most + margin), ylabel="log-likelihood ratio")
    _pairs_axis(axes, last)
    accepted = test.verdict(path[-1])
    end = f"{accepted} is accepted" if accepted else "not decided"
    axes.set_title(f"{end} after {count(last, 'pair')}: LLR {path[-1]:.2f}")
    remark(figure, meaning)
    return figure


@styled
def score_chart(found: Results) -> Figure:
    """Draw the share of games that A has won after each pair, with its 95 % interval."""
    counts = found.running_counts(0)
    last = len(counts) - 1
    at = np.unique(np.linspace(min(1, last), last, POINTS).astype(int))
    share = np.array([statistics.of_pairs(counts[pairs]).score for pairs in at]) * 100
    band = np.array([statistics.rate_interval(counts[pairs]) for pairs in at]) * 100
    title, meaning = _against(found)
    figure = page(found, title, 8, 4.2)
    axes = figure.subplots()
    axes.fill_between(at, band[:, 0], band[:, 1], color=BLUE, alpha=0.18, linewidth=0)
    axes.plot(at, share, color=BLUE, linewidth=1.5)
    low, high = band[-1]
    axes.errorbar(at[-1], share[-1], yerr=[[share[-1] - low], [high - share[-1]]], **DOTS)
    even_line(axes, 50)
    # The wide intervals of the first pairs may be cut off.
    later = band[at >= min(10, last)]
    _share_axis(axes, later[:, 0].min(), later[:, 1].max())
    _pairs_axis(axes, last)
    axes.set_title(
        f"{share[-1]:.1f} % ({low:.1f}–{high:.1f}) of the games won after {count(last, 'pair')}"
    )
    # Wald's test stops when one side is ahead, so the final share is biased.
    tested = test_of(found.run.plan) is not None and found.run.finished
    stopped = "stopped by a test, which flatters the winner" if tested else ""
    remark(figure, "shaded: 95 % interval at each number of pairs", stopped, meaning)
    return figure


# -- budgets -----------------------------------------------------------------------------------


@styled
def worth_chart(found: Results) -> Figure:
    """Draw A's win rates over budgets: equal nodes on the left, equal time on the right."""
    plan = found.run.plan
    panels: list[tuple[Measure, list[Level]]] = [
        (measure, at) for measure in ("nodes", "time") if (at := levels(plan, measure))
    ]
    a, b = (plan.options[who] for who in "ab")
    figure = page(found, f"What {a} is worth against {b}", 4.8 * max(len(panels), 1.4), 4.2)
    every = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    ends = []
    for axes, (measure, at) in zip(every, panels, strict=True):
        low, high = _rates(axes, found, at)
        ends += [low, high]
        even_line(axes, 50)
        _budget_axis(axes, at)
        equal = "equal nodes" if measure == "nodes" else "equal time: after paying for itself"
        axes.set_title(equal)
        axes.set_xlabel(f"{measure} for a move")
    _share_axis(every[0], min(ends), max(ends))
    remark(figure, f"per cent won by {a}, with 95 % intervals")
    return figure


def _rates(axes: Axes, found: Results, at: list[Level]) -> tuple[float, float]:
    """Draw win rates over budgets; return the lowest and the highest end of their intervals."""
    rows = []
    for level in at:
        verdict = pair_statistics(found.matches[level.match].pairs)
        rows.append((100 * verdict.score, 100 * verdict.low, 100 * verdict.high))
    rate, low, high = np.array(rows).T
    amounts = [level.amount for level in at]
    axes.plot(amounts, rate, ":", color=BLUE, linewidth=1)
    axes.errorbar(amounts, rate, yerr=[rate - low, high - rate], **DOTS)
    return float(low.min()), float(high.max())


def _budget_axis(axes: Axes, at: list[Level]) -> None:
    """Make the axis logarithmic and label it with budgets, as many as there is room for."""
    axes.set_xscale("log")
    amounts = [level.amount for level in at]
    margin = (amounts[-1] / amounts[0]) ** 0.08 * 1.05
    axes.set_xlim(amounts[0] / margin, amounts[-1] * margin)
    width = math.log(amounts[-1] / amounts[0] * margin**2)
    named: list[Level] = []
    for level in at:
        if not named or math.log(level.amount / named[-1].amount) > width / 10:
            named.append(level)
    axes.set_xticks([level.amount for level in named], [_short(level) for level in named])
    axes.set_xticks([level.amount for level in at], minor=True, labels=[""] * len(at))
    axes.grid(axis="x")


def _short(level: Level) -> str:
    """Return a budget as a label."""
    if level.measure == "time":
        value = level.amount / 1000
        return f"{value:g} ms" if value < 1000 else f"{value / 1000:g} s"
    return f"{level.amount:,}"


# -- marks -------------------------------------------------------------------------------------


def _against(found: Results) -> tuple[str, str]:
    """Return the title of a match's chart, and a remark that explains the names in it."""
    (a, b), meaning = labels(found.run.plan.entrants, 80)
    return f"{a} against {b}", meaning


def _pairs_axis(axes: Axes, last: int) -> None:
    """Make the x axis count pairs, from 0 to `last`."""
    axes.set(xlim=(0, max(1.02 * last, 1.0)), xlabel="pairs")
    axes.locator_params(axis="x", integer=True)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="x")


def _share_axis(axes: Axes, low: float, high: float) -> None:
    """Make the y axis show per cent, with 50 always visible."""
    low, high = min(low, 45.0), max(high, 55.0)
    margin = 0.05 * (high - low)
    axes.set_ylim(max(-2.0, low - margin), min(102.0, high + margin))
    axes.set_ylabel("per cent won")


CHARTS: dict[str, Callable[[Results], Figure]] = {
    "ratings": ratings_chart,
    "crosstable": crosstable_chart,
    "llr": llr_chart,
    "score": score_chart,
    "tournament": tournament_chart,
    "worth": worth_chart,
}
"""All charts by name, as ``knightfall runs plot --kind`` takes them."""

_OF_KIND = {
    "league": ("ratings", "crosstable"),
    "match": ("score",),
    "tournament": ("tournament", "ratings"),
    "worth": ("worth",),
}


def charts_for(found: Results) -> tuple[str, ...]:
    """Return the names of the charts of a run, the most informative first."""
    plan = found.run.plan
    charts = _OF_KIND.get(plan.kind, ())
    return ("llr", *charts) if test_of(plan) is not None else charts


def charts_to_draw(found: Results, name: str | None = None) -> tuple[str, ...]:
    """Return the names of the charts to draw: the given one, or all charts of the run.

    Raise a `KnightfallError` if the name is unknown or does not fit, or if no game was played.
    """
    fit = charts_for(found)
    run, kind = found.run.id, found.run.plan.kind
    if name is not None and name not in CHARTS:
        raise KnightfallError(
            f"unknown chart {name!r}; known: {', '.join(CHARTS)}{nearest(name, CHARTS)}"
        )
    if name is not None and name not in fit:
        without = " without a sequential test" if (kind, name) == ("match", "llr") else ""
        raise KnightfallError(
            f"run {run} is a {kind}{without}, which has no chart {name!r}; "
            f"charts that it has: {', '.join(fit) or 'none'}"
        )
    if not fit:
        raise KnightfallError(f"run {run} is a {kind}, which has no charts")
    if not found.played:
        raise KnightfallError(f"run {run} has no games yet: there is nothing to draw")
    return fit if name is None else (name,)


def draw(name: str, found: Results) -> Figure:
    """Draw the chart with this name; raise a `KnightfallError` if it does not fit the run."""
    (name,) = charts_to_draw(found, name)
    return CHARTS[name](found)
