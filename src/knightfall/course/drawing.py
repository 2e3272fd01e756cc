"""A course board as text."""

from __future__ import annotations

from collections.abc import Callable

END_OF_LINE = "\n\r"
"""In this order: so the course's boards have it."""

Symbol = Callable[[int, int], str]
"""What stands in a cell, by its row and column."""


def draw(width: int, height: int, symbol: Symbol) -> str:
    """Numbered columns and rows, and in each cell its symbol."""
    margin = len(str(height - 1)) + 1
    lines = [" " * (margin + 3) + "   ".join(map(str, range(width)))]
    lines += (f"{row:<{margin}}{_cells(row, width, symbol)}" for row in range(height))
    return "".join(line + END_OF_LINE for line in lines)


def draw_cells(width: int, height: int, symbol: Symbol) -> str:
    """The same without the numbers."""
    return "".join(_cells(row, width, symbol) + END_OF_LINE for row in range(height))


def _cells(row: int, width: int, symbol: Symbol) -> str:
    return " | " + "".join(f"{symbol(row, column)} | " for column in range(width))
