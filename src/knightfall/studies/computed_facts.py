"""Computations that check statements of the studies, or try what their authors proposed.

`FACTS` and `FINDINGS` map the names in `published.toml` to functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from math import hypot, inf, log, sqrt
from random import Random
from statistics import fmean, stdev

import numpy as np

from knightfall.board import Board
from knightfall.display.numbers import percent, signed
from knightfall.openings import openings
from knightfall.oracle.graded_games import PHASES, phase_of
from knightfall.position import Position
from knightfall.statistics.rates import Share, Z
from knightfall.studies.comparisons import ClaimVerdict, Judgement, signed_interval
from knightfall.studies.node_costs import BASELINE, student_costs
from knightfall.studies.playing_conditions import Condition
from knightfall.studies.published import Fact, Study, WishFinding

# -- facts ---------------------------------------------------------------------------------


BOARD = Board.of(7, 7)
RESERVE = 10.0
"""Milliseconds that the course's agents kept in reserve."""

NEGLIGIBLE_SHARE = 0.01
"""A share of resigned games below this counts as none."""

FactResult = tuple[bool, str]
"""Whether a statement is true, and a sentence on the result."""


@dataclass(frozen=True)
class FactInputs:
    """The data that a fact is computed from: a study, and which of the course's boards it used.

    `given_up` is the share of games that the agents resigned under course conditions. `careless` is
    that share for the same agents without their precaution of choosing a legal move first. A share
    is None if its games were not played.
    """

    study: Study
    board: str
    given_up: Share | None = None
    careless: Share | None = None


def judge_fact(name: Fact, inputs: FactInputs) -> Judgement | None:
    """Return the verdict on a statement; None if it needs games that were not played."""
    if name == "prevents_forfeits":
        if inputs.given_up is None or inputs.careless is None:
            return None
        return judge_prevention(inputs.given_up, inputs.careless)
    holds, words = FACTS[name](inputs)
    return Judgement("holds" if holds else "does not hold", None, None, None, 0, words)


# -- the board -----------------------------------------------------------------------------


def second_player_wins(inputs: FactInputs) -> FactResult:
    """Decide whether the second player has a winning reply to every first placement."""
    from knightfall.solver.atlas import survey

    if survey(BOARD).second_wins_from_the_empty_board:
        return True, "settled by exact solution: the second player can win against every placement"
    return False, "settled by exact solution: the first player has a placement that wins"


def parity_changes(inputs: FactInputs) -> FactResult:
    """Decide whether the parity of row plus column changes with each knight's move."""
    moves = [(start, end) for start in range(BOARD.cells) for end in BOARD.knight[start]]
    changes = sum(BOARD.colour(start) != BOARD.colour(end) for start, end in moves)
    return changes == len(moves), f"it changes with {changes} of the board's {len(moves)} moves"


def parity_proves(inputs: FactInputs) -> FactResult:
    """Decide whether the player whom the parity of the knights favours (the hunter) always wins."""
    from knightfall.solver.atlas import survey

    found = survey(BOARD)
    decided, total = found.hunter_wins, len(found.openings)
    return decided == total, (
        f"the player whom parity favours wins {decided:,} of {total:,} openings by exact solution; "
        + ("it decides all" if decided == total else "the others need more than parity")
    )


def edges_have_fewer_moves(inputs: FactInputs) -> FactResult:
    """Decide whether edge cells have fewer knight's moves than the others, on average."""
    last = BOARD.width - 1
    edge: list[int] = []
    inside: list[int] = []
    for cell in range(BOARD.cells):
        at_edge = {BOARD.row(cell), BOARD.column(cell)} & {0, last}
        (edge if at_edge else inside).append(len(BOARD.knight[cell]))
    return max(edge) <= fmean(inside) and fmean(edge) < fmean(inside), (
        f"on the empty board a cell at the edge has {min(edge)} to {max(edge)} moves "
        f"({fmean(edge):.1f} on average), one inside {min(inside)} to {max(inside)} "
        f"({fmean(inside):.1f})"
    )


# -- terms of heuristics -------------------------------------------------------------------


def centre_term_reaches_6(inputs: FactInputs) -> FactResult:
    """Decide whether the difference of two distances from the centre, as coded, can be ±6."""
    far = [
        hypot(BOARD.height / 2 - BOARD.row(cell), BOARD.width / 2 - BOARD.column(cell))
        for cell in range(BOARD.cells)
    ]
    most = max(theirs - mine for mine in far for theirs in far)
    return abs(most - 6) < 0.005, (
        f"over all pairs of cells the term reaches from −{most:.2f} to +{most:.2f}"
    )


def cluster_breaks_ties(inputs: FactInputs) -> FactResult:
    """Decide whether the positional term of `open_cluster` counts less than one move."""
    sides, window = BOARD.height + BOARD.width, round(BOARD.height / 2)
    centres = [top + window // 2 for top in range(BOARD.height - window + 1)]
    far = [abs(at - centre) for at in range(BOARD.height) for centre in centres]
    gap = 2 * (max(far) - min(far)) / sides
    return gap < 1, (
        f"the term of two positions differs by at most {gap:.2f}, the rest of the value by whole "
        "numbers; as printed the term never ran (see the errata)"
    )


def doubling_presses(inputs: FactInputs) -> FactResult:
    """Decide whether `aggressive`'s moves leave the opponent fewer replies than `improved`'s."""
    left: dict[int, list[int]] = {1: [], 2: []}
    for position in _random_positions(BOARD, 1000, Random(0)):
        after = [position.play(move) for move in position.legal_moves]
        counts = [
            (len(one.targets(position.to_move)), len(one.targets(one.to_move))) for one in after
        ]
        for weight, found in left.items():
            found.append(max(counts, key=lambda moves: moves[0] - weight * moves[1])[1])
    once, twice = fmean(left[1]), fmean(left[2])
    return twice < once, (
        f"over {len(left[1]):,} positions of random games the choice by aggressive leaves the "
        f"opponent {twice:.2f} moves on average, that by improved {once:.2f}"
    )


def _random_positions(board: Board, number: int, rng: Random) -> Iterator[Position]:
    """Yield `number` unfinished positions, each from another random game."""
    starts, found = openings(board), 0
    while found < number:
        position, plies = Position.from_fen(rng.choice(starts)), rng.randint(0, 20)
        while plies and position.winner is None:
            position, plies = position.play(rng.choice(position.legal_moves)), plies - 1
        if position.winner is None:
            found += 1
            yield position


# -- time ----------------------------------------------------------------------------------


def no_timeouts(inputs: FactInputs) -> FactResult:
    """Decide whether the longest step between two clock readings fits into the time reserve."""

    def step(heuristic: str) -> float:
        cost = student_costs(inputs.board, heuristic)
        lists = 2 * (cost.listing + 8 * cost.per_move)
        value = cost.score + cost.score_open * (BOARD.cells - 2) + cost.score_move * 16
        return (cost.call + cost.forecast + lists + value) / 1e6

    dearest = max(inputs.study.heuristics, key=step)
    return step(dearest) < RESERVE, (
        f"the dearest step between two looks at the clock, a forecast and an evaluation with "
        f"{dearest} on an empty board, takes {step(dearest):.2f} ms at our prices; "
        f"{RESERVE:.0f} ms are kept in reserve"
    )


def judge_prevention(careful: Share, careless: Share) -> Judgement:
    """Judge whether a precaution prevents resigned games.

    It does if fewer games are resigned at 95 %, and surely less than one in a hundred remains. It
    does not if surely more remain, or if surely less than one in a hundred could be prevented.
    """
    left, before = careful.rate or 0.0, careless.rate or 0.0
    (least, most), (fewest, all) = careful.interval, careless.interval
    # Newcombe's interval for the difference of two independent shares.
    low = before - left - hypot(before - fewest, most - left)
    high = before - left + hypot(all - before, left - least)
    if low > 0 and most < NEGLIGIBLE_SHARE:
        verdict: ClaimVerdict = "holds"
    elif least > NEGLIGIBLE_SHARE or high < NEGLIGIBLE_SHARE:
        verdict = "does not hold"
    else:
        verdict = "cannot be told apart"
    points = 100 * (before - left), 100 * low, 100 * high
    words = (
        f"without it the same agents give up {_percent(careless)}, with it {_percent(careful)}: "
        f"{signed(points[0], 1)} points {signed_interval(*points[1:])}"
    )
    return Judgement(verdict, *points, careless.of, words, "points fewer games given up")


def _percent(share: Share) -> str:
    low, high = share.interval
    return (
        f"{percent(share.rate or 0.0)} of {share.of:,} games ({100 * low:.1f} to {100 * high:.1f})"
    )


def depth_first_grows(inputs: FactInputs) -> FactResult:
    """Decide whether an evaluation that searches all lines costs more on 8×8 than on 7×7.

    The staged heuristics do that when less than a fifth of the board is open. Without it an
    evaluation looks at one position on any board.
    """
    small, large = (_lines_from_a_fifth(Board.of(side, side)) for side in (7, 8))
    return fmean(large) > 1.1 * fmean(small), (
        "where less than a fifth of the board is open, searching all lines looks at "
        f"{fmean(small):.1f} positions for one value on 7×7 (at most {max(small)}) and at "
        f"{fmean(large):.1f} on 8×8 (at most {max(large)}), in {len(small):,} random positions "
        "each; main_less_more looks at one on either board"
    )


def _lines_from_a_fifth(board: Board) -> list[int]:
    """Return the tree sizes of 2,000 random positions with less than a fifth of the board open."""
    rng, sizes = Random(board.cells), []
    for _ in range(2000):
        first, second, *open = rng.sample(range(board.cells), (board.cells - 1) // 5 + 2)
        sizes.append(tree_size(board, sum(1 << cell for cell in open), first, second))
    return sizes


FACTS: Mapping[Fact, Callable[[FactInputs], FactResult]] = {
    "second_player_wins": second_player_wins,
    "parity_changes": parity_changes,
    "parity_proves": parity_proves,
    "centre_term_reaches_6": centre_term_reaches_6,
    "edges_have_fewer_moves": edges_have_fewer_moves,
    "no_timeouts": no_timeouts,
    "doubling_presses": doubling_presses,
    "cluster_breaks_ties": cluster_breaks_ties,
    "depth_first_grows": depth_first_grows,
}


# -- wishes --------------------------------------------------------------------------------


GAMES = 300
"""Random games from which positions are taken."""

NODES, DEPTH = 2_500, 9
"""Nodes, and depth, of a search from the empty board with and without reflections."""

PLIES = 3
"""Plies after an opening at which positions and their mirror images are counted."""


@dataclass(frozen=True)
class WishResult:
    """The computed result of what an author proposed (`Wish`): a sentence, and numbers by name."""

    words: str
    numbers: dict[str, float]


# -- evaluations that take longer than a move ----------------------------------------------


def values_in_time(condition: Condition) -> WishResult:
    """Compute how often one evaluation that searches to the end exceeds the time for a move."""
    from knightfall.kernel.rules import words

    cost = student_costs(condition.board, BASELINE)
    step = cost.call + cost.forecast + cost.listing + 4 * cost.per_move
    most = round(1000 * condition.time / step)
    late = {
        phase: sum(
            tree_size(BOARD, open, mover, waiter, most + 1) > most
            for open, mover, waiter in map(words, positions_of_phase(phase))
        )
        for phase in PHASES
    }
    shares, numbers = [], {"positions for a move": float(most)}
    names = {"opening": "in the opening", "middle": "in the middle game", "end": "near the end"}
    for phase, times in late.items():
        share = Share(times, GAMES)
        low, high = (100 * end for end in share.interval)
        shares.append(
            f"{percent(times / GAMES, 0)} of positions {names[phase]} ({low:.0f} to {high:.0f})"
        )
        numbers |= {f"late {names[phase]}": 100 * times / GAMES}
    return WishResult(
        "As printed, one evaluation by all lines to the end takes longer than the author's agents "
        f"had for a whole move (the time of {most:,} positions) in {', '.join(shares)} ({GAMES} "
        "positions of random games each). Cut short, it returns a value every time.",
        numbers,
    )


def tree_size(board: Board, open: int, mover: int, waiter: int, most: float = inf) -> int:
    """Return the size of the full tree of a position, the root included; at most `most`."""
    found = 1
    for cell in board.knight[mover]:
        if open >> cell & 1 and found < most:
            found += tree_size(board, open ^ 1 << cell, waiter, cell, most - found)
    return found


def positions_of_phase(phase: str) -> Iterator[Position]:
    """Yield `GAMES` positions of a phase, each from another game of random moves."""
    starts, rng, found = openings(BOARD), Random(f"wishes/{phase}"), 0
    while found < GAMES:
        position, seen = Position.from_fen(rng.choice(starts)), []
        while position.winner is None:
            if phase_of(position) == phase:
                seen.append(position)
            position = position.play(rng.choice(position.legal_moves))
        if seen:
            found += 1
            yield rng.choice(seen)


# -- reflections ---------------------------------------------------------------------------


def reflections(condition: Condition) -> WishResult:
    """Compute the depth that recognising mirror images gains on the empty board and in openings."""
    plain, mirrored = (_searched(symmetric) for symmetric in (False, True))
    ratio = plain[1] / mirrored[1]
    gains, saved = _mirrored_openings()
    return WishResult(
        f"On the empty board a search of {NODES:,} nodes gets to depth {mirrored[0]} instead of "
        f"{plain[0]}, and depth {DEPTH} takes {ratio:.1f} times fewer nodes. But games of the "
        f"course begin with both knights on the board. {_ORDINAL[PLIES]} plies from there mirror "
        f"images are {percent(saved, 0)} of all positions: to recognise every one of them would "
        f"gain {fmean(gains):.2f} plies on average over all {len(gains)} openings that differ, "
        f"{max(gains):.2f} at most. These are exact counts.",
        {
            "depth without": plain[0],
            "depth with": mirrored[0],
            "nodes without / with": ratio,
            "mirror images after an opening in %": 100 * saved,
            "plies gained from an opening": fmean(gains),
            "plies gained from an opening, at most": max(gains),
        },
    )


_ORDINAL = {1: "One", 2: "Two", 3: "Three", 4: "Four"}


def _searched(symmetric: bool) -> tuple[int, int]:
    """Search the empty board; return the depth after `NODES` nodes, and the nodes to `DEPTH`."""
    from knightfall.heuristics.evaluator import evaluator
    from knightfall.search.budget import Budget
    from knightfall.search.run_search import SEARCHES, run_search

    known, start = replace(evaluator(BASELINE), symmetric=symmetric), Position.start(7, 7)
    deep = run_search(start, SEARCHES["deepening"], known, Budget(nodes=NODES)).depth
    return deep, run_search(start, SEARCHES["deepening"], known, Budget(depth=DEPTH)).nodes


@cache
def _mirrored_openings() -> tuple[list[float], float]:
    """Return the plies that recognising mirror images gains in each class of openings.

    The second value is the share of all positions that it saves, from 0 to 1.
    """
    from knightfall.learning.split import canonical_forms
    from knightfall.solver.atlas import representatives

    gains, positions, classes = [], 0, 0
    for mover, waiter in representatives(BOARD):
        layer: set[_Spot] = {(1 << mover | 1 << waiter, mover, waiter)}
        for _ in range(PLIES):
            layer = {after for spot in layer for after in _following(spot)}
        used, movers, waiters = np.array(list(layer), np.uint64).T
        forms = canonical_forms(BOARD, used, movers.astype(np.uint8), waiters.astype(np.uint8))
        different = len(set(zip(*(form.tolist() for form in forms), strict=True)))
        if len(layer) > 1:
            gains.append(PLIES * log(len(layer) / different) / log(len(layer)))
        positions, classes = positions + len(layer), classes + different
    return gains, 1 - classes / positions


_Spot = tuple[int, int, int]
"""Occupied cells as bits, the mover's cell and the waiter's."""


def _following(spot: _Spot) -> Iterator[_Spot]:
    used, mover, waiter = spot
    for cell in BOARD.knight[mover]:
        if not used >> cell & 1:
            yield used | 1 << cell, waiter, cell


# -- the least occupied cluster ------------------------------------------------------------


def cluster_moves(condition: Condition) -> WishResult:
    """Compute how often the least occupied window of `open_cluster` changes its place in a game."""
    from knightfall.heuristics.explain import explain

    rng, starts = Random("wishes/cluster"), openings(BOARD)
    moved: list[int] = []
    while len(moved) < GAMES:
        position, centers = Position.from_fen(rng.choice(starts)), []
        while position.winner is None:
            cluster = explain(position, "open_cluster").cluster
            if cluster is not None and cluster.counts:
                centers.append(cluster.center)
            position = position.play(rng.choice(position.legal_moves))
        if centers:
            moved.append(sum(a != b for a, b in pairwise(centers)))
    reach = Z * stdev(moved) / sqrt(GAMES)
    mean = fmean(moved)
    return WishResult(
        f"The least occupied cluster does move: {mean:.1f} times in a game of random moves "
        f"({mean - reach:.1f} to {mean + reach:.1f}), counted from the moment at which a fifth of "
        f"the board is occupied ({GAMES} games).",
        {"times in a game": mean, "low": mean - reach, "high": mean + reach},
    )


FINDINGS: Mapping[WishFinding, Callable[[Condition], WishResult]] = {
    "values_in_time": values_in_time,
    "reflections": reflections,
    "cluster_moves": cluster_moves,
}
"""The computation for each kind of finding; its argument is how the author's agents played."""
