"""A user's function on its way to machine code, or, where that road is closed, to plain Python."""

from __future__ import annotations

import dis
import inspect
import math
import random
import re
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any

from numba import types
from numba.core.errors import NumbaWarning
from numba.extending import intrinsic

from knightfall.board import Board
from knightfall.errors import FileFault, KnightfallError
from knightfall.heuristics.interpreted import a_number, plain_board
from knightfall.heuristics.registry import Score, check_parameters, ready_for_python
from knightfall.heuristics.signature import HEURISTIC, ask_once, note_failure
from knightfall.kernel.board_view import BOARD_VIEW, view, writes_to_it
from knightfall.kernel.compile import c_address, compile_later, compiled, quiet
from knightfall.kernel.geometry import READ_ONLY, geometry
from knightfall.kernel.interrupt import interruptibly
from knightfall.kernel.rules import words
from knightfall.position import Position
from knightfall.user_files import UserFunction, describe, line_in

USERS = HEURISTIC.return_type(BOARD_VIEW, *HEURISTIC.args[1:])
"""The signature of every heuristic, with a board that cannot be written to."""

NOT_FOR_PYTHON = {"no_cpython_wrapper": True}
"""How we compile what only compiled code calls, in two thirds of the time.

Python must not call it, not even once: ask for its `c_address`.
"""

CHECKED = {"error_model": "python", "boundscheck": True, **NOT_FOR_PYTHON}
"""How we compile what users wrote."""

LONGEST = 200
"""Characters of what Numba says that are passed on: its types can be long."""

_warned: set[str] = set()


class HeuristicWarning(UserWarning):
    """A heuristic works, but not as well as its author may think."""


# -- loading ---------------------------------------------------------------------------------


class SchemeFunction(UserFunction):
    """A function of a scheme such as ``course:`` that an extension adds.

    It may take whatever it likes: the scheme says how to ask and how to compile it.
    """

    __slots__ = ()

    def as_heuristic(self) -> Score:
        """Return the function of our five arguments that asks it in plain Python."""
        raise NotImplementedError

    def compile(self, python: Score) -> tuple[Any, str]:
        """Return it compiled and an empty text, or None and why; `python` asks the same."""
        raise NotImplementedError


def load_heuristic(function: UserFunction) -> Any:
    """The function in a user's file, decorated or not.

    It takes the five arguments, unless it is of a scheme of its own.
    """
    found = function.load("heuristic")
    if isinstance(function, SchemeFunction):
        return found
    if not isinstance(python_function(found), FunctionType):
        raise KnightfallError(f"heuristic {function}: {function.name!r} is not a function")
    try:
        check_parameters(found)
    except KnightfallError as error:
        raise KnightfallError(f"{function.path}: {error}") from None
    return found


def python_function(function: Any) -> Score:
    """The plain function behind a dispatcher, or the function itself."""
    return getattr(function, "py_func", function)  # type: ignore[no-any-return]


def asked_in_python(function: UserFunction) -> Score:
    """What is asked with the five arguments where a user's function is not compiled."""
    if isinstance(function, SchemeFunction):
        return function.as_heuristic()
    return python_function(load_heuristic(function))


# -- compiling -------------------------------------------------------------------------------


def compile_users(shown: str, python: Score) -> tuple[Any, str]:
    """A user's function, compiled with checks on; None (and a warning) and why if it cannot be.

    One that writes to its board is refused.
    """
    dispatcher = compile_later(python, cache=False, **CHECKED)
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore", NumbaWarning)
        try:
            dispatcher.compile(USERS)
            guarded = guard(dispatcher)
        except Exception as error:  # Numba's errors have no common, documented base
            refused = error
        else:
            if _may_overflow(python):
                _check_whole_numbers(shown, python, guarded)
            return guarded, ""
    if writes_to_it(refused):
        raise fault(shown, python, refused)
    reason = reason_of(python, refused)
    warn_of_plain_python(shown, python, reason)
    return None, reason


def guard(score: Any) -> Any:
    """A C function cannot raise: note what was asked, stop the search, let Python explain."""
    attempt = _attempt(score)

    @compiled(HEURISTIC, cache=False, **NOT_FOR_PYTHON)
    def guarded(board: Any, open: int, me: int, opp: int, to_move: int) -> float:
        failed, value = attempt(view(board), open, me, opp, to_move)
        if failed:
            note_failure(board, open, me, opp, to_move)
            return 0.0
        return value  # type: ignore[no-any-return]

    return guarded


def _attempt(score: Any) -> Any:
    """A function for compiled code: whether a compiled score raised an error, and what it gave.

    ``try`` would do the same, and take three times as long to compile.
    """
    (overload,) = score.overloads.values()

    @intrinsic  # type: ignore[untyped-decorator]
    def attempt(typing: Any, board: Any, open: Any, me: Any, opp: Any, to_move: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            context.active_code_library.add_linking_library(overload.library)
            status, value = context.call_internal_no_propagate(
                builder, overload.fndesc, USERS, values
            )
            return context.make_tuple(builder, signature.return_type, [status.is_error, value])

        return types.Tuple((types.boolean, types.float64))(*USERS.args), emit

    return attempt


def reason_of(python: Score, error: Exception) -> str:
    """What Numba does not like, and where, in a few words."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    name = Path(file_of(python)).name
    place = re.escape(name)
    line = re.search(rf'File "[^"]*{place}", line (\d+)|{place} \((\d+)\)', text)
    rows = [row.strip() for row in text.splitlines()]
    rows = [row for row in rows if row and not row.startswith(("Failed in", "- Resolution"))]
    said = rows[0] if rows else type(error).__name__
    if said.endswith("found for signature:"):
        call = rows[1].removeprefix(">>> ") if len(rows) > 1 else ""
        said = f"there is no {call}"
    said = re.sub(r" Raised from .*", "", said)
    said = said if len(said) <= LONGEST else f"{said[: LONGEST - 1]}…"
    return f"{f'line {line[1] or line[2]}: ' if line else ''}{said}"


def file_of(python: Score) -> str:
    """The user's file that a function comes from, also if one of ours stands before it."""
    return str(inspect.unwrap(python).__code__.co_filename)


def fault(shown: str, python: Score, error: BaseException) -> FileFault:
    """Return the error that says what is wrong with a user's function, and where."""
    path, written = file_of(python), writes_to_it(error)
    if written is None:
        return FileFault(f"heuristic {describe(path, error, shown)}", line_in(path, error))
    file, line = written
    where = f", line {line}" if file == path else f": {file}, line {line}" if file else ""
    return FileFault(f"heuristic {shown}{where}: {READ_ONLY}", line if file == path else None)


def warn_of_plain_python(shown: str, python: Score, reason: str) -> None:
    """Find out whether the function works at all and what it costs; say it once."""
    from knightfall.heuristics import plain_trial

    cost = plain_trial.cost(shown, python)
    warn_once(
        f"{shown} cannot be compiled by Numba ({reason}); it runs as plain Python at "
        f"{max(1, round(cost * 1e6))} µs an evaluation, so a search sees far fewer nodes a second"
    )


def warn_once(text: str) -> None:
    """Warn of a heuristic; several processes may say the same, but for what they measured."""
    key = re.sub(r"\d+ µs", "", text)
    if key not in _warned:
        _warned.add(key)
        warnings.warn(text, HeuristicWarning, stacklevel=2)


@lru_cache(maxsize=1)
def sample_questions() -> list[tuple[Any, ...]]:
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


# -- whole numbers ---------------------------------------------------------------------------


def _may_overflow(python: Score) -> bool:
    """Whether a function raises to a power, shifts or has a huge number in it.

    Compiled, whole numbers have 64 bits and no fractions: 2**70 is 0, and so is 2**-1.
    """
    before: Any = None
    for instruction in dis.get_instructions(python.__code__):
        value, symbol = instruction.argval, instruction.argrepr.rstrip("=")
        if isinstance(value, int) and abs(value) >= 2**31:
            return True
        if symbol == "<<" or (symbol == "**" and before not in (2, 3)):  # squares are common
            return True
        before = value
    return False


def _check_whole_numbers(shown: str, python: Score, guarded: Any) -> None:
    """Refuse a function that is worth something else in Python than when it is compiled."""
    with quiet():
        ready_for_python()
    boards, address = geometry(Board.of(7, 7)), c_address(guarded, HEURISTIC)
    values: list[tuple[float, float]] = []

    def ask() -> None:
        for board, open, me, opp, to_move in sample_questions():
            with suppress(Exception):  # that will be told when it happens in earnest
                expected = a_number(python(board, open, me, opp, to_move))
                found = ask_once(boards, address, int(open), me, opp, to_move)
                if not boards["failed"][0]:
                    values.append((expected, found))
                boards["failed"] = 0

    patiently(shown, ask, values)
    for expected, found in values:
        if not same(expected, found):
            raise KnightfallError(
                f"heuristic {shown}: compiled, whole numbers have 64 bits and no fractions, so "
                f"that it returns {found:g} instead of {expected:g}; write 2.0**n for 2**n"
            )


def patiently(shown: str, ask: Callable[[], None], answers: Sequence[object]) -> None:
    """Call `ask`, which adds to `answers` every now and then; an error if it stops doing so."""
    interruptibly(ask, lambda: None, progress=lambda: len(answers), blamed=f"heuristic {shown}")


def same(a: float, b: float) -> bool:
    """Whether two values of a heuristic are one, but for rounding."""
    return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9)
