"""Replaces the module `isolation.isolation` of the course's generation 2017a, with its names."""

import random
import timeit
from copy import copy

from knightfall.course.generation_2017a import Board
from knightfall.course.generation_2017b import TIME_LIMIT_MILLIS

__all__ = ["TIME_LIMIT_MILLIS", "Board", "copy", "random", "timeit"]
