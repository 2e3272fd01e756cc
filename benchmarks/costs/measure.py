"""Measure the time of a node with each heuristic in compiled searches.

The heuristics alternate, so that a slow period of the machine affects all of them; the fastest of
several rounds counts; time is this thread's processor time. The average over positions is of the
nodes searched in the time of one baseline node, not of the time per node: a move has a fixed time,
and a heuristic that is slow only late in the game still searches far early on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from knightfall.agents import COURSE_NODES
from knightfall.errors import KnightfallError
from knightfall.heuristics.evaluator import Evaluator, evaluator
from knightfall.kernel.rules import geometry, words
from knightfall.position import Position
from knightfall.search.alphabeta import plain_deepening
from knightfall.search.budget import DEEPEST
from knightfall.search.run_search import LEAF_STEP_LIMIT
from knightfall.search.search_state import DTYPE
from knightfall.studies.node_costs import BASELINE, NodeCosts

from .positions import FENS

COURSE_ROUNDS, COMPILED_ROUNDS = 5, 25

NODES = 1000
"""Nodes after which a search in plain Python stops deepening, two or three plies before a move's
time is up.
"""

FEW_NODES = 30
"""The same limit for heuristics that play out whole games from nearly every leaf."""

PLAYING_OUT = ("longest_win", "longest_win_difference")

Told = Callable[[int], None]
Speeds = Mapping[str, Sequence[float]]
"""Nodes per second in each position."""


def _nobody(round: int) -> None:
    """Ignore progress reports."""


def compiled_costs(
    heuristics: Iterable[str],
    positions: Sequence[str] = FENS,
    rounds: int = COMPILED_ROUNDS,
    told: Told = _nobody,
) -> NodeCosts:
    """Return the node costs in compiled searches; `improved` must be among the heuristics.

    A turn covers all positions. A search takes some 30 µs, so its code must be in the cache as in a
    game, and the branch predictor must not know the position from the previous search.
    """
    evaluators = {id: evaluator(id) for id in heuristics}
    _check(evaluators)
    best = {id: [0.0] * len(positions) for id in evaluators}
    places = [Position.from_fen(fen) for fen in positions]
    for round in range(rounds):
        for id, heuristic in evaluators.items():
            _compiled(heuristic, places[-1])  # not counted: loads the code into the cache
            for at, position in enumerate(places):
                best[id][at] = max(best[id][at], _compiled(heuristic, position))
        told(round + 1)
    seconds = sum(1 / speed for speed in best[BASELINE]) / len(positions)
    return NodeCosts(_ratios(best), "compiled searches", 1e6 * COURSE_NODES * seconds)


def _check(heuristics: Iterable[str]) -> None:
    if BASELINE not in heuristics:
        raise KnightfallError(
            f"{BASELINE} must be among the heuristics: the others are compared with it"
        )


def _ratios(best: Speeds) -> dict[str, float]:
    baseline = best[BASELINE]
    relative = {
        id: sum(mine / theirs for mine, theirs in zip(speeds, baseline, strict=True))
        for id, speeds in best.items()
    }
    return {id: len(baseline) / sum_ for id, sum_ in relative.items()}


def _compiled(heuristic: Evaluator, position: Position) -> float:
    """Return nodes per second of ``id(heuristic, nodes=2500, plain)``, without overhead."""
    boards = geometry(position.board)
    boards["limit"] = COURSE_NODES
    boards["step_limit"] = LEAF_STEP_LIMIT
    states = np.zeros(1, DTYPE)
    states["depth_limit"] = DEEPEST
    states["symmetric"] = heuristic.symmetric
    states["heuristic"] = heuristic.address
    place = words(position)
    start = time.thread_time()
    plain_deepening(boards[0], states[0], *place)
    return float(states["nodes"][0]) / (time.thread_time() - start)
