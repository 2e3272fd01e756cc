"""Models of the opponent, their learned prior probabilities, and the posterior in a game.

The models are the agents of the ladder and of the course, and variants of them, so that no single
weakness is relied on.  The last one, the "stranger", is a conditional logit for opponents that are
none of these (`replies.py`).  The prior probability of each model was learned.
``python -m benchmarks.lost_games`` measures the gain, and `docs/learning.md` has the figures.

The posterior follows from the opponent's moves by Bayes' rule: a model that would have moved as the
opponent did becomes more likely, another one less likely.  No probability becomes 0, because an
opponent that matches no model surprises them all now and then.

An agent is asked about positions, not games.  So it stores the positions that it left to the
opponent: if a single reply leads from one of them to the position that it is asked about, both
belong to the same game, and that reply is an observed move.  Each game gets an agent of its own, so
the posterior depends on the game alone.

``knightfall learn chances`` writes the learned file, which is JSON::

    {"format": "knightfall chances 1", "features": [names …], "opponents": [names …],
     "habits": [a weight for each feature], "shares": [one for each opponent], "made_by": {…}}
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from knightfall.errors import KnightfallError
from knightfall.kernel.rules import words
from knightfall.openings import seed_of, seeded_order
from knightfall.opponents.mcts_state import FEATURES, MOST_PLAYERS, WAYS
from knightfall.position import Position, other
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
"""Names of a reply's features, in the order of `replies.compute_features`."""

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


# -- the posterior, and what a search leaves for the next --------------------------------------
#
# The statistics below a node of the search tree count only models that reply as the opponent did,
# so they remain valid for the next move of the game.  The replies of a model are also kept.


Records = npt.NDArray[Any]


@dataclass(frozen=True)
class SearchMemory:
    """The parts of a finished search that the next one reuses.

    `tree` is the search tree, with its root at index 0. `replies` are the rows of the reply table
    whose positions can still occur.
    """

    tree: Records
    replies: Records

    def subtree_at(self, position: Position) -> Records:
        """Return the subtree whose root is the position; empty if the tree does not contain it."""
        open, me, opp = words(position)
        tree = self.tree
        same = (tree["open"] == np.uint64(open)) & (tree["me"] == me) & (tree["opp"] == opp)
        found = np.flatnonzero(same)
        if not found.size:
            return tree[:0]
        return subtree(tree, int(found[np.argmax(tree["visits"][found])]))


def subtree(tree: Records, root: int) -> Records:
    """Return the nodes below and including `root` as a tree of their own."""
    levels, level = [np.array([root])], np.array([root])
    while level.size:
        children = tree["child"][level]
        level = children[children != 0]
        levels.append(level)
    order = np.concatenate(levels)
    there = np.zeros(len(tree), np.int32)
    there[order] = np.arange(len(order))
    found: Records = tree[order]
    found["child"] = np.where(found["child"] != 0, there[found["child"]], 0)
    return found


def memory_after(
    tree: Records, move: int, replies: Records, stamp: int, left: Position
) -> SearchMemory:
    """Return the parts of a search that are still of use after a move of the root was played.

    `move` is the index of that move, `left` the position that it leads to.
    """
    others = np.arange(WAYS) != move
    root = tree[:1].copy()
    tree["child"][0, others] = 0
    kept = subtree(tree, 0)
    tree[:1] = root
    open = np.uint64(words(left)[0])
    usable = (replies["stamp"] == stamp) & (replies["open"] & ~open == 0)
    return SearchMemory(kept, replies[usable])


PSEUDO_COUNT = 1.0
"""Pseudo-count: answers added to those of a model, spread evenly over all moves."""

MOST_KEPT = 16
"""The most posteriors kept, of a few megabytes each at most; the oldest is dropped first."""


@dataclass(frozen=True)
class ObservedMove:
    """A move of the opponent: the position before it, and the destination cell."""

    before: Position
    reply: int


@dataclass(frozen=True)
class ReplyEstimate:
    """The share (0 to 1) of a model's sampled replies that are a given move, and their number."""

    share: float
    answers: int

    def probability(self, ways: int) -> float:
        """Return the smoothed probability of the move, where `ways` moves are legal."""
        return (self.share * self.answers + PSEUDO_COUNT / ways) / (self.answers + PSEUDO_COUNT)


@dataclass(frozen=True)
class Posterior:
    """The probability of each model, and observed moves that are not yet included in it."""

    shares: tuple[float, ...] = field(default_factory=lambda: shipped_chances().shares)
    seen: tuple[ObservedMove, ...] = ()
    memory: SearchMemory | None = field(default=None, compare=False)

    def observing(self, seen: ObservedMove) -> Posterior:
        """Return the posterior with one more pending move, which `updated` will include."""
        return replace(self, seen=(*self.seen, seen))

    def updated(self, estimates: Sequence[ReplyEstimate | None], ways: int) -> Posterior:
        """Return the posterior that includes the earliest pending move.

        `estimates` has one for each model.  A model with None was not asked, and keeps its share
        relative to the average of the others.
        """
        likely = [None if one is None else one.probability(ways) for one in estimates]
        known = [(share, one) for share, one in zip(self.shares, likely, strict=True) if one]
        weight = sum(share for share, _ in known)
        usual = sum(share * one for share, one in known) / weight if weight else 1.0
        raw = [share * (one or usual) for share, one in zip(self.shares, likely, strict=True)]
        total = sum(raw)
        return replace(self, shares=tuple(one / total for one in raw), seen=self.seen[1:])


class GameHistory:
    """The posterior after each move of an agent, by the position that the move led to."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Position, Posterior] = OrderedDict()  # oldest first

    def posterior_at(self, position: Position) -> Posterior:
        """Return the posterior of the game that a position continues; the prior for a new game."""
        fallback: Posterior | None = None
        for before in predecessors(position):
            seen = ObservedMove(before, _waiter(position))
            kept = self._kept.get(before)
            if kept is not None:
                return kept.observing(seen)
            if (
                len(before.open) == before.board.cells - 2
            ):  # the first move of all, from a placement
                fallback = Posterior().observing(seen)
        return fallback or Posterior()

    def record(self, left: Position, posterior: Posterior) -> None:
        """Store the posterior after the agent's move to the position `left`."""
        self._kept.pop(left, None)
        self._kept[left] = posterior
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)


def _waiter(position: Position) -> int:
    cell = position.knight(other(position.to_move))
    assert cell is not None
    return cell


def predecessors(position: Position) -> list[Position]:
    """Return the positions from which the opponent's last move may have led to this one.

    Both knights are placed in each of them.
    """
    if not position.placed:
        return []
    mover, cell = other(position.to_move), _waiter(position)
    still = position.knight(position.to_move)
    return [
        Position(
            position.board,
            position.open | {cell},
            start if mover == "w" else position.white,
            start if mover == "b" else position.black,
            mover,
        )
        for start in position.board.knight[cell]
        if start not in position.open and start != still
    ]
