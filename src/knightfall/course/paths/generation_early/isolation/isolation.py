"""The board of the course's generation early."""

from knightfall.course.board_2017a import EarlyBoard as Board
from knightfall.course.board_2017b import TIME_LIMIT_MILLIS

__all__ = ["TIME_LIMIT_MILLIS", "Board"]
