"""The chart of evaluation costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .report import show


def draw_costs(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw the rows of `evaluation_cost` to an SVG file."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # The cost of `null` is 0 by definition, which has no logarithm.
    rows = sorted((row for row in rows if row["ns"] > 0), key=lambda row: row["ns"], reverse=True)
    studies = list(dict.fromkeys(row["study"] for row in sorted(rows, key=lambda r: r["study"])))
    with rc_context({"svg.hashsalt": "knightfall", "svg.fonttype": "none"}):
        figure = Figure(figsize=(8, 0.22 * len(rows) + 1), layout="constrained")
        axes = figure.subplots()
        for number, study in enumerate(studies):
            mine = [at for at, row in enumerate(rows) if row["study"] == study]
            bars = axes.barh(mine, [rows[at]["ns"] for at in mine], color=f"C{number}", label=study)
            axes.bar_label(bars, [f" {show(rows[at]['ns'])}" for at in mine], fontsize=7)
        axes.set_yticks(range(len(rows)), [row["heuristic"] for row in rows], fontsize=7)
        axes.set_xscale("log")
        axes.margins(x=0.1, y=0.01)
        axes.set_xlabel("nanoseconds per evaluation (logarithmic)")
        axes.legend(title="study", fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
