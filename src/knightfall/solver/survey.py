"""What an atlas says of a whole board: how many replies win, who wins by role, and where not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.solver.atlas import Entry, boards, lookup, position_of, representatives


@dataclass(frozen=True)
class Opening:
    """An opening with its value."""

    mover: int
    waiter: int
    entry: Entry
    hunter_wins: bool


@dataclass(frozen=True)
class Survey:
    """The openings of a board, first player to move."""

    board: Board
    openings: dict[tuple[int, int], Opening]

    @property
    def first_wins(self) -> int:
        """Openings that the first player wins."""
        return sum(opening.entry.mover_wins for opening in self.openings.values())

    @property
    def second_wins(self) -> int:
        """Openings that the second player wins."""
        return len(self.openings) - self.first_wins

    @property
    def hunter_wins(self) -> int:
        """Openings that the hunter wins: the colour law says all of them."""
        return sum(opening.hunter_wins for opening in self.openings.values())

    def replies(self, cell: int) -> list[Opening]:
        """The openings in which the first knight stands on a cell, by the second one's cell."""
        return [opening for (mover, _), opening in self.openings.items() if mover == cell]

    def winning_replies(self, cell: int) -> int:
        """Second placements that win against a first one."""
        return sum(not opening.entry.mover_wins for opening in self.replies(cell))

    @property
    def second_wins_from_the_empty_board(self) -> bool:
        """Whether the second player has a winning reply to every first placement."""
        return all(self.winning_replies(cell) for cell in range(self.board.cells))

    def exceptions(self) -> list[Opening]:
        """The openings that the runner wins, one of each class."""
        return [
            self.openings[cells]
            for cells in representatives(self.board)
            if not self.openings[cells].hunter_wins
        ]

    @property
    def classes(self) -> int:
        """Openings, mirror images counted once."""
        return len(representatives(self.board))


def survey(board: Board) -> Survey:
    """The survey of a board that is in the atlas."""
    found = {(opening.mover, opening.waiter): opening for opening in _openings(board)}
    if not found:
        raise KnightfallError(
            f"the atlas has no board {board.width}x{board.height}: it has {', '.join(boards())} "
            "and the same turned; knightfall atlas build adds others"
        )
    return Survey(board, found)


def _openings(board: Board) -> Iterator[Opening]:
    for mover in range(board.cells):
        for waiter in range(board.cells):
            if mover == waiter:
                continue
            position = position_of(board, mover, waiter)
            entry = lookup(position)
            if entry is None:
                return
            winner = position.to_move if entry.mover_wins else "b"
            yield Opening(mover, waiter, entry, winner == position.hunter)
