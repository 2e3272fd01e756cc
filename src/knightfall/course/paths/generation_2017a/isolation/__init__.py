"""Package `isolation` for submissions of generation 2017a, as in the course."""

from isolation import isolation  # type: ignore[import-not-found]
from isolation.isolation import Board  # type: ignore[import-not-found]

__all__ = ["Board", "isolation"]
