"""Charts along an axis: how a match went on, and how win rates depend on the budget."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from knightfall.arena.charts.names import labels
from knightfall.arena.charts.style import (
    BLUE,
    DASHES,
    DOTS,
    INK,
    PAPER,
    RED,
    even_line,
    page,
    remark,
    styled,
)
from knightfall.arena.results.stopping import test_of
from knightfall.arena.results.tallies import Results
from knightfall.arena.worth.worth import Level, Measure, levels
from knightfall.display.numbers import count
from knightfall.statistics import pairs as statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 400
"""Points of a curve that needs no more."""

# -- a match -----------------------------------------------------------------------------------


@styled
def llr_chart(found: Results) -> Figure:
    """The path of a sequential test between its two bounds."""
    test = test_of(found.run.plan)
    assert test is not None
    path = [test.llr(counts) for counts in found.prefixes(0)]
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
    """The share of games that A has won so far, with its 95 % interval."""
    stood = found.prefixes(0)
    last = len(stood) - 1
    at = np.unique(np.linspace(min(1, last), last, POINTS).astype(int))
    share = np.array([statistics.of_pairs(stood[pairs]).score for pairs in at]) * 100
    band = np.array([statistics.rate_interval(stood[pairs]) for pairs in at]) * 100
    title, meaning = _against(found)
    figure = page(found, title, 8, 4.2)
    axes = figure.subplots()
    axes.fill_between(at, band[:, 0], band[:, 1], color=BLUE, alpha=0.18, linewidth=0)
    axes.plot(at, share, color=BLUE, linewidth=1.5)
    low, high = band[-1]
    axes.errorbar(at[-1], share[-1], yerr=[[share[-1] - low], [high - share[-1]]], **DOTS)
    even_line(axes, 50)
    # What the first few pairs leave open is not worth half of the picture.
    later = band[at >= min(10, last)]
    _share_axis(axes, later[:, 0].min(), later[:, 1].max())
    _pairs_axis(axes, last)
    axes.set_title(
        f"{share[-1]:.1f} % ({low:.1f}–{high:.1f}) of the games won after {count(last, 'pair')}"
    )
    # Wald's test stops on a good run of one side.
    stopped = "stopped by a test, which flatters the winner" if _stopped(found) else ""
    remark(figure, "shaded: 95 % interval after so many pairs", stopped, meaning)
    return figure


# -- budgets -----------------------------------------------------------------------------------


@styled
def worth_chart(found: Results) -> Figure:
    """A's win rates over budgets: equal nodes on the left, equal time on the right."""
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
    """Draw win rates over budgets; returns the lowest and the highest end of their intervals."""
    rows = []
    for level in at:
        lost, split, won = found.matches[level.match].pairs
        verdict = statistics.of_pairs((lost, 0, split, 0, won))
        rows.append((100 * verdict.score, 100 * verdict.low, 100 * verdict.high))
    rate, low, high = np.array(rows).T
    amounts = [level.amount for level in at]
    axes.plot(amounts, rate, ":", color=BLUE, linewidth=1)
    axes.errorbar(amounts, rate, yerr=[rate - low, high - rate], **DOTS)
    return float(low.min()), float(high.max())


def _budget_axis(axes: Axes, at: list[Level]) -> None:
    """A logarithmic axis that names the budgets, as many as there is room for."""
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
    if level.measure == "time":
        value = level.amount / 1000
        return f"{value:g} ms" if value < 1000 else f"{value / 1000:g} s"
    return f"{level.amount:,}"


# -- marks -------------------------------------------------------------------------------------


def _against(found: Results) -> tuple[str, str]:
    (a, b), meaning = labels(found.run.plan.entrants, 80)
    return f"{a} against {b}", meaning


def _stopped(found: Results) -> bool:
    return test_of(found.run.plan) is not None and found.run.finished is not None


def _pairs_axis(axes: Axes, last: int) -> None:
    axes.set(xlim=(0, max(1.02 * last, 1.0)), xlabel="pairs")
    axes.locator_params(axis="x", integer=True)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="x")


def _share_axis(axes: Axes, low: float, high: float) -> None:
    """Per cent, with 50 always in sight."""
    low, high = min(low, 45.0), max(high, 55.0)
    margin = 0.05 * (high - low)
    axes.set_ylim(max(-2.0, low - margin), min(102.0, high + margin))
    axes.set_ylabel("per cent won")
