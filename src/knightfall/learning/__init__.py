"""Labelled positions from real games, and models, weights and opponent models learned from them."""

from knightfall.extensions import Extension

EXTENSION = Extension(
    commands={"learn": "knightfall.learning.commands:learn"},
    panels={"learn": "Build and learn"},
    functions={"tune": "knightfall.learning.tuning:tune"},
)
