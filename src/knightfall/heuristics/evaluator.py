"""Evaluators of heuristic ids: the address of a C function, compiled if possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from threading import current_thread, main_thread
from typing import Any

from knightfall.errors import KnightfallError
from knightfall.heuristics.c_signature import HEURISTIC, evaluate_at, ready
from knightfall.heuristics.expression import (
    Atom,
    Expression,
    Id,
    Phased,
    Stages,
    Term,
    parse_heuristic,
)
from knightfall.heuristics.registry import (
    REGISTRY,
    USER,
    Declared,
    check_parameters,
    ready_for_python,
)
from knightfall.kernel.bits import count
from knightfall.kernel.compile import c_address, compile_later, compiled, quiet
from knightfall.kernel.interrupt import run_interruptibly, stop_function
from knightfall.kernel.rules import READ_ONLY, GeometryArray, Seal, geometry, words
from knightfall.position import Position, Side
from knightfall.user_files import (
    LocalFunction,
    UserFunction,
    line_in,
    local_function,
    without_digits,
)

# `knightfall.heuristics.user_heuristic` is imported only where there is a user's function.

NOT_FOR_PYTHON = {"no_cpython_wrapper": True}
"""Compiler option for functions that only compiled code calls; it saves a third of the time.

Python must never call such a function, only take its `c_address`.
"""


@dataclass(frozen=True)
class _Term:
    """One heuristic of an expression.

    `score` is its dispatcher, None if it cannot be compiled; `why_plain` is the reason.
    """

    atom: Atom
    score: Any
    python: Callable[..., float]
    symmetric: bool
    costly: bool
    users: bool
    why_plain: str = ""


@dataclass(frozen=True)
class Evaluator:
    """A heuristic, named by its `id`, that is ready to be evaluated.

    It is `compiled` unless one of its `terms` cannot be, and `symmetric` if all terms promise it.
    `address` is the C function for `kernel.bits.call_heuristic`; `code` is the object that owns the
    function and must live as long as the address is used.
    """

    id: str
    address: int
    code: Any = field(repr=False)
    symmetric: bool
    compiled: bool
    terms: tuple[_Term, ...] = field(repr=False)

    @property
    def name(self) -> str:
        """The id for readers, in which functions of this process have no digits."""
        return without_digits(self.id)

    @property
    def users(self) -> bool:
        """Whether any term of the heuristic is a user's own function."""
        return any(term.users for term in self.terms)

    @property
    def quick(self) -> bool:
        """Whether an evaluation is known to take microseconds: published and not costly."""
        return not any(term.users or term.costly for term in self.terms)

    @property
    def available_elsewhere(self) -> bool:
        """Whether other processes can create the heuristic: no term exists only in this process."""
        return all(
            not term.users
            or (isinstance(term.atom, UserFunction) and not isinstance(term.atom, LocalFunction))
            for term in self.terms
        )

    def value(self, position: Position, side: Side | None = None) -> float:
        """Return the value of a position for a side, by default the side to move; no step limit."""
        return self.measure(position, side)[0]

    def measure(
        self, position: Position, side: Side | None = None, step_limit: int | None = None
    ) -> tuple[float, bool]:
        """Return the value, and whether it is exact: a costly heuristic may run out of steps.

        It is the value of the `position` for `side`, by default the side to move, with at most
        `step_limit` steps, by default without a limit.
        """
        if not position.placed:
            raise KnightfallError(
                f"position {position.fen!r} cannot be evaluated: both knights must be on the board"
            )
        boards = geometry(position.board)
        if step_limit is not None:
            boards["step_limit"] = step_limit
        open, me, opp = words(position, side)
        _, to_move, _ = words(position)
        values: list[float] = []

        def evaluate() -> None:
            values.append(evaluate_at(boards, self.address, open, me, opp, to_move))

        with self.explaining_errors(boards):
            if self.quick:
                evaluate()
            else:
                run_interruptibly(evaluate, stop_function(boards), **self.patience(lambda: 0))
        return values[0], bool(boards["cut"][0] == 0)

    def patience(self, progress: Callable[[], int]) -> dict[str, Any]:
        """Return the arguments with which `run_interruptibly` detects a heuristic that hangs."""
        if not self.users:
            return {}
        return {"progress": progress, "blamed": f"heuristic {self.name}"}

    @contextmanager
    def explaining_errors(self, boards: GeometryArray) -> Iterator[None]:
        """Raise an error with file and line if the heuristic has failed inside the block."""
        seal = Seal(boards) if self.users else None
        try:
            yield
        except BaseException:
            if not self.compiled:
                self.code.failure(boards)  # discard it, or the next search at this address finds it
            raise
        if seal is not None and seal.broken:
            raise self.tampered()
        if boards["failed"][0]:
            raise self._failure_in_python(boards)
        failure = None if self.compiled else self.code.failure(boards)
        # Ctrl-C arrives in the main thread; in any other thread the heuristic itself raised it.
        if isinstance(failure, KeyboardInterrupt) and current_thread() is main_thread():
            raise failure
        if failure is not None:  # sys.exit() in a heuristic is reported like any error
            raise self._explained(failure) from None

    def tampered(self) -> KnightfallError:
        """Return the error about a heuristic that wrote to its board through a memory address."""
        return KnightfallError(f"heuristic {self.name} changed its board: {READ_ONLY}")

    def _explained(self, error: BaseException) -> KnightfallError:
        """Return an error as one line that names the user's function it came from."""
        from knightfall.heuristics.user_heuristic import fault, file_of

        for term in self.terms:
            path = file_of(term.python) if term.users else ""
            if term.users and (line_in(path, error) or len(self.terms) == 1):
                return fault(without_digits(str(term.atom)), term.python, error)
        return KnightfallError(f"heuristic {self.name}: {type(error).__name__}: {error}")

    def _failure_in_python(self, boards: GeometryArray) -> KnightfallError:
        """Return the error of a compiled heuristic, found by evaluating it again in plain Python.

        Machine code does not know line numbers.
        """
        from knightfall.heuristics.user_heuristic import plain_board

        with quiet():
            ready_for_python()
        open, me, opp, to_move = (int(word) for word in boards["asked"][0])
        phase = Fraction(open.bit_count(), int(boards["cells"][0]))
        asked = {atom for _, atom in parse_heuristic(self.id).at(phase)}
        for term in self.terms:
            if term.atom not in asked:
                continue
            try:
                term.python(plain_board(boards), open, me, opp, to_move)
            except Exception as error:
                return self._explained(error)
        return KnightfallError(f"heuristic {self.name} failed, but only when compiled")


@lru_cache(maxsize=256)
def _evaluator(expression: Expression, key: tuple[Any, ...]) -> Evaluator:
    """Build an evaluator; if a function has changed, so has `key`, and the cache is not used."""
    terms = {atom: _term(atom) for atom in expression.atoms()}
    able = all(term.score is not None for term in terms.values())
    code: Any
    if able:
        with quiet():
            code = _sum(expression, {atom: term.score for atom, term in terms.items()}, _compile)
        address = c_address(code, HEURISTIC)
    else:
        from knightfall.heuristics.user_heuristic import PlainPython

        scores = {atom: _in_python(term.python) for atom, term in terms.items()}
        code = PlainPython(_sum(expression, scores, lambda function: function))
        address = code.address
    return Evaluator(
        id=str(expression),
        address=address,
        code=code,
        symmetric=all(term.symmetric for term in terms.values()),
        compiled=able,
        terms=tuple(terms.values()),
    )


def evaluator(heuristic: str | Expression | Callable[..., float]) -> Evaluator:
    """Return the evaluator of a heuristic; files that have changed are loaded again.

    Args:
        heuristic: An id such as "near_opponent+bfs_reach" or "mine.py:score", or a function.

    Example:
        >>> position = kf.Position.from_fen("7/7/1N5/7/7/4n2/7 w")
        >>> kf.evaluator("near_opponent+bfs_reach").value(position)
        -6.0
    """
    if not isinstance(heuristic, str | Expression):
        check_parameters(heuristic)
        heuristic = str(local_function(heuristic))
    expression = parse_heuristic(heuristic) if isinstance(heuristic, str) else heuristic
    key: list[Any] = []
    for atom in expression.atoms():
        if isinstance(atom, UserFunction):
            from knightfall.heuristics.user_heuristic import load_heuristic

            key.append(load_heuristic(atom))
        else:
            key.append(REGISTRY[atom.name])  # a notebook may redefine a name
    return _evaluator(expression, tuple(key))


# -- terms ---------------------------------------------------------------------------------


def _term(atom: Atom) -> _Term:
    declared = None if isinstance(atom, UserFunction) else REGISTRY[atom.name]
    if declared is None or declared.study == USER:
        return _users_term(atom, declared)
    score = declared.score
    if isinstance(atom, Id) and atom.parameter is not None:
        score = compile_later(score(float(atom.parameter)), cache=True)
    ready(score)
    return _Term(atom, score, score, declared.symmetric, declared.costly, users=False)


def _users_term(atom: Atom, declared: Declared | None) -> _Term:
    from knightfall.heuristics import user_heuristic as users

    if isinstance(atom, UserFunction):
        function, symmetric = users.load_heuristic(atom), False
        declared = REGISTRY.get(atom.name)
        if declared is not None and declared.score is function:
            symmetric = declared.symmetric
    else:
        assert declared is not None
        function, symmetric = declared.score, declared.symmetric
        check_parameters(function)
    if isinstance(atom, users.SchemeFunction):
        python = atom.as_heuristic()
        score, why_plain = atom.compile(python)
    else:
        python = users.python_function(function)
        score, why_plain = users.compile_user_function(without_digits(str(atom)), python)
    return _Term(atom, score, python, symmetric, False, users=True, why_plain=why_plain)


# -- sums ----------------------------------------------------------------------------------
#
# Each function below combines heuristics into one: a closure that is compiled, or, if one of the
# parts is plain Python, called without compiling.

Make = Callable[[Callable[..., float]], Any]
"""A function that turns a closure into a heuristic: it compiles it, or returns it unchanged."""


def _compile(function: Callable[..., float]) -> Any:
    return compiled(HEURISTIC, cache=False, **NOT_FOR_PYTHON)(function)


def _in_python(score: Callable[..., float]) -> Callable[..., float]:
    from knightfall.heuristics.user_heuristic import to_float

    def number(board: Any, open: Any, me: int, opp: int, to_move: int) -> float:
        return to_float(score(board, open, me, opp, to_move))

    return number


def _sum(expression: Expression, scores: Mapping[Atom, Any], make: Make) -> Any:
    """Return the function of an expression, given the functions (`scores`) of its heuristics."""
    total: Any = None
    for exact, term in expression.terms:
        weight, score = float(exact), _score(term, scores, make)
        if total is not None:
            total = make(_plus(total, weight, score))
        else:
            total = score if weight == 1.0 else make(_scaled(weight, score))
    return total


def _score(term: Term, scores: Mapping[Atom, Any], make: Make) -> Any:
    if isinstance(term, Phased):
        return make(_phased(_score(term.inner, scores, make), term.open, term.filled))
    if isinstance(term, Stages):
        score = _sum(term.last, scores, make)
        for least, part in reversed(term.stages):
            score = make(_staged(float(least), _sum(part, scores, make), score))
        return score
    return scores[term]


def _scaled(weight: float, score: Any) -> Callable[..., float]:
    def scaled(board: Any, open: int, me: int, opp: int, to_move: int) -> float:
        return weight * score(board, open, me, opp, to_move)  # type: ignore[no-any-return]

    return scaled


def _plus(left: Any, weight: float, right: Any) -> Callable[..., float]:
    # One function for sum and product: compiling a function takes as long as dozens of games.
    def plus(board: Any, open: int, me: int, opp: int, to_move: int) -> float:
        more = weight * right(board, open, me, opp, to_move)
        return left(board, open, me, opp, to_move) + more  # type: ignore[no-any-return]

    return plus


def _phased(score: Any, open_power: int, filled_power: int) -> Callable[..., float]:
    def phased(board: Any, open: int, me: int, opp: int, to_move: int) -> float:
        phase, factor = count(open) / board.cells, 1.0
        for _ in range(open_power):
            factor *= phase
        for _ in range(filled_power):
            factor *= 1.0 - phase
        return factor * score(board, open, me, opp, to_move)  # type: ignore[no-any-return]

    return phased


def _staged(least: float, early: Any, late: Any) -> Callable[..., float]:
    def staged(board: Any, open: int, me: int, opp: int, to_move: int) -> float:
        if count(open) / board.cells >= least:
            return early(board, open, me, opp, to_move)  # type: ignore[no-any-return]
        return late(board, open, me, opp, to_move)  # type: ignore[no-any-return]

    return staged
