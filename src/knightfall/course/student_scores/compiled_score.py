"""A student's score as machine code, where Numba can take it, and the reason where it cannot.

Numba cannot call a plain function, loop through a generator or use a list that a module holds.  So
each function gets a twin, in which a function that it names is its twin, a generator that is used
up on the spot is a list, and a list of constants is a tuple.  What a twin must not do is refused,
and what was compiled is not believed before it has said what Python says of some positions.
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
from knightfall.course.import_context import for_a_while
from knightfall.course.student_scores.compiled_board import GAMES, PLAYER, Game, asking
from knightfall.course.student_scores.student_score import silent
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.heuristics.registry import Score
from knightfall.heuristics.signature import HEURISTIC, ask_once
from knightfall.heuristics.user_heuristic import (
    CHECKED,
    USERS,
    a_number,
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

MOST = 400
"""Numbers in a list that is still worth being a constant."""

CONSUMERS = ("sum", "min", "max", "any", "all", "len", "list", "tuple", "set", "sorted")
"""What uses a generator up, and takes a list as well."""


class Refused(Exception):
    """Something that must not be compiled, though Numba would perhaps do it."""


class Twins:
    """The twins of a score and of all that it calls."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._made: dict[FunctionType, Any] = {}

    def of(self, function: FunctionType) -> Any:
        """The dispatcher of a function's twin; it is compiled when it is first called."""
        if function not in self._made:
            code = _rewritten(function) or function.__code__
            # Numba finds a function that calls itself only in a module that it can import.
            names: dict[str, Any] = {"__builtins__": builtins, "__name__": __name__}
            twin = FunctionType(
                code, names, function.__name__, function.__defaults__, function.__closure__
            )
            twin.__kwdefaults__ = function.__kwdefaults__
            self._made[function] = compile_later(twin, cache=False, **self._options)
            for name, line in _globals(code):
                if name in function.__globals__:
                    names[name] = self._ready(function.__globals__[name], name, line)
                elif name in _OURS:
                    names[name] = self.of(_OURS[name])
            _refuse_numpys(code, names)
        return self._made[function]

    def _ready(self, value: Any, name: str, line: int | None) -> Any:
        """What stands for a value that a module holds."""
        if _is_random(value):
            raise Refused(_random(name, line))
        if isinstance(value, FunctionType):
            return self.of(_OURS["print"] if value is silent else value)
        if isinstance(value, ModuleType) and not _is_library(value):
            return _Module(value, self)
        return _constant(value) if isinstance(value, list) else value


class _Module(ModuleType):
    """A module of the student's or of the course's, its functions twins."""

    def __init__(self, module: ModuleType, twins: Twins) -> None:
        super().__init__(module.__name__)
        self._module, self._twins = module, twins

    def __getattr__(self, name: str) -> Any:
        return self._twins._ready(getattr(self._module, name), name, None)


# -- what a function names -------------------------------------------------------------------


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of the functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _globals(code: CodeType) -> Iterator[tuple[str, int | None]]:
    """The names that a function takes from its module, with the lines."""
    for one in _codes(code):
        for instruction in dis.get_instructions(one):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                yield instruction.argval, _line(instruction)


def _line(instruction: dis.Instruction) -> int | None:
    return instruction.positions.lineno if instruction.positions else None


def _is_random(value: Any) -> bool:
    """Whether a value is Python's random module, numpy's, or something of theirs."""
    if value is random or getattr(value, "__name__", "") == "numpy.random":
        return True
    owner = getattr(value, "__self__", None)
    return isinstance(owner, random.Random) or type(owner).__name__ == "RandomState"


def _random(name: str, line: int | None) -> str:
    where = f"line {line}: " if line else ""
    return f"{where}{name} is random, and a heuristic must give a position one value"


def _refuse_numpys(code: CodeType, names: dict[str, Any]) -> None:
    """Refuse numpy's random numbers where they are an attribute of numpy."""
    if not any(getattr(value, "__name__", "") == "numpy" for value in names.values()):
        return
    for one in _codes(code):
        for instruction in dis.get_instructions(one):
            if instruction.opname.startswith("LOAD_") and instruction.argval == "random":
                raise Refused(_random("numpy.random", _line(instruction)))


def _is_library(module: ModuleType) -> bool:
    """Whether a module is Python's or was installed: Numba knows some of those."""
    file = getattr(module, "__file__", None)
    if not isinstance(file, str):
        return True
    place = Path(file)
    if {"site-packages", "dist-packages"} & set(place.parts):
        return True
    return place.is_relative_to(os.path.realpath(sysconfig.get_path("stdlib")))


def _constant(value: list[Any]) -> Any:
    """A list of numbers, or of such lists, as a tuple; whatever else it is as it is."""
    numbers: list[Any] = []

    def frozen(one: Any) -> Any:
        if isinstance(one, list | tuple):
            return tuple(frozen(each) for each in one)
        numbers.append(one)
        return one

    found = frozen(value)
    if len(numbers) > MOST or any(type(one) not in (int, float, bool) for one in numbers):
        return value
    if len({type(one) for one in numbers}) > 1:  # of one kind, or they could not be looked up

        def floating(one: Any) -> Any:
            return tuple(floating(each) for each in one) if isinstance(one, tuple) else float(one)

        return floating(found)
    return found


# -- generators ------------------------------------------------------------------------------


class _Lists(ast.NodeTransformer):
    """Turns generators that are used up on the spot into lists, and sets of what is in a loop."""

    def __init__(self) -> None:
        self.changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """``sum(f(x) for x in xs)``."""
        self.generic_visit(node)
        named = isinstance(node.func, ast.Name) and node.func.id in CONSUMERS
        if named and node.args and isinstance(node.args[0], ast.GeneratorExp):
            self.changed = True
            loop = node.args[0]
            node.args[0] = ast.copy_location(ast.ListComp(loop.elt, loop.generators), loop)
        return node

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        """``{f(x) for x in xs}``."""
        self.generic_visit(node)
        self.changed = True
        made = ast.ListComp(node.elt, node.generators)
        return ast.copy_location(ast.Call(ast.Name("set", ast.Load()), [made], []), node)


def _rewritten(function: FunctionType) -> CodeType | None:
    """The code of a function of a module without its generators; None if there are none."""
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


# -- what Python has and Numba has not ---------------------------------------------------------


def _print(*values: Any) -> None:
    """`silent` without the options that Numba cannot pass on."""


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
