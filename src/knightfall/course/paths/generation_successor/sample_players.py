"""Module `sample_players` for submissions to the successor course, as in that course."""

import logging
import pickle
import random

from knightfall.course.generation_successor import (
    BasePlayer,
    DataPlayer,
    GreedyPlayer,
    MinimaxPlayer,
    RandomPlayer,
    logger,
)

__all__ = [
    "BasePlayer",
    "DataPlayer",
    "GreedyPlayer",
    "MinimaxPlayer",
    "RandomPlayer",
    "logger",
    "logging",
    "pickle",
    "random",
]
