"""What the authors' wishes brought: games of what they wished for, and what games do not show.

Each function of `FINDINGS` computes one thing and says it in a sentence; `published.toml` calls
them by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from math import log, sqrt
from random import Random
from statistics import fmean, stdev

from knightfall.board import Board
from knightfall.openings import openings
from knightfall.oracle.record import phase_of
from knightfall.position import Position
from knightfall.statistics.rates import Share, Z
from knightfall.studies.conditions.condition import Condition
from knightfall.studies.costs.costs import BASELINE
from knightfall.studies.judging.choices import PHASES
from knightfall.studies.judging.comparisons import Range, ScoresByHeuristic, compare_scores
from knightfall.studies.judging.measured import Gap
from knightfall.studies.published.published import WishFinding
from knightfall.studies.student_costs import student_costs

BOARD = Board.of(7, 7)
GAMES = 300
"""Random games from which positions are taken."""

NODES, DEPTH = 2_500, 9
"""Of a search from the empty board with and without reflections."""

PLIES = 3
"""After an opening, up to which positions and their mirror images are counted."""


@dataclass(frozen=True)
class Finding:
    """What was computed of a wish, as a sentence, and its numbers by name."""

    words: str
    numbers: dict[str, float]


def gap_between(measured: ScoresByHeuristic, who: str, than: str) -> Gap:
    """How many points a wished heuristic scores more than another on the same openings."""
    found = compare_scores(measured, who, than, Range())
    return Gap(found.difference, found.low, found.high)


def computed(name: WishFinding, condition: Condition) -> Finding:
    """Compute what a wish asks for; `condition` is how the author's agents played."""
    return FINDINGS[name](condition)


# -- some value before the time is up ------------------------------------------------------


def values_in_time(condition: Condition) -> Finding:
    """How often one evaluation by all lines to the end takes longer than a whole move."""
    cost = student_costs(condition.board, BASELINE)
    step = cost.call + cost.forecast + cost.listing + 4 * cost.per_move
    most = round(1000 * condition.time / step)
    late = {
        phase: sum(lines(one, most + 1) > most for one in random_positions(phase))
        for phase in PHASES
    }
    told, numbers = [], {"positions for a move": float(most)}
    names = {"opening": "in the opening", "middle": "in the middle game", "end": "near the end"}
    for phase, times in late.items():
        share = Share(times, GAMES)
        low, high = (100 * end for end in share.interval)
        told.append(
            f"{100 * times / GAMES:.0f} % of positions {names[phase]} ({low:.0f} to {high:.0f})"
        )
        numbers |= {f"late {names[phase]}": 100 * times / GAMES}
    return Finding(
        "As printed, one evaluation by all lines to the end takes longer than the author's agents "
        f"had for a whole move (the time of {most:,} positions) in {', '.join(told)} ({GAMES} "
        "positions of random games each). Cut short, it returns a value every time.",
        numbers,
    )


def lines(position: Position, most: int) -> int:
    """Return the number of positions in the whole tree below one, itself included, or `most`."""
    from knightfall.kernel.rules import words

    open, mover, waiter = (int(word) for word in words(position)[:3])
    return _tree(open, mover, waiter, most)


def _tree(open: int, mover: int, waiter: int, most: int) -> int:
    found = 1
    for cell in BOARD.knight[mover]:
        if open >> cell & 1 and found < most:
            found += _tree(open ^ 1 << cell, waiter, cell, most - found)
    return found


def random_positions(phase: str) -> Iterator[Position]:
    """Yield a position of a phase from each of `GAMES` games of random moves that reach it."""
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


def reflections(condition: Condition) -> Finding:
    """What recognising mirror images gains in depth, before and after both knights stand."""
    plain, mirrored = (_searched(symmetric) for symmetric in (False, True))
    ratio = plain[1] / mirrored[1]
    gains, saved = _mirrored_openings()
    return Finding(
        f"On the empty board a search of {NODES:,} nodes gets to depth {mirrored[0]} instead of "
        f"{plain[0]}, and depth {DEPTH} takes {ratio:.1f} times fewer nodes. But games of the "
        f"course begin with both knights on the board. {_ORDINAL[PLIES]} plies from there mirror "
        f"images are {100 * saved:.0f} % of all positions: to recognise every one of them would "
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
    """Depth that the nodes suffice for from the empty board, and nodes that the depth takes."""
    from knightfall.heuristics.evaluator import evaluator
    from knightfall.search.budget import Budget
    from knightfall.search.think import think

    known, start = replace(evaluator(BASELINE), symmetric=symmetric), Position.start(7, 7)
    deep = think(start, "deepening", known, Budget(nodes=NODES)).depth
    return deep, think(start, "deepening", known, Budget(depth=DEPTH)).nodes


@cache
def _mirrored_openings() -> tuple[list[float], float]:
    """Plies gained from one opening of each class, and the share of positions that are images."""
    cells = range(BOARD.cells)
    starts = {_canonical((1 << a | 1 << b, a, b)) for a in cells for b in cells if a != b}
    gains, positions, classes = [], 0, 0
    for start in sorted(starts):
        layer = {start}
        for _ in range(PLIES):
            layer = {after for spot in layer for after in _following(spot)}
        different = len({_canonical(spot) for spot in layer})
        if len(layer) > 1:
            gains.append(PLIES * log(len(layer) / different) / log(len(layer)))
        positions, classes = positions + len(layer), classes + different
    return gains, 1 - classes / positions


_Spot = tuple[int, int, int]
"""Cells that are not open as bits, the mover's cell and the waiter's."""


def _canonical(spot: _Spot) -> _Spot:
    used, mover, waiter = spot
    taken = [cell for cell in range(BOARD.cells) if used >> cell & 1]
    return min(
        (sum(1 << image[cell] for cell in taken), image[mover], image[waiter])
        for image in BOARD.symmetries
    )


def _following(spot: _Spot) -> Iterator[_Spot]:
    used, mover, waiter = spot
    for cell in BOARD.knight[mover]:
        if not used >> cell & 1:
            yield used | 1 << cell, waiter, cell


# -- the least occupied cluster ------------------------------------------------------------


def cluster_moves(condition: Condition) -> Finding:
    """How often the window of `open_cluster` moves in a game."""
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
    return Finding(
        f"The least occupied cluster does move: {mean:.1f} times in a game of random moves "
        f"({mean - reach:.1f} to {mean + reach:.1f}), counted from the moment at which a fifth of "
        f"the board is occupied ({GAMES} games).",
        {"times in a game": mean, "low": mean - reach, "high": mean + reach},
    )


FINDINGS: Mapping[WishFinding, Callable[[Condition], Finding]] = {
    "values_in_time": values_in_time,
    "reflections": reflections,
    "cluster_moves": cluster_moves,
}
