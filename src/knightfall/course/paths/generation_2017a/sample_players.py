"""Replaces the module `sample_players` of the course's generation 2017a, with its names."""

from random import randint as randint

from knightfall.course.generation_2017a import GENERATION

globals().update(GENERATION.sample_players)
