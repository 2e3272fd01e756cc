"""``knightfall learn fit``: read data, fit models, judge them on unseen openings, write them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from knightfall.board import Board
from knightfall.display.numbers import duration, percent
from knightfall.display.progress import progress
from knightfall.display.report import Displayable, Heading, Part
from knightfall.display.table import Table
from knightfall.errors import KnightfallError
from knightfall.heuristics.features import CONTACTS, FEATURES, STUDIED
from knightfall.heuristics.model_file import KINDS, VIEWS, Model, as_json
from knightfall.learning.data import Positions, read
from knightfall.learning.models import (
    SEEN_BY,
    FeatureTable,
    Labelled,
    LossCurve,
    TrainingSettings,
    both_sides,
    fit_linear,
    fit_net,
    joined,
    predict_linear,
    predict_net,
    tables,
)
from knightfall.learning.shard_builder import SERIOUS
from knightfall.learning.split import SPLITS
from knightfall.optional_dependencies import require
from knightfall.user_folders import atomic_write, make_folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# -- judging ----------------------------------------------------------------------------------


PHASES = ((0.0, 0.3), (0.3, 0.45), (0.45, 0.6), (0.6, 0.75), (0.75, 1.0))
BINS = 10

Odds = npt.NDArray[np.float64]


def judged(odds: Odds, table: FeatureTable) -> dict[str, Any]:
    """Return log-loss and area under the ROC curve, overall and by phase, and the calibration."""
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
    """Return mean prediction and share of wins in ten equal groups, ordered by prediction."""
    order = np.argsort(odds, kind="stable")
    found = []
    for group in np.array_split(order, BINS):
        if len(group):
            predicted = float((1 / (1 + np.exp(-odds[group]))).mean())
            won = float(wins[group].mean())
            found.append({"predicted": predicted, "won": won, "positions": len(group)})
    return found


# -- the report -------------------------------------------------------------------------------


Judged = dict[str, Any]


@dataclass(repr=False)
class FitReport(Displayable):
    """The results of a fit: each model's measures on openings that it was not trained on."""

    data: str
    folder: str
    seed: int
    judged: dict[str, dict[str, Judged]] = field(default_factory=dict)
    curves: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    ablations: dict[str, dict[str, float]] = field(default_factory=dict)
    seconds: float = 0.0

    def parts(self) -> Iterator[Part]:
        """Yield the tables of losses and ablations."""
        yield Heading("On positions from openings that were not trained on")
        measures = ["positions", "won", "log-loss", "by the share", "area", "right"]
        table = Table(["model", "view", *measures])
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
            without = Table(["left out", *seen])
            for group, losses in self.ablations.items():
                without.add(group, *(f"{losses[view]:.4f}" for view in seen))
            yield without
        yield ""
        yield f"Written to {self.folder} in {duration(self.seconds)}."

    def to_dict(self) -> dict[str, Any]:
        """Return all results, with calibration and loss curves."""
        return {
            "data": self.data,
            "seed": self.seed,
            "judged": self.judged,
            "curves": self.curves,
            "ablations": self.ablations,
            "seconds": self.seconds,
        }

    def plot(self) -> Figure:
        """Draw the loss curves and the calibration."""
        from knightfall.arena.chart_style import styled  # loads matplotlib

        return styled(_draw)(self)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _draw(report: FitReport) -> Figure:
    """Draw two panels: training curves, and the calibration of every model."""
    from knightfall.arena.chart_style import BLUE, RED, page, remark

    colours = dict(zip(VIEWS, (BLUE, "#6a98cb", RED, "#da8259"), strict=True))
    figure = page(f"seed {report.seed}", "What was learned from the truth", 9, 4.2)
    left, right = figure.subplots(1, 2)
    for view, curve in report.curves.items():
        epochs = range(1, len(curve["training"]) + 1)
        left.plot(epochs, curve["training"], ":", color=colours[view])
        left.plot(epochs, curve["validation"], "-", color=colours[view], label=view)
    left.set_xlabel("epoch of the net")
    left.set_ylabel("log-loss")
    if report.curves:
        left.legend(title="view")
    right.plot([0, 1], [0, 1], "-", color="0.7", linewidth=1)
    for kind, views in report.judged.items():
        for view, found in views.items():
            bins = found["calibration"]
            right.plot(
                [one["predicted"] for one in bins],
                [one["won"] for one in bins],
                "o-" if kind == "net" else "s--",
                color=colours[view],
                markersize=4,
                label=f"{kind}, {view}",
            )
    right.set_xlabel("predicted")
    right.set_ylabel("won")
    right.legend()
    remark(figure, "left: dots training, line validation", "right: ten equal groups")
    return figure


# -- fitting ----------------------------------------------------------------------------------


GROUPS: dict[str, Callable[[str], bool]] = {
    "nothing": lambda name: False,
    "steps": lambda name: ": step" in name or name.endswith("farther"),
    "walks": lambda name: name.endswith("walk"),
    "exits": lambda name: ": exits" in name,
    "nearer": lambda name: ": nearer" in name or name.endswith("own walk"),
    "free": lambda name: ": free" in name,
    "contacts": lambda name: name in CONTACTS,
    "the studies' terms": lambda name: name in STUDIED,
    "all but the studies'": lambda name: (
        not (name in STUDIED or ": step" in name or name in ("open cells", "cells"))
    ),
    "the waiter": lambda name: name.startswith("waiter"),
}
"""Groups of features that are left out in turn, to measure what they contribute."""

ABLATION_ROWS = 100_000
"""Rows for each ablation."""

TRUTHFUL = VIEWS[:2]
"""The hunter's views, whose targets are the solver's truth."""

MOST_EPOCHS = 1000


def fit(
    data: Path,
    folder: Path,
    *,
    kinds: Sequence[str] = KINDS,
    epochs: int = 50,
    seed: int = 0,
    ablate: bool = False,
) -> FitReport:
    """Fit models to labelled positions; a repeated call continues an interrupted fit."""
    for kind in kinds:
        if kind not in KINDS:
            raise KnightfallError(f"unknown kind of model {kind!r}; known: {', '.join(KINDS)}")
    if ablate and "linear" not in kinds:
        raise KnightfallError("--ablate needs the linear model: add --kind linear")
    if not 1 <= epochs <= MOST_EPOCHS:
        raise KnightfallError(f"epochs={epochs} must be from 1 to {MOST_EPOCHS}")
    needed = ("pyarrow", "sklearn", "torch") if "net" in kinds else ("pyarrow", "sklearn")
    require(f"--kind {' --kind '.join(kinds)}", *needed)
    start = time.monotonic()
    report = FitReport(str(data), str(folder), seed)
    for kind in kinds:
        _fit_one(
            kind, data, folder, TrainingSettings(epochs, seed, SEEN_BY[kind][0]), ablate, report
        )
    _write_heuristics(folder)
    report.seconds = time.monotonic() - start
    _write(folder / "fit.json", report.to_dict())
    return report


def _fit_one(
    kind: str, data: Path, folder: Path, settings: TrainingSettings, ablate: bool, report: FitReport
) -> None:
    """Fit and judge one kind of model; on return its tables are freed, for the next kind."""
    training, validation, test = (_tables(data, split, kind) for split in SPLITS)
    make_folder(folder)
    if kind == "linear":
        model = both_sides(*(fit_linear(training[view], settings.seed) for view in TRUTHFUL))
        odds = {view: predict_linear(model[view], test[view]) for view in TRUTHFUL}
    else:
        model = _nets(training, validation, settings, folder, report)
        odds = {view: predict_net(model[view], test[view]) for view in VIEWS}
    report.judged[kind] = {view: judged(odds[view], test[view]) for view in odds}
    made_by = {
        "command": (
            f"knightfall learn fit DATA OUT --epochs {settings.epochs} --seed {settings.seed}"
        ),
        "positions": {view: len(training[view]) for view in VIEWS},
    }
    _write(folder / f"learned_{kind}.json", as_json(kind, settings.counts, model, made_by))
    if ablate and kind == "linear":
        report.ablations = _ablations(training, test, settings.seed)


def _nets(
    training: dict[str, FeatureTable],
    validation: dict[str, FeatureTable],
    settings: TrainingSettings,
    folder: Path,
    report: FitReport,
) -> Model:
    model: Model = {}
    with progress("epochs", settings.epochs * len(VIEWS)) as on_progress:
        for number, view in enumerate(VIEWS):

            def on_epoch(
                epoch: int, curve: LossCurve, done: int = number * settings.epochs
            ) -> None:
                on_progress(done + epoch)

            kept = folder / f"{view}.checkpoint"
            model[view], curve = fit_net(training[view], validation[view], settings, kept, on_epoch)
            report.curves[view] = vars(curve)
    return model


def _ablations(
    training: dict[str, FeatureTable], test: dict[str, FeatureTable], seed: int
) -> dict[str, dict[str, float]]:
    """Return the linear model's loss with each group of features left out in turn."""
    found: dict[str, dict[str, float]] = {}
    with progress("ablations", len(GROUPS)) as on_progress:
        for number, (group, belongs) in enumerate(GROUPS.items()):
            gone = [place for place, name in enumerate(FEATURES) if belongs(name)]
            found[group] = {}
            for view in TRUTHFUL:
                arrays = fit_linear(training[view], seed, ABLATION_ROWS, gone)
                seen = _without(test[view], gone)
                found[group][view] = judged(predict_linear(arrays, seen), seen)["log-loss"]
            on_progress(number + 1)
    return found


def _without(table: FeatureTable, gone: Sequence[int]) -> FeatureTable:
    features = table.features.copy()
    features[:, gone] = 0
    return replace(table, features=features)


def _tables(data: Path, split: str, kind: str) -> dict[str, FeatureTable]:
    """Return the feature tables of a split, over all boards, for a kind of model."""
    found, parts = read(data, split), []
    for number, name in enumerate(found.boards):
        one = found.where(found.board == number)
        if len(one.wins):
            parts.append(tables(Board.named(name), labelled(one), kind))
    if not parts:
        raise KnightfallError(f"{str(data)!r} has no positions of the split {split!r}")
    for view in VIEWS:
        wins = np.concatenate([part[view].wins for part in parts])
        if len(set(wins.tolist())) < 2:
            raise KnightfallError(
                f"{str(data)!r}: all {len(wins)} positions of the split {split!r} have the same "
                f"label for the role {view!r}; a fit needs both labels"
            )
    return joined(parts)


def labelled(one: Positions) -> Labelled:
    """Return the columns of the positions that models are fitted to, as `Labelled`."""
    known = np.array([name in SERIOUS for name in one.agents])
    hunter = np.where(one.hunter > 0, one.mover_agent, one.waiter_agent)
    return Labelled(one.open, one.mover, one.waiter, one.wins, one.result, known[hunter])


def _write_heuristics(folder: Path) -> None:
    """Write models.py, with a heuristic for each model in the folder."""
    made = [kind for kind in KINDS if (folder / f"learned_{kind}.json").exists()]
    lines = [
        '"""What was learned, ready to play: knightfall match "id(models.py:learned_net)" …"""',
        "",
        "from pathlib import Path",
        "",
        f"from knightfall.heuristics.from_file import {', '.join(made)}",
        "",
        "HERE = Path(__file__).parent",
        *(f'learned_{kind} = {kind}(HERE / "learned_{kind}.json")' for kind in made),
    ]
    atomic_write(folder / "models.py", ("\n".join(lines) + "\n").encode())


def _write(file: Path, value: dict[str, Any]) -> None:
    atomic_write(file, (json.dumps(value, indent=None, ensure_ascii=False) + "\n").encode())
