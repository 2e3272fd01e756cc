"""Compile a student's score with Numba, or report why that is not possible.

Numba cannot call a plain Python function, iterate over a generator or use a module's list.  So each
function gets a rewritten copy: called functions are replaced by their copies, generators inside
calls such as sum() by lists, and constant lists by tuples.  Random scores are rejected.  The
compiled score is accepted only if it agrees with Python on sample positions.
"""

from __future__ import annotations

import ast
import builtins
import dis
import math
import os
import random
import sysconfig
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from numba.core import typeinfer
from numba.core.errors import NumbaWarning

from knightfall.board import Board
from knightfall.course.import_context import removed_names_restored
from knightfall.course.student_scores.compiled_board import GAMES, PLAYER, GameType, asking
from knightfall.course.student_scores.student_score import silent
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.heuristics.c_signature import HEURISTIC, evaluate_at
from knightfall.heuristics.registry import Score
from knightfall.heuristics.user_heuristic import (
    CHECKED,
    USERS,
    guard,
    reason_of,
    run_with_watchdog,
    same,
    sample_questions,
    to_float,
    warn_about_plain_python,
)
from knightfall.isolation.limits import is_expendable
from knightfall.isolation.run_isolated import ChildExited, run_isolated
from knightfall.kernel.compile import c_address, compile_later, quiet
from knightfall.kernel.rules import geometry

MOST = 400
"""Largest number of items in a list that is turned into a constant tuple."""

CONSUMERS = ("sum", "min", "max", "any", "all", "len", "list", "tuple", "set", "sorted")
"""Built-in functions whose generator argument can be replaced by a list."""


class NotCompilable(Exception):
    """Raised for a score that uses random numbers: a heuristic must be deterministic."""


class NumbaCopies:
    """The rewritten, compilable copies of a score and of all functions that it calls."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._made: dict[FunctionType, Any] = {}

    def of(self, function: FunctionType) -> Any:
        """Return the Numba dispatcher of a function's copy, which compiles at the first call."""
        if function not in self._made:
            code = _rewritten(function) or function.__code__
            # Numba supports a recursive function only in a module that can be imported.
            names: dict[str, Any] = {"__builtins__": builtins, "__name__": __name__}
            copy = FunctionType(
                code, names, function.__name__, function.__defaults__, function.__closure__
            )
            copy.__kwdefaults__ = function.__kwdefaults__
            self._made[function] = compile_later(copy, cache=False, **self._options)
            for name, line in _globals(code):
                if name in function.__globals__:
                    names[name] = self._ready(function.__globals__[name], name, line)
                elif name in _OURS:
                    names[name] = self.of(_OURS[name])
            _refuse_numpys(code, names)
        return self._made[function]

    def _ready(self, value: Any, name: str, line: int | None) -> Any:
        """Return a global's replacement in compiled code; raise `NotCompilable` if it is random."""
        if _is_random(value):
            raise NotCompilable(_random(name, line))
        if isinstance(value, FunctionType):
            return self.of(_OURS["print"] if value is silent else value)
        if isinstance(value, ModuleType) and not _is_library(value):
            return _Module(value, self)
        return _constant(value) if isinstance(value, list) else value


class _Module(ModuleType):
    """Stands in for a student's or course module; its functions are copies in `NumbaCopies`."""

    def __init__(self, module: ModuleType, copies: NumbaCopies) -> None:
        super().__init__(module.__name__)
        self._module, self._copies = module, copies

    def __getattr__(self, name: str) -> Any:
        return self._copies._ready(getattr(self._module, name), name, None)


# -- global names of a function --------------------------------------------------------------


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield a function's code object and those of the functions nested in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _globals(code: CodeType) -> Iterator[tuple[str, int | None]]:
    """Yield the global names that a function uses, with their lines."""
    for one in _codes(code):
        for instruction in dis.get_instructions(one):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                yield instruction.argval, _line(instruction)


def _line(instruction: dis.Instruction) -> int | None:
    return instruction.positions.lineno if instruction.positions else None


def _is_random(value: Any) -> bool:
    """Return whether a value is Python's or numpy's random module, or a function of it."""
    if value is random or getattr(value, "__name__", "") == "numpy.random":
        return True
    owner = getattr(value, "__self__", None)
    return isinstance(owner, random.Random) or type(owner).__name__ == "RandomState"


def _random(name: str, line: int | None) -> str:
    where = f"line {line}: " if line else ""
    return f"{where}{name} is random, but a heuristic must always give a position the same value"


def _refuse_numpys(code: CodeType, names: dict[str, Any]) -> None:
    """Raise `NotCompilable` if the code uses `numpy.random`."""
    if not any(getattr(value, "__name__", "") == "numpy" for value in names.values()):
        return
    for one in _codes(code):
        for instruction in dis.get_instructions(one):
            if instruction.opname.startswith("LOAD_") and instruction.argval == "random":
                raise NotCompilable(_random("numpy.random", _line(instruction)))


def _is_library(module: ModuleType) -> bool:
    """Return whether a module is part of Python or installed; Numba supports some of those."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return True
    place = Path(file)
    if {"site-packages", "dist-packages"} & set(place.parts):
        return True
    return place.is_relative_to(os.path.realpath(sysconfig.get_path("stdlib")))


def _constant(value: list[Any]) -> Any:
    """Convert a (nested) list of numbers into tuples; return any other list unchanged."""
    numbers: list[Any] = []

    def frozen(one: Any) -> Any:
        if isinstance(one, list | tuple):
            return tuple(frozen(each) for each in one)
        numbers.append(one)
        return one

    found = frozen(value)
    if len(numbers) > MOST or any(type(one) not in (int, float, bool) for one in numbers):
        return value
    if len({type(one) for one in numbers}) > 1:  # Numba indexes only tuples of one type

        def floating(one: Any) -> Any:
            return tuple(floating(each) for each in one) if isinstance(one, tuple) else float(one)

        return floating(found)
    return found


# -- generators ------------------------------------------------------------------------------


class _Lists(ast.NodeTransformer):
    """Rewrites generator arguments and set comprehensions as list comprehensions."""

    def __init__(self) -> None:
        self.changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Rewrite ``sum(f(x) for x in xs)`` as ``sum([f(x) for x in xs])``."""
        self.generic_visit(node)
        named = isinstance(node.func, ast.Name) and node.func.id in CONSUMERS
        if named and node.args and isinstance(node.args[0], ast.GeneratorExp):
            self.changed = True
            loop = node.args[0]
            node.args[0] = ast.copy_location(ast.ListComp(loop.elt, loop.generators), loop)
        return node

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        """Rewrite ``{f(x) for x in xs}`` as ``set([f(x) for x in xs])``."""
        self.generic_visit(node)
        self.changed = True
        made = ast.ListComp(node.elt, node.generators)
        return ast.copy_location(ast.Call(ast.Name("set", ast.Load()), [made], []), node)


def _rewritten(function: FunctionType) -> CodeType | None:
    """Return a function's code with generators rewritten; None if there are none."""
    code = function.__code__
    if not any(inner.co_name in ("<genexpr>", "<setcomp>") for inner in _codes(code)):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(Path(code.co_filename).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None
    lists = _Lists()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if first == code.co_firstlineno:
                node.decorator_list = []
                tree.body = [ast.fix_missing_locations(lists.visit(node))]
                made = compile(tree, code.co_filename, "exec", dont_inherit=True)
                found = [one for one in made.co_consts if isinstance(one, CodeType)]
                return found[0] if lists.changed else None
    return None


# -- built-in functions that Numba lacks -------------------------------------------------------


def _print(*values: Any) -> None:
    """Do nothing; replaces `silent`, whose keyword arguments Numba does not support."""


def _any(values: Any) -> bool:
    for value in values:  # noqa: SIM110
        if value:
            return True
    return False


def _all(values: Any) -> bool:
    for value in values:  # noqa: SIM110
        if not value:
            return False
    return True


_OURS: dict[str, Any] = {"any": _any, "all": _all, "print": _print}


# -- the compiled score ------------------------------------------------------------------------


def compile_score(shown: str, score: FunctionType, python: Score) -> tuple[Any, str]:
    """Compile a student's score with bounds checks; return (machine code, "") or (None, reason).

    A failure is also shown as a warning.  `python` is the same score as a heuristic in
    plain Python, on the course's own board.
    """
    code, reason = _compiled(score)
    if code is not None:
        reason = _difference(shown, python, code)
        if not reason:
            return code, ""
    warn_about_plain_python(shown, python, reason)
    return None, reason


def _compiled(score: FunctionType) -> tuple[Any, str]:
    """Return a score's machine code and "", or None and the reason why Numba failed."""
    reason = ""
    for kind in GAMES:
        try:
            with quiet(), removed_names_restored(), warnings.catch_warnings():
                warnings.simplefilter("ignore", NumbaWarning)
                return _machine_code(kind, score), ""
        except NotCompilable as refused:
            return None, str(refused)
        except Exception as error:  # Numba's errors have no common, documented base
            reason = reason_of(score, error).replace(str(GAMES[-1]), str(GAMES[0]))
    return None, reason


def _machine_code(kind: GameType, score: FunctionType) -> Any:
    copy = NumbaCopies(**CHECKED).of(score)
    with typeinfer.register_dispatcher(copy):  # it may call itself
        copy.compile((kind, PLAYER))
    asked = compile_later(asking(kind, copy), cache=False, **CHECKED)
    asked.compile(USERS)
    return guard(asked)


# -- comparison with Python ------------------------------------------------------------------


def _difference(shown: str, python: Score, code: Any) -> str:
    """Return how compiled values differ from Python's; "" if they agree.

    The Python score may crash or hang, so it runs in a separate process.
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
    """Compare compiled and Python values on the sample positions, in this process."""
    boards, address = geometry(Board.of(7, 7)), c_address(code, HEURISTIC)
    values: list[tuple[float, float]] = []

    def ask() -> None:
        for board, open, me, opp, to_move in sample_questions():
            for one, other in ((me, opp), (opp, me)):
                with suppress(Exception):  # errors are reported when the heuristic is used
                    expected = to_float(python(board, open, one, other, to_move))
                    found = evaluate_at(boards, address, int(open), one, other, to_move)
                    values.append((expected, math.nan if boards["failed"][0] else found))
                    boards["failed"] = 0

    run_with_watchdog(shown, ask, values)
    for expected, found in values:
        if math.isnan(found) and not math.isnan(expected):
            return f"compiled, it fails where Python returns {expected:g}"
        if not same(expected, found):
            return f"compiled, it returns {found:g} where Python returns {expected:g}"
    return ""
