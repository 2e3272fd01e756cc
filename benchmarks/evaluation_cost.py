"""What one evaluation costs, for every published heuristic: a compiled loop over positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from knightfall.board import Board
from knightfall.heuristics.evaluator import evaluator
from knightfall.heuristics.published import published_ids
from knightfall.kernel.bits import ask
from knightfall.kernel.compile import compiled, quiet
from knightfall.kernel.geometry import GEOMETRY, geometry
from knightfall.kernel.rules import words
from knightfall.search.think import LEAF_SHARE

from .measure import fastest, seconds_of
from .positions import sampled_positions
from .result import Ratio, Result

SUMMARY = "Nanoseconds per evaluation (called by its address, as a search does) ÷ `improved`"
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
        total = 0.0
        for _ in range(passes):
            for i in range(open.size):
                total += ask(address, boards[0], open[i], me[i], opp[i], to_move[i])
        return total

    return loop


def run(how_many: int = HOW_MANY, rounds: int = ROUNDS) -> Result:
    """Positions from random games, each asked for the first player, whoever is to move."""
    positions = sampled_positions(how_many, SEED)
    asked = [words(position, "w") for position in positions]
    open = np.array([word for word, _, _ in asked], np.uint64)
    me, opp = (np.array([row[side] for row in asked], np.int64) for side in (1, 2))
    to_move = np.array([words(position)[1] for position in positions], np.int64)
    boards = geometry(Board.of(7, 7))
    boards["share"] = LEAF_SHARE
    with quiet():
        loop = _make_loop()
    ids = published_ids()
    ready = {name: evaluator(name) for name in ids}

    def side(name: str, passes: int) -> Callable[[], float]:
        address = ready[name].address
        return lambda: loop(boards, address, open, me, opp, to_move, passes)

    # Calling the loop at all costs some thirty microseconds: cheap heuristics pass often enough
    # for that not to count.
    passes, cut = {}, {}
    for name in ids:
        boards["cut"] = 0
        side(name, 1)()
        cut[name] = int(boards["cut"][0])
        passes[name] = min(MOST_PASSES, 1 + int(TURN / seconds_of(side(name, 1))))
    times = fastest({name: side(name, passes[name]) for name in ids}, rounds)
    spent = {name: seconds / passes[name] for name, seconds in times.items()}
    rows = [
        {
            "heuristic": name,
            "study": study,
            "ns": spent[name] / how_many * 1e9,
            "÷ improved": spent[name] / spent["improved"],
            "cut short": cut[name] / how_many,
        }
        for name, study in ids.items()
    ]
    dearest = max(rows, key=lambda row: row["ns"])
    return Result(
        ratios={
            "null (the empty loop)": Ratio(spent["null"] / spent["improved"]),
            f"{dearest['heuristic']} (the dearest)": Ratio(dearest["÷ improved"]),
        },
        figures={
            "positions": how_many,
            "heuristics": len(rows),
            "improved ns": spent["improved"] / how_many * 1e9,
            "null ns": spent["null"] / how_many * 1e9,
            "positions less than a fifth open": sum(len(p.open) < 49 / 5 for p in positions),
            "steps a dear evaluation may take": LEAF_SHARE,
        },
        rows=rows,
        notes=[
            "Cut short: the part of the evaluations that ran out of their share of steps",
            "The loop and the call alone cost what `null` costs: a figure close to that is a "
            "floor, not a price, and ratios to `improved`, itself at the floor, are too small",
            "Random games seldom last into the phase in which `main*` looks for longest wins, so "
            "its figures hardly show what that costs",
        ],
    )
