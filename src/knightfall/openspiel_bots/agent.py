"""The agent kind ``openspiel``: bots of OpenSpiel by name, or made by a function in a user's file.

Nothing here imports OpenSpiel before an agent is prepared, so that its string can be parsed and
shown where OpenSpiel is not installed.
"""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from operator import index
from typing import TYPE_CHECKING, Any, Self

from knightfall.agents.base import Agent
from knightfall.agents.kinds import GamePlayer, PythonAgent, parse_chooser
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.openings import seed_of
from knightfall.optional_dependencies import require
from knightfall.position import Position, Side, other
from knightfall.search.budget import Budget, Report, read_whole
from knightfall.user_files import UserFunction, parse_function

if TYPE_CHECKING:
    from knightfall.openspiel import IsolationGame, IsolationState

SIMULATIONS, ROLLOUTS, UCT_C = 1000, 1, 2.0
"""Defaults of `mcts`, the same as in OpenSpiel's example program."""

MOST_SIMULATIONS = 10_000_000

TREE_MEGABYTES = 1000
"""Size of the tree at which `mcts` discards its least visited nodes."""

SEED_BITS = 31
"""OpenSpiel's seeds are C++ integers, and NumPy's are not negative."""


@dataclass(frozen=True)
class OpenSpielAgent(Agent):
    """An agent whose moves one of OpenSpiel's own bots chooses, in this process.

    `mcts` is OpenSpiel's Monte-Carlo tree search in C++ with random rollouts; other names are those
    of OpenSpiel's registry.  A new bot with a seed of its own chooses each move, so that a move
    depends on the position and the agent's seed only.
    """

    kind = "openspiel"
    summary = (
        "a bot of OpenSpiel: mcts, uniform_random, or what a function in your file returns "
        "(needs the extra openspiel)"
    )
    example = "openspiel(mcts, simulations=100)"
    argument = "a bot"
    budgets = ("time",)
    keys = ("simulations", "rollouts", "uct_c")

    simulations: int = SIMULATIONS
    rollouts: int = ROLLOUTS
    uct_c: float = UCT_C

    # -- the agent's string ----------------------------------------------------------------

    def with_arguments(self, text: str, arguments: list[str], *, fillable: bool) -> Agent:
        """See `Agent`; a function in a file makes it a `BotFileAgent`."""
        name = arguments[0] if arguments and "=" not in arguments[0] else ""
        if not name:
            return super().with_arguments(text, arguments, fillable=fillable)
        if parse_function(name):
            from_file = BotFileAgent(budget=BotFileAgent.default)
            return from_file.with_arguments(text, arguments, fillable=True)
        if not re.fullmatch("[a-z][a-z0-9_]*", name, re.ASCII):
            raise KnightfallError(
                f"agent {text!r}: {name!r} is not a bot: accepted are mcts, the name of a bot that "
                "OpenSpiel registers, or a function in a file, as in mine.py:make_bot"
            )
        named = replace(self, heuristic=name)
        return super(OpenSpielAgent, named).with_arguments(text, arguments[1:], fillable=False)

    def with_options(self, given: Mapping[str, str]) -> Self:
        """See `Agent`."""
        if self.heuristic != "mcts" and (given or self.budget):
            raise KnightfallError(
                f"{', '.join([*given, *(['time'] if self.budget else [])])}: only mcts takes "
                f"time, {', '.join(self.keys)}; {self.heuristic} takes seed"
            )
        if self.budget and "simulations" in given:
            raise KnightfallError("mcts takes either simulations or time, not both")
        uct_c = given.get("uct_c", str(self.uct_c))
        if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", uct_c, re.ASCII):
            raise KnightfallError(f"uct_c={uct_c} must be a number from 0 to 999999, such as 1.4")
        return replace(
            self,
            simulations=self._count(given, "simulations", least=2),
            rollouts=self._count(given, "rollouts", least=1),
            uct_c=float(uct_c),
        )

    def _count(self, given: Mapping[str, str], key: str, least: int) -> int:
        text = given.get(key, str(getattr(self, key)))
        return read_whole(f"{key}=", text, least, MOST_SIMULATIONS)

    def options(self) -> Iterator[str]:
        """See `Agent`."""
        if self.heuristic == "mcts":
            if not self.budget:
                yield f"simulations={self.simulations}"
            if self.rollouts != ROLLOUTS:
                yield f"rollouts={self.rollouts}"
            if self.uct_c != UCT_C:
                yield f"uct_c={self.uct_c:g}"

    @property
    def _atoms(self) -> list[Any]:
        """A bot's name is not a heuristic, so there are none."""
        return []

    # -- in a tournament -------------------------------------------------------------------

    def with_move_time(self, limit: int, threshold: int) -> Self:
        """See `Agent`."""
        return replace(self, budget=Budget(time=limit - threshold)) if self.budget else self

    def check(self) -> None:
        """See `Agent`."""
        self.prepare()

    # -- playing ---------------------------------------------------------------------------

    def prepare(self, board: Board | None = None) -> Self:
        """See `Agent`; raise an error if OpenSpiel is not installed or lacks the bot."""
        game = load_game(board or Board.of(7, 7))
        if self.heuristic != "mcts":
            import pyspiel

            known = ["mcts", *pyspiel.bots_that_can_play_game(game)]
            if self.heuristic not in known:
                raise KnightfallError(
                    f"OpenSpiel has no bot {self.heuristic!r} for this game; "
                    f"it has {', '.join(known)}"
                )
        return self

    def analyse_with(self, position: Position) -> Report:
        """See `Agent`."""
        self.prepare(position.board)
        import pyspiel

        game = load_game(position.board)
        state = game.new_initial_state(position.fen)
        if state.is_terminal():
            raise KnightfallError(f"{position.fen!r} is over: there is no legal move")
        seed = seed_of(f"{self.seed} {position.fen}", SEED_BITS)
        start = time.perf_counter()
        try:
            if self.heuristic == "mcts":
                return self._search(game, state, seed, start)
            # The two registered bots for any game take a seed, and actions in order of preference.
            order = ":".join(map(str, range(position.board.cells)))
            settings = {"seed": seed, "actions": order}
            bot = pyspiel.load_bot(self.heuristic, game, state.current_player(), settings)
            move = position.board.name(bot.step(state))
        except pyspiel.SpielError as error:
            reason = " ".join(str(error).split())
            raise KnightfallError(f"{self}: OpenSpiel failed: {reason}") from None
        seconds = time.perf_counter() - start
        return Report(move, 0.0, False, None, depth=0, nodes=0, seconds=seconds, pv=(move,))

    def _search(
        self, game: IsolationGame, state: IsolationState, seed: int, start: float
    ) -> Report:
        """Return the report of a Monte-Carlo tree search: its nodes are simulations.

        The score is the mean outcome of the chosen move, from −1 to 1.
        """
        import pyspiel

        root = pyspiel.MCTSBot(
            game,
            pyspiel.RandomRolloutEvaluator(self.rollouts, seed),
            uct_c=self.uct_c,
            max_simulations=self.simulations,
            max_memory_mb=TREE_MEGABYTES,
            solve=True,
            seed=seed,
            verbose=False,
            max_wall_clock_time=self.budget.seconds or -1.0,
        ).mcts_search(state)
        name = game.board.name
        if not root.children:  # the time did not suffice for two simulations
            move = name(random.Random(seed).choice(state.legal_actions()))
            seconds = time.perf_counter() - start
            return Report(move, 0.0, False, None, depth=0, nodes=0, seconds=seconds, pv=(move,))
        best = root.best_child()
        proven = bool(best.outcome)
        mean = best.total_reward / max(1, best.explore_count)
        score = math.copysign(math.inf, best.outcome[state.current_player()]) if proven else mean
        line, node = [name(best.action)], best
        while node.children:
            node = node.best_child()
            if not node.explore_count:
                break
            line.append(name(node.action))
        nodes, seconds = root.explore_count, time.perf_counter() - start
        return Report(line[0], score, proven, None, len(line), nodes, seconds, tuple(line))


@cache
def load_game(board: Board) -> IsolationGame:
    """Return the game on a board with free placement, as OpenSpiel loads it."""
    require("an openspiel agent", "pyspiel")
    import pyspiel

    import_module("knightfall.openspiel")  # registers the game
    game: IsolationGame = pyspiel.load_game(f"knights_isolation(board={board.text})")
    return game


# -- bots made by a user's function ---------------------------------------------------------


@dataclass(frozen=True)
class BotFileAgent(PythonAgent):
    """An agent whose moves a bot chooses that a user's function returns, in a process of its own.

    The function is called as ``make_bot(game, player, seed)`` once for each game and side.
    """

    kind = "openspiel"
    summary = OpenSpielAgent.summary
    example = "openspiel(mine.py:make_bot)"
    argument = "a function that returns a bot"
    default = Budget()

    def check(self) -> None:
        """See `Agent`."""
        load_game(Board.of(7, 7))
        super().check()

    def prepare(self, board: Board | None = None) -> Self:
        """See `Agent`."""
        load_game(board or Board.of(7, 7))
        return super().prepare(board)

    def with_move_time(self, limit: int, threshold: int) -> Self:
        """See `Agent`; a bot without a time limit keeps its own."""
        return super().with_move_time(limit, threshold) if self.budget else self

    def warm_up(self, board: Board | None = None) -> None:
        """See `Agent`; loads the game and the file."""
        load_game(board or Board.of(7, 7))
        load_factory(self.heuristic)

    def new_game(self, seed: int, side: Side) -> Any:
        """See `Agent`."""
        Agent.new_game(self, seed, side)
        return BotPlayer(self.heuristic, seed, side)


def load_factory(text: str) -> Callable[..., Any]:
    """Return the function or class that ``file.py:name`` names."""
    parsed: UserFunction = parse_chooser(text)
    found: Callable[..., Any] = parsed.load("agent")
    if not callable(found):
        raise KnightfallError(f"agent {text}: {parsed.name!r} is neither a function nor a class")
    return found


class BotPlayer(GamePlayer):
    """A bot in one game, told of its opponent's moves as OpenSpiel's own match loop tells it."""

    def __init__(self, text: str, seed: int, side: Side) -> None:
        """Load the file; the bot is made at its first move, when the board is known."""
        self._seed = seed_of(f"{seed} {side}", SEED_BITS)
        self._bot: Any = None
        self._state: IsolationState
        super().__init__(text)

    def _chooser(self, text: str) -> Callable[[Position], Any]:
        """See `GamePlayer`."""
        self._make = load_factory(text)
        return self._choose_with_bot

    def _choose_with_bot(self, position: Position) -> str:
        """Return the name of the cell that the bot's action leads to."""
        if self._bot is None or not self._follow(position):
            self._begin(position)
        action = index(self._step(self._state))
        if action not in self._state.legal_actions():
            return f"action {action}"  # `analyse` refuses it
        self._state.apply_action(action)
        return position.board.name(action)

    def _begin(self, position: Position) -> None:
        """Make the bot, and start it at a position."""
        import pyspiel

        game = load_game(position.board)
        self._state = game.new_initial_state(position.fen)
        self._bot = self._make(game, self._state.current_player(), self._seed)
        if not callable(getattr(self._bot, "step", None)):
            raise TypeError(f"{self._text} returned {self._bot!r:.60}, which has no step(state)")
        self._step = self._bot.step
        if isinstance(self._bot, pyspiel.Bot):
            # MCTSBot.step of OpenSpiel 2.0.2 releases Python's lock and crashes on Python games.
            self._step = partial(pyspiel.Bot.step, self._bot)
        if hasattr(self._bot, "restart_at"):
            with suppress(pyspiel.SpielError):  # not implemented: the bot is new, and needs none
                self._bot.restart_at(self._state)

    def _follow(self, position: Position) -> bool:
        """Tell the bot the opponent's move that led here; return False if no move did."""
        action = position.knight(other(position.to_move))
        if action not in self._state.legal_actions():
            return False
        before = self._state.clone()
        self._state.apply_action(action)
        if self._state.position != position:
            return False
        if hasattr(self._bot, "inform_action"):
            self._bot.inform_action(before, before.current_player(), action)
        return True
