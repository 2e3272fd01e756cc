"""Module `isolation.isolation` for submissions of generation "oldest", as in the course."""

import timeit
from copy import copy, deepcopy

from knightfall.course.generation_oldest import TIME_LIMIT_MILLIS, Board

__all__ = ["TIME_LIMIT_MILLIS", "Board", "copy", "deepcopy", "timeit"]
