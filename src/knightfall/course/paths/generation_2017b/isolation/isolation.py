"""The board of the course's generation 2017b."""

from knightfall.course.board_2017b import TIME_LIMIT_MILLIS, Board

__all__ = ["TIME_LIMIT_MILLIS", "Board"]
