"""The linear model: logistic regression over features whose weights are smooth in the phase."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from knightfall.heuristics.features import NUMBER
from knightfall.heuristics.model_file import POWERS, Floats, Model
from knightfall.learning.fit.tables import Scale, Table

STRENGTH = 0.3
"""How freely weights may grow (scikit-learn's C)."""
MOST_ROWS = 250_000
"""Some two hundred weights are known well enough from so many."""


def powers(features: Floats, phase: Floats) -> Floats:
    """Each feature, and the number 1, times each power of the phase; all features first."""
    share = phase[:, None]
    parts = [features * share**power for power in range(POWERS)]
    found: Floats = np.hstack([*parts, *(share**power for power in range(1, POWERS))])
    return found


def fit_linear(
    table: Table, seed: int, rows: int = MOST_ROWS, gone: Sequence[int] = ()
) -> dict[str, Floats]:
    """The arrays of a model of one view, from so many rows of its table at most.

    Some features may be taken for gone, by their numbers.
    """
    from sklearn.linear_model import LogisticRegression

    chosen = np.random.default_rng(seed).permutation(len(table))[:rows]
    features, wins, phase = table.features[chosen], table.wins[chosen], table.phase[chosen]
    features[:, gone] = 0
    scale = Scale.of(features)
    # Newton's method: a step is dear, but with far more rows than weights a dozen of them do.  In
    # double precision, for some features are nearly sums of others.
    model = LogisticRegression(C=STRENGTH, solver="newton-cholesky")
    model.fit(powers(scale.applied(features), phase).astype(np.float64), wins)
    return _arrays(model.coef_[0], float(model.intercept_[0]), scale)


def both_sides(hunter: dict[str, Floats], waits: dict[str, Floats]) -> Model:
    """All views of a game in which one wins what the other loses: the runner's are the hunter's.

    A line that is to tell the runner's chances in practice plays worse than one of the truth.
    """
    return {
        "hunter": hunter,
        "hunter waits": waits,
        "runner": {name: -array for name, array in waits.items()},
        "runner waits": {name: -array for name, array in hunter.items()},
    }


def _arrays(found: npt.NDArray[np.float64], intercept: float, scale: Scale) -> dict[str, Floats]:
    """The weights of unscaled features."""
    weights = found[: POWERS * NUMBER].reshape(POWERS, NUMBER) / scale.spread
    bias = np.array([intercept, *found[POWERS * NUMBER :]]) - (weights * scale.mean).sum(axis=1)
    return {"weights": weights.astype(np.float32), "bias": bias.astype(np.float32)}


def predict_linear(arrays: dict[str, Floats], table: Table) -> npt.NDArray[np.float64]:
    """The log-odds by the arrays, in double precision."""
    features, phase = table.features.astype(np.float64), table.phase.astype(np.float64)
    total = np.zeros(len(table))
    for power in range(POWERS):
        part = features @ arrays["weights"][power].astype(np.float64) + arrays["bias"][power]
        total += part * phase**power
    return total
