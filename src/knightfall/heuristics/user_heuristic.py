"""Compilation of users' heuristics, and their execution in plain Python where it fails."""

from __future__ import annotations

import ctypes
import dis
import inspect
import math
import random
import re
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
from numba import types
from numba.core.errors import NumbaWarning
from numba.extending import intrinsic, typeof_impl

from knightfall.board import Board
from knightfall.errors import AgentFailure, FileFault, KnightfallError
from knightfall.heuristics.c_signature import HEURISTIC, evaluate_at, note_failure
from knightfall.heuristics.evaluator import NOT_FOR_PYTHON
from knightfall.heuristics.expression import parse_heuristic
from knightfall.heuristics.registry import Score, check_parameters, ready_for_python
from knightfall.isolation.limits import is_expendable
from knightfall.isolation.run_isolated import ChildExited, run_isolated
from knightfall.kernel.board_view import BOARD_VIEW, find_board_write, view
from knightfall.kernel.compile import c_address, compile_later, compiled, quiet
from knightfall.kernel.interrupt import run_interruptibly
from knightfall.kernel.rules import FIELDS, READ_ONLY, GeometryArray, geometry, words
from knightfall.position import Position
from knightfall.user_files import UserFunction, describe, line_in

USERS = HEURISTIC.return_type(BOARD_VIEW, *HEURISTIC.args[1:])
"""The signature of every heuristic, with a read-only board."""

CHECKED = {"error_model": "python", "boundscheck": True, **NOT_FOR_PYTHON}
"""Compiler options for users' functions."""

LONGEST = 200
"""The most characters of Numba's messages that are shown: its types can be long."""

_warned: set[str] = set()


class HeuristicWarning(UserWarning):
    """A heuristic works, but slower or less accurately than its author may expect."""


# -- loading ---------------------------------------------------------------------------------


class SchemeFunction(UserFunction):
    """A function of a scheme such as ``course:`` that an extension adds.

    It may take any arguments: the scheme defines how to call and how to compile it.
    """

    __slots__ = ()

    def as_heuristic(self) -> Score:
        """Return a plain Python function with a heuristic's arguments that calls this one."""
        raise NotImplementedError

    def compile(self, python: Score) -> tuple[Any, str]:
        """Return the compiled heuristic and an empty text, or None and why it cannot be compiled.

        `python` is the result of `as_heuristic`.
        """
        raise NotImplementedError


def load_heuristic(function: UserFunction) -> Any:
    """Load and return the function in a user's file, decorated or not.

    Raise an error if it does not take the arguments of a heuristic, unless it has a scheme.
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
    """Return the Python function of a dispatcher, or the function itself."""
    return getattr(function, "py_func", function)  # type: ignore[no-any-return]


def interpreted_function(function: UserFunction) -> Score:
    """Return a heuristic in plain Python that evaluates a user's function uncompiled."""
    if isinstance(function, SchemeFunction):
        return function.as_heuristic()
    return python_function(load_heuristic(function))


# -- compiling -------------------------------------------------------------------------------


def compile_user_function(shown: str, python: Score) -> tuple[Any, str]:
    """Return a user's function compiled with checks, and an empty text.

    If it cannot be compiled, warn, and return None and the reason.  Raise an error if it writes to
    its board.
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
    if find_board_write(refused):
        raise fault(shown, python, refused)
    reason = reason_of(python, refused)
    warn_about_plain_python(shown, python, reason)
    return None, reason


def guard(score: Any) -> Any:
    """Return a heuristic that records an error of `score` and stops the search.

    A C function cannot raise an exception; Python finds and reports the error afterwards.
    """
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
    """Return a function for compiled code that returns whether `score` raised an error, and its
    value.

    ``try`` would do the same, but takes three times as long to compile.
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
    """Return why and where Numba refuses a function, in a few words."""
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
    """Return the user's file of a function, also if the function is wrapped."""
    return str(inspect.unwrap(python).__code__.co_filename)


def fault(shown: str, python: Score, error: BaseException) -> FileFault:
    """Return an error that names the line of a user's function and what is wrong with it."""
    path, written = file_of(python), find_board_write(error)
    if written is None:
        return FileFault(f"heuristic {describe(path, error, shown)}", line_in(path, error))
    file, line = written
    where = f", line {line}" if file == path else f": {file}, line {line}" if file else ""
    return FileFault(f"heuristic {shown}{where}: {READ_ONLY}", line if file == path else None)


def warn_about_plain_python(shown: str, python: Score, reason: str) -> None:
    """Check that a function works uncompiled, measure its cost, and warn once."""
    cost = measure_cost(shown, python)
    warn_once(
        f"{shown} cannot be compiled by Numba ({reason}); it runs as plain Python at "
        f"{max(1, round(cost * 1e6))} µs an evaluation, so a search visits far fewer nodes a second"
    )


def warn_once(text: str) -> None:
    """Warn about a heuristic, but not again if only the measured time differs."""
    key = re.sub(r"\d+ µs", "", text)
    if key not in _warned:
        _warned.add(key)
        warnings.warn(text, HeuristicWarning, stacklevel=2)


@lru_cache(maxsize=1)
def sample_questions() -> list[tuple[Any, ...]]:
    """Return arguments for trial calls of a heuristic: the positions of three random games."""
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
    """Return whether a function has a power, a left shift or a number of 32 bits or more.

    In machine code whole numbers have 64 bits and no fractions: 2**70 is 0, and so is 2**-1.
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
    """Raise an error if a compiled function returns other values than in plain Python."""
    with quiet():
        ready_for_python()
    boards, address = geometry(Board.of(7, 7)), c_address(guarded, HEURISTIC)
    values: list[tuple[float, float]] = []

    def ask() -> None:
        for board, open, me, opp, to_move in sample_questions():
            with suppress(Exception):  # errors are reported when they occur in a search
                expected = to_float(python(board, open, me, opp, to_move))
                found = evaluate_at(boards, address, int(open), me, opp, to_move)
                if not boards["failed"][0]:
                    values.append((expected, found))
                boards["failed"] = 0

    run_with_watchdog(shown, ask, values)
    for expected, found in values:
        if not same(expected, found):
            raise KnightfallError(
                f"heuristic {shown} returns {found:g} when compiled, but {expected:g} in Python: "
                "compiled whole numbers have 64 bits and no fractions; write 2.0**n for 2**n"
            )


def run_with_watchdog(shown: str, ask: Callable[[], None], answers: Sequence[object]) -> None:
    """Call `ask`, which appends to `answers`; raise an error if it hangs and adds no answer."""
    run_interruptibly(ask, lambda: None, progress=lambda: len(answers), blamed=f"heuristic {shown}")


def same(a: float, b: float) -> bool:
    """Return whether two values of a heuristic are equal but for rounding."""
    return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9)


# -- the cost of plain Python ----------------------------------------------------------------
#
# Interpreted, a user's function may hang or crash, so it is measured in another process.


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
    if ":" not in shown:  # the name of a function of this process
        return None
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


# -- plain Python ----------------------------------------------------------------------------
#
# A heuristic that Numba cannot compile is called back from the search as plain Python.  For the
# search it is a C function like any other, through which ctypes calls the Python function.


_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_double,
    ctypes.c_void_p,
    ctypes.c_uint64,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_int64,
)


def to_float(value: Any) -> float:
    """Return the result of a heuristic as a float."""
    if value is None:
        raise TypeError("the heuristic returned None: is a return statement missing?")
    return float(value)


def _refuse(*_: object) -> Any:
    raise TypeError(READ_ONLY)


class _Whole:
    """A read-only array whose items are Python's ints."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __getitem__(self, index: Any) -> Any:
        found = self._array[index]
        return _Whole(found) if isinstance(found, np.ndarray) else int(found)

    def __len__(self) -> int:
        return len(self._array)

    __setitem__ = __delitem__ = _refuse
    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = _refuse
    __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = _refuse


class PlainBoard(np.record):  # type: ignore[misc]
    """The geometry record for plain Python: read-only, with Python's ints.

    NumPy's integers behave differently from compiled ones: they divide by zero without an error,
    and cannot be combined with ``~bit(cell)``, which is negative in Python.
    """

    def __getattribute__(self, name: str) -> Any:
        found = np.record.__getattribute__(self, name)
        if isinstance(found, np.ndarray):
            return _Whole(found)
        return int(found) if isinstance(found, np.integer) else found

    __setattr__ = __delattr__ = __setitem__ = _refuse


def _plain_fields() -> np.dtype[Any]:
    """Return the fields of the geometry record, except `asked`, which no heuristic reads.

    Numba caches a record's type by its fields: with the same fields, compiled functions called
    from plain Python could write to the board.
    """
    fields = {name: (field[0], field[1]) for name, field in (FIELDS.fields or {}).items()}
    del fields["asked"]
    return np.dtype(
        {
            "names": list(fields),
            "formats": [kind for kind, _ in fields.values()],
            "offsets": [offset for _, offset in fields.values()],
            "itemsize": FIELDS.itemsize,
        }
    )


_PLAIN = np.dtype((PlainBoard, _plain_fields()))
_LIMIT = int(FIELDS.fields["limit"][1])  # type: ignore[index]


@typeof_impl.register(PlainBoard)  # type: ignore[untyped-decorator]
def _type_of_plain_board(board: PlainBoard, context: Any) -> Any:
    return BOARD_VIEW


def plain_board(boards: GeometryArray) -> Any:
    """Return the first geometry record of an array as a read-only `PlainBoard`."""
    plain = boards.view(_PLAIN)
    plain.flags.writeable = False
    return plain[0]


def _board_at(address: int) -> Any:
    memory = (ctypes.c_char * _PLAIN.itemsize).from_address(address)
    return np.frombuffer(memoryview(memory).toreadonly(), _PLAIN)[0]


class PlainPython:
    """A Python function that compiled code can call at its C `address`.

    An exception cannot pass through compiled code: it is stored, the search is stopped, and the
    caller of the search gets the exception from `failure`.
    """

    def __init__(self, score: Callable[..., float]) -> None:
        self._score = score
        self._failures: dict[int, BaseException] = {}
        self._callback = _CALLBACK(self._call)
        self.address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def _call(self, address: int, open: int, me: int, opp: int, to_move: int) -> float:
        limit = ctypes.c_int64.from_address(address + _LIMIT)
        if limit.value == 0:
            return 0.0
        try:
            return to_float(self._score(_board_at(address), open, me, opp, to_move))
        except BaseException as error:  # Ctrl-C, too, waits until the search has ended
            self._failures[address] = error
            limit.value = 0
            return 0.0

    def failure(self, boards: Any) -> BaseException | None:
        """Return and forget the exception of the search with these geometry records, if any."""
        return self._failures.pop(boards.ctypes.data, None)
