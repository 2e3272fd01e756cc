"""From an id to something that evaluates: one function pointer, compiled if at all possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numba import types

from knightfall.errors import KnightfallError
from knightfall.heuristics.expression import Atom, Expression, parse_heuristic
from knightfall.heuristics.loading import describe, load_function, python_function
from knightfall.heuristics.plain import PlainPython
from knightfall.heuristics.registry import HEURISTIC, POINTER, REGISTRY, YOURS
from knightfall.heuristics.yours import compile_yours
from knightfall.kernel.compile import compile_later, compiled, quiet
from knightfall.kernel.geometry import GEOMETRY, GeometryArray, geometry
from knightfall.kernel.rules import words
from knightfall.position import Position, Side


@dataclass(frozen=True)
class _Term:
    """One atom, ready: `pointer` for compiled callers (None if it cannot be compiled)."""

    atom: Atom
    pointer: Any
    python: Callable[..., float]
    symmetric: bool
    yours: bool


@dataclass(frozen=True)
class Evaluator:
    """A heuristic that is ready to use; `pointer` is what compiled searches take."""

    id: str
    pointer: Any = field(repr=False)
    symmetric: bool
    compiled: bool
    terms: tuple[_Term, ...] = field(repr=False)

    def value(self, position: Position, side: Side | None = None) -> float:
        """The value of a position for a side (the side to move by default), without any limit."""
        return self.measure(position, side)[0]

    def measure(
        self, position: Position, side: Side | None = None, share: int | None = None
    ) -> tuple[float, bool]:
        """The value, and whether it is exact: a dear heuristic may run out of its `share`."""
        if not position.placed:
            raise KnightfallError(
                f"position {position.fen!r} cannot be evaluated: both knights must be on the board"
            )
        boards = geometry(position.board)
        if share is not None:
            boards["share"] = share
        open, me, opp = words(position, side)
        _, to_move, _ = words(position)
        with self.errors_explained(boards):
            value = _ask(boards, self.pointer, open, me, opp, to_move)
        return value, bool(boards["cut"][0] == 0)

    @contextmanager
    def errors_explained(self, boards: GeometryArray) -> Iterator[None]:
        """Turn an error inside the heuristic into one that names its file and line."""
        try:
            yield
        except KnightfallError:
            raise
        except Exception as error:
            raise self._explained(error, boards) from None
        if isinstance(self.pointer, PlainPython):
            failure = self.pointer.failure(boards)
            if isinstance(failure, Exception):
                raise self._explained(failure, boards) from None
            if failure is not None:
                raise failure

    def _explained(self, error: Exception, boards: GeometryArray) -> KnightfallError:
        """Ask the user's own functions again, as plain Python, to learn which line it was."""
        open, me, opp, to_move = (int(word) for word in boards["asked"][0])
        for term in self.terms:
            if not term.yours:
                continue
            if self.compiled:
                try:
                    term.python(boards[0], np.uint64(open), me, opp, to_move)
                    continue
                except Exception as again:
                    error = again
            path = term.python.__code__.co_filename
            return KnightfallError(f"heuristic {describe(path, error, str(term.atom))}")
        return KnightfallError(f"heuristic {self.id}: {type(error).__name__}: {error}")


@compiled(
    types.float64(
        types.Array(GEOMETRY, 1, "C"),
        POINTER,
        types.uint64,
        types.int64,
        types.int64,
        types.int64,
    )
)
def _ask(boards: Any, pointer: Any, open: int, me: int, opp: int, to_move: int) -> float:
    return pointer(boards[0], open, me, opp, to_move)  # type: ignore[no-any-return]


@lru_cache(maxsize=256)
def _evaluator(expression: Expression, key: tuple[Any, ...]) -> Evaluator:
    terms = tuple(_term(atom) for _, atom in expression.terms)
    weights = [float(weight) for weight, _ in expression.terms]
    able = all(term.pointer is not None for term in terms)
    if able:
        with quiet():
            pointer = _weighted_sum(weights, [term.pointer for term in terms])
    else:
        pointer = PlainPython(_python_sum(weights, [term.python for term in terms]))
    return Evaluator(
        id=str(expression),
        pointer=pointer,
        symmetric=all(term.symmetric for term in terms),
        compiled=able,
        terms=terms,
    )


def evaluator(heuristic: str | Expression) -> Evaluator:
    """The evaluator of an id; files are read again when they have changed."""
    expression = parse_heuristic(heuristic) if isinstance(heuristic, str) else heuristic
    key: list[Any] = []
    for _, atom in expression.terms:
        if atom.path is not None:
            key.append(load_function(atom.path, atom.name))
        else:
            key.append(REGISTRY[atom.name])  # a notebook may declare a name anew
    return _evaluator(expression, tuple(key))


# -- terms ---------------------------------------------------------------------------------


def _term(atom: Atom) -> _Term:
    if atom.path is None:
        declared = REGISTRY[atom.name]
        if declared.study != YOURS:
            score = declared.score
            if atom.parameter is not None:
                score = compile_later(score(float(atom.parameter)), cache=True)
            score.compile(HEURISTIC)
            return _Term(atom, score, score, declared.symmetric, yours=False)
        function, symmetric = declared.score, declared.symmetric
    else:
        function, symmetric = load_function(atom.path, atom.name), False
        declared_here = REGISTRY.get(atom.name)
        if declared_here is not None and declared_here.score is function:
            symmetric = declared_here.symmetric
    python = python_function(function)
    return _Term(atom, compile_yours(str(atom), python), python, symmetric, yours=True)


# -- sums ----------------------------------------------------------------------------------


def _weighted_sum(weights: list[float], scores: list[Any]) -> Any:
    total = _scaled(weights[0], scores[0])
    for weight, score in zip(weights[1:], scores[1:], strict=True):
        total = _plus(total, _scaled(weight, score))
    return total


def _scaled(weight: float, score: Any) -> Any:
    if weight == 1.0:
        return score

    @compiled(HEURISTIC, cache=False)
    def scaled(board: Any, open: int, me: int, opp: int, to_move: int) -> float:
        return weight * score(board, open, me, opp, to_move)  # type: ignore[no-any-return]

    return scaled


def _plus(left: Any, right: Any) -> Any:
    @compiled(HEURISTIC, cache=False)
    def plus(board: Any, open: int, me: int, opp: int, to_move: int) -> float:
        return left(board, open, me, opp, to_move) + right(board, open, me, opp, to_move)  # type: ignore[no-any-return]

    return plus


def _python_sum(weights: list[float], scores: list[Callable[..., float]]) -> Callable[..., float]:
    def total(board: Any, open: Any, me: int, opp: int, to_move: int) -> float:
        return sum(
            weight * float(score(board, open, me, opp, to_move))
            for weight, score in zip(weights, scores, strict=True)
        )

    return total
