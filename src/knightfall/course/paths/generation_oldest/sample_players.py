"""Replaces the module `sample_players` of the course's generation "oldest", with its names."""

from random import randint as randint

from knightfall.course.generation_oldest import GENERATION

globals().update(GENERATION.sample_players)
