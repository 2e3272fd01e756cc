"""The board of the course's generation 2017a."""

from isolation import isolation  # type: ignore[import-not-found]
from isolation.isolation import Board  # type: ignore[import-not-found]

__all__ = ["Board", "isolation"]
