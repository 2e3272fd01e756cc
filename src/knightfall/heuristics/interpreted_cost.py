"""Measures how long heuristics take that cannot be compiled.

Interpreted, a user's function may hang or crash, so it is measured in another process.
"""

from __future__ import annotations

import time
from typing import Any

from knightfall.errors import AgentFailure, FileFault, KnightfallError
from knightfall.heuristics.expression import parse_heuristic
from knightfall.heuristics.registry import Score, ready_for_python
from knightfall.heuristics.user_heuristic import (
    fault,
    interpreted_function,
    run_with_watchdog,
    sample_questions,
    to_float,
)
from knightfall.isolation.limits import is_expendable
from knightfall.isolation.run_isolated import ChildExited, run_isolated
from knightfall.kernel.compile import quiet
from knightfall.user_files import UserFunction


def measure_cost(shown: str, python: Score) -> float:
    """Return the seconds of an evaluation.  Raise `KnightfallError` if the function fails."""
    if _in_a_file(shown) is None:  # declared in this process: no other process can load it
        return _cost_here(shown, python)
    try:
        result = run_isolated(_isolated_cost, shown)
    except ChildExited as exited:
        raise KnightfallError(f"heuristic {shown} {exited}") from None
    if isinstance(result, float):
        return result
    if isinstance(result, dict) and "endless" in result:
        raise AgentFailure("timeout", f"{result['endless']}")
    if isinstance(result, dict):
        raise FileFault(f"{result['error']}", result["line"])
    raise KnightfallError(f"{result}")


def _in_a_file(shown: str) -> UserFunction | None:
    """Return the function in a file that an id names; None if it is not in a file."""
    ((_, atom),) = parse_heuristic(shown).terms
    return atom if isinstance(atom, UserFunction) else None


def _isolated_cost(shown: str) -> float | dict[str, Any]:
    """Return the cost of a heuristic in a file, or a dict that describes its error."""
    function = _in_a_file(shown)
    assert function is not None
    try:
        return _cost_here(shown, interpreted_function(function))
    except AgentFailure as failure:
        return {"endless": str(failure)}
    except KnightfallError as error:
        return {"error": str(error), "line": getattr(error, "line", None)}


def _cost_here(shown: str, python: Score) -> float:
    """Return the seconds of an evaluation, measured in this process."""
    with quiet():
        ready_for_python()
    answered: list[float] = []  # the times

    def ask() -> None:
        for question in sample_questions():
            to_float(python(*question))
            answered.append(time.perf_counter())

    try:
        run_with_watchdog(shown, ask, answered)
    except AgentFailure:
        raise
    except KeyboardInterrupt as interrupt:
        if not is_expendable():
            raise
        raise fault(shown, python, interrupt) from None
    except BaseException as failure:  # sys.exit() is reported like any error
        raise fault(shown, python, failure) from None
    # The first evaluation does not count: it may compile functions that it calls.
    return (answered[-1] - answered[0]) / (len(answered) - 1)
