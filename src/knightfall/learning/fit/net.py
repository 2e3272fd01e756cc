"""The net: one hidden layer over the features, trained with PyTorch, epoch by epoch.

After each epoch the state is kept in a file, so that a fit that was interrupted goes on and ends
with the same weights.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.errors import KnightfallError
from knightfall.files import atomic_write
from knightfall.heuristics.model_file import Floats, rounded
from knightfall.kernel.vectors import HIDDEN
from knightfall.learning.fit.tables import Scale, Table

BATCH, FASTEST = 2048, 8e-3
"""Positions in a step, and the highest rate of learning."""
LEAST_STEPS = 50
"""In an epoch: of few positions fewer are in a step."""


@dataclass
class Curve:
    """How the loss fell: a number for each epoch."""

    training: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Course:
    """What a fit is to do."""

    epochs: int
    seed: int
    counts: tuple[str, ...] = ()
    """The names of what is counted: a fit that was interrupted goes on with the same."""


OnEpoch = Callable[[int, Curve], None]


def fit_net(
    table: Table, validation: Table, course: Course, kept: Path, on_epoch: OnEpoch
) -> tuple[dict[str, Floats], Curve]:
    """The arrays of a model of one view, and its curve."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(course.seed)
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
        optimizer, FASTEST, total_steps=steps * course.epochs + 1
    )
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule}
    meant = {
        "rows": len(table),
        "epochs": course.epochs,
        "seed": course.seed,
        "counts": list(course.counts),
    }
    curve = _resumed(kept, parts, meant)
    features = torch.from_numpy(scale.applied(table.features))
    wins = torch.from_numpy(table.wins)
    unseen = torch.from_numpy(scale.applied(validation.features))
    truth = torch.from_numpy(validation.wins)
    loss_of = torch.nn.functional.binary_cross_entropy_with_logits
    for epoch in range(len(curve.training), course.epochs):
        # By the number of the epoch, so that a fit that was resumed sees the same order.
        order = np.random.default_rng([course.seed, epoch]).permutation(len(table))
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
    return _arrays(model, scale), curve


def _keep(kept: Path, parts: dict[str, Any], meant: dict[str, Any], curve: Curve) -> None:
    import torch

    held = io.BytesIO()
    states = {name: part.state_dict() for name, part in parts.items()}
    curves = {"training": curve.training, "validation": curve.validation}
    torch.save({**states, "meant": meant, "curve": curves}, held)
    atomic_write(kept, held.getvalue())


def _resumed(kept: Path, parts: dict[str, Any], meant: dict[str, Any]) -> Curve:
    """Go on from what is kept, if that was the same fit."""
    import torch

    if not kept.exists():
        return Curve()
    try:
        found = torch.load(io.BytesIO(kept.read_bytes()), weights_only=True)
        same = found["meant"] == meant
        if same:
            for name, part in parts.items():
                part.load_state_dict(found[name])
        return Curve(**found["curve"]) if same else Curve()
    except Exception as error:  # whatever a damaged file makes the library say
        raise KnightfallError(
            f"{str(kept)!r} is damaged ({type(error).__name__}): delete it to begin anew"
        ) from None


def _arrays(model: Any, scale: Scale) -> dict[str, Floats]:
    """The weights of unscaled features."""
    state = {name: value.numpy().astype(np.float64) for name, value in model.state_dict().items()}
    first = state["0.weight"] / scale.spread
    return {
        "first": rounded(first.T),
        "first_bias": rounded(state["0.bias"] - first @ scale.mean),
        "second": state["2.weight"][0].astype(np.float32),
        "second_bias": state["2.bias"].astype(np.float32),
    }


def predict_net(arrays: dict[str, Floats], table: Table) -> npt.NDArray[np.float64]:
    """The log-odds by the arrays, in double precision."""
    double = {name: array.astype(np.float64) for name, array in arrays.items()}
    hidden = table.features.astype(np.float64) @ double["first"] + double["first_bias"]
    found: npt.NDArray[np.float64] = (
        np.maximum(hidden, 0) @ double["second"] + double["second_bias"]
    )
    return found
