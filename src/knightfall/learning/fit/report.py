"""What a fit has found, to print and to keep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from knightfall.display.numbers import duration
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import Table as Shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
                    f"{found['won']:.1%}",
                    f"{found['log-loss']:.4f}",
                    f"{found['log-loss of the share alone']:.4f}",
                    _number(found["area"]),
                    f"{found['right']:.1%}",
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
        from knightfall.learning.fit.plots import fit_plot

        return fit_plot(self)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
