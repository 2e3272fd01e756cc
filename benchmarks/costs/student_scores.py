"""The heuristics as the studies' authors wrote them, where that affects their cost.

`course_heuristics` assumes that every score begins as the course's own do. In the authors' code the
directional heuristics and two of the aggressive study do not check for the end of the game, which
saves a list of moves. Those of the reachability study check whether either player is stuck, which
costs one more.

The cost of the reachability study's code is known (some 15 µs for `static_reach`, on the early
board 5 µs per open cell for `bfs_reach`), but not the code. The costs fit if powers come from a
table and if the board is asked for the moves from every cell; so that is what is timed.

Some heuristics of the staged study play out whole games below some phase. The author's phase is
relative to the root of each search, so it never fell that low: they are timed above it.
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
"""Heuristics that do not check whether the game is over, like all those of the directional study.
"""

PLAYED_OUT_BELOW = {
    "main": 0.2,
    "main_alt": 0.2,
    "main_alt_01": 0.1,
    "main_alt_03": 0.3,
    "main_prop": 0.2,
    "main_staggered": 0.2,
    "main_alt_staggered": 0.2,
}
"""The open share of the board below which a heuristic plays out games."""


def stuck_first(score: Score) -> Score:
    """Return a score that first returns −∞ if the player has no move, and +∞ if the opponent has
    none.
    """

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
    """Return the value of `bfs_reach` with a search that gets the moves from each cell from the
    board.
    """
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
    """Return the score `static_reach(r)` as its author wrote it, with tabulated powers of r."""

    def score(game: CourseBoard, player: object) -> float:
        powers = _powers(game.width, game.height, r)
        mine = powers[game.get_player_location(player)]
        theirs = powers[game.get_player_location(game.get_opponent(player))]
        return sum(mine[cell] - theirs[cell] for cell in game.get_blank_spaces())

    return score


# -- all of them -----------------------------------------------------------------------------


def as_written(id: str, study: str) -> Score:
    """Return a heuristic as its author wrote it."""
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
"""Scores by id, including those that no text defines."""

AS_WRITTEN["main_prop"] = staged.SCORES["main_prop"]
AS_WRITTEN["coded:open_cluster"] = AS_WRITTEN["aggressive"]  # its other part never ran
