"""The heuristics as the studies' authors wrote them, where that tells in what they cost.

`course_heuristics` takes it that every score begins as the course's own do.  In the authors' code
the directional ones and two of the aggressive study do not ask whether the game is over, which
saves a list of moves; those of the reachability study look whether either player is stuck, which
costs another.

What the reachability study's code costs is on record (some 15 µs for `static_reach`, on the early
board 5 µs per open cell for `bfs_reach`), how it is written is not.  It fits if powers stand in a
table, and if the board is asked for the moves from every cell; so that is what is timed.

Some of the staged study play out whole games below some phase.  The author measured the phase from
the root of each search, so that it never came to that: they are timed above it.
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from functools import cache, wraps
from math import inf

from knightfall.heuristics.registry import SUMMED_WITH_BFS_REACH, published_ids

from ..course_board import Cell, CourseBoard, Score
from ..course_heuristics import SCORES, reachability, staged

NEVER_ASK = ("aggressive", "open_cluster")
"""Besides all of the directional study."""

PLAYED_OUT_BELOW = {
    "main": 0.2,
    "main_alt": 0.2,
    "main_alt_01": 0.1,
    "main_alt_03": 0.3,
    "main_prop": 0.2,
    "main_staggered": 0.2,
    "main_alt_staggered": 0.2,
}
"""The part of the board that must be open lest games are played out."""


def stuck_first(score: Score) -> Score:
    """Look whether either player has no move before anything else."""

    @wraps(score)
    def whole(game: CourseBoard, player: object) -> float:
        if not game.get_legal_moves(player):
            return -inf
        if not game.get_legal_moves(game.get_opponent(player)):
            return inf
        return score(game, player)

    return whole


# -- reachability ----------------------------------------------------------------------------


def _reach(game: CourseBoard, player: object) -> float:
    start = game.get_player_location(player)
    steps = {start: 0}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        for target in game.moves_from(cell):
            if target not in steps:
                steps[target] = steps[cell] + 1
                queue.append(target)
    return sum(1 / (1 + step) for step in steps.values())


def bfs_reach(game: CourseBoard, player: object) -> float:
    """The moves from each cell are the board's answer."""
    return _reach(game, player) - _reach(game, game.get_opponent(player))


def _with_bfs_reach(positional: Score) -> Score:
    return lambda game, player: positional(game, player) + bfs_reach(game, player)


@cache
def _powers(width: int, height: int, r: float) -> dict[Cell, dict[Cell, float]]:
    cells = [(row, column) for row in range(height) for column in range(width)]
    steps = reachability.steps_on_empty_board(width, height)
    return {
        start: {cell: r ** steps[start][cell] if cell in steps[start] else 0.0 for cell in cells}
        for start in cells
    }


def static_reach(r: float) -> Score:
    """The powers of r are looked up, and the open cells listed once."""

    def score(game: CourseBoard, player: object) -> float:
        powers = _powers(game.width, game.height, r)
        mine = powers[game.get_player_location(player)]
        theirs = powers[game.get_player_location(game.get_opponent(player))]
        return sum(mine[cell] - theirs[cell] for cell in game.get_blank_spaces())

    return score


# -- all of them -----------------------------------------------------------------------------


def as_written(id: str, study: str) -> Score:
    """A heuristic as its author wrote it."""
    bare: Score = getattr(SCORES[id], "__wrapped__", SCORES[id])
    if study == "directional" or id in NEVER_ASK:
        return bare
    if study != "reachability":
        return SCORES[id]
    if id.startswith("static_reach("):
        bare = static_reach(float(Fraction(id[len("static_reach(") : -1])))
    return stuck_first(_DEAR.get(id, bare))


_DEAR: dict[str, Score] = {
    "bfs_reach": bfs_reach,
    **{
        f"{id}+bfs_reach": _with_bfs_reach(getattr(reachability, id))
        for id in SUMMED_WITH_BFS_REACH
    },
}

AS_WRITTEN: dict[str, Score] = {id: as_written(id, study) for id, study in published_ids().items()}
"""By id; and those that no text defines."""

AS_WRITTEN["main_prop"] = staged.SCORES["main_prop"]
AS_WRITTEN["coded:open_cluster"] = AS_WRITTEN["aggressive"]  # the rest of it never ran
