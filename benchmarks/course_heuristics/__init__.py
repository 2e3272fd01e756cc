"""Every heuristic of the studies once more, as a student writes it over the course's board.

It is here to be timed: for what it costs (`costs`), and in whole games (`course_games`).  The
values are those of `knightfall.heuristics`; the work is what the course's board makes of it.
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
"""By id, with the families and sums spelled out, in the order of the registry."""
