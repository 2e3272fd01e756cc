"""The cost of one evaluation with every published heuristic, in a compiled loop over positions.

A processor overlaps independent calls, which would hide the cost of a cheap heuristic. So each
evaluation here depends on the one before, as in a search.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from knightfall.board import Board
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.registry import published_ids
from knightfall.kernel.bits import call_heuristic
from knightfall.kernel.compile import compiled, quiet
from knightfall.kernel.rules import GEOMETRY, geometry, words
from knightfall.search.run_search import LEAF_STEP_LIMIT

from .measure import fastest, seconds_of
from .positions import sampled_positions
from .result import Ratio, Result

SUMMARY = "Nanoseconds per evaluation, beyond those of calling `null`, ÷ those of `improved`"
HOW_MANY = 4096
SEED = 3
ROUNDS = 7
TURN, MOST_PASSES = 0.01, 50

_words, _cells = types.Array(types.uint64, 1, "C"), types.Array(types.int64, 1, "C")


def _make_loop() -> Callable[..., float]:
    signature = types.float64(
        types.Array(GEOMETRY, 1, "C"), types.uint64, _words, _cells, _cells, _cells, types.int64
    )

    @compiled(signature, cache=False)
    def loop(
        boards: Any, address: int, open: Any, me: Any, opp: Any, to_move: Any, passes: int
    ) -> float:
        total, link = 0.0, types.uint64(0)
        for _ in range(passes):
            for i in range(open.size):
                value = call_heuristic(
                    address, boards[0], open[i] | link, me[i], opp[i], to_move[i]
                )
                total += value
                # Always 0, because no heuristic returns NaN; but the processor must wait for the
                # value.
                link = types.uint64(value != value)
        return total

    return loop


def run(how_many: int = HOW_MANY, rounds: int = ROUNDS) -> Result:
    """Measure all heuristics on positions from random games, valued for the first player."""
    positions = sampled_positions(how_many, SEED)
    asked = [words(position, "w") for position in positions]
    open = np.array([word for word, _, _ in asked], np.uint64)
    me, opp = (np.array([row[side] for row in asked], np.int64) for side in (1, 2))
    to_move = np.array([words(position)[1] for position in positions], np.int64)
    boards = geometry(Board.of(7, 7))
    boards["step_limit"] = LEAF_STEP_LIMIT
    with quiet():
        loop = _make_loop()
    ids = published_ids()
    ready = {name: evaluator(name) for name in ids}

    def side(name: str, passes: int) -> Callable[[], float]:
        address = ready[name].address
        return lambda: loop(boards, address, open, me, opp, to_move, passes)

    # Calling the loop takes some thirty microseconds, so cheap heuristics make many passes.
    passes, cut = {}, {}
    for name in ids:
        boards["cut"] = 0
        side(name, 1)()
        cut[name] = int(boards["cut"][0])
        passes[name] = min(MOST_PASSES, 1 + int(TURN / seconds_of(side(name, 1))))
    times = fastest({name: side(name, passes[name]) for name in ids}, rounds)
    spent = {name: seconds / passes[name] / how_many * 1e9 for name, seconds in times.items()}
    own = {name: max(0.0, nanoseconds - spent["null"]) for name, nanoseconds in spent.items()}
    rows = [
        {
            "heuristic": name,
            "study": study,
            "ns": own[name],
            "÷ improved": own[name] / own["improved"],
            "cut short": cut[name] / how_many,
        }
        for name, study in ids.items()
    ]
    dearest = max(rows, key=lambda row: row["ns"])
    return Result(
        ratios={
            "open": Ratio(own["open"] / own["improved"]),
            f"{dearest['heuristic']} (the dearest)": Ratio(dearest["÷ improved"]),
        },
        figures={
            "positions": how_many,
            "heuristics": len(rows),
            "improved ns": own["improved"],
            "the loop and the call alone (null), already subtracted, ns": spent["null"],
            "positions less than a fifth open": sum(len(p.open) < 49 / 5 for p in positions),
            "steps a costly evaluation may take": LEAF_STEP_LIMIT,
        },
        rows=rows,
        notes=[
            "Cut short: the part of the evaluations that ran out of steps",
            "Random games seldom last into the phase in which `main*` looks for longest wins, so "
            "its figures hardly show what that costs",
        ],
    )
