"""What learning adds to knightfall."""

from knightfall.extensions import Extension

EXTENSION = Extension(commands={"learn": "knightfall.learning.commands:learn"})
