"""The two models that ``learn fit`` fits to tables of features: linear and neural net.

The target depends on the *view*, the player whose chances are estimated. For the hunter it is the
solver's truth: does it win with best play? The runner nearly always loses with best play. So its
target also counts practical chances: did it win the game that was played, against a serious hunter?

The linear model is a logistic regression whose weights are polynomials in the phase. The net has
one hidden layer and is trained with PyTorch. Its state is saved after each epoch, so an interrupted
fit continues and ends with the same weights.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.heuristics.features import FEATURES, NUMBER, RACE, describe_all, race_all
from knightfall.heuristics.model_file import POWERS, VIEWS, Floats, Model, rounded
from knightfall.kernel.neural_net import HIDDEN
from knightfall.kernel.rules import geometry
from knightfall.user_folders import atomic_write

# -- tables of features -----------------------------------------------------------------------


SEEN_BY: dict[str, tuple[tuple[str, ...], Callable[..., None]]] = {
    "linear": (FEATURES, describe_all),
    "net": (RACE, race_all),
}
"""The features of each kind of model: their names, and the function that computes them."""

LATE = 44 / 49
"""Positions with a larger open share are left out: the hunter wins nearly all of them."""


@dataclass(frozen=True)
class FeatureTable:
    """One view's positions (see `VIEWS`): features by row, whether the player wins, the phase."""

    features: Floats
    wins: Floats
    phase: Floats

    def __len__(self) -> int:
        return len(self.wins)


@dataclass(frozen=True)
class Labelled:
    """Labelled positions of one board; `serious` is true where the hunter was a strong agent."""

    open: npt.NDArray[np.uint64]
    mover: npt.NDArray[np.uint8]
    waiter: npt.NDArray[np.uint8]
    wins: npt.NDArray[np.int8]
    result: npt.NDArray[np.int8]
    serious: npt.NDArray[np.bool_]


def tables(board: Board, positions: Labelled, kind: str) -> dict[str, FeatureTable]:
    """Return one table per view (see `VIEWS`), with the features that a kind of model uses."""
    names, describe = SEEN_BY[kind]
    colour = np.array([board.colour(cell) for cell in range(board.cells)], np.int8)
    hunts = colour[positions.mover] == colour[positions.waiter]
    features = np.zeros((len(hunts), len(names)), np.float32)
    describe(
        geometry(board),
        np.ascontiguousarray(positions.open, np.uint64),
        np.ascontiguousarray(positions.mover),
        np.ascontiguousarray(positions.waiter),
        features,
    )
    phase = features[:, names.index("open cells")] / np.float32(board.cells)
    soon = phase < LATE
    wins, won, serious = positions.wins > 0, positions.result > 0, soon & positions.serious
    views = (
        (hunts & soon, wins),
        (~hunts & soon, ~wins),
        (~hunts & serious, wins | won),
        (hunts & serious, ~wins | ~won),
    )
    return {
        view: FeatureTable(features[chosen], target[chosen].astype(np.float32), phase[chosen])
        for view, (chosen, target) in zip(VIEWS, views, strict=True)
    }


def joined(parts: Iterable[dict[str, FeatureTable]]) -> dict[str, FeatureTable]:
    """Concatenate the tables of several boards."""
    listed = list(parts)
    return {
        view: FeatureTable(
            np.concatenate([part[view].features for part in listed]),
            np.concatenate([part[view].wins for part in listed]),
            np.concatenate([part[view].phase for part in listed]),
        )
        for view in VIEWS
    }


@dataclass(frozen=True)
class Scale:
    """Mean and standard deviation of each feature, to standardise a model's inputs."""

    mean: npt.NDArray[np.float64]
    spread: npt.NDArray[np.float64]

    @classmethod
    def of(cls, features: Floats) -> Scale:
        """Compute the scale of a table; a constant feature gets a standard deviation of 1."""
        spread = features.std(axis=0, dtype=np.float64)
        return cls(features.mean(axis=0, dtype=np.float64), np.where(spread < 1e-6, 1.0, spread))

    def applied(self, features: Floats) -> Floats:
        """Return features standardised by this mean and standard deviation."""
        found: Floats = ((features - self.mean) / self.spread).astype(np.float32)
        return found


# -- the linear model -------------------------------------------------------------------------


STRENGTH = 0.3
"""Inverse regularisation strength (scikit-learn's C)."""
MOST_ROWS = 250_000
"""Rows to fit at most: they determine some two hundred weights well enough."""


def powers(features: Floats, phase: Floats) -> Floats:
    """Return each feature times each power of the phase, then the powers of the phase alone."""
    share = phase[:, None]
    parts = [features * share**power for power in range(POWERS)]
    found: Floats = np.hstack([*parts, *(share**power for power in range(1, POWERS))])
    return found


def fit_linear(
    table: FeatureTable, seed: int, rows: int = MOST_ROWS, gone: Sequence[int] = ()
) -> dict[str, Floats]:
    """Fit one view's linear model (see `VIEWS`) to at most `rows` random rows; return its arrays.

    The features with the numbers in `gone` are set to 0.
    """
    from sklearn.linear_model import LogisticRegression

    chosen = np.random.default_rng(seed).permutation(len(table))[:rows]
    features, wins, phase = table.features[chosen], table.wins[chosen], table.phase[chosen]
    features[:, gone] = 0
    scale = Scale.of(features)
    # Newton's method: a step is expensive, but with far more rows than weights a dozen steps
    # suffice. In double precision, because some features are nearly sums of others.
    model = LogisticRegression(C=STRENGTH, solver="newton-cholesky")
    model.fit(powers(scale.applied(features), phase).astype(np.float64), wins)
    return _linear_arrays(model.coef_[0], float(model.intercept_[0]), scale)


def both_sides(hunter: dict[str, Floats], waits: dict[str, Floats]) -> Model:
    """Return a model of all `VIEWS`; the runner's arrays are the hunter's with opposite signs.

    A linear model fitted to the runner's practical chances plays worse than this.
    """
    return {
        "hunter": hunter,
        "hunter waits": waits,
        "runner": {name: -array for name, array in waits.items()},
        "runner waits": {name: -array for name, array in hunter.items()},
    }


def _linear_arrays(
    found: npt.NDArray[np.float64], intercept: float, scale: Scale
) -> dict[str, Floats]:
    """Return weights and biases that apply to the features before standardisation."""
    weights = found[: POWERS * NUMBER].reshape(POWERS, NUMBER) / scale.spread
    bias = np.array([intercept, *found[POWERS * NUMBER :]]) - (weights * scale.mean).sum(axis=1)
    return {"weights": weights.astype(np.float32), "bias": bias.astype(np.float32)}


def predict_linear(arrays: dict[str, Floats], table: FeatureTable) -> npt.NDArray[np.float64]:
    """Return the linear model's log-odds, in double precision."""
    features, phase = table.features.astype(np.float64), table.phase.astype(np.float64)
    total = np.zeros(len(table))
    for power in range(POWERS):
        part = features @ arrays["weights"][power].astype(np.float64) + arrays["bias"][power]
        total += part * phase**power
    return total


# -- the net ----------------------------------------------------------------------------------


BATCH, FASTEST = 2048, 8e-3
"""Positions in a training step, and the highest learning rate."""
LEAST_STEPS = 50
"""Steps in an epoch at least; small tables use smaller batches."""


@dataclass
class LossCurve:
    """Training and validation loss after each epoch."""

    training: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of the training of a model: epochs, seed, and the names of the features."""

    epochs: int
    seed: int
    counts: tuple[str, ...] = ()
    """Feature names; a saved fit continues only if they are the same."""


OnEpoch = Callable[[int, LossCurve], None]


def fit_net(
    table: FeatureTable,
    validation: FeatureTable,
    settings: TrainingSettings,
    kept: Path,
    on_epoch: OnEpoch,
) -> tuple[dict[str, Floats], LossCurve]:
    """Train the net of one view (see `VIEWS`); return its arrays and its loss curve."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(settings.seed)
    scale = Scale.of(table.features)
    model = torch.nn.Sequential(
        torch.nn.Linear(table.features.shape[1], HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Linear(HIDDEN, 1),
    )
    batch = max(1, min(BATCH, len(table) // LEAST_STEPS))
    steps = max(1, len(table) // batch)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, FASTEST, total_steps=steps * settings.epochs + 1
    )
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule}
    meant = {
        "rows": len(table),
        "epochs": settings.epochs,
        "seed": settings.seed,
        "counts": list(settings.counts),
    }
    curve = _resumed(kept, parts, meant)
    features = torch.from_numpy(scale.applied(table.features))
    wins = torch.from_numpy(table.wins)
    unseen = torch.from_numpy(scale.applied(validation.features))
    truth = torch.from_numpy(validation.wins)
    loss_of = torch.nn.functional.binary_cross_entropy_with_logits
    for epoch in range(len(curve.training), settings.epochs):
        # Seeded by the epoch's number, so that a resumed fit sees the same order.
        order = np.random.default_rng([settings.seed, epoch]).permutation(len(table))
        shuffled, total = torch.from_numpy(order), 0.0
        for step in range(steps):
            rows = shuffled[step * batch : (step + 1) * batch]
            loss = loss_of(model(features[rows])[:, 0], wins[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        with torch.no_grad():
            ahead = loss_of(model(unseen)[:, 0], truth).item() if len(truth) else float("nan")
        curve.training.append(total / steps)
        curve.validation.append(ahead)
        _keep(kept, parts, meant, curve)
        on_epoch(epoch + 1, curve)
    return _net_arrays(model, scale), curve


def _keep(kept: Path, parts: dict[str, Any], meant: dict[str, Any], curve: LossCurve) -> None:
    import torch

    held = io.BytesIO()
    states = {name: part.state_dict() for name, part in parts.items()}
    torch.save({**states, "meant": meant, "curve": vars(curve)}, held)
    atomic_write(kept, held.getvalue())


def _resumed(kept: Path, parts: dict[str, Any], meant: dict[str, Any]) -> LossCurve:
    """Restore training from the file `kept` if it is of the same fit; return its loss curve."""
    import torch

    if not kept.exists():
        return LossCurve()
    try:
        found = torch.load(io.BytesIO(kept.read_bytes()), weights_only=True)
        same = found["meant"] == meant
        if same:
            for name, part in parts.items():
                part.load_state_dict(found[name])
        return LossCurve(**found["curve"]) if same else LossCurve()
    except Exception as error:  # PyTorch raises many kinds of errors for damaged files
        raise KnightfallError(
            f"{str(kept)!r} is damaged ({type(error).__name__}): delete it to start again"
        ) from None


def _net_arrays(model: Any, scale: Scale) -> dict[str, Floats]:
    """Return the net's arrays, converted to apply to the features before standardisation."""
    state = {name: value.numpy().astype(np.float64) for name, value in model.state_dict().items()}
    first = state["0.weight"] / scale.spread
    return {
        "first": rounded(first.T),
        "first_bias": rounded(state["0.bias"] - first @ scale.mean),
        "second": state["2.weight"][0].astype(np.float32),
        "second_bias": state["2.bias"].astype(np.float32),
    }


def predict_net(arrays: dict[str, Floats], table: FeatureTable) -> npt.NDArray[np.float64]:
    """Return the net's log-odds, in double precision."""
    double = {name: array.astype(np.float64) for name, array in arrays.items()}
    hidden = table.features.astype(np.float64) @ double["first"] + double["first_bias"]
    found: npt.NDArray[np.float64] = (
        np.maximum(hidden, 0) @ double["second"] + double["second_bias"]
    )
    return found
