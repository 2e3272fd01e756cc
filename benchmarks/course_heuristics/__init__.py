"""The studies' heuristics as students write them, on the course's board.

They exist to be timed, alone (`costs`) and in whole games (`course_games`). The values are those of
`knightfall.heuristics`; the cost is that of the course's board.
"""

from __future__ import annotations

from knightfall.heuristics.registry import published_ids

from ..course_board import Score
from . import (
    aggressive,
    course,
    directional,
    lookahead,
    reachability,
    staged,
)

_WRITTEN: dict[str, Score] = {
    **course.SCORES,
    **lookahead.SCORES,
    **directional.SCORES,
    **reachability.SCORES,
    **staged.SCORES,
    **aggressive.SCORES,
}

SCORES: dict[str, Score] = {id: _WRITTEN[id] for id in published_ids()}
"""Scores by id, including families and sums, in the order of the registry."""
