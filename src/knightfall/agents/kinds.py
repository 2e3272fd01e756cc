"""The core's kinds of agents, and the registry of all kinds, including those of extensions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from knightfall.agents.base import Agent, CompiledSearch
from knightfall.board import Board
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.extensions import added, load_added
from knightfall.position import Position, Side
from knightfall.search.budget import KINDS, Budget, Report
from knightfall.user_files import UserFunction, describe, parse_function

if TYPE_CHECKING:
    from knightfall.agents.remote_player import RemotePlayer

COURSE_NODES = 2500
"""Low estimate of the nodes that the course's pure-Python agents visited in 150 ms in 2017.

On a current machine, submitted agents visit a median of 10,600 nodes from an opening."""


@dataclass(frozen=True)
class SearchAgent(Agent):
    """An agent that is a single compiled search."""

    method: ClassVar[str] = ""
    """The name of its search in `SEARCHES`."""

    @property
    def search(self) -> CompiledSearch:
        """The search with its budget."""
        from knightfall.search.run_search import SEARCHES

        return CompiledSearch(SEARCHES[self.method], self.budget)

    def prepare(self, board: Board | None = None) -> Self:
        """See `Agent`."""
        from knightfall.search.run_search import warm_up

        search, budget = self.search
        warm_up(board or Board.of(7, 7), search, self.evaluator, budget)
        return self

    def analyse_with(self, position: Position) -> Report:
        """See `Agent`."""
        from knightfall.search.run_search import run_search

        search, budget = self.search
        return run_search(position, search, self.evaluator, budget, self.seed)


@dataclass(frozen=True)
class RandomAgent(SearchAgent):
    """An agent that plays a random legal move."""

    kind = "random"
    summary = "any legal move"
    example = "random(seed=7)"
    argument = ""
    method = "any_move"


@dataclass(frozen=True)
class GreedyAgent(SearchAgent):
    """An agent that looks one ply ahead."""

    kind = "greedy"
    summary = "the move after which the heuristic is best"
    example = "greedy(improved)"
    method = "alphabeta"

    @property
    def search(self) -> CompiledSearch:
        """The search: alpha-beta to a depth of one ply."""
        return super().search._replace(budget=Budget(depth=1))


@dataclass(frozen=True)
class FixedDepthAgent(SearchAgent):
    """An agent that searches to a fixed depth."""

    budgets = ("depth", "time")

    def with_move_time(self, limit: int, threshold: int) -> Self:
        """See `Agent`; the depth stays the same."""
        return replace(self, budget=Budget(depth=self.budget.depth, time=limit - threshold))


@dataclass(frozen=True)
class MinimaxAgent(FixedDepthAgent):
    """An agent that searches every line to a fixed depth."""

    kind = "minimax"
    summary = "every line to a fixed depth"
    example = "minimax(open, depth=3)"
    default = Budget(depth=3)
    method = "minimax"


@dataclass(frozen=True)
class AlphaBetaAgent(FixedDepthAgent):
    """An agent that searches to a fixed depth with alpha-beta."""

    kind = "alphabeta"
    summary = "plain alpha-beta to a fixed depth"
    example = "alphabeta(improved, depth=5)"
    default = Budget(depth=5)
    method = "alphabeta"


@dataclass(frozen=True)
class DeepeningAgent(SearchAgent):
    """An agent that deepens iteratively; it has a transposition table and orders moves.

    It also solves positions in which the knights can no longer meet (see `search.separation`).
    `plain` turns all three off.
    """

    kind = "id"
    summary = "iterative deepening with transposition table, ordering, separation; plain: without"
    example = "id(bfs_reach, nodes=2500)"
    budgets = KINDS
    default = Budget(nodes=COURSE_NODES)
    words = ("plain",)
    method = "deepening"

    plain: bool = False

    def options(self) -> Iterator[str]:
        """See `Agent`."""
        yield from ["plain"] if self.plain else []

    def with_options(self, given: Mapping[str, str]) -> Self:
        """See `Agent`."""
        return replace(self, plain=self.plain or "plain" in given)

    @property
    def search(self) -> CompiledSearch:
        """The search with its budget."""
        from knightfall.search.run_search import SEARCHES

        plain = CompiledSearch(SEARCHES["plain_deepening"], self.budget)
        return plain if self.plain else super().search

    def with_search_budget(self, budget: Budget) -> Self:
        """See `Agent`."""
        return replace(self, budget=budget)

    def with_move_time(self, limit: int, threshold: int) -> Self:
        """See `Agent`."""
        return replace(self, budget=Budget(time=limit - threshold))


@dataclass(frozen=True)
class PerfectAgent(Agent):
    """An agent that looks positions up in the atlas, then asks the exact solver."""

    kind = "perfect"
    summary = (
        "atlas, then exact solver: never leaves a won position it had time to solve; "
        "add swindle to play lost ones for mistakes"
    )
    example = "perfect(time=150ms)"
    argument = ""
    budgets = ("nodes", "time")
    default = Budget(time=150_000)

    @cached_property
    def memory(self) -> Any:
        """The solver tables that are kept from move to move."""
        from knightfall.solver.engine import KeptEngines

        return KeptEngines()

    def with_move_time(self, limit: int, threshold: int) -> Self:
        """See `Agent`."""
        return replace(self, budget=Budget(time=limit - threshold))

    def prepare(self, board: Board | None = None) -> Self:
        """See `Agent`."""
        from knightfall.solver import perfect

        perfect.warm_up(board or Board.of(7, 7), self.budget, self.memory)
        return self

    def analyse_with(self, position: Position) -> Report:
        """See `Agent`."""
        from knightfall.solver.perfect import choose

        return choose(position, self.budget, self.seed, self.memory)


@dataclass(frozen=True)
class PythonAgent(Agent):
    """A user's function or class, called for moves in a process of its own.

    A function gets a `Position` and returns the name of the cell to move to.  Of a class, one
    instance is made for each game, without arguments; its method ``choose(position)`` does the
    same, and an instance without such a method is called instead.  If there is a method
    ``new_game()``, it is called once before the first move of the game.
    """

    kind = "python"
    summary = "a function or class of your own that gets a Position and names the cell to move to"
    example = "python(mine.py:choose, time=1s)"
    argument = "a function"
    budgets = ("time",)
    default = Budget(time=1_000_000)
    in_python = True

    @classmethod
    def read_argument(cls, text: str) -> UserFunction:
        """See `Agent`."""
        return parse_chooser(text)

    def with_move_time(self, limit: int, threshold: int) -> Self:
        """See `Agent`; the function itself must stop in time."""
        return replace(self, budget=Budget(time=limit))

    def sources(self) -> Iterable[str]:
        """See `Agent`; loads the agent in a process of its own to find out."""
        with self._host_for_once() as host:
            return list(host.files())

    def check(self) -> None:
        """See `Agent`; loads the agent, and begins and ends a game."""
        with self._host_for_once() as host:
            host.check_loads()

    @contextmanager
    def _host_for_once(self) -> Iterator[RemotePlayer]:
        """Yield the host, then close it; turn an `AgentFailure` into a `KnightfallError`."""
        try:
            yield self.host
        except AgentFailure as failure:
            raise KnightfallError(str(failure)) from None
        finally:
            self.host.close()

    def prepare(self, board: Board | None = None) -> Self:
        """See `Agent`."""
        self.host.prepare(board or Board.of(7, 7))
        return self

    def analyse_with(self, position: Position) -> Report:
        """See `Agent`."""
        report: Report = self.host.analyse(position)
        return report

    def warm_up(self, board: Board | None = None) -> None:
        """See `Agent`; loads the file, if it is not loaded yet."""
        load_player(self.heuristic)

    def new_game(self, seed: int, side: Side) -> Any:
        """See `Agent`; makes a new instance of a class."""
        super().new_game(seed, side)
        return GamePlayer(self.heuristic)

    def loaded_files(self) -> list[str]:
        """See `Agent`."""
        return list(super().sources())


# -- a user's function or class in its own process ------------------------------------------------


def parse_chooser(text: str) -> UserFunction:
    """Parse ``file.py:name``; whether the file exists is checked later."""
    function = parse_function(text)
    if function is None:
        raise KnightfallError(
            f"{text!r} does not name a function or class in a file, as mine.py:choose does"
        )
    return function


def load_player(text: str) -> Any:
    """Return the function or class that ``file.py:name`` names.

    Raise a `KnightfallError` if it cannot be called for moves.
    """
    parsed = parse_chooser(text)
    found = parsed.load("agent")
    if callable(getattr(found, "choose", None)):
        return found
    if isinstance(found, type):
        if not any("__call__" in vars(base) for base in found.__mro__):
            raise KnightfallError(
                f"agent {text}: class {parsed.name!r} has no method choose(position)"
            )
    elif not callable(found):
        raise KnightfallError(f"agent {text}: {parsed.name!r} is neither a function nor a class")
    return found


class GamePlayer:
    """A user's agent in one game; anything but a legal move raises an `AgentFailure`."""

    def __init__(self, text: str) -> None:
        """Load the file if necessary, instantiate the agent if it is a class, begin the game."""
        self._text = text
        self._file = str(parse_chooser(text).file("agent"))
        found = load_player(text)
        player = self._run(found) if isinstance(found, type) else found
        self._choose: Callable[[Position], Any] = getattr(player, "choose", player)
        begin = getattr(player, "new_game", None)
        if callable(begin):
            self._run(begin)

    def analyse(self, position: Position) -> Report:
        """Return the agent's move; `RemotePlayer` enforces the time limit, not this method."""
        start = time.perf_counter()
        answer = self._run(self._choose, position)
        seconds = time.perf_counter() - start
        if answer is None:
            raise AgentFailure("forfeit", f"{self._text} returned no move")
        if not isinstance(answer, str) or answer not in position.legal_moves:
            detail = f"{self._text} returned {answer!r:.60}, which is not a legal move"
            raise AgentFailure("illegal", detail)
        return Report(answer, 0.0, False, None, depth=0, nodes=0, seconds=seconds, pv=(answer,))

    def _run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BaseException as error:  # also sys.exit()
            raise AgentFailure("crash", describe(self._file, error, self._text)) from None


# -- all kinds by name ---------------------------------------------------------------------------


CORE_KINDS: dict[str, type[Agent]] = {
    kind.kind: kind
    for kind in (
        RandomAgent,
        GreedyAgent,
        MinimaxAgent,
        AlphaBetaAgent,
        DeepeningAgent,
        PerfectAgent,
        PythonAgent,
    )
}


class AgentKinds(Mapping[str, type[Agent]]):
    """The classes of agents by kind; extensions are loaded only for kinds not in the core."""

    def __getitem__(self, kind: str) -> type[Agent]:
        if kind in CORE_KINDS:
            return CORE_KINDS[kind]
        found: type[Agent] = load_added("agents", kind)
        return found

    def __contains__(self, kind: object) -> bool:
        return kind in CORE_KINDS or (kind in added("agents") and "(" not in str(kind))

    def __iter__(self) -> Iterator[str]:
        yield from CORE_KINDS
        yield from (kind for kind in added("agents") if "(" not in kind)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def with_arguments(self, kind: str, arguments: list[str]) -> type[Agent]:
        """Return the class of a kind, or of the variant that one of the arguments names."""
        usual = self[kind]
        rest = arguments[1:] if usual.argument else arguments
        if any("=" not in argument and argument not in usual.words for argument in rest):
            for word in variant_words(kind):
                if word in rest:
                    found: type[Agent] = load_added("agents", f"{kind}({word})")
                    return found
        return usual


def variant_words(kind: str) -> tuple[str, ...]:
    """Return the words that select variants of a kind, as ``swindle`` in ``perfect(swindle)``."""
    variants = (key.partition("(") for key in added("agents") if "(" in key)
    return tuple(word.rstrip(")") for of, _, word in variants if of == kind)


AGENT_KINDS = AgentKinds()
