"""The search as a student of the course has it: plain Python over the course's kind of board.

See `knightfall.studies.costs.course_board`.  The course shuffles legal moves each time they are
asked for, which changes nothing about the tree there; `UnshuffledBoard` saves that work, too.
"""

from __future__ import annotations

from knightfall.studies.costs.course_board import Cell, CourseBoard, PlainSearch, set_up

__all__ = ["CourseBoard", "PlainSearch", "UnshuffledBoard", "set_up"]


class UnshuffledBoard(CourseBoard):
    """The same board without the shuffle."""

    def moves_from(self, cell: Cell) -> list[Cell]:
        """The open cells a knight's move from a cell."""
        return self.in_order(cell)
