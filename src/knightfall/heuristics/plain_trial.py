"""What a heuristic costs that cannot be compiled, found out where nothing is lost if it misbehaves.

As plain Python it may do anything when it is asked.
"""

from __future__ import annotations

import time
from typing import Any

from knightfall.errors import AgentFailure, FileFault, KnightfallError
from knightfall.heuristics.expression import parse_heuristic
from knightfall.heuristics.registry import Score, ready_for_python
from knightfall.heuristics.user_heuristic import (
    a_number,
    asked_in_python,
    fault,
    patiently,
    sample_questions,
)
from knightfall.isolation.limits import is_expendable
from knightfall.isolation.run_isolated import ChildExited, run_isolated
from knightfall.kernel.compile import quiet
from knightfall.user_files import UserFunction


def cost(shown: str, python: Score) -> float:
    """Seconds an evaluation takes; a `KnightfallError` if it does not work at all."""
    if _in_a_file(shown) is None:  # declared here: nobody else knows it
        return _cost_here(shown, python)
    try:
        said = run_isolated(_isolated_cost, shown)
    except ChildExited as exited:
        raise KnightfallError(f"heuristic {shown} {exited}") from None
    if isinstance(said, float):
        return said
    if isinstance(said, dict) and "endless" in said:
        raise AgentFailure("timeout", f"{said['endless']}")
    if isinstance(said, dict):
        raise FileFault(f"{said['error']}", said["line"])
    raise KnightfallError(f"{said}")


def _in_a_file(shown: str) -> UserFunction | None:
    ((_, atom),) = parse_heuristic(shown).terms
    return atom if isinstance(atom, UserFunction) else None


def _isolated_cost(shown: str) -> float | dict[str, Any]:
    """Return the cost of a heuristic in a file, or what went wrong."""
    function = _in_a_file(shown)
    assert function is not None
    try:
        return _cost_here(shown, asked_in_python(function))
    except AgentFailure as failure:
        return {"endless": str(failure)}
    except KnightfallError as error:
        return {"error": str(error), "line": getattr(error, "line", None)}


def _cost_here(shown: str, python: Score) -> float:
    with quiet():
        ready_for_python()
    answered: list[float] = []  # the times

    def ask() -> None:
        for question in sample_questions():
            a_number(python(*question))
            answered.append(time.perf_counter())

    try:
        patiently(shown, ask, answered)
    except AgentFailure:
        raise
    except KeyboardInterrupt as interrupt:
        if not is_expendable():
            raise
        raise fault(shown, python, interrupt) from None
    except BaseException as failure:  # sys.exit() is an error like any other
        raise fault(shown, python, failure) from None
    # The first one pays for what is compiled on the way.
    return (answered[-1] - answered[0]) / (len(answered) - 1)
