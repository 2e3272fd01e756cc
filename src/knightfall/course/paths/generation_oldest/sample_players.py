"""The players of the course's generation oldest, and what else the module offered."""

from random import randint as randint

from knightfall.course.sample_players_2017a import *  # noqa: F403
