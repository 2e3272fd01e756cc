"""The board of the course's generation oldest."""

from knightfall.course.board_oldest import TIME_LIMIT_MILLIS, Board

__all__ = ["TIME_LIMIT_MILLIS", "Board"]
