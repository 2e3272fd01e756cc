"""How good a model is on positions from openings that it never saw."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.learning.fit.tables import Table

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
