"""The board of the course's generation "oldest"."""

from isolation import isolation  # type: ignore[import-not-found]
from isolation.isolation import Board  # type: ignore[import-not-found]

__all__ = ["Board", "isolation"]
