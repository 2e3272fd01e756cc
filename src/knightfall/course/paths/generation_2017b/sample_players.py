"""Module `sample_players` for submissions of generation 2017b, as in the course."""

from random import randint as randint

from knightfall.course.generation_2017b import GENERATION

globals().update(GENERATION.sample_players)
