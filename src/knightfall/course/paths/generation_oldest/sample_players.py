"""The players of the course's generation oldest, and what else the module offered."""

from random import randint as randint

from knightfall.course.generation_oldest import GENERATION

globals().update(GENERATION.sample_players)
