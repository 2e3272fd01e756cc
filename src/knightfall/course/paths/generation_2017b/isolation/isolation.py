"""Module `isolation.isolation` for submissions of generation 2017b, as in the course."""

import random
import timeit
from copy import copy

from knightfall.course.generation_2017b import TIME_LIMIT_MILLIS, Board

__all__ = ["TIME_LIMIT_MILLIS", "Board", "copy", "random", "timeit"]
