"""A user's function on its way to machine code, or, where that road is closed, to plain Python."""

from __future__ import annotations

import ctypes
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

import numpy as np
from numba import types
from numba.core.errors import NumbaWarning
from numba.extending import intrinsic, typeof_impl

from knightfall.board import Board
from knightfall.errors import FileFault, KnightfallError
from knightfall.heuristics.evaluator import NOT_FOR_PYTHON
from knightfall.heuristics.registry import Score, check_parameters, ready_for_python
from knightfall.heuristics.signature import HEURISTIC, ask_once, note_failure
from knightfall.kernel.board_view import BOARD_VIEW, view, writes_to_it
from knightfall.kernel.compile import c_address, compile_later, compiled, quiet
from knightfall.kernel.geometry import FIELDS, READ_ONLY, GeometryArray, geometry
from knightfall.kernel.interrupt import interruptibly
from knightfall.kernel.rules import words
from knightfall.position import Position
from knightfall.user_files import UserFunction, describe, line_in

USERS = HEURISTIC.return_type(BOARD_VIEW, *HEURISTIC.args[1:])
"""The signature of every heuristic, with a board that cannot be written to."""

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


# -- plain Python ----------------------------------------------------------------------------
#
# A heuristic that Numba cannot compile is called back from the search as plain Python.  The search
# does not know: it gets the address of a C function, behind which ctypes calls the Python function.


_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_double,
    ctypes.c_void_p,
    ctypes.c_uint64,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_int64,
)


def a_number(value: Any) -> float:
    """What a heuristic returned, as a float."""
    if value is None:
        raise TypeError("it returned None: is a return missing?")
    return float(value)


def _refuse(*_: object) -> Any:
    raise TypeError(READ_ONLY)


class _Whole:
    """An array of whole numbers that gives Python's own, and takes none."""

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
    """The geometry record as plain Python sees it: read-only, its numbers Python's own.

    NumPy's would behave differently from compiled ones: they divide by zero without an error,
    and a set of theirs cannot meet ``~bit(cell)``, which is negative in Python.
    """

    def __getattribute__(self, name: str) -> Any:
        found = np.record.__getattribute__(self, name)
        if isinstance(found, np.ndarray):
            return _Whole(found)
        return int(found) if isinstance(found, np.integer) else found

    __setattr__ = __delattr__ = __setitem__ = _refuse


def _plain_fields() -> np.dtype[Any]:
    """The record's fields but `asked`, which no heuristic needs.

    Numba remembers a record's type by its fields: with the same ones, compiled code that plain
    Python hands its board to might write to it.
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
    """The first of some geometry records, for plain Python."""
    plain = boards.view(_PLAIN)
    plain.flags.writeable = False
    return plain[0]


def _board_at(address: int) -> Any:
    memory = (ctypes.c_char * _PLAIN.itemsize).from_address(address)
    return np.frombuffer(memoryview(memory).toreadonly(), _PLAIN)[0]


class PlainPython:
    """A Python function with a C `address`.

    An exception cannot pass through compiled code: it is kept, the search is told to stop, and
    whoever started the search asks `failure` for it.
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
            return a_number(self._score(_board_at(address), open, me, opp, to_move))
        except BaseException as error:  # Ctrl-C, too, must wait until the search has ended
            self._failures[address] = error
            limit.value = 0
            return 0.0

    def failure(self, boards: Any) -> BaseException | None:
        """What went wrong in the search that used these geometry records, if anything did."""
        return self._failures.pop(boards.ctypes.data, None)
