"""The board of the course's generation early, and what else the module offered."""

import random
import timeit
from copy import copy

from knightfall.course.board_2017a import EarlyBoard as Board
from knightfall.course.board_2017b import TIME_LIMIT_MILLIS

__all__ = ["TIME_LIMIT_MILLIS", "Board", "copy", "random", "timeit"]
