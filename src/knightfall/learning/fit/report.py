"""How good fitted models are on positions from openings that they never saw."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from knightfall.display.numbers import duration, percent
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import Table as Shown
from knightfall.learning.fit.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PHASES = ((0.0, 0.3), (0.3, 0.45), (0.45, 0.6), (0.6, 0.75), (0.75, 1.0))
BINS = 10

Odds = npt.NDArray[np.float64]


def judged(odds: Odds, table: Table) -> dict[str, Any]:
    """Log-loss, the area under the ROC curve, both by phase, and calibration."""
    rows = {
        f"{low:.0%}–{high:.0%} open": _measures(odds[chosen], table.wins[chosen])
        for low, high in PHASES
        if (chosen := (table.phase >= low) & (table.phase < high)).sum() > 1
    }
    return {
        **_measures(odds, table.wins),
        "by phase": rows,
        "calibration": _calibration(odds, table.wins),
    }


def _measures(odds: Odds, wins: npt.NDArray[np.float32]) -> dict[str, Any]:
    from sklearn.metrics import roc_auc_score

    share = float(wins.mean())
    # log(1 + exp(x)) without overflow
    loss = float(np.mean(np.logaddexp(0, odds) - wins * odds))
    known = -(share * np.log(share) + (1 - share) * np.log1p(-share)) if 0 < share < 1 else 0.0
    return {
        "positions": len(wins),
        "won": share,
        "log-loss": loss,
        "log-loss of the share alone": float(known),
        "area": float(roc_auc_score(wins, odds)) if 0 < share < 1 else None,
        "right": float(((odds > 0) == (wins > 0.5)).mean()),
    }


def _calibration(odds: Odds, wins: npt.NDArray[np.float32]) -> list[dict[str, float]]:
    """In ten equal groups by what was predicted: the mean prediction and what came true."""
    order = np.argsort(odds, kind="stable")
    found = []
    for group in np.array_split(order, BINS):
        if len(group):
            said = 1 / (1 + np.exp(-odds[group]))
            found.append(
                {
                    "predicted": float(said.mean()),
                    "won": float(wins[group].mean()),
                    "positions": len(group),
                }
            )
    return found


# -- the report -------------------------------------------------------------------------------


Judged = dict[str, Any]


@dataclass
class FitReport(Displayable):
    """Every model by kind and view: how it did on the openings it never saw."""

    data: str
    folder: str
    seed: int
    judged: dict[str, dict[str, Judged]] = field(default_factory=dict)
    curves: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    ablations: dict[str, dict[str, float]] = field(default_factory=dict)
    seconds: float = 0.0

    def parts(self) -> Iterator[Part]:
        """The tables of losses, phases and ablations."""
        yield Heading("On positions from openings that were not trained on")
        columns = [
            "model",
            "view",
            "positions",
            "won",
            "log-loss",
            "by the share",
            "area",
            "right",
        ]
        table = Shown(columns)
        for kind, views in self.judged.items():
            for view, found in views.items():
                table.add(
                    kind,
                    view,
                    f"{found['positions']:,}",
                    percent(found["won"]),
                    f"{found['log-loss']:.4f}",
                    f"{found['log-loss of the share alone']:.4f}",
                    _number(found["area"]),
                    percent(found["right"]),
                )
        yield table
        if self.ablations:
            yield ""
            yield Heading("Without a group of features, the linear model's log-loss")
            seen = list(next(iter(self.ablations.values())))
            without = Shown(["left out", *seen])
            for group, losses in self.ablations.items():
                without.add(group, *(f"{losses[view]:.4f}" for view in seen))
            yield without
        yield ""
        yield f"Written to {self.folder} in {duration(self.seconds)}."

    def to_dict(self) -> dict[str, Any]:
        """All of it, with calibration and curves."""
        return {
            "data": self.data,
            "seed": self.seed,
            "judged": self.judged,
            "curves": self.curves,
            "ablations": self.ablations,
            "seconds": self.seconds,
        }

    def plot(self) -> Figure:
        """Curves of the loss, and how far predictions come true."""
        from knightfall.learning.plots import fit_plot

        return fit_plot(self)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
