"""Models of the opponent, and their learned prior probabilities.

The models are the agents of the ladder and of the course, and variants of them, so that no single
weakness is relied on.  The last one, the "stranger", is a conditional logit for opponents that are
none of these (`reply_logit.py`).  The prior probability of each model was learned; `posterior.py`
updates it during a game.  ``python -m benchmarks.lost_games`` measures the gain, and
`docs/learning.md` has the figures.

``knightfall learn chances`` writes the learned file, which is JSON::

    {"format": "knightfall chances 1", "features": [names …], "opponents": [names …],
     "habits": [a weight for each feature], "shares": [one for each opponent], "made_by": {…}}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.errors import KnightfallError
from knightfall.openings import seed_of, seeded_order
from knightfall.opponents.mcts_state import FEATURES, MOST_PLAYERS
from knightfall.search.budget import Budget
from knightfall.untrusted_input import Between, Items, check, check_format, parse_json, read_text


@dataclass(frozen=True)
class OpponentModel:
    """A search with a heuristic and a budget that the opponent may be using."""

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
    # Searches of the course's agents: without transposition table and move ordering.
    OpponentModel("plain_deepening", "improved", Budget(nodes=2500)),
    OpponentModel("plain_deepening", "open", Budget(nodes=2500)),
    OpponentModel("plain_deepening", "center", Budget(nodes=2500)),
    OpponentModel("plain_deepening", "aggressive", Budget(nodes=2500)),
    OpponentModel("plain_deepening", "weighted_difference", Budget(nodes=2500)),
    OpponentModel("plain_deepening", "lookahead_mobility", Budget(nodes=2500)),
    # Fixed-depth minimax has no model of its own: alpha-beta plays the same moves faster.
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
"""The models whose choices are features of the stranger's replies."""

OPPONENTS = (*map(str, MODELS), "stranger")
"""The names of all opponents: the models and the stranger."""

OWN_PLAYOUT = OpponentModel("deepening", "improved", Budget(nodes=600))
"""The search that chooses our own moves in a playout."""


def apportion(shares: Sequence[float], number: int) -> list[int]:
    """Return `number` indices of models, each repeated in proportion to its share.

    Remainders are rounded by the largest-remainder method.
    """
    total = sum(shares)
    due = [share / total * number for share in shares]
    given = [int(one) for one in due]
    by_remainder = sorted(range(len(due)), key=lambda at: (given[at] - due[at], at))
    for at in by_remainder[: number - sum(given)]:
        given[at] += 1
    return [at for at, seats in enumerate(given) for _ in range(seats)]


def seeds(seed: int, number: int) -> list[int]:
    """Return tie-breaking seeds for opponents, derived from the agent's seed."""
    return [seed_of(f"opponent {at} of {seed}", bits=63) for at in range(number)]


def shuffled_turns(seed: int, number: int) -> list[int]:
    """Return the indices below `number` in a seeded random order."""
    return seeded_order(range(number), lambda at: f"turn {at} of {seed}")


# -- the learned file ---------------------------------------------------------------------------


FORMAT = "knightfall chances 1"
FILE = Path(__file__).parent / "chances.json"
MOST_BYTES = 2**16
LARGEST = 50.0
"""Largest absolute weight: e⁵⁰ is certainty."""

FEATURE_NAMES = (
    *("own ways on", "ways left to the other", "own second steps", "the other's second steps"),
    *("nearer cells", "ways on in contact", "far from the centre", "takes a way on"),
    *(f"chosen by {judge}" for judge in JUDGES),
    *("lets go of the win", "and that is hard to see", "keeps the win, which is hard to see"),
    *(f"chosen by {JUDGES[1]}, early", f"chosen by {JUDGES[-1]}, early"),
)
"""Names of a reply's features, in the order of `reply_logit.compute_features`."""

assert len(FEATURE_NAMES) == FEATURES
assert len(OPPONENTS) <= MOST_PLAYERS


@dataclass(frozen=True)
class Chances:
    """The weights of the reply logit, and the prior probability of each opponent model."""

    logit_weights: npt.NDArray[np.float64]
    shares: tuple[float, ...]


def read_chances(file: Path) -> Chances:
    """Read a file of `Chances`.  Raise a `KnightfallError` if it is damaged or outdated."""
    text, name = read_text(file, MOST_BYTES), repr(str(file))
    try:
        return parse_chances(parse_json(text))
    except KnightfallError as error:
        raise KnightfallError(f"{name}: {error}") from None


def parse_chances(found: Any) -> Chances:
    """Return the `Chances` in a parsed file.  Raise a `KnightfallError` if they are invalid."""
    again = ": run knightfall learn chances again"
    check_format(found, FORMAT, again)
    shape = {
        "format": str,
        "features": [str],
        "opponents": [str],
        "habits": Items(Between(-LARGEST, LARGEST), FEATURES, FEATURES),
        "shares": Items(Between(0, 1), len(OPPONENTS), len(OPPONENTS)),
        "made_by": object,
    }
    check(shape, found)
    for key, known in (("features", FEATURE_NAMES), ("opponents", OPPONENTS)):
        if found[key] != list(known):
            raise KnightfallError(f"the {key} of the model are not those of this version{again}")
    habits, shares = found["habits"], found["shares"]
    if abs(sum(shares) - 1) > 1e-6 or min(shares) <= 0:
        raise KnightfallError(f'"shares" must be {len(OPPONENTS)} positive numbers with a sum of 1')
    return Chances(np.array(habits, np.float64), tuple(map(float, shares)))


def chances_json(chances: Chances, made_by: dict[str, Any]) -> dict[str, Any]:
    """Return `Chances` as JSON values, as their file stores them."""
    return {
        "format": FORMAT,
        "features": list(FEATURE_NAMES),
        "opponents": list(OPPONENTS),
        "habits": [float(weight) for weight in chances.logit_weights],
        "shares": list(chances.shares),
        "made_by": made_by,
    }


@cache
def shipped_chances() -> Chances:
    """Return the learned `Chances` that are part of the package."""
    return read_chances(FILE)
