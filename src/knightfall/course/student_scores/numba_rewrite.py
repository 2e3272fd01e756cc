"""A student's functions made ready for Numba: the same text, with what it calls made ready, too.

Numba cannot call a plain function, loop through a generator or use a list that a module holds.  So
each function gets a twin, in which a function that it names is its twin, a generator that is used
up on the spot is a list, and a list of constants is a tuple.  What a twin must not do is refused.
"""

from __future__ import annotations

import ast
import builtins
import dis
import os
import random
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from knightfall.course.student_scores.student_score import silent
from knightfall.kernel.compile import compile_later

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
