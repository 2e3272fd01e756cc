"""Files of learned heuristics: features, weights, and how they were trained.

A file is JSON::

    {"format": "knightfall model 3", "kind": "net" | "linear", "features": [names …],
     "made_by": {…}, "hunter": {…}, "hunter waits": {…}, "runner": {…}, "runner waits": {…}}

There is a model for each view: hunter to move, hunter waiting, runner to move, runner waiting.  A
linear model has a weight for each power of the phase (0, 1, 2) and each feature, and a bias for
each power.  A net has one hidden layer.  Its arrays are those of the training library, with the
scaling of the features included and the first layer rounded to multiples of 2⁻¹²
(`kernel/neural_net.py` explains why).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.errors import KnightfallError
from knightfall.kernel.neural_net import HIDDEN, UNIT
from knightfall.untrusted_input import (
    Between,
    Items,
    OneOf,
    check,
    check_format,
    parse_json,
    read_text,
)

FORMAT = "knightfall model 3"
KINDS = ("linear", "net")
VIEWS = ("hunter", "hunter waits", "runner", "runner waits")
"""The roles of the player whose chances are estimated; without "waits" it is to move."""
POWERS = 3
"""1, phase and phase²: weights are a quadratic function of the phase."""
MOST_BYTES = 2**20
LARGEST = float(np.finfo(np.float32).max)
FOLDER = Path(__file__).parent / "models"

Floats = npt.NDArray[np.float32]
Model = dict[str, dict[str, Floats]]
"""Arrays by view and by name."""


def by_view(model: Model, array: str) -> Floats:
    """Return the arrays of this name, one from the model of each of `VIEWS`, stacked."""
    return np.stack([model[view][array] for view in VIEWS])


def shapes(kind: str, features: int) -> dict[str, tuple[int, ...]]:
    """Return the names of a model's arrays with their shapes."""
    if kind == "linear":
        return {"weights": (POWERS, features), "bias": (POWERS,)}
    return {
        "first": (features, HIDDEN),
        "first_bias": (HIDDEN,),
        "second": (HIDDEN,),
        "second_bias": (1,),
    }


def read_model(file: Path, kind: str, features: tuple[str, ...]) -> Model:
    """Return the model in a file.  Raise an error if it is damaged or of another version."""
    if kind not in KINDS:
        raise KnightfallError(f"unknown kind of model {kind!r}: it must be {' or '.join(KINDS)}")
    text, name = read_text(file, MOST_BYTES), repr(str(file))
    try:
        return checked(parse_json(text), kind, features)
    except KnightfallError as error:
        raise KnightfallError(f"{name}: {error}") from None


def checked(found: Any, kind: str, features: tuple[str, ...]) -> Model:
    """Return the arrays of a parsed file after checking its kind, features and shapes."""
    check_format(found, FORMAT, ": fit it again")
    check({"kind": OneOf((kind,)), "features": [str], ...: object}, found)
    if found["features"] != list(features):
        raise KnightfallError(
            f"the model was fitted to other features than the {len(features)} of this version: "
            "fit it again"
        )
    wanted = shapes(kind, len(features))
    one_view: dict[Any, Any] = {array: _numbers(shape) for array, shape in wanted.items()}
    one_view[...] = object
    check({**dict.fromkeys(VIEWS, one_view), ...: object}, found)
    model: Model = {}
    for view in VIEWS:
        model[view] = {array: np.array(found[view][array], np.float32) for array in wanted}
        for array in ("first", "first_bias") if kind == "net" else ():
            if (model[view][array] % UNIT).any():
                raise KnightfallError(f"{view}.{array} has numbers that are not multiples of 2⁻¹²")
    return model


def rounded(array: npt.NDArray[np.float64]) -> Floats:
    """Return weights of a first layer rounded to multiples of `UNIT`."""
    return (np.round(array / UNIT) * UNIT).astype(np.float32)


def _numbers(shape: tuple[int, ...]) -> Any:
    """Return the schema of nested lists with these dimensions; see `untrusted_input.check`."""
    of: Any = Between(-LARGEST, LARGEST)
    for length in reversed(shape):
        of = Items(of, length, length)
    return of


def as_json(
    kind: str, features: tuple[str, ...], model: Model, made_by: dict[str, Any]
) -> dict[str, Any]:
    """Return the content of a model's file."""
    arrays = {view: {name: _plain(array) for name, array in model[view].items()} for view in VIEWS}
    return {
        "format": FORMAT,
        "kind": kind,
        "features": list(features),
        "made_by": made_by,
        **arrays,
    }


def _plain(array: Floats) -> Any:
    """Return the shortest decimals that are read back as the same float32."""
    if array.ndim > 1:
        return [_plain(row) for row in array]
    return [float(str(number)) for number in array]
