"""Replaces the module `sample_players` of the course's successor, with its names."""

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
