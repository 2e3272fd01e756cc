"""A user's heuristic: a function in a file of theirs."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from knightfall.errors import KnightfallError
from knightfall.heuristics.registry import check_parameters
from knightfall.user_files import named_in


def a_number(value: Any) -> float:
    """What a heuristic returned, as a float."""
    if value is None:
        raise TypeError("it returned None: is a return missing?")
    return float(value)


def load_function(path: str, name: str) -> Any:
    """The function `name` of the file at `path`, decorated or not."""
    function = named_in(path, name, "heuristic")
    if not isinstance(python_function(function), FunctionType):
        raise KnightfallError(f"heuristic {path}:{name}: {name!r} is not a function")
    try:
        check_parameters(function)
    except KnightfallError as error:
        raise KnightfallError(f"{path}: {error}") from None
    return function


def python_function(function: Any) -> Callable[..., float]:
    """The plain function behind a dispatcher, or the function itself."""
    return getattr(function, "py_func", function)  # type: ignore[no-any-return]
