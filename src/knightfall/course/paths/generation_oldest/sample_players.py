"""Module `sample_players` for submissions of generation "oldest", as in the course."""

from random import randint as randint

from knightfall.course.generation_oldest import GENERATION

globals().update(GENERATION.sample_players)
