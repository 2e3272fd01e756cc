"""Module `isolation.isolation` for submissions of generation 2017a, as in the course."""

import random
import timeit
from copy import copy

from knightfall.course.generation_2017a import Board
from knightfall.course.generation_2017b import TIME_LIMIT_MILLIS

__all__ = ["TIME_LIMIT_MILLIS", "Board", "copy", "random", "timeit"]
