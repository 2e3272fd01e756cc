"""The board of the course's generation 2017a."""

from knightfall.course.board_2017a import Board
from knightfall.course.board_2017b import TIME_LIMIT_MILLIS

__all__ = ["TIME_LIMIT_MILLIS", "Board"]
