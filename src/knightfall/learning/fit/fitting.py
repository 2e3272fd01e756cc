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
from knightfall.files import atomic_write
from knightfall.heuristics.features import CONTACTS, FEATURES
from knightfall.heuristics.model_file import KINDS, ROLES, Model, as_json
from knightfall.learning.data import read
from knightfall.learning.fit.judgement import judged
from knightfall.learning.fit.linear import fit_linear, predict_linear
from knightfall.learning.fit.net import Course, Curve, fit_net, predict_net
from knightfall.learning.fit.report import FitReport
from knightfall.learning.fit.tables import Table, joined, tables

GROUPS: dict[str, Callable[[str], bool]] = {
    "nothing": lambda name: False,
    "steps": lambda name: ": step" in name or name.endswith("farther"),
    "walks": lambda name: name.endswith("walk"),
    "exits": lambda name: ": exits" in name,
    "nearer": lambda name: ": nearer" in name or name.endswith("own walk"),
    "free": lambda name: ": free" in name,
    "contacts": lambda name: name in CONTACTS,
    "the waiter": lambda name: name.startswith("waiter"),
}
"""Groups of features that are left out in turn, to see what they are worth."""

MOST_EPOCHS = 1000


def fit(
    data: Path,
    folder: Path,
    *,
    kinds: Sequence[str] = KINDS,
    epochs: int = 12,
    seed: int = 0,
    ablate: bool = False,
    threads: int = 2,
) -> FitReport:
    """Fit models to labelled positions; what was interrupted goes on when asked again."""
    for kind in kinds:
        if kind not in KINDS:
            raise KnightfallError(f"a model is {' or '.join(KINDS)}, not {kind!r}")
    if not 1 <= epochs <= MOST_EPOCHS:
        raise KnightfallError(f"epochs={epochs} must be from 1 to {MOST_EPOCHS}")
    _need_libraries()
    start = time.monotonic()
    training, validation, test = (_tables(data, split) for split in ("train", "validation", "test"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KnightfallError(f"{str(folder)!r}: {error.strerror or error}") from None
    report = FitReport(str(data), str(folder), seed)
    made_by = {
        "command": f"knightfall learn fit DATA OUT --epochs {epochs} --seed {seed}",
        "positions": {role: len(training[role]) for role in ROLES},
    }
    for kind in kinds:
        if kind == "linear":
            model: Model = {role: fit_linear(training[role], seed) for role in ROLES}
            odds = {role: predict_linear(model[role], test[role]) for role in ROLES}
        else:
            course = Course(epochs, seed, threads)
            model = _nets(training, validation, course, folder, report)
            odds = {role: predict_net(model[role], test[role]) for role in ROLES}
        report.judged[kind] = {role: judged(odds[role], test[role]) for role in ROLES}
        _write(folder / f"learned_{kind}.json", as_json(kind, FEATURES, model, made_by))
    _write_heuristics(folder)
    if ablate:
        report.ablations = _ablations(training, test, seed)
    report.seconds = time.monotonic() - start
    _write(folder / "fit.json", report.to_dict())
    return report


def _nets(
    training: dict[str, Table],
    validation: dict[str, Table],
    course: Course,
    folder: Path,
    report: FitReport,
) -> Model:
    model: Model = {}
    with progress("epochs", course.epochs * len(ROLES)) as told:
        for number, role in enumerate(ROLES):

            def on_epoch(epoch: int, curve: Curve, done: int = number * course.epochs) -> None:
                told(done + epoch)

            kept = folder / f"{role}.checkpoint"
            model[role], curve = fit_net(training[role], validation[role], course, kept, on_epoch)
            report.curves[role] = {"training": curve.training, "validation": curve.validation}
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
            for role in ROLES:
                arrays = fit_linear(_without(training[role], gone), seed)
                seen = _without(test[role], gone)
                found[group][role] = judged(predict_linear(arrays, seen), seen)["log-loss"]
            told(number + 1)
    return found


def _without(table: Table, gone: Sequence[int]) -> Table:
    features = table.features.copy()
    features[:, gone] = 0
    return replace(table, features=features)


def _tables(data: Path, split: str) -> dict[str, Table]:
    """The features of a split, of all boards."""
    found, parts = read(data, split), []
    for number, name in enumerate(found.boards):
        one = found.where(found.board == number)
        if len(one.wins):
            parts.append(tables(Board.named(name), one.open, one.mover, one.waiter, one.wins))
    if not parts:
        raise KnightfallError(f"{str(data)!r} has no positions to {split} on")
    for role in ROLES:
        wins = np.concatenate([part[role].wins for part in parts])
        if len(set(wins.tolist())) < 2:
            raise KnightfallError(
                f"{str(data)!r}: all {len(wins)} positions of the split {split!r} in which the "
                f"{role} is to move are alike; there is nothing to learn from them"
            )
    return joined(parts)


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


def _need_libraries() -> None:
    for name in ("sklearn", "torch"):
        try:
            __import__(name)
        except ImportError:
            raise KnightfallError(
                f"{name} is not installed: pip install 'knightfall[learn]'"
            ) from None
