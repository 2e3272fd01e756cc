"""The players of the course's successor."""

from knightfall.course.sample_players_successor import (
    BasePlayer,
    DataPlayer,
    GreedyPlayer,
    MinimaxPlayer,
    RandomPlayer,
)

__all__ = [
    "BasePlayer",
    "DataPlayer",
    "GreedyPlayer",
    "MinimaxPlayer",
    "RandomPlayer",
]
