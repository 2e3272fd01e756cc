"""Every published heuristic under its id, and what it takes to write your own.

A heuristic is a function of five arguments that says how well `me` stands.  Here is one that
likes open cells around it and dislikes the opponent's moves::

    from knightfall.heuristics import heuristic, mobility, space

    @heuristic
    def cosy(board, open, me, opp, to_move):
        return space(board, open, me) - 0.5 * mobility(board, open, opp)

Sets of cells (`open`, the result of `moves` or `reach`) are words with one bit per cell: use
`count`, `each`, `first`, `rest` and `bit` on them.  `knightfall.heuristics.registry` says what
the arguments are.
"""

from knightfall.heuristics.registry import REGISTRY, heuristic

# isort: off
# In this order: the table lists them as they are imported.
from knightfall.heuristics import course
from knightfall.heuristics import lookahead
from knightfall.heuristics import directional
from knightfall.heuristics import reachability
from knightfall.heuristics import staged
from knightfall.heuristics import aggressive

# isort: on
from knightfall.heuristics.vocabulary import (
    bit,
    count,
    each,
    first,
    mobility,
    moves,
    onward,
    reach,
    rest,
    space,
    spread,
)

__all__ = [
    "REGISTRY",
    "aggressive",
    "bit",
    "count",
    "course",
    "directional",
    "each",
    "first",
    "heuristic",
    "lookahead",
    "mobility",
    "moves",
    "onward",
    "reach",
    "reachability",
    "rest",
    "space",
    "spread",
    "staged",
]
