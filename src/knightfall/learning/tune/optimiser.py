"""The search for weights: CMA-ES, which asks for a generation and is told how each fared.

The library's learning rates follow how much of what it is told is noise: results of a hundred games
are mostly that.  Its state is never stored.  It follows from the seed and from what it was told, so
whoever tells it the same again has the same optimiser.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Point = npt.NDArray[np.float64]

FARTHEST = 100.0
"""A term a hundred times as large as the first one plays as if there were no other."""


class Optimiser:
    """Looks for the point with the highest score, from a start and with a first step."""

    def __init__(self, start: Sequence[float], step: float, population: int, seed: int) -> None:
        mean = np.array(start, np.float64)
        far = np.maximum(FARTHEST, 2 * np.abs(mean))
        digest = hashlib.sha256(f"tune {seed}".encode()).digest()
        from cmaes import CMA

        self._inner: Any = CMA(
            mean=mean,
            sigma=step,
            bounds=np.stack([-far, far], axis=1),
            population_size=population,
            seed=int.from_bytes(digest[:4], "big"),
            lr_adapt=True,
        )

    @property
    def mean(self) -> Point:
        """Where it believes the best point to be: of noisy scores the best one is luck."""
        found: Point = self._inner.mean.copy()
        return found

    def ask(self) -> list[Point]:
        """The next generation."""
        return [self._inner.ask() for _ in range(self._inner.population_size)]

    def tell(self, points: Sequence[Point], scores: Sequence[float]) -> None:
        """How each of a generation fared."""
        self._inner.tell([(x, -score) for x, score in zip(points, scores, strict=True)])
