"""``knightfall learn fit``: read the data, fit, judge, and write what was learned."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from knightfall.board import Board
from knightfall.display.progress import progress
from knightfall.errors import KnightfallError
from knightfall.extras import require
from knightfall.files import atomic_write, make_folder
from knightfall.heuristics.features import CONTACTS, FEATURES, STUDIED
from knightfall.heuristics.model_file import KINDS, VIEWS, Model, as_json
from knightfall.learning.data import Positions, read
from knightfall.learning.fit.linear import both_sides, fit_linear, predict_linear
from knightfall.learning.fit.net import Course, Curve, fit_net, predict_net
from knightfall.learning.fit.report import FitReport, judged
from knightfall.learning.fit.tables import SEEN_BY, Labelled, Table, joined, tables
from knightfall.learning.games import SERIOUS
from knightfall.learning.split import SPLITS

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
"""Groups of features that are left out in turn, to see what they are worth."""

ABLATION_ROWS = 100_000
"""So many tell what a group of features is worth."""

TRUTHFUL = VIEWS[:2]
"""The views that are told nothing but the truth: the hunter's."""

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
    """Fit models to labelled positions; what was interrupted goes on when asked again."""
    for kind in kinds:
        if kind not in KINDS:
            raise KnightfallError(f"a model is {' or '.join(KINDS)}, not {kind!r}")
    if ablate and "linear" not in kinds:
        raise KnightfallError("features are left out of the linear model: add --kind linear")
    if not 1 <= epochs <= MOST_EPOCHS:
        raise KnightfallError(f"epochs={epochs} must be from 1 to {MOST_EPOCHS}")
    needed = ("pyarrow", "sklearn", "torch") if "net" in kinds else ("pyarrow", "sklearn")
    require(f"--kind {' --kind '.join(kinds)}", *needed)
    start = time.monotonic()
    report = FitReport(str(data), str(folder), seed)
    for kind in kinds:
        _fit_one(kind, data, folder, Course(epochs, seed, SEEN_BY[kind][0]), ablate, report)
    _write_heuristics(folder)
    report.seconds = time.monotonic() - start
    _write(folder / "fit.json", report.to_dict())
    return report


def _fit_one(
    kind: str, data: Path, folder: Path, course: Course, ablate: bool, report: FitReport
) -> None:
    """Fit and judge one kind of model; its tables are gone before the next one's are made."""
    training, validation, test = (_tables(data, split, kind) for split in SPLITS)
    make_folder(folder)
    if kind == "linear":
        model = both_sides(*(fit_linear(training[view], course.seed) for view in TRUTHFUL))
        odds = {view: predict_linear(model[view], test[view]) for view in TRUTHFUL}
    else:
        model = _nets(training, validation, course, folder, report)
        odds = {view: predict_net(model[view], test[view]) for view in VIEWS}
    report.judged[kind] = {view: judged(odds[view], test[view]) for view in odds}
    made_by = {
        "command": f"knightfall learn fit DATA OUT --epochs {course.epochs} --seed {course.seed}",
        "positions": {view: len(training[view]) for view in VIEWS},
    }
    _write(folder / f"learned_{kind}.json", as_json(kind, course.counts, model, made_by))
    if ablate and kind == "linear":
        report.ablations = _ablations(training, test, course.seed)


def _nets(
    training: dict[str, Table],
    validation: dict[str, Table],
    course: Course,
    folder: Path,
    report: FitReport,
) -> Model:
    model: Model = {}
    with progress("epochs", course.epochs * len(VIEWS)) as told:
        for number, view in enumerate(VIEWS):

            def on_epoch(epoch: int, curve: Curve, done: int = number * course.epochs) -> None:
                told(done + epoch)

            kept = folder / f"{view}.checkpoint"
            model[view], curve = fit_net(training[view], validation[view], course, kept, on_epoch)
            report.curves[view] = {"training": curve.training, "validation": curve.validation}
    return model


def _ablations(
    training: dict[str, Table], test: dict[str, Table], seed: int
) -> dict[str, dict[str, float]]:
    """The linear model's loss without each group of features."""
    found: dict[str, dict[str, float]] = {}
    with progress("ablations", len(GROUPS)) as told:
        for number, (group, belongs) in enumerate(GROUPS.items()):
            gone = [place for place, name in enumerate(FEATURES) if belongs(name)]
            found[group] = {}
            for view in TRUTHFUL:
                arrays = fit_linear(training[view], seed, ABLATION_ROWS, gone)
                seen = _without(test[view], gone)
                found[group][view] = judged(predict_linear(arrays, seen), seen)["log-loss"]
            told(number + 1)
    return found


def _without(table: Table, gone: Sequence[int]) -> Table:
    features = table.features.copy()
    features[:, gone] = 0
    return replace(table, features=features)


def _tables(data: Path, split: str, kind: str) -> dict[str, Table]:
    """What a kind of model sees of a split, of all boards."""
    found, parts = read(data, split), []
    for number, name in enumerate(found.boards):
        one = found.where(found.board == number)
        if len(one.wins):
            parts.append(tables(Board.named(name), labelled(one), kind))
    if not parts:
        raise KnightfallError(f"{str(data)!r} has no positions to {split} on")
    for view in VIEWS:
        wins = np.concatenate([part[view].wins for part in parts])
        if len(set(wins.tolist())) < 2:
            raise KnightfallError(
                f"{str(data)!r}: all {len(wins)} positions of the split {split!r} and the view "
                f"{view!r} are alike; there is nothing to learn from them"
            )
    return joined(parts)


def labelled(one: Positions) -> Labelled:
    """The columns that are learned from."""
    known = np.array([name in SERIOUS for name in one.agents])
    hunter = np.where(one.hunter > 0, one.mover_agent, one.waiter_agent)
    return Labelled(one.open, one.mover, one.waiter, one.wins, one.result, known[hunter])


def _write_heuristics(folder: Path) -> None:
    """A file of heuristics, one for each model that is there, ready to play."""
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
