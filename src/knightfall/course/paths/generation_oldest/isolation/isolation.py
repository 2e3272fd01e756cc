"""Replaces the module `isolation.isolation` of the course's generation "oldest", with its names."""

import timeit
from copy import copy, deepcopy

from knightfall.course.generation_oldest import TIME_LIMIT_MILLIS, Board

__all__ = ["TIME_LIMIT_MILLIS", "Board", "copy", "deepcopy", "timeit"]
