"""A brute-force solver of small boards in plain Python.

It is the recursion of `naive_search.plies_by_the_rules` on sets of cells that are Python integers,
so that all openings of a board of 20 cells take seconds.  It shares no code with the solver; its
knight's moves are those of `naive.py`.
"""

from __future__ import annotations

from functools import lru_cache

from naive import knight_moves

from knightfall.board import Board
from knightfall.position import Position, other

Seen = dict[int, int]
"""Plies by open cells, mover and waiter, packed into one number, because there are a million."""


def openings(board: Board) -> list[Position]:
    """Yield every opening: both knights anywhere, all other cells open, first player to move."""
    cells = frozenset(range(board.cells))
    return [
        Position(board, cells - {white, black}, white, black, "w")
        for white in sorted(cells)
        for black in sorted(cells - {white})
    ]


def opening_classes(board: Board) -> dict[Position, int]:
    """Return one opening of each class of mirror images with the size of the class."""
    found: dict[tuple[int, int], tuple[Position, int]] = {}
    for position in openings(board):
        assert position.white is not None
        assert position.black is not None
        first = min((image[position.white], image[position.black]) for image in board.symmetries)
        one, members = found.get(first, (position, 0))
        found[first] = one, members + 1
    return dict(found.values())


class BruteForce:
    """The exact lengths of games on one board, by recursion without pruning, with a cache.

    A board higher than wide is transposed, so that it shares `seen` with its transpose.
    """

    def __init__(self, board: Board, seen: Seen | None = None) -> None:
        self.board = board
        flat = flattened(board)
        self.place = [
            x + y * flat.width if flat is board else y + x * flat.width
            for y in range(board.height)
            for x in range(board.width)
        ]
        # A knight in the pocket stands on one cell more, a move away from all others.
        self.place.append(board.cells)
        self.steps = [sum(1 << to for to in knight_moves(flat, at)) for at in range(flat.cells)]
        self.steps.append((1 << flat.cells) - 1)
        self.seen: Seen = {} if seen is None else seen

    def plies(self, position: Position) -> int:
        """Return the plies of the game if the winner wins as soon and the loser loses as late as it
        can.

        An odd number means that the side to move wins.
        """
        assert position.board == self.board
        mover, waiter = position.knight(position.to_move), position.knight(other(position.to_move))
        return self._plies(
            sum(1 << self.place[cell] for cell in position.open),
            self.place[self.board.cells if mover is None else mover],
            self.place[self.board.cells if waiter is None else waiter],
        )

    def _plies(self, open: int, mover: int, waiter: int) -> int:
        key = (open << 7 | mover) << 7 | waiter
        known = self.seen.get(key)
        if known is not None:
            return known
        quickest_win, slowest_loss = 99, 0
        left = open & self.steps[mover]
        while left:
            one = left & -left
            left -= one
            plies = 1 + self._plies(open - one, waiter, one.bit_length() - 1)
            if plies % 2:
                quickest_win = min(quickest_win, plies)
            else:
                slowest_loss = max(slowest_loss, plies)
        found = slowest_loss if quickest_win == 99 else quickest_win
        self.seen[key] = found
        return found

    def winning_moves(self, position: Position) -> tuple[str, ...]:
        """Return the moves after which the opponent loses."""
        return tuple(
            move for move in position.legal_moves if self.plies(position.play(move)) % 2 == 0
        )


def flattened(board: Board) -> Board:
    """Return the board, transposed if it is higher than wide."""
    return Board.of(board.height, board.width) if board.height > board.width else board


@lru_cache(maxsize=32)
def brute_force(board: Board) -> BruteForce:
    """Return the board's `BruteForce`, which shares its memory with the transposed board's."""
    return BruteForce(
        board, None if flattened(board) is board else brute_force(flattened(board)).seen
    )


def plies_to_end(position: Position) -> int:
    """Return `BruteForce.plies` of any position with few cells."""
    return brute_force(position.board).plies(position)


def forget() -> None:
    """Empty the caches."""
    brute_force.cache_clear()
