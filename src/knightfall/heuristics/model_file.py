"""The files of learned heuristics: which features, which weights, and what they were made from.

A file is JSON::

    {"format": "knightfall model 3", "kind": "net" | "linear", "features": [names …],
     "made_by": {…}, "hunter": {…}, "hunter waits": {…}, "runner": {…}, "runner waits": {…}}

There is a model for each view: that of the hunter when it is to move and when it waits, and that of
the runner.  A linear one has a row of weights for each power of the phase (0, 1, 2), each a number
for every feature, and the same of biases; a net has a hidden layer.  Its arrays are those of the
training library, with the scaling of the features worked in and the first layer rounded to
multiples of 2⁻¹² (`kernel/vectors.py` says why).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.errors import KnightfallError
from knightfall.kernel.vectors import HIDDEN, UNIT
from knightfall.reading import Between, Items, OneOf, check, check_format, parse_json, read_text

FORMAT = "knightfall model 3"
KINDS = ("linear", "net")
VIEWS = ("hunter", "hunter waits", "runner", "runner waits")
"""Whose chances are judged: the hunter's or the runner's, who is to move or waits."""
POWERS = 3
"""1, phase and phase²: weights are smooth in the phase."""
MOST_BYTES = 2**20
LARGEST = float(np.finfo(np.float32).max)
FOLDER = Path(__file__).parent / "models"

Floats = npt.NDArray[np.float32]
Model = dict[str, dict[str, Floats]]
"""By view, the arrays by name."""


def by_view(model: Model, array: str) -> Floats:
    """An array of every view's model, one behind the other."""
    return np.stack([model[view][array] for view in VIEWS])


def shapes(kind: str, features: int) -> dict[str, tuple[int, ...]]:
    """The arrays of a model and their shapes."""
    if kind == "linear":
        return {"weights": (POWERS, features), "bias": (POWERS,)}
    return {
        "first": (features, HIDDEN),
        "first_bias": (HIDDEN,),
        "second": (HIDDEN,),
        "second_bias": (1,),
    }


def read_model(file: Path, kind: str, features: tuple[str, ...]) -> Model:
    """The model of a file; a clear error if it is not whole, of another version or shape."""
    if kind not in KINDS:
        raise KnightfallError(f"a model is {' or '.join(KINDS)}, not {kind!r}")
    text, name = read_text(file, MOST_BYTES), repr(str(file))
    try:
        return checked(parse_json(text), kind, features)
    except KnightfallError as error:
        raise KnightfallError(f"{name}: {error}") from None


def checked(found: Any, kind: str, features: tuple[str, ...]) -> Model:
    """The arrays of what a file holds, if it is a model of that kind over those features."""
    check_format(found, FORMAT, ": fit it again")
    check({"kind": OneOf((kind,)), "features": [str], ...: object}, found)
    if found["features"] != list(features):
        raise KnightfallError(
            f"its features are not the {len(features)} of this version: fit it again"
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
                raise KnightfallError(f"{view}.{array} has numbers that are no multiples of 2⁻¹²")
    return model


def rounded(array: npt.NDArray[np.float64]) -> Floats:
    """Weights of a first layer, as a file may have them."""
    return (np.round(array / UNIT) * UNIT).astype(np.float32)


def _numbers(shape: tuple[int, ...]) -> Any:
    """What a table of that shape must look like in a file."""
    of: Any = Between(-LARGEST, LARGEST)
    for length in reversed(shape):
        of = Items(of, length, length)
    return of


def as_json(
    kind: str, features: tuple[str, ...], model: Model, made_by: dict[str, Any]
) -> dict[str, Any]:
    """What a file of a model holds."""
    arrays = {view: {name: _plain(array) for name, array in model[view].items()} for view in VIEWS}
    return {
        "format": FORMAT,
        "kind": kind,
        "features": list(features),
        "made_by": made_by,
        **arrays,
    }


def _plain(array: Floats) -> Any:
    """Numbers with as many digits as a float32 has, which read back as the same float32."""
    if array.ndim > 1:
        return [_plain(row) for row in array]
    return [float(str(number)) for number in array]
