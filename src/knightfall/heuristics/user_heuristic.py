"""A user's function on its way to machine code, or, where that road is closed, to plain Python."""

from __future__ import annotations

import random
import re
import time
import warnings
from functools import lru_cache
from pathlib import Path
from types import CodeType
from typing import Any

from numba import types
from numba.core.errors import NumbaWarning

from knightfall.errors import KnightfallError
from knightfall.heuristics.interpreted import plain_board
from knightfall.heuristics.registry import HEURISTIC, Score, ready_for_python
from knightfall.heuristics.user_function import a_number
from knightfall.kernel.compile import compile_later, compiled, quiet
from knightfall.kernel.geometry import geometry
from knightfall.kernel.rules import words
from knightfall.position import Position
from knightfall.user_files import describe

_u64 = types.uint64
_warned: set[tuple[str, CodeType]] = set()


class HeuristicWarning(UserWarning):
    """A heuristic works, but not as well as its author may think."""


def compile_yours(shown: str, python: Score) -> Any:
    """A user's function, compiled with checks on; None (and a warning) if it cannot be."""
    dispatcher = compile_later(python, cache=False, error_model="python", boundscheck=True)
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaWarning)
        try:
            dispatcher.compile(HEURISTIC)
            return _guarded(dispatcher)
        except Exception as error:  # Numba's errors have no common, documented base
            reason = error
    _warn_of_plain_python(shown, python, reason)
    return None


def _guarded(score: Any) -> Any:
    """A C function cannot raise: note what was asked, stop the search, let Python explain."""

    @compiled(HEURISTIC, cache=False)
    def guarded(board: Any, open: int, me: int, opp: int, to_move: int) -> float:
        try:
            return score(board, open, me, opp, to_move)  # type: ignore[no-any-return]
        except Exception:
            board.asked[0] = open
            board.asked[1] = _u64(me)
            board.asked[2] = _u64(opp)
            board.asked[3] = _u64(to_move)
            board.failed = 1
            board.limit = 0
            return 0.0

    return guarded


def _warn_of_plain_python(shown: str, python: Score, error: Exception) -> None:
    """Find out whether the function works at all and what it costs; say it once."""
    path = python.__code__.co_filename
    with quiet():
        ready_for_python()
    questions = _sample_questions()
    start = 0.0
    for number, question in enumerate(questions):
        if number == 1:  # the first one pays for what is compiled on the way
            start = time.perf_counter()
        try:
            a_number(python(*question))
        except KeyboardInterrupt:
            raise
        except BaseException as failure:  # sys.exit() is an error like any other
            raise KnightfallError(f"heuristic {describe(path, failure, shown)}") from None
    cost = (time.perf_counter() - start) / (len(questions) - 1)
    # Code compares equal across files, so the file must be part of the key.
    if (path, python.__code__) in _warned:
        return
    _warned.add((path, python.__code__))
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    line = re.search(rf'File "[^"]*{re.escape(Path(path).name)}", line (\d+)', text)
    reasons = (row.strip() for row in text.splitlines())
    reason = next((row for row in reasons if row and not row.startswith("Failed in")), "")
    warnings.warn(
        f"{shown}{f', line {line[1]},' if line else ''} cannot be compiled by Numba"
        f"{f' ({reason})' if reason else ''}; it runs as plain Python at "
        f"{cost * 1e6:.0f} µs an evaluation, so a search sees far fewer nodes a second",
        HeuristicWarning,
        stacklevel=2,
    )


@lru_cache(maxsize=1)
def _sample_questions() -> list[tuple[Any, ...]]:
    """What a heuristic may be asked: a few games' worth of positions, either side to move."""
    rng = random.Random(7)
    questions = []
    for _ in range(3):
        position = Position.start(7, 7)
        while position.winner is None:
            position = position.play(rng.choice(position.legal_moves))
            if position.placed and position.winner is None:
                board = plain_board(geometry(position.board))
                open, me, opp = words(position, "w")
                questions.append((board, open, me, opp, words(position)[1]))
    return questions
