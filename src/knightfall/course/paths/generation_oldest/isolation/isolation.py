"""The board of the course's generation "oldest", with the other names of the original module."""

import timeit
from copy import copy, deepcopy

from knightfall.course.generation_oldest import TIME_LIMIT_MILLIS, Board

__all__ = ["TIME_LIMIT_MILLIS", "Board", "copy", "deepcopy", "timeit"]
