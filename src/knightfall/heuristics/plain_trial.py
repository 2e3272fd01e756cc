"""What a heuristic costs that cannot be compiled, found out where nothing is lost if it misbehaves.

As plain Python it may do anything when it is asked.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from knightfall.apart import Ended, apart, quietly, tell
from knightfall.errors import AgentFailure, FileFault, KnightfallError
from knightfall.heuristics.expression import parse_heuristic
from knightfall.heuristics.interpreted import a_number
from knightfall.heuristics.registry import Score, ready_for_python
from knightfall.heuristics.user_heuristic import (
    asked_in_python,
    fault,
    patiently,
    sample_questions,
)
from knightfall.kernel.compile import quiet
from knightfall.user_files import UserFunction, expendable, is_expendable


def cost(shown: str, python: Score) -> float:
    """Seconds an evaluation takes; a `KnightfallError` if it does not work at all."""
    if _in_a_file(shown) is None:  # declared here: nobody else knows it
        return _cost_here(shown, python)
    try:
        said = apart(lambda: _tried(shown, python), __name__, shown)
    except Ended as ended:
        raise KnightfallError(f"heuristic {shown} {ended}") from None
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


def _tried(shown: str, python: Score) -> float | dict[str, Any]:
    """The same where nothing is lost: the cost, or what went wrong."""
    expendable()
    try:
        return _cost_here(shown, python)
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


if __name__ == "__main__":
    out = quietly()
    expendable()
    function = _in_a_file(sys.argv[1])
    assert function is not None
    tell(out, _tried(sys.argv[1], asked_in_python(function)))
