"""Names that Python and numpy had when the course was given, put back for those who use them.

Only for a submission's own process: a file that ran in 2017 must not fail because of its age.
"""

from __future__ import annotations

import collections
import collections.abc
import fractions
import inspect
import math
import sys
import time
from typing import Any

ABSTRACT = (
    "Callable", "Container", "Hashable", "Iterable", "Iterator", "Mapping", "MutableMapping",
    "MutableSequence", "MutableSet", "Sequence", "Set", "Sized",
)  # fmt: skip

NUMPY: dict[str, Any] = {
    "float": float,
    "int": int,
    "bool": bool,
    "object": object,
    "str": str,
    "complex": complex,
    "Inf": math.inf,
    "Infinity": math.inf,
    "infty": math.inf,
    "NINF": -math.inf,
    "PINF": math.inf,
    "NaN": math.nan,
}


def put_back() -> None:
    """Python's own, where they are missing."""
    for name in ABSTRACT:
        _add(collections, name, getattr(collections.abc, name))
    _add(time, "clock", time.perf_counter)
    _add(fractions, "gcd", math.gcd)
    _add(inspect, "getargspec", inspect.getfullargspec)


def put_back_into_numpy() -> None:
    """Numpy's, if it was imported."""
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        for name, value in NUMPY.items():
            if name not in vars(numpy):
                setattr(numpy, name, value)


def _add(module: Any, name: str, value: Any) -> None:
    if not hasattr(module, name):
        setattr(module, name, value)
