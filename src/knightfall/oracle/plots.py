"""Plot grades and annotations with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from knightfall.arena.chart_style import (
    BLUE,
    DOTS,
    INK,
    PAPER,
    RED,
    Floats,
    dots,
    even_line,
    page,
    remark,
    styled,
)
from knightfall.display.numbers import count
from knightfall.oracle.annotate import BAR, LABEL_EVERY
from knightfall.oracle.grade import score_range

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from knightfall.oracle.annotate import Annotation
    from knightfall.oracle.grade import Grade, Reliability
    from knightfall.statistics.rates import Share


@styled
def grade_plot(grade: Grade) -> Figure:
    """Plot the wins kept by role and phase and, if there are scores, their reliability."""
    board = f"{grade.board.width}×{grade.board.height}"
    games = count(grade.games, "game") + (f" of {grade.openings:,}" if grade.partial else "")
    source = f"{board} · {games} against itself · seed {grade.seed}"
    curve = grade.reliability if grade.reliability and grade.reliability.bins else None
    figure = page(source, f"How often {grade.player} keeps the win", 9 if curve else 5.5, 4.2)
    if curve is None:
        _wins_kept(figure.subplots(), grade)
    else:
        left, right = figure.subplots(1, 2)
        _wins_kept(left, grade)
        _reliability(right, curve)
    remark(figure, "bars: 95 % intervals (Wilson's)", "diamonds: what random moves would keep")
    return figure


def _wins_kept(axes: Axes, grade: Grade) -> None:
    """Draw how often wins were kept: a row for all decisions, for each role and each phase."""
    rows = [(name, row) for name, row in grade.wins_kept.items() if row.kept.of]
    dots(axes, [name for name, _ in rows], *_percentages([row.kept for _, row in rows]))
    chance = [100 * (row.chance or 0.0) for _, row in rows]
    places = np.arange(len(rows))
    axes.plot(chance, places, "D", color=PAPER, markeredgecolor=INK, markersize=4.5, zorder=1)
    axes.set(xlim=(-2, 102), xlabel="per cent kept")
    axes.set_title("keeps the win")


def _reliability(axes: Axes, curve: Reliability) -> None:
    """Draw the share of won positions by bin of scores, from the lowest to the highest."""
    rate, low, high = _percentages([each.won for each in curve.bins])
    places = np.arange(len(curve.bins))
    axes.plot(places, rate, ":", color=BLUE, linewidth=1)
    axes.errorbar(places, rate, yerr=[rate - low, high - rate], **DOTS)
    even_line(axes, 50)
    names = [score_range(each) for each in curve.bins]
    axes.set_xticks(places, names, rotation=40, ha="right", rotation_mode="anchor")
    axes.set(ylim=(-2, 102), ylabel="per cent really won", xlabel="score for the side to move")
    known = "" if curve.auc is None else f": AUC {curve.auc.value:.3f}"
    axes.set_title(f"score against truth{known}")


def _percentages(shares: list[Share]) -> Floats:
    """Return three rows in per cent: the rates, and the low and high ends of their intervals."""
    rows = [(share.rate or 0.0, *share.interval) for share in shares]
    return 100 * np.array(rows).reshape(-1, 3).T


@styled
def winner_plot(annotation: Annotation) -> Figure:
    """Plot the winner after every ply.

    Bars above the line mean the first player, bars below the second; a dot with its move marks each
    blunder.
    """
    plies = len(annotation.winners)
    figure = page(
        f"from {annotation.game.start.fen}", "Who was winning", max(5.0, 0.2 * plies), 2.6
    )
    axes = figure.subplots()
    for ply, winner in enumerate(annotation.winners):
        if winner is not None:
            axes.bar(ply + 0.5, 1 if winner == "w" else -1, width=1, color=BAR[winner])
    axes.axhline(0, color=INK, linewidth=0.8)
    for each in annotation.blunders:
        up = -1 if each.side == "w" else 1
        axes.plot(each.ply, 0, "o", color=RED, markeredgecolor=PAPER)
        axes.annotate(each.move, (each.ply + 0.5, 1.18 * up), ha="center", va="center", color=RED)
    axes.set(xlim=(0, plies), ylim=(-1.4, 1.4), xlabel="ply")
    named = range(0, plies, LABEL_EVERY)
    axes.set_xticks([at + 0.5 for at in named], [str(at) for at in named])
    axes.set_yticks([0.5, -0.5], ["first", "second"])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    return figure
