"""Every published heuristic: what it is, known without compiling any.

What it computes stands in the module of its study, in a function of the same name; what a
study's program computed instead (`knightfall.heuristics.variants`) in the module `coded`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from typing import Any

STUDIES = ("course", "lookahead", "directional", "reachability", "staged", "aggressive")
USER = "user"
"""What stands for a study where a heuristic is somebody's own."""
LEARNED = "learned"
"""What stands for a study where a heuristic was learned from the truth by ourselves."""
WISHED = "wishes"
"""What stands for a study where an author wished for a heuristic and we wrote it."""
CODED = "coded:"
"""How the ids begin of heuristics as a study's program computed them, not as its words say."""


@dataclass(frozen=True)
class Declared:
    """One row of the table: a heuristic, or a family of them when `parameter` is set.

    A `symmetric` one promises that mirrored and turned positions get the same value.  A `costly`
    one searches on its own: it heeds `kernel.clock.steps_left`.
    """

    id: str
    study: str
    formula: str
    summary: str
    symmetric: bool = True
    costly: bool = False
    parameter: str = ""
    published: tuple[Fraction, ...] = ()
    function: Any = field(default=None, repr=False)
    """Somebody's own; a published one is found by its name."""

    @property
    def coded(self) -> bool:
        """Whether it is what a study's program computed, not what its words say."""
        return self.id.startswith(CODED)

    @property
    def score(self) -> Any:
        """The dispatcher that compiles it; a family's function makes the Python function of a
        member from the parameter."""
        if self.study == USER:
            return self.function
        return getattr(import_module(self.module), self.id.removeprefix(CODED))

    @property
    def module(self) -> str:
        """The module that computes a published one."""
        return f"knightfall.heuristics.{'coded' if self.coded else self.study}"


PUBLISHED = (
    # -- the course's own, the baseline every study starts from
    Declared("null", "course", "0", "Knows nothing but won and lost."),
    Declared("open", "course", "M(me)", "Own mobility."),
    Declared(
        "center",
        "course",
        "|me − C*|²",
        "Squared distance from the centre: the course rewards being far from it.",
        symmetric=False,  # C* lies half a cell below and right of the true centre
    ),
    Declared("improved", "course", "M(me) − M(opp)", "Own mobility less the opponent's."),
    # -- one own move further, and where on the board a knight stands
    Declared(
        "lookahead_mobility",
        "lookahead",
        "[M(me) + Σ deg(x)] − [M(opp) + Σ deg(x)]",
        "Ways to make one or two moves in a row, less the opponent's.",
    ),
    Declared(
        "center_pull",
        "lookahead",
        "M(me) − M(opp) + d(opp) − d(me)",
        "Mobility difference, plus how much nearer the centre than the opponent.",
        symmetric=False,  # C* again
    ),
    Declared(
        "corner_averse",
        "lookahead",
        "(M(me) − corners(me)) − (M(opp) − corners(opp))",
        "Mobility difference that does not count moves into a corner.",
    ),
    # -- mobility weighed by place
    Declared(
        "weighted_mobility",
        "directional",
        "M(me)·ω(me)",
        "Own mobility, weighted by how central the knight stands.",
    ),
    Declared(
        "weighted_difference",
        "directional",
        "M(me)·ω(me) − M(opp)·ω(opp)",
        "Mobility difference, each side weighted by how central its knight stands.",
    ),
    Declared(
        "weighted_moves",
        "directional",
        "Σ ω(x), x ∈ moves(me) − Σ ω(x), x ∈ moves(opp)",
        "Mobility difference, each move weighted by how central it leads.",
    ),
    # -- how much of the board a knight can get to, and how soon
    Declared(
        "near_center",
        "reachability",
        "L1(opp,C) − L1(me,C)",
        "How much nearer the centre than the opponent.",
    ),
    Declared(
        "near_edges",
        "reachability",
        "L1(me,C) − L1(opp,C)",
        "How much farther from the centre than the opponent.",
    ),
    Declared(
        "near_opponent", "reachability", "−L1(me,opp)", "The closer the two knights, the better."
    ),
    Declared(
        "far_opponent",
        "reachability",
        "L1(me,opp)",
        "The farther apart the two knights, the better.",
    ),
    Declared(
        "static_reach",
        "reachability",
        "Σ r^δ(me,x) − Σ r^δ(opp,x)",
        "Open cells, fading by a factor r with each knight's move they are away on an empty board.",
        parameter="r",
        published=tuple(Fraction(1, n) for n in range(2, 11)),
    ),
    Declared(
        "bfs_reach",
        "reachability",
        "Σ 1/(1+d(me,x)) − Σ 1/(1+d(opp,x))",
        "Cells that can still be reached, the nearer the better, less the opponent's.",
    ),
    # -- one after the other, with the phase of the game
    Declared(
        "mobility",
        "staged",
        "M(me) − M(opp)",
        "Own mobility less the opponent's, under the name this study gives it.",
    ),
    Declared("open_space", "staged", "open8(me)", "Open cells that touch the own knight."),
    Declared(
        "open_space_difference",
        "staged",
        "open8(me) − open8(opp)",
        "Open cells around the own knight, less those around the opponent's.",
    ),
    Declared(
        "open_space_next",
        "staged",
        "max of open8(me) over the mover's moves",
        "Open cells around the own knight after the next move, if it is chosen for that.",
    ),
    Declared(
        "longest_win",
        "staged",
        "plies of the longest continuation that me wins",
        "Length of the longest continuation, both sides helping, that ends in a win; "
        "0 if none does.",
        symmetric=False,  # mirror images may differ once the steps are spent
        costly=True,
    ),
    Declared(
        "longest_win_difference",
        "staged",
        "longest_win(me) − longest_win(opp)",
        "The longest way to win, less the opponent's longest.",
        symmetric=False,
        costly=True,
    ),
    Declared(
        "main_less",
        "staged",
        "phase·mobility + open_space_difference",
        "Mobility, fading as the board fills, and elbow room.",
    ),
    Declared(
        "main_less_more",
        "staged",
        "phase·improved + open_space_difference",
        "Improved, fading as the board fills, and elbow room.",
    ),
    Declared(
        "main",
        "staged",
        "phase < 0.2: longest_win_difference; else main_less",
        "Fading mobility and elbow room; near the end the longest win, less the opponent's.",
        costly=True,
    ),
    Declared(
        "main_alt",
        "staged",
        "phase < 0.2: longest_win; else main_less",
        "Fading mobility and elbow room; in the last fifth the longest win.",
        costly=True,
    ),
    Declared(
        "main_alt_01",
        "staged",
        "phase < 0.1: longest_win; else main_less",
        "Fading mobility and elbow room; in the last tenth the longest win.",
        costly=True,
    ),
    Declared(
        "main_alt_03",
        "staged",
        "phase < 0.3: longest_win; else main_less",
        "Fading mobility and elbow room; in the last three tenths the longest win.",
        costly=True,
    ),
    Declared(
        "main_prop",
        "staged",
        "phase < 0.2: longest_win; else phase·mobility + (1 − phase)·open_space_difference",
        "Mobility giving way to elbow room as the board fills; in the last fifth the longest win.",
        costly=True,
    ),
    Declared(
        "main_staggered",
        "staged",
        "phase > 0.7: mobility; phase < 0.2: longest_win_difference; else open_space_difference",
        "First mobility, then elbow room, at last the longest win, less the opponent's.",
        costly=True,
    ),
    Declared(
        "main_alt_staggered",
        "staged",
        "phase > 0.7: mobility; phase < 0.2: longest_win; else open_space_difference",
        "First mobility, then elbow room, at last the longest win.",
        costly=True,
    ),
    # -- against the opponent's mobility more than for the own
    Declared(
        "aggressive",
        "aggressive",
        "M(me) − 2·M(opp)",
        "Own mobility less twice the opponent's.",
    ),
    Declared(
        "lookahead_ratio",
        "aggressive",
        "mean of M'(me)/M'(opp) over x ∈ moves(me), me on x",
        "Own mobility over the opponent's after an own move, averaged over those moves.",
    ),
    Declared(
        "open_cluster",
        "aggressive",
        "aggressive + (H+W−L1(me,k))/(H+W)",
        "Aggressive, drawn to the emptiest quarter of the board once a fifth of it is blocked.",
        # Among equal windows the first in scanning order counts, and k is half a cell off the
        # centre of an even window.
        symmetric=False,
    ),
)
"""In the order of the studies."""

SUMMED_WITH_BFS_REACH = ("near_center", "near_edges", "near_opponent", "far_opponent")
"""The heuristics the reachability study also tried added to `bfs_reach`."""


def published_ids() -> dict[str, str]:
    """Each id with its study, in order, families spelled out, the sums right after `bfs_reach`."""
    ids: dict[str, str] = {}
    for row in PUBLISHED:
        if row.parameter:
            ids |= {f"{row.id}({value})": row.study for value in row.published}
        else:
            ids[row.id] = row.study
        if row.id == "bfs_reach":
            ids |= {f"{name}+bfs_reach": row.study for name in SUMMED_WITH_BFS_REACH}
    return ids
