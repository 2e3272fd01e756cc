"""The players of the course's generation 2017a, with the other names of the original module."""

from random import randint as randint

from knightfall.course.generation_2017a import GENERATION

globals().update(GENERATION.sample_players)
