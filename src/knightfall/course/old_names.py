"""Names that Python and numpy had when the course was given, put back for those who use them.

Only for a submission's own process, or for as long as it takes to load one elsewhere: a file that
ran in 2017 must not fail because of its age.
"""

from __future__ import annotations

import collections
import collections.abc
import fractions
import inspect
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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


Added = list[tuple[Any, str]]
"""Modules, and the names that they did not have."""


def put_back() -> Added:
    """Python's own, where they are missing."""
    added: Added = []
    for name in ABSTRACT:
        _add(added, collections, name, getattr(collections.abc, name))
    _add(added, time, "clock", time.perf_counter)
    _add(added, fractions, "gcd", math.gcd)
    _add(added, inspect, "getargspec", inspect.getfullargspec)
    return added


def put_back_into_numpy() -> Added:
    """Numpy's, if it was imported."""
    added: Added = []
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        for name, value in NUMPY.items():
            if name not in vars(numpy):
                setattr(numpy, name, value)
                added.append((numpy, name))
    return added


@contextmanager
def for_a_while() -> Iterator[None]:
    """All of them inside the block, in a process that has other things to do."""
    added = put_back() + put_back_into_numpy()
    try:
        yield
    finally:
        for module, name in added:
            with suppress(AttributeError):
                delattr(module, name)


def _add(added: Added, module: Any, name: str, value: Any) -> None:
    if not hasattr(module, name):
        setattr(module, name, value)
        added.append((module, name))
