"""The players of the course's generation "early", with the other names of the original module."""

from random import randint as randint

from knightfall.course.generation_early import GENERATION

globals().update(GENERATION.sample_players)
