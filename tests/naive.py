"""Slow and obvious versions of every heuristic, written from their definitions.

They work on `Position` with sets, lists and fractions and share nothing with the compiled code.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

from knightfall.board import Board
from knightfall.position import Position, Side, other

Naive = Callable[[Position, Side], float]


# -- the symbols of the definitions ----------------------------------------------------------


def place(position: Position, side: Side) -> int:
    """Return the cell of a side's knight."""
    cell = position.knight(side)
    assert cell is not None
    return cell


def spot(board: Board, cell: int) -> tuple[int, int]:
    """Return (row, column), row 0 on top."""
    return divmod(cell, board.width)


@cache
def knight_moves(board: Board, cell: int) -> frozenset[int]:
    """Return the cells a knight's move away on the empty board."""
    row, column = spot(board, cell)
    found = set()
    for there in range(board.cells):
        r, c = spot(board, there)
        if sorted((abs(r - row), abs(c - column))) == [1, 2]:
            found.add(there)
    return frozenset(found)


@cache
def touching(board: Board, cell: int) -> frozenset[int]:
    """Return the up to eight cells that touch a cell."""
    row, column = spot(board, cell)
    found = set()
    for there in range(board.cells):
        r, c = spot(board, there)
        if max(abs(r - row), abs(c - column)) == 1:
            found.add(there)
    return frozenset(found)


def steps_through(board: Board, start: int, allowed: frozenset[int]) -> dict[int, int]:
    """Return the number of knight's moves through allowed cells from a cell to every other."""
    steps = {start: 0}
    here = [start]
    while here:
        there = []
        for cell in here:
            for target in knight_moves(board, cell):
                if target in allowed and target not in steps:
                    steps[target] = steps[cell] + 1
                    there.append(target)
        here = there
    return steps


@cache
def empty_board_distance(board: Board, start: int) -> dict[int, int]:
    """Return δ: the knight's moves between two cells of the empty board."""
    return steps_through(board, start, frozenset(range(board.cells)))


def moves(position: Position, side: Side) -> frozenset[int]:
    return knight_moves(position.board, place(position, side)) & position.open


def M(position: Position, side: Side) -> int:
    return len(moves(position, side))


def deg(position: Position, cell: int) -> int:
    return len(knight_moves(position.board, cell) & position.open)


def open8(position: Position, side: Side) -> int:
    return len(touching(position.board, place(position, side)) & position.open)


def phase(position: Position) -> Fraction:
    return Fraction(len(position.open), position.board.width * position.board.height)


def moved(position: Position, side: Side, cell: int) -> Position:
    """Return the position with a side's knight on another cell, for either side to move."""
    return Position(
        board=position.board,
        open=position.open - {cell},
        white=cell if side == "w" else position.white,
        black=cell if side == "b" else position.black,
        to_move=other(side),
    )


def L1(one: tuple[Fraction | int, ...], two: tuple[Fraction | int, ...]) -> Fraction:
    return Fraction(sum(abs(a - b) for a, b in zip(one, two, strict=True)))


# -- course ----------------------------------------------------------------------------------


def null(position: Position, me: Side) -> float:
    return 0


def open_(position: Position, me: Side) -> float:
    return M(position, me)


def to_course_center(position: Position, side: Side) -> float:
    board = position.board
    return math.dist(spot(board, place(position, side)), (board.height / 2, board.width / 2))


def center(position: Position, me: Side) -> float:
    return to_course_center(position, me) ** 2


def improved(position: Position, me: Side) -> float:
    return M(position, me) - M(position, other(me))


# -- lookahead -------------------------------------------------------------------------------


def lookahead_mobility(position: Position, me: Side) -> float:
    def ways(side: Side) -> int:
        return M(position, side) + sum(deg(position, x) for x in moves(position, side))

    return ways(me) - ways(other(me))


def center_pull(position: Position, me: Side) -> float:
    nearer = to_course_center(position, other(me)) - to_course_center(position, me)
    return M(position, me) - M(position, other(me)) + nearer


def corner_averse(position: Position, me: Side) -> float:
    board = position.board
    last_row, last_column = board.height - 1, board.width - 1
    corners = {(0, 0), (0, last_column), (last_row, 0), (last_row, last_column)}

    def others(side: Side) -> int:
        return sum(spot(board, x) not in corners for x in moves(position, side))

    return others(me) - others(other(me))


# -- directional -----------------------------------------------------------------------------


def weight(board: Board, cell: int) -> Fraction:
    """Return ω: 1 in the centre, ¼ in the corners."""
    row, column = spot(board, cell)
    middle_row, middle_column = Fraction(board.height - 1, 2), Fraction(board.width - 1, 2)
    half = Fraction(1, 2)
    return (1 - half * abs(row - middle_row) / middle_row) * (
        1 - half * abs(column - middle_column) / middle_column
    )


def weighted_mobility(position: Position, me: Side) -> float:
    return float(M(position, me) * weight(position.board, place(position, me)))


def weighted_difference(position: Position, me: Side) -> float:
    return weighted_mobility(position, me) - weighted_mobility(position, other(me))


def weighted_moves(position: Position, me: Side) -> float:
    def total(side: Side) -> Fraction:
        return sum((weight(position.board, x) for x in moves(position, side)), Fraction(0))

    return float(total(me) - total(other(me)))


# -- reachability ----------------------------------------------------------------------------


def near_center(position: Position, me: Side) -> float:
    board = position.board
    middle = (Fraction(board.height - 1, 2), Fraction(board.width - 1, 2))
    mine, theirs = place(position, me), place(position, other(me))
    return float(L1(spot(board, theirs), middle) - L1(spot(board, mine), middle))


def near_edges(position: Position, me: Side) -> float:
    return -near_center(position, me)


def near_opponent(position: Position, me: Side) -> float:
    return -far_opponent(position, me)


def far_opponent(position: Position, me: Side) -> float:
    mine, theirs = place(position, me), place(position, other(me))
    return float(L1(spot(position.board, mine), spot(position.board, theirs)))


def naive_static_sum(position: Position, side: Side, r: Fraction) -> Fraction:
    own = place(position, side)
    distance = empty_board_distance(position.board, own)
    # A cell that no knight's moves lead to (the centre of 3×3) is infinitely far: r^∞ = 0.
    return sum((r ** distance[x] for x in position.open | {own} if x in distance), Fraction(0))


def naive_static_reach(r: Fraction) -> Naive:
    def value(position: Position, me: Side) -> float:
        mine, theirs = (naive_static_sum(position, side, r) for side in (me, other(me)))
        return float(mine - theirs)

    return value


def naive_bfs_sum(position: Position, side: Side) -> Fraction:
    steps = steps_through(position.board, place(position, side), position.open)
    return sum((Fraction(1, 1 + d) for d in steps.values()), Fraction(0))


def bfs_reach(position: Position, me: Side) -> float:
    return float(naive_bfs_sum(position, me) - naive_bfs_sum(position, other(me)))


# -- staged ----------------------------------------------------------------------------------


def open_space(position: Position, me: Side) -> float:
    return open8(position, me)


def open_space_difference(position: Position, me: Side) -> float:
    return open8(position, me) - open8(position, other(me))


def open_space_next(position: Position, me: Side) -> float:
    after = [position.play(move) for move in position.legal_moves]
    return max((open8(following, me) for following in after), default=0)


@cache
def longest_line(position: Position, winner: Side) -> int | None:
    """Return the plies of the longest continuation that this side wins; None if it wins none."""
    if position.winner is not None:
        return 0 if position.winner == winner else None
    lines = [longest_line(position.play(move), winner) for move in position.legal_moves]
    return max((1 + line for line in lines if line is not None), default=None)


def longest_win(position: Position, me: Side) -> float:
    return longest_line(position, me) or 0


def longest_win_difference(position: Position, me: Side) -> float:
    return longest_win(position, me) - longest_win(position, other(me))


@cache
def shortest_line(position: Position, winner: Side) -> int | None:
    """Return the plies of the shortest continuation that this side wins; None if it wins none."""
    if position.winner is not None:
        return 0 if position.winner == winner else None
    lines = [shortest_line(position.play(move), winner) for move in position.legal_moves]
    return min((1 + line for line in lines if line is not None), default=None)


def shortest_win(position: Position, me: Side) -> float:
    plies = shortest_line(position, me)
    return 0 if plies is None else position.board.cells - plies


def shortest_win_difference(position: Position, me: Side) -> float:
    return shortest_win(position, me) - shortest_win(position, other(me))


def main_less(position: Position, me: Side) -> float:
    faded = phase(position) * (M(position, me) - M(position, other(me)))
    return float(faded) + open_space_difference(position, me)


def late(below: Fraction, last: Naive) -> Naive:
    """Return a heuristic that is `last` below some phase, and `main_less` above it."""

    def value(position: Position, me: Side) -> float:
        return last(position, me) if phase(position) < below else main_less(position, me)

    return value


def staggered(last: Naive) -> Naive:
    """Return a heuristic of three stages: mobility, then open space, then `last`."""

    def value(position: Position, me: Side) -> float:
        if phase(position) > Fraction(7, 10):
            return improved(position, me)
        if phase(position) < Fraction(2, 10):
            return last(position, me)
        return open_space_difference(position, me)

    return value


# -- aggressive ------------------------------------------------------------------------------


def aggressive(position: Position, me: Side) -> float:
    return M(position, me) - 2 * M(position, other(me))


def lookahead_ratio(position: Position, me: Side) -> float:
    ratios = []
    for x in moves(position, me):
        after = moved(position, me, x)
        if M(after, other(me)) == 0:
            return math.inf
        ratios.append(Fraction(M(after, me), M(after, other(me))))
    return float(sum(ratios) / len(ratios)) if ratios else -math.inf


def open_cluster(position: Position, me: Side) -> float:
    board = position.board
    H, W = board.height, board.width
    blocked = {spot(board, x) for x in range(board.cells) if x not in position.open}
    if Fraction(len(blocked), board.cells) < Fraction(20, 100):
        return aggressive(position, me)
    rows, columns = round(Fraction(H, 2)), round(Fraction(W, 2))  # halves to even
    corners = [(top, left) for left in range(W - columns + 1) for top in range(H - rows + 1)]

    def blocked_in_window(corner: tuple[int, int]) -> int:
        top, left = corner
        inside = [(top + down, left + right) for down in range(rows) for right in range(columns)]
        return sum(cell in blocked for cell in inside)

    top, left = min(corners, key=blocked_in_window)  # the first of the least blocked
    k = (top + rows // 2, left + columns // 2)
    near = (H + W - L1(spot(board, place(position, me)), k)) / (H + W)
    return aggressive(position, me) + float(near)


def main_prop(position: Position, me: Side) -> float:
    share = phase(position)
    if share < Fraction("0.2"):
        return longest_win(position, me)
    mobile = M(position, me) - M(position, other(me))
    return float(share * mobile + (1 - share) * Fraction(open_space_difference(position, me)))


NAIVE: dict[str, Naive] = {
    "null": null,
    "open": open_,
    "center": center,
    "improved": improved,
    "lookahead_mobility": lookahead_mobility,
    "center_pull": center_pull,
    "corner_averse": corner_averse,
    "weighted_mobility": weighted_mobility,
    "weighted_difference": weighted_difference,
    "weighted_moves": weighted_moves,
    "near_center": near_center,
    "near_edges": near_edges,
    "near_opponent": near_opponent,
    "far_opponent": far_opponent,
    "bfs_reach": bfs_reach,
    "mobility": improved,
    "open_space": open_space,
    "open_space_difference": open_space_difference,
    "open_space_next": open_space_next,
    "longest_win": longest_win,
    "longest_win_difference": longest_win_difference,
    "main": late(Fraction(2, 10), longest_win_difference),
    "main_alt": late(Fraction(2, 10), longest_win),
    "main_alt_01": late(Fraction(1, 10), longest_win),
    "main_alt_03": late(Fraction(3, 10), longest_win),
    "main_less": main_less,
    "main_prop": main_prop,
    "main_less_more": main_less,
    "main_staggered": staggered(longest_win_difference),
    "main_alt_staggered": staggered(longest_win),
    "aggressive": aggressive,
    "lookahead_ratio": lookahead_ratio,
    "open_cluster": open_cluster,
}
"""All heuristics but the family `static_reach`, by id."""
