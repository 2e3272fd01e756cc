"""A course board as text."""

from __future__ import annotations

from collections.abc import Callable

END_OF_LINE = "\n\r"
"""In this order: so the course's boards have it."""


def draw(width: int, height: int, symbol: Callable[[int, int], str]) -> str:
    """Numbered columns and rows, and in each cell the symbol of its row and column."""
    margin = len(str(height - 1)) + 1
    lines = [" " * (margin + 3) + "   ".join(map(str, range(width)))]
    for row in range(height):
        cells = "".join(f"{symbol(row, column)} | " for column in range(width))
        lines.append(f"{row:<{margin}} | {cells}")
    return "".join(line + END_OF_LINE for line in lines)
