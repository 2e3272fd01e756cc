"""Heuristics as coded: what they are, known without compiling any.

Where a study's program differs from its words, the words keep the plain id and the program's
version stands here.  It is for playing the studies again as their authors did: no list of
published heuristics has it.
"""

from __future__ import annotations

from knightfall.heuristics.published import CODED, Declared

VARIANTS = (
    Declared(
        f"{CODED}near_center",
        "reachability",
        "L1(opp,C*) − L1(me,C*)",
        "How much nearer the course's centre, half a cell off, than the opponent.",
        symmetric=False,
    ),
    Declared(
        f"{CODED}near_edges",
        "reachability",
        "L1(me,C*) − L1(opp,C*)",
        "How much farther from the course's centre, half a cell off, than the opponent.",
        symmetric=False,
    ),
    Declared(
        f"{CODED}longest_win",
        "staged",
        "positions that can follow − lines that me loses",
        "The path count: positions that can follow, less those in which the player is stuck.",
        symmetric=False,  # mirror images may differ once the steps are spent
        costly=True,
    ),
    Declared(
        f"{CODED}longest_win_difference",
        "staged",
        "lines that me wins − lines that me loses",
        "Lines to the end that the player wins, less those that it loses.",
        symmetric=False,
        costly=True,
    ),
    Declared(
        f"{CODED}main_less",
        "staged",
        "phase*·mobility + open_space_difference",
        "Mobility, fading from the root of a search on, and elbow room.",
    ),
    Declared(
        f"{CODED}main_less_more",
        "staged",
        "phase*·improved + open_space_difference",
        "Improved, fading from the root of a search on, and elbow room.",
    ),
    Declared(
        f"{CODED}main",
        "staged",
        "phase* < 0.2: coded:longest_win_difference; else coded:main_less",
        "Fading mobility and elbow room; far below the root the lines won, less those lost.",
        costly=True,
    ),
    Declared(
        f"{CODED}main_alt",
        "staged",
        "phase* < 0.4: coded:longest_win; else coded:main_less",
        "Fading mobility and elbow room; far below the root, at two fifths, the path count.",
        costly=True,
    ),
    Declared(
        f"{CODED}main_prop",
        "staged",
        "phase* < 0.2: coded:longest_win; "
        "else phase*·mobility + (1 − phase*)·open_space_difference",
        "Mobility giving way to elbow room from the root on; far below it the path count.",
        costly=True,
    ),
    Declared(
        f"{CODED}main_staggered",
        "staged",
        "phase* > 0.7: mobility; phase* < 0.2: coded:longest_win_difference; "
        "else open_space_difference",
        "Near the root mobility, then elbow room, at last the lines won, less those lost.",
        costly=True,
    ),
    Declared(
        f"{CODED}main_alt_staggered",
        "staged",
        "phase* > 0.7: mobility; phase* < 0.2: coded:longest_win; else open_space_difference",
        "Near the root mobility, then elbow room, at last the path count.",
        costly=True,
    ),
    Declared(
        f"{CODED}lookahead_ratio",
        "aggressive",
        "mean of M'(me)/M'(opp) over x ∈ moves(me), the mover on x",
        "Own mobility over the opponent's after whoever is to move went where the player could go.",
    ),
    Declared(
        f"{CODED}open_cluster",
        "aggressive",
        "M(me) − 2·M(opp)",
        "Own mobility less twice the opponent's: the part about open space never ran.",
    ),
)
"""In the order of the studies."""
