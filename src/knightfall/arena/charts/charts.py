"""Charts of runs: each takes the results of a run and gives a matplotlib figure.

::

    found = results(run)
    for name in fitting(found):
        save(draw(name, found), Path(f"{name}.svg"))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from knightfall.arena.charts.paths import llr_chart, score_chart, worth_chart
from knightfall.arena.charts.style import format_of, save
from knightfall.arena.charts.tables import crosstable_chart, ratings_chart, tournament_chart
from knightfall.arena.results.stopping import test_of
from knightfall.arena.results.tallies import Results
from knightfall.errors import KnightfallError, nearest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHARTS: dict[str, Callable[[Results], Figure]] = {
    "ratings": ratings_chart,
    "crosstable": crosstable_chart,
    "llr": llr_chart,
    "score": score_chart,
    "tournament": tournament_chart,
    "worth": worth_chart,
}
"""By the names that ``knightfall plot --kind`` knows."""

_OF_KIND = {
    "league": ("ratings", "crosstable"),
    "match": ("score",),
    "tournament": ("tournament", "ratings"),
    "worth": ("worth",),
}


def fitting(found: Results) -> tuple[str, ...]:
    """The charts that a run can be shown by, the most telling one first."""
    plan = found.run.plan
    charts = _OF_KIND.get(plan.kind, ())
    return ("llr", *charts) if test_of(plan) is not None else charts


def checked(found: Results, name: str | None = None) -> tuple[str, ...]:
    """The chart of that name, or all that fit; an error if there is nothing to draw."""
    fit = fitting(found)
    run, kind = found.run.id, found.run.plan.kind
    if name is not None and name not in CHARTS:
        raise KnightfallError(
            f"no chart {name!r}: accepted are {', '.join(CHARTS)}{nearest(name, CHARTS)}"
        )
    if name is not None and name not in fit:
        without = " without a sequential test" if (kind, name) == ("match", "llr") else ""
        raise KnightfallError(
            f"run {run} is a {kind}{without}, which the chart {name!r} does not fit: "
            f"{' and '.join(fit) or 'none'} can be drawn"
        )
    if not fit:
        raise KnightfallError(f"run {run} is a {kind}: there are no charts of that")
    if not found.played:
        raise KnightfallError(f"run {run} has no games yet: there is nothing to draw")
    return fit if name is None else (name,)


def draw(name: str, found: Results) -> Figure:
    """A chart by its name; an error if there is none or it does not fit the run."""
    (name,) = checked(found, name)
    return CHARTS[name](found)


__all__ = [
    "CHARTS",
    "checked",
    "crosstable_chart",
    "draw",
    "fitting",
    "format_of",
    "llr_chart",
    "ratings_chart",
    "save",
    "score_chart",
    "tournament_chart",
    "worth_chart",
]
