"""Charts with a row for each agent: ratings, win rates, who beats whom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from knightfall.arena.charts.names import labels
from knightfall.arena.charts.style import (
    DOTS,
    EDGE,
    Floats,
    even_line,
    heat_map,
    page,
    remark,
    styled,
)
from knightfall.arena.results import standings
from knightfall.arena.results.tallies import Results
from knightfall.display.numbers import count
from knightfall.statistics import pairs as statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALLEST_REACH, NO_LIMIT = 100.0, 2500.0
"""Elo to either side: what an error bar may always have of the axis, and what is as good as no
limit: agents that never met."""

FEW = 12
"""Agents up to which a crosstable has large cells."""

BOLD = "bold: 50 % lies outside of the 95 % interval"


@styled
def ratings_chart(found: Results) -> Figure:
    """Everybody by rating with its 95 % error, the best on top; whoever entered twice is one."""
    plan = found.run.plan
    rated = standings.rated(plan, standings.outcomes_of(found.run))
    # The first entry of each agent.
    players = {entrant.agent: at for at, entrant in reversed([*enumerate(plan.entrants)])}
    anchored = plan.kind == "tournament"
    if anchored:
        rated = rated.anchored(0)
    order = rated.ranking(sorted(players.values()))
    names, meaning = labels([plan.entrants[at] for at in order])
    elos = np.array([rated.elo(at) for at in order])
    errors = np.array([rated.error(at) for at in order])
    figure = page(found, f"Ratings of {count(len(order), 'agent')}", 8, 1.5 + 0.27 * len(order))
    axes = figure.subplots()
    _dots(axes, names, elos, elos - errors, elos + errors)
    # One-sided results set no limit to a rating; that must not stretch the axis for all.
    reach = np.minimum(errors, max(float(np.ptp(elos)), SMALLEST_REACH))
    low, high = (elos - reach).min(), (elos + reach).max()
    margin = 0.06 * max(high - low, 20.0)
    axes.set_xlim(low - margin, high + margin)
    even_line(axes, 0, vertical=True)
    for row, (elo, error) in enumerate(zip(elos, errors, strict=True)):
        _beside(axes, row, _elo(elo, error))
    zero = f"{names[order.index(0)]} = 0" if anchored else "their mean = 0"
    axes.set_xlabel(f"Elo ({zero}), with 95 % errors")
    remark(figure, "the error of a difference is less than the sum of two errors", meaning)
    return figure


@styled
def crosstable_chart(found: Results) -> Figure:
    """Win rates of the rows against the columns, the best on top and on the left."""
    plan = found.run.plan
    rated = standings.rated(plan, standings.outcomes_of(found.run))
    order = rated.ranking(range(len(plan.entrants)))
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
    """The win rate of each test agent with its 95 % interval, and its win rates by opponent."""
    plan = found.run.plan
    tests = list(range(plan.options["tests"]))
    opponents = list(range(len(tests), len(plan.entrants)))
    rated = standings.rated(plan, standings.outcomes_of(found.run))
    rows = sorted(standings.standings(found, tests, rated), key=lambda row: (-row.rate, row.number))
    order = [row.number for row in rows]
    names, meaning = labels([plan.entrants[at] for at in order])
    others, _ = labels([plan.entrants[at] for at in opponents], 24)
    width = max(1.3, 0.5 * len(opponents))
    title = f"{count(len(order), 'test agent')} against {count(len(opponents), 'opponent')}"
    figure = page(found, title, 5.8 + width, 2.6 + 0.34 * len(tests))
    whole, each = figure.subplots(1, 2, width_ratios=[3.2, width])
    _dots(whole, names, *(100 * np.array([[row.rate, row.low, row.high] for row in rows]).T))
    even_line(whole, 50, vertical=True)
    for at, row in enumerate(rows):
        _beside(whole, at, f"{100 * row.rate:.1f}")
    whole.set_xlabel("per cent won, with 95 % intervals")
    whole.set_title("all opponents")
    heat_map(each, *win_rates(found, order, opponents), 8.5)
    each.set_yticks([])
    middles = np.arange(len(opponents)) + 0.5
    each.set_xticks(middles, others, rotation=40, ha="right", rotation_mode="anchor")
    each.set_title("each opponent")
    remark(figure, BOLD, meaning)
    return figure


def win_rates(
    found: Results, rows: Sequence[int], columns: Sequence[int]
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Per cent that some entrants won against others, and where that is surely not 50.

    nan where two did not meet.
    """
    row_of = {entrant: at for at, entrant in enumerate(rows)}
    column_of = {entrant: at for at, entrant in enumerate(columns)}
    pairs = np.zeros((len(rows), len(columns), 3), int)
    for match in found.matches:
        if match.a in row_of and match.b in column_of:
            pairs[row_of[match.a], column_of[match.b]] += match.pairs
        if match.b in row_of and match.a in column_of:
            pairs[row_of[match.b], column_of[match.a]] += match.pairs[::-1]
    rates = np.full(pairs.shape[:2], np.nan)
    sure = np.zeros(pairs.shape[:2], np.bool_)
    for row, column in np.argwhere(pairs.any(2)):
        lost, split, won = (int(count) for count in pairs[row, column])
        verdict = statistics.of_pairs((lost, 0, split, 0, won))
        rates[row, column] = 100 * verdict.score
        sure[row, column] = not verdict.low <= 0.5 <= verdict.high
    return rates, sure


# -- marks -------------------------------------------------------------------------------------


def _dots(axes: Axes, names: Sequence[str], values: Floats, low: Floats, high: Floats) -> None:
    """A named dot with its error bar for each row, the first on top."""
    rows = np.arange(len(names))
    axes.errorbar(values, rows, xerr=[values - low, high - values], **DOTS)
    axes.set_yticks(rows, names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(color=EDGE)
    axes.set_axisbelow(True)


def _beside(axes: Axes, row: int, text: str) -> None:
    """A number to the right of a row."""
    axes.text(1.02, row, text, transform=axes.get_yaxis_transform(), va="center")


def _elo(elo: float, error: float) -> str:
    value = f"{elo:+.0f}".replace("-", "−") if round(elo) else "0"
    if not error:
        return value
    return f"{value} ± ∞" if error >= NO_LIMIT else f"{value} ± {error:.0f}"
