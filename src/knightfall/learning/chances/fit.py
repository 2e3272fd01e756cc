"""The stranger's weights and the opponents' shares, fitted to decisions.

The weights maximise the likelihood of what hunters replied, P(reply) ∝ exp(w·f), less a penalty on
large ones.  The shares maximise that of whole games, each of which was played by one opponent, as
the champion reckons (`opponents/beliefs.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.learning.chances.decisions import Decision
from knightfall.opponents.beliefs import Told
from knightfall.opponents.room import KNOWN
from knightfall.opponents.state import FEATURES, WAYS

PENALTY = 1.0
"""Half of this times the squares of the weights is taken from the log-likelihood."""

ROUNDS = 200
SHARES_BEFORE = 2.0
"""Games that each opponent is thought to have played before any was seen: none is ruled out."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """Decisions as arrays, padded to eight replies."""

    features: Floats
    there: npt.NDArray[np.bool_]
    wrong: npt.NDArray[np.bool_]
    replies: npt.NDArray[np.intp]

    @classmethod
    def of(cls, decisions: Sequence[Decision]) -> Table:
        """The decisions in their order."""
        number = len(decisions)
        features = np.zeros((number, WAYS, FEATURES))
        there, wrong = np.zeros((2, number, WAYS), np.bool_)
        for at, one in enumerate(decisions):
            ways = len(one.wrong)
            features[at, :ways], there[at, :ways], wrong[at, :ways] = one.features, True, one.wrong
        return cls(features, there, wrong, np.array([one.reply for one in decisions], np.intp))

    def chosen(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Of each decision, the value of the reply that was made."""
        found: npt.NDArray[Any] = values[np.arange(len(self.replies)), self.replies]
        return found


def probabilities(weights: Floats, table: Table) -> Floats:
    """How likely each reply is; 0 where there is none."""
    values = np.where(table.there, table.features @ weights, -np.inf)
    powers = np.exp(values - values.max(1, keepdims=True))
    found: Floats = powers / powers.sum(1, keepdims=True)
    return found


def fit_weights(table: Table) -> Floats:
    """The weights under which the replies are likeliest, less the penalty."""
    from scipy.optimize import minimize

    made = table.chosen(table.features)

    def loss(weights: Floats) -> tuple[float, Floats]:
        likely = probabilities(weights, table)
        expected = np.einsum("dw,dwf->df", likely, table.features)
        value = -np.log(table.chosen(likely)).sum() + PENALTY / 2 * weights @ weights
        return float(value), PENALTY * weights - (made - expected).sum(0)

    found: Floats = minimize(loss, np.zeros(FEATURES), jac=True, method="L-BFGS-B").x
    return found


def likelihoods(decisions: Sequence[Decision], weights: Floats) -> Floats:
    """How likely each opponent makes each reply, the last of them being the stranger."""
    found = [
        [Told(share, KNOWN).likely(len(one.wrong)) for share in one.shares[:-1, one.reply]]
        for one in decisions
    ]
    table = Table.of(decisions)
    stranger = table.chosen(probabilities(weights, table))
    return np.column_stack([np.array(found), stranger])


def by_game(decisions: Sequence[Decision], logs: Floats) -> Floats:
    """Rows added up over the decisions of each game."""
    _, games = np.unique([one.game for one in decisions], return_inverse=True)
    total = np.zeros((games.max() + 1, logs.shape[1]))
    np.add.at(total, games, logs)
    return total


def fit_shares(decisions: Sequence[Decision], weights: Floats) -> tuple[float, ...]:
    """How common each opponent is, if every game was played by one of them."""
    logs = by_game(decisions, np.log(likelihoods(decisions, weights)))
    shares = np.full(logs.shape[1], 1 / logs.shape[1])
    for _ in range(ROUNDS):
        mine = shares * np.exp(logs - logs.max(1, keepdims=True))
        mine /= mine.sum(1, keepdims=True)
        shares = mine.sum(0) + SHARES_BEFORE
        shares /= shares.sum()
    return tuple(float(share) for share in shares)
