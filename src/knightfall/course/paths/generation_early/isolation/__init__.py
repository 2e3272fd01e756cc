"""Replaces the package `isolation` of the course's generation "early", with its names."""

from isolation import isolation  # type: ignore[import-not-found]
from isolation.isolation import Board  # type: ignore[import-not-found]

__all__ = ["Board", "isolation"]
