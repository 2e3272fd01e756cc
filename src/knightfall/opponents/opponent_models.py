"""Who the opponent may be: models of players, and what was learned of how common each is.

The models are the ladder's agents, the course's and their neighbours, so that no single habit is
bet on; the stranger is none of them (`reply_logit.py`).  What is believed of an opponent that was
never seen to move was learned; `beliefs.py` goes on from there.  ``python -m
benchmarks.lost_games`` measures what they are worth, and `docs/learning.md` has the figures.

``knightfall learn chances`` makes the file of what was learned, which is JSON::

    {"format": "knightfall chances 1", "features": [names …], "opponents": [names …],
     "habits": [a weight for each feature], "shares": [one for each opponent], "made_by": {…}}
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.errors import KnightfallError
from knightfall.openings import seeded_order
from knightfall.opponents.practice_state import FEATURES, MOST_PLAYERS
from knightfall.reading import Between, Items, check, check_format, parse_json, read_text
from knightfall.search.budget import Budget


@dataclass(frozen=True)
class OpponentModel:
    """One of the known searches that the opponent may be using."""

    method: str
    heuristic: str
    budget: Budget

    def __str__(self) -> str:
        return f"{self.method}({self.heuristic}, {self.budget})"


MODELS = (
    OpponentModel("deepening", "improved", Budget(nodes=2500)),
    OpponentModel("deepening", "improved", Budget(nodes=1000)),
    OpponentModel("deepening", "improved", Budget(nodes=10_000)),
    OpponentModel("deepening", "open", Budget(nodes=2500)),
    OpponentModel("deepening", "bfs_reach", Budget(nodes=2500)),
    OpponentModel("deepening", "bfs_reach", Budget(nodes=6000)),
    OpponentModel("deepening", "main", Budget(nodes=1000)),
    OpponentModel("deepening", "weighted_moves", Budget(nodes=2500)),
    OpponentModel("deepening", "learned_net", Budget(nodes=2500)),
    # As the course's agents search, without a table or an order of moves.
    OpponentModel("plain_deepening", "improved", Budget(nodes=2500)),
    OpponentModel("plain_deepening", "open", Budget(nodes=2500)),
    OpponentModel("plain_deepening", "center", Budget(nodes=2500)),
    OpponentModel("plain_deepening", "aggressive", Budget(nodes=2500)),
    OpponentModel("plain_deepening", "weighted_difference", Budget(nodes=2500)),
    OpponentModel("plain_deepening", "lookahead_mobility", Budget(nodes=2500)),
    # Minimax to a depth moves as alpha-beta does, and costs more.
    OpponentModel("alphabeta", "improved", Budget(depth=5)),
    OpponentModel("alphabeta", "improved", Budget(depth=3)),
    OpponentModel("alphabeta", "open", Budget(depth=3)),
    OpponentModel("alphabeta", "center", Budget(depth=3)),
)

JUDGES = (
    OpponentModel("alphabeta", "improved", Budget(depth=3)),
    OpponentModel("alphabeta", "improved", Budget(depth=5)),
    OpponentModel("alphabeta", "open", Budget(depth=3)),
    OpponentModel("plain_deepening", "improved", Budget(nodes=2500)),
    OpponentModel("deepening", "bfs_reach", Budget(nodes=2500)),
)
"""Those whose choices tell what the stranger might do."""

OPPONENTS = (*map(str, MODELS), "stranger")
"""By name, all whom the opponent may be."""

ONESELF = OpponentModel("deepening", "improved", Budget(nodes=600))
"""How one's own moves are chosen where the tree of them ends."""


def seats(shares: Sequence[float], number: int) -> list[int]:
    """So many opponents by their shares: the places of their models, each as often as it is due.

    What is left over when whole seats are given goes to the largest remainders.
    """
    total = sum(shares)
    due = [share / total * number for share in shares]
    given = [int(one) for one in due]
    by_remainder = sorted(range(len(due)), key=lambda at: (given[at] - due[at], at))
    for at in by_remainder[: number - sum(given)]:
        given[at] += 1
    return [at for at, seats in enumerate(given) for _ in range(seats)]


def seeds(seed: int, number: int) -> list[int]:
    """Seeds of opponents, from the agent's: each breaks ties its own way."""
    return [_word(f"opponent {at} of {seed}") for at in range(number)]


def shuffle(seed: int, number: int) -> list[int]:
    """The seats in the order that they are met."""
    return seeded_order(range(number), lambda at: f"turn {at} of {seed}")


def _word(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


# -- what was learned of them -------------------------------------------------------------------


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
    check_format(found, FORMAT, ": learn it again")
    shape = {
        "format": str,
        "features": [str],
        "opponents": [str],
        "habits": Items(Between(-LARGEST, LARGEST), FEATURES, FEATURES),
        "shares": Items(Between(0, 1), len(OPPONENTS), len(OPPONENTS)),
        "made_by": object,
    }
    check(shape, found)
    if found["features"] != list(NAMES):
        raise KnightfallError("its features are not those of this version: learn it again")
    if found["opponents"] != list(OPPONENTS):
        raise KnightfallError("its opponents are not those of this version: learn it again")
    habits, shares = found["habits"], found["shares"]
    if abs(sum(shares) - 1) > 1e-6 or min(shares) <= 0:
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
