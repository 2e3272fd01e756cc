"""From an id to something that evaluates: the address of a C function, compiled if possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from threading import current_thread, main_thread
from typing import Any

from knightfall.errors import KnightfallError
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
from knightfall.heuristics.signature import HEURISTIC, ask_once, ready
from knightfall.kernel.bits import count
from knightfall.kernel.compile import c_address, compile_later, compiled, quiet
from knightfall.kernel.geometry import READ_ONLY, GeometryArray, Seal, geometry
from knightfall.kernel.interrupt import interruptibly, limit_to_nothing
from knightfall.kernel.rules import words
from knightfall.position import Position, Side
from knightfall.user_files import UserFunction, line_in

# A user's function needs more than a published one, `knightfall.heuristics.user_heuristic`, which
# is imported where there is one.

NOT_FOR_PYTHON = {"no_cpython_wrapper": True}
"""How we compile what only compiled code calls, in two thirds of the time.

Python must not call it, not even once: ask for its `c_address`.
"""


@dataclass(frozen=True)
class _Term:
    """One atom, ready: `score` is its dispatcher, None if it cannot be compiled (`why_plain`)."""

    atom: Atom
    score: Any
    python: Callable[..., float]
    symmetric: bool
    costly: bool
    users: bool
    why_plain: str = ""


@dataclass(frozen=True)
class Evaluator:
    """A heuristic that is ready to use.

    `address` is what compiled code calls (`kernel.bits.ask`); `code` is what lies there and must
    live as long.
    """

    id: str
    address: int
    code: Any = field(repr=False)
    symmetric: bool
    compiled: bool
    terms: tuple[_Term, ...] = field(repr=False)

    @property
    def users(self) -> bool:
        """Whether any of it is a user's own, of which nothing is known."""
        return any(term.users for term in self.terms)

    @property
    def quick(self) -> bool:
        """Whether an evaluation is surely a matter of microseconds: published, and not costly."""
        return not any(term.users or term.costly for term in self.terms)

    @property
    def known_elsewhere(self) -> bool:
        """Whether another process can make it, too: it is not declared in this one alone."""
        return all(isinstance(term.atom, UserFunction) or not term.users for term in self.terms)

    def value(self, position: Position, side: Side | None = None) -> float:
        """The value of a position for a side (the side to move by default), without any limit."""
        return self.measure(position, side)[0]

    def measure(
        self, position: Position, side: Side | None = None, step_limit: int | None = None
    ) -> tuple[float, bool]:
        """The value, and whether it is exact: a costly heuristic may run out of steps."""
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
            values.append(ask_once(boards, self.address, open, me, opp, to_move))

        with self.errors_explained(boards):
            if self.quick:
                evaluate()
            else:
                interruptibly(evaluate, limit_to_nothing(boards), **self.patience(lambda: 0))
        return values[0], bool(boards["cut"][0] == 0)

    def patience(self, progress: Callable[[], int]) -> dict[str, Any]:
        """What `interruptibly` needs to know to notice that a user's heuristic never returns."""
        if not self.users:
            return {}
        return {"progress": progress, "blamed": f"heuristic {self.id}"}

    @contextmanager
    def errors_explained(self, boards: GeometryArray) -> Iterator[None]:
        """After the block, report an error inside the heuristic with its file and line."""
        seal = Seal(boards) if self.users else None
        try:
            yield
        except BaseException:
            if not self.compiled:
                self.code.failure(boards)  # not to be found by the next search at that address
            raise
        if seal is not None and seal.broken:
            raise self.tampered()
        if boards["failed"][0]:
            raise self._failure_in_python(boards)
        failure = None if self.compiled else self.code.failure(boards)
        # A person's Ctrl-C is heard in the main thread: in any other the heuristic made it up.
        if isinstance(failure, KeyboardInterrupt) and current_thread() is main_thread():
            raise failure
        if failure is not None:  # sys.exit() in a heuristic is an error like any other
            raise self._explained(failure) from None

    def tampered(self) -> KnightfallError:
        """What is said of one that got at its board by ways that nobody can close."""
        return KnightfallError(f"heuristic {self.id} changed its board: {READ_ONLY}")

    def _explained(self, error: BaseException) -> KnightfallError:
        """The error as one line that names the user's function it came from."""
        from knightfall.heuristics.user_heuristic import fault, file_of

        for term in self.terms:
            path = file_of(term.python) if term.users else ""
            if term.users and (line_in(path, error) or len(self.terms) == 1):
                return fault(str(term.atom), term.python, error)
        return KnightfallError(f"heuristic {self.id}: {type(error).__name__}: {error}")

    def _failure_in_python(self, boards: GeometryArray) -> KnightfallError:
        """Machine code does not know its line: ask the same again, as plain Python."""
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
        return KnightfallError(f"heuristic {self.id} failed, but only when compiled")


@lru_cache(maxsize=256)
def _evaluator(expression: Expression, key: tuple[Any, ...]) -> Evaluator:
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


def evaluator(heuristic: str | Expression) -> Evaluator:
    """The evaluator of an id; files are read again when they have changed."""
    expression = parse_heuristic(heuristic) if isinstance(heuristic, str) else heuristic
    key: list[Any] = []
    for atom in expression.atoms():
        if isinstance(atom, UserFunction):
            from knightfall.heuristics.user_heuristic import load_heuristic

            key.append(load_heuristic(atom))
        else:
            key.append(REGISTRY[atom.name])  # a notebook may declare a name anew
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
        score, why_plain = users.compile_users(str(atom), python)
    return _Term(atom, score, python, symmetric, False, users=True, why_plain=why_plain)


# -- sums ----------------------------------------------------------------------------------
#
# Each function below makes a heuristic of others: a closure that is either compiled or, if one of
# the others is plain Python, called as it is.

Make = Callable[[Callable[..., float]], Any]
"""A function that makes a heuristic of a closure: it compiles it, or leaves it plain Python."""


def _compile(function: Callable[..., float]) -> Any:
    return compiled(HEURISTIC, cache=False, **NOT_FOR_PYTHON)(function)


def _in_python(score: Callable[..., float]) -> Callable[..., float]:
    from knightfall.heuristics.user_heuristic import a_number

    def number(board: Any, open: Any, me: int, opp: int, to_move: int) -> float:
        return a_number(score(board, open, me, opp, to_move))

    return number


def _sum(expression: Expression, scores: Mapping[Atom, Any], make: Make) -> Any:
    """Return the heuristic that an expression over some `scores` is."""
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
    # One function for sum and product: to compile one takes as long as to play dozens of games.
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
