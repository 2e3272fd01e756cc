"""Slow and obvious versions of the heuristics whose only definition is a study's program.

Each takes the number of open cells at the root of the search, 0 outside of a search.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import naive
from naive import L1, M, Naive, place, spot

from knightfall.position import Position, Side, other

Coded = Callable[[Position, Side, int], float]


def unsearched(value: Naive) -> Coded:
    """Return a heuristic that does not depend on the root of the search."""
    return lambda position, me, blanks: value(position, me)


# -- reachability ----------------------------------------------------------------------------


def near_center(position: Position, me: Side) -> float:
    board = position.board
    middle = (Fraction(board.height, 2), Fraction(board.width, 2))
    mine, theirs = place(position, me), place(position, other(me))
    return float(L1(spot(board, theirs), middle) - L1(spot(board, mine), middle))


# -- staged ----------------------------------------------------------------------------------


def still_open(position: Position, blanks: int) -> Fraction:
    return Fraction(len(position.open), blanks) if blanks else Fraction(1)


def main_less(position: Position, me: Side, blanks: int) -> float:
    faded = still_open(position, blanks) * (M(position, me) - M(position, other(me)))
    return float(faded) + naive.open_space_difference(position, me)


def path_length(position: Position, me: Side, length: int = 0) -> int:
    """Return `heuristic6` as printed: each branch starts with the length of the one before."""
    if not position.legal_moves:
        return length if position.to_move != me else 0
    for move in position.legal_moves:
        length = max(length, path_length(position.play(move), me, length + 1))
    return length


def path_length_alt(position: Position, me: Side) -> int:
    """Return the value of `heuristic5`'s helper as printed: `path_length` after one move."""
    length = 0
    for move in position.legal_moves:
        length = max(length, path_length(position.play(move), me, length + 1))
    return length


def path_difference(position: Position, me: Side) -> float:
    """Return `heuristic5` as printed."""
    return float(path_length_alt(position, me) - path_length_alt(position, other(me)))


def late(below: str, last: Naive) -> Coded:
    """Return a heuristic that is `main_less`, and `last` when few of the root's open cells are
    left.
    """

    def value(position: Position, me: Side, blanks: int) -> float:
        if still_open(position, blanks) < Fraction(below):
            return last(position, me)
        return main_less(position, me, blanks)

    return value


def staggered(last: Naive) -> Coded:
    def value(position: Position, me: Side, blanks: int) -> float:
        phase = still_open(position, blanks)
        if phase > Fraction("0.7"):
            return naive.improved(position, me)
        if phase < Fraction("0.2"):
            return last(position, me)
        return naive.open_space_difference(position, me)

    return value


def proportional(position: Position, me: Side, phase: Fraction) -> float:
    if phase < Fraction("0.2"):
        return path_length(position, me)
    mobility = M(position, me) - M(position, other(me))
    elbow_room = Fraction(naive.open_space_difference(position, me))
    return float(phase * mobility + (1 - phase) * elbow_room)


# -- aggressive ------------------------------------------------------------------------------


def lookahead_ratio(position: Position, me: Side) -> float:
    targets = naive.moves(position, me)
    if not targets:
        return -math.inf
    ratios = []
    for x in targets:
        forecast = naive.moved(position, position.to_move, x)  # the side to move goes there
        if M(forecast, other(me)) == 0:
            return math.inf
        ratios.append(Fraction(M(forecast, me), M(forecast, other(me))))
    return float(sum(ratios) / len(ratios))


CODED: dict[str, Coded] = {
    "main_prop": unsearched(naive.main_prop),
    "coded:near_center": unsearched(near_center),
    "coded:near_edges": unsearched(lambda position, me: -near_center(position, me)),
    "coded:main_less": main_less,
    "coded:main_less_more": main_less,
    "coded:longest_win": unsearched(path_length),
    "coded:longest_win_difference": unsearched(path_difference),
    "coded:main": late("0.2", path_difference),
    "coded:main_alt": late("0.4", path_length),
    "coded:main_prop": lambda position, me, blanks: proportional(
        position, me, still_open(position, blanks)
    ),
    "coded:main_staggered": staggered(path_difference),
    "coded:main_alt_staggered": staggered(path_length),
    "coded:lookahead_ratio": unsearched(lookahead_ratio),
    "coded:open_cluster": unsearched(naive.aggressive),
}
"""The heuristics by id; all others are in `naive.NAIVE`."""
