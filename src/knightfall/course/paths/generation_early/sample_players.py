"""The players of the course's generation early, and what else the module offered."""

from random import randint as randint

from knightfall.course.generation_early import GENERATION

globals().update(GENERATION.sample_players)
