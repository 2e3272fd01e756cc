"""A student's score as machine code, where Numba can take it, and the reason where it cannot.

What was compiled is not believed before it has said what Python says of some positions.
"""

from __future__ import annotations

import math
import warnings
from contextlib import suppress
from types import FunctionType
from typing import Any

from numba.core import typeinfer
from numba.core.errors import NumbaWarning

from knightfall.board import Board
from knightfall.course.old_names import for_a_while
from knightfall.course.student_scores.game import GAMES, PLAYER, Game, asking
from knightfall.course.student_scores.numba_rewrite import Refused, Twins
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.heuristics.interpreted import a_number
from knightfall.heuristics.registry import Score
from knightfall.heuristics.signature import HEURISTIC, ask_once
from knightfall.heuristics.user_heuristic import (
    CHECKED,
    USERS,
    guard,
    patiently,
    reason_of,
    same,
    sample_questions,
    warn_of_plain_python,
)
from knightfall.isolation.limits import is_expendable
from knightfall.isolation.run_isolated import ChildExited, run_isolated
from knightfall.kernel.compile import c_address, compile_later, quiet
from knightfall.kernel.geometry import geometry


def compile_score(shown: str, score: FunctionType, python: Score) -> tuple[Any, str]:
    """A student's score, compiled with checks on; None (and a warning) and why if it cannot be.

    `python` asks the same score on the course's own board.
    """
    code, reason = _compiled(score)
    if code is not None:
        reason = _difference(shown, python, code)
        if not reason:
            return code, ""
    warn_of_plain_python(shown, python, reason)
    return None, reason


def _compiled(score: FunctionType) -> tuple[Any, str]:
    reason = ""
    for kind in GAMES:
        try:
            with quiet(), for_a_while(), warnings.catch_warnings():
                warnings.simplefilter("ignore", NumbaWarning)
                return _machine_code(kind, score), ""
        except Refused as refused:
            return None, str(refused)
        except Exception as error:  # Numba's errors have no common, documented base
            reason = reason_of(score, error).replace(str(GAMES[-1]), str(GAMES[0]))
    return None, reason


def _machine_code(kind: Game, score: FunctionType) -> Any:
    twin = Twins(**CHECKED).of(score)
    with typeinfer.register_dispatcher(twin):  # it may call itself
        twin.compile((kind, PLAYER))
    asked = compile_later(asking(kind, twin), cache=False, **CHECKED)
    asked.compile(USERS)
    return guard(asked)


# -- is it the same? -------------------------------------------------------------------------


def _difference(shown: str, python: Score, code: Any) -> str:
    """In what machine code differs from Python; empty if it does not.

    As plain Python it may do anything, so that it is asked where nothing is lost.
    """
    if is_expendable():
        return _difference_here(shown, python, code)
    _compared[shown] = python, code
    try:
        said = run_isolated(_isolated_difference, shown)
    except ChildExited as exited:
        raise KnightfallError(f"heuristic {shown} {exited}") from None
    finally:
        del _compared[shown]
    if isinstance(said, dict):
        raise AgentFailure("timeout", f"{said.get('endless')}")
    return str(said)


_compared: dict[str, tuple[Score, Any]] = {}
"""Scores in Python and compiled that are being compared.  A fork of this process finds them here; a
fresh interpreter does not, and compiles the score again."""


def _isolated_difference(shown: str) -> str | dict[str, str]:
    try:
        if shown in _compared:
            return _difference_here(shown, *_compared[shown])
        from knightfall.heuristics.evaluator import evaluator

        return evaluator(shown).terms[0].why_plain
    except AgentFailure as failure:
        return {"endless": str(failure)}


def _difference_here(shown: str, python: Score, code: Any) -> str:
    boards, address = geometry(Board.of(7, 7)), c_address(code, HEURISTIC)
    values: list[tuple[float, float]] = []

    def ask() -> None:
        for board, open, me, opp, to_move in sample_questions():
            for one, other in ((me, opp), (opp, me)):
                with suppress(Exception):  # that will be told when it happens in earnest
                    expected = a_number(python(board, open, one, other, to_move))
                    found = ask_once(boards, address, int(open), one, other, to_move)
                    values.append((expected, math.nan if boards["failed"][0] else found))
                    boards["failed"] = 0

    patiently(shown, ask, values)
    for expected, found in values:
        if math.isnan(found) and not math.isnan(expected):
            return f"compiled, it would fail where Python says {expected:g}"
        if not same(expected, found):
            return f"compiled, it would be {found:g} where Python says {expected:g}"
    return ""
