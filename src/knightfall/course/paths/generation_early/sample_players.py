"""Replaces the module `sample_players` of the course's generation "early", with its names."""

from random import randint as randint

from knightfall.course.generation_early import GENERATION

globals().update(GENERATION.sample_players)
