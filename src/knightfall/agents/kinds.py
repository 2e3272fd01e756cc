"""The core's kinds of agents, and the registry of all kinds, including those of extensions."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from knightfall.agents.base import Agent, CompiledSearch
from knightfall.board import Board
from knightfall.errors import AgentFailure, KnightfallError
from knightfall.extensions import added, load_added
from knightfall.isolation.limits import seed_random
from knightfall.position import Position, Side
from knightfall.search.budget import KINDS, Budget, Report
from knightfall.user_files import UserFunction, describe, parse_function, without_digits

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
        from knightfall.search.run_search import warm_up

        search, budget = self.search
        warm_up(board or Board.of(7, 7), search, self.evaluator, budget)
        return self

    def analyse_with(self, position: Position) -> Report:
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
        yield from ["plain"] if self.plain else []

    def with_options(self, given: Mapping[str, str]) -> Self:
        return replace(self, plain=self.plain or "plain" in given)

    @property
    def search(self) -> CompiledSearch:
        """The search with its budget."""
        from knightfall.search.run_search import SEARCHES

        plain = CompiledSearch(SEARCHES["plain_deepening"], self.budget)
        return plain if self.plain else super().search

    def with_search_budget(self, budget: Budget) -> Self:
        return replace(self, budget=budget)

    def with_move_time(self, limit: int, threshold: int) -> Self:
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
        return replace(self, budget=Budget(time=limit - threshold))

    def prepare(self, board: Board | None = None) -> Self:
        from knightfall.solver import perfect

        perfect.warm_up(board or Board.of(7, 7), self.budget, self.memory)
        return self

    def analyse_with(self, position: Position) -> Report:
        from knightfall.solver.perfect import choose

        return choose(position, self.budget, self.seed, self.memory)


@dataclass(frozen=True)
class ForeignAgent(Agent):
    """An agent whose moves are chosen by foreign code in a process of its own."""

    budgets: ClassVar[tuple[str, ...]] = ("time",)
    default = Budget(time=1_000_000)
    in_python = True

    def with_move_time(self, limit: int, threshold: int) -> Self:
        """See `Agent`; the foreign code itself must stop in time."""
        return replace(self, budget=Budget(time=limit))

    def check(self) -> None:
        """See `Agent`; loads the agent, and begins and ends a game."""
        with self._host_for_once() as host:
            host.check_loads()

    @contextmanager
    def _host_for_once(self) -> Iterator[RemotePlayer | InProcessPlayer]:
        """Yield the host, then close it; turn an `AgentFailure` into a `KnightfallError`."""
        try:
            yield self.host
        except AgentFailure as failure:
            raise KnightfallError(str(failure)) from None
        finally:
            self.host.close()

    def prepare(self, board: Board | None = None) -> Self:
        self.host.prepare(board or Board.of(7, 7))
        return self

    def analyse_with(self, position: Position) -> Report:
        report: Report = self.host.analyse(position)
        return report


@dataclass(frozen=True)
class PythonAgent(ForeignAgent):
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
    words = ("in_process",)

    @classmethod
    def read_argument(cls, text: str) -> UserFunction:
        return parse_chooser(text)

    def with_options(self, given: Mapping[str, str]) -> Self:
        """See `Agent`; a function of this process cannot be called in another one."""
        if "in_process" not in given and not self.is_process_local:
            return self
        direct = InProcessAgent(self.heuristic, self.budget, self.seed, label=self.label)
        return cast(Self, direct)

    def sources(self) -> Iterable[str]:
        """See `Agent`; loads the agent in a process of its own to find out."""
        with self._host_for_once() as host:
            return list(host.files())

    def warm_up(self, board: Board | None = None) -> None:
        """See `Agent`; loads the file, if it is not loaded yet."""
        load_player(self.heuristic)

    def new_game(self, seed: int, side: Side) -> Any:
        """See `Agent`; makes a new instance of a class."""
        super().new_game(seed, side)
        return GamePlayer(self.heuristic)

    def loaded_files(self) -> list[str]:
        return list(super().sources())


@dataclass(frozen=True)
class InProcessAgent(PythonAgent):
    """A user's function or class that is called by the process that plays, and may harm it.

    Globals of its module, and a function's own state, last from game to game.  Random numbers are
    seeded for each game, as in a process of its own.
    """

    in_python = False
    isolated = False

    def options(self) -> Iterator[str]:
        yield from [] if self.is_process_local else self.words

    @cached_property
    def host(self) -> InProcessPlayer:  # type: ignore[override]
        """The player of one game."""
        return InProcessPlayer(self)


# -- a user's function or class -------------------------------------------------------------------


def parse_chooser(text: str) -> UserFunction:
    """Parse ``file.py:name``; whether the file exists is checked later."""
    function = parse_function(text)
    if function is None:
        raise KnightfallError(
            f"{text!r} does not name a function or class in a file, as mine.py:choose does"
        )
    return function


class GameRandom:
    """A context in which the global random numbers are those of one side of a game.

    Outside of it, Python's and NumPy's generators go on as if it had not been entered.
    """

    def __init__(self, seed: int, side: Side) -> None:
        numpy: Any = import_module("numpy.random")
        self._numpy, self._generator = numpy, numpy.MT19937()
        self._state: tuple[Any, ...] = ()
        self._seed, self._side = seed, side

    def __enter__(self) -> None:
        if _random.outside is None:
            _random.outside = random.getstate(), self._numpy.get_bit_generator()
        if _random.current is self:
            return
        _leave(_random.current)
        _random.current = self
        self._numpy.set_bit_generator(self._generator)
        if self._state:
            random.setstate(self._state)
        else:
            seed_random(self._seed, self._side)

    def __exit__(self, *raised: object) -> None:
        if not _random.kept:
            _restore()


class _Random(threading.local):
    """The use of the global random numbers by a thread."""

    kept = False
    """Whether `random_kept` restores them, and not each `GameRandom`."""
    outside: tuple[tuple[Any, ...], Any] | None = None
    """The numbers to restore; None while no game has changed them."""
    current: GameRandom | None = None
    """The side of a game whose numbers they are now."""


_random = _Random()


@contextmanager
def random_kept() -> Iterator[None]:
    """Restore the global random numbers at the end of the block, and not after each move in it.

    Reading Python's generator and setting it takes as long as a move of a fast agent.
    """
    _random.kept = True
    try:
        yield
    finally:
        _random.kept = False
        _restore()


def _leave(side: GameRandom | None) -> None:
    """Save Python's generator for the next move of a side."""
    if side is not None:
        side._state = random.getstate()


def _restore() -> None:
    """Let both generators go on as before the moves of this thread."""
    if _random.outside is not None:
        _leave(_random.current)
        (state, generator), _random.outside, _random.current = _random.outside, None, None
        random.setstate(state)
        import_module("numpy.random").set_bit_generator(generator)


class InProcessPlayer:
    """A user's agent in one game, which begins with the first position and is played here."""

    def __init__(self, agent: InProcessAgent) -> None:
        self._agent = agent
        self._game: GamePlayer | None = None
        self._random: GameRandom | None = None

    def prepare(self, board: Board | None = None) -> None:
        """Load the file, if it is not loaded yet."""
        load_player(self._agent.heuristic)

    def check_loads(self) -> None:
        """Load the agent and begin a game.  Raise an `AgentFailure` if that fails."""
        with GameRandom(self._agent.seed, "w"):
            GamePlayer(self._agent.heuristic)

    def files(self) -> list[str]:
        """Return the files that determine the agent's moves."""
        return self._agent.loaded_files()

    def close(self) -> None:
        """Do nothing: there is no process to end."""

    def analyse(self, position: Position) -> Report:
        """Return the agent's move; raise an `AgentFailure` if it took longer than its limit."""
        from knightfall.agents.remote_player import check_time  # avoids a circular import

        agent = self._agent
        self._random = self._random or GameRandom(agent.seed, position.to_move)
        with self._random:
            self._game = self._game or GamePlayer(agent.heuristic)
            report = self._game.analyse(position)
        return check_time(report, agent.budget.seconds, without_digits(agent.heuristic))


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
        self._text = without_digits(text)
        self._file = str(parse_chooser(text).file("agent"))
        self._choose = self._chooser(text)

    def _chooser(self, text: str) -> Callable[[Position], Any]:
        """Return what is called for each move."""
        found = load_player(text)
        player = self._run(found) if isinstance(found, type) else found
        begin = getattr(player, "new_game", None)
        if callable(begin):
            self._run(begin)
        choose: Callable[[Position], Any] = getattr(player, "choose", player)
        return choose

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
