"""What was learned of opponents: the stranger's habits, and how common each opponent is.

``knightfall learn chances`` makes the file, which is JSON::

    {"format": "knightfall chances 1", "features": [names …], "opponents": [names …],
     "habits": [a weight for each feature], "shares": [one for each opponent], "made_by": {…}}
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.errors import KnightfallError
from knightfall.opponents.models import JUDGES, OPPONENTS
from knightfall.opponents.state import FEATURES, MOST_PLAYERS
from knightfall.reading import parse_json, read_text
from knightfall.shape import Between, check

FORMAT = "knightfall chances 1"
FILE = Path(__file__).parent / "chances.json"
MOST_BYTES = 2**16
LARGEST = 50.0
"""No weight is larger: e⁵⁰ is certainty."""

NAMES = (
    *("own ways on", "ways left to the other", "own second steps", "the other's second steps"),
    *("nearer cells", "ways on in contact", "far from the centre", "takes a way on"),
    *(f"chosen by {judge}" for judge in JUDGES),
    *("lets go of the win", "and that is hard to see", "keeps the win, which is hard to see"),
    *(f"chosen by {JUDGES[1]}, early", f"chosen by {JUDGES[-1]}, early"),
)
"""What is known of a reply, in the order of `stranger.look_at`."""

assert len(NAMES) == FEATURES
assert len(OPPONENTS) <= MOST_PLAYERS


@dataclass(frozen=True)
class Chances:
    """The stranger's weights, and the share of every opponent before it has moved."""

    habits: npt.NDArray[np.float64]
    shares: tuple[float, ...]


def read_chances(file: Path) -> Chances:
    """The chances of a file; a clear error if it is not whole, of another version or shape."""
    text, name = read_text(file, MOST_BYTES), repr(str(file))
    try:
        return checked(parse_json(text))
    except KnightfallError as error:
        raise KnightfallError(f"{name}: {error}") from None


def checked(found: Any) -> Chances:
    """What a file holds, if it is of this version."""
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        told = found.get("format") if isinstance(found, dict) else type(found).__name__
        raise KnightfallError(f"the format is {told!r}, not {FORMAT!r}: learn it again")
    shape = {
        "format": str,
        "features": [str],
        "opponents": [str],
        "habits": [Between(-LARGEST, LARGEST)],
        "shares": [Between(0, 1)],
        "made_by": object,
    }
    check(shape, found)
    if found["features"] != list(NAMES):
        raise KnightfallError("its features are not those of this version: learn it again")
    if found["opponents"] != list(OPPONENTS):
        raise KnightfallError("its opponents are not those of this version: learn it again")
    habits, shares = found["habits"], found["shares"]
    if len(habits) != FEATURES:
        raise KnightfallError(f'"habits" must be {FEATURES} weights, not {len(habits)}')
    if len(shares) != len(OPPONENTS) or abs(sum(shares) - 1) > 1e-6 or min(shares) <= 0:
        raise KnightfallError(f'"shares" must be {len(OPPONENTS)} positive numbers with a sum of 1')
    return Chances(np.array(habits, np.float64), tuple(map(float, shares)))


def as_json(chances: Chances, made_by: dict[str, Any]) -> dict[str, Any]:
    """What a file of chances holds."""
    return {
        "format": FORMAT,
        "features": list(NAMES),
        "opponents": list(OPPONENTS),
        "habits": [float(weight) for weight in chances.habits],
        "shares": list(chances.shares),
        "made_by": made_by,
    }


@cache
def shipped() -> Chances:
    """What the package comes with."""
    return read_chances(FILE)
