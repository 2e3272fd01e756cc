"""A tuning as a figure: the weights and the scores, generation by generation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knightfall.arena.charts.style import BLUE, INK, RED, even_line, page, remark, styled
from knightfall.learning.tune.weights import numbers, written

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from knightfall.learning.tune.report import TuneReport

_DASHES = ("-", "--", ":", "-.")


@styled
def tune_plot(report: TuneReport) -> Figure:
    """Two panels: the free weights, and how candidates scored."""
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
        "best: of so many candidates the luckiest, and no estimate",
        *(
            f"confirmed at nodes={one.nodes}: {100 * one.statistics.score:.1f} % "
            f"({100 * one.statistics.low:.1f}–{100 * one.statistics.high:.1f})"
            for one in report.confirmations
        ),
    )
    return figure
