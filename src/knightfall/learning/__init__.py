"""Positions from real play with the solver's truth, and what is learned from them."""

from knightfall.extensions import Extension

EXTENSION = Extension(commands={"learn": "knightfall.learning.commands:learn"})
