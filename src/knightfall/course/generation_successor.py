"""The later course that replaced the first: its 11×9 board, sample players and game loop.

The board has 11 columns and 9 rows, stored as one integer.

A set bit is an open cell.  Rows lie 13 bits apart: two bits that are never set keep a knight from
jumping over the edge into the next row.  North is up and the columns count from the east, so that
the first cell is the south-eastern corner:

      114 113 … 105 104          NNE +25    NNW +27
      101 100 …  92  91          ENE +11    WNW +15
        …                        ESE −15    WSW −11
       10   9 …   1   0          SSE −27    SSW −25
"""

from __future__ import annotations

import logging
import pickle
import random
import time
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from enum import Enum, IntEnum
from functools import cache
from math import inf
from multiprocessing import Pipe, Process
from pathlib import Path
from queue import Empty
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

from knightfall.course.generations import BoardSource, Generation, GenerationEvidence, Strength

_WIDTH = 11
_HEIGHT = 9
_ROW = _WIDTH + 2
_SIZE = _ROW * _HEIGHT - 2
"""The bits of a board: 115."""

_BLANK_BOARD = sum(1 << cell for cell in range(_SIZE) if cell % _ROW < _WIDTH)

TIME_LIMIT_MILLIS = 150.0

Locations = tuple[int | None, int | None]


class StopSearch(Exception):
    """Raised when an agent puts an action after its time is over."""


class Action(IntEnum):
    """A knight's move; its value is added to the cell's index. Moves are tried in this order."""

    NNE = 25
    ENE = 11
    ESE = -15
    SSE = -27
    SSW = -25
    WSW = -11
    WNW = 15
    NNW = 27


_ACTIONSET = set(Action)


@cache
def _steps(cell: int) -> tuple[tuple[Action, int, int], ...]:
    """Return the knight moves from a cell as (action, target cell, target bit).

    Targets outside the board are included; their bits are never set.
    """
    return tuple(
        (action, cell + action, 1 << (cell + action)) for action in Action if cell + action >= 0
    )


class _Fields(NamedTuple):
    board: int
    ply_count: int
    locs: Locations


class Isolation(_Fields):
    """A position.  Players are 0 and 1; the location of a player is None until it is placed.

    It is a tuple, but agents may set attributes on it.
    """

    def __new__(
        cls, board: int = _BLANK_BOARD, ply_count: int = 0, locs: Locations = (None, None)
    ) -> Isolation:
        """Create a position, by default the empty board."""
        return tuple.__new__(cls, (board, ply_count, locs))

    def player(self) -> int:
        """Return the player to move, 0 or 1."""
        return self.ply_count % 2

    def actions(self) -> list[Any]:
        """Return the legal actions: open cells until the player is placed, then `Action`s."""
        cell = self.locs[self.player()]
        if cell is None:
            return self.liberties(None)
        board = self.board
        return [action for action, _, bit in _steps(cell) if board & bit]

    def liberties(self, loc: int | None) -> list[int]:
        """Return the open cells a knight's move from `loc`; every open cell if `loc` is None."""
        board = self.board
        if loc is None:
            return [cell for cell in range(_SIZE) if board >> cell & 1]
        return [cell for _, cell, bit in _steps(loc) if board & bit]

    def result(self, action: int) -> Isolation:
        """Return the position after an action: a plain `Isolation`, even for a subclass.

        Raise AssertionError if a placed knight's action is not an `Action`, and RuntimeError if the
        target cell is not open.
        """
        board, ply, (first, second) = self
        player = self.player()
        start = second if player else first
        if start is None:
            cell = int(action)
        elif action in _ACTIONSET:
            cell = int(action) + start
        else:
            raise AssertionError(f"{action!r} is none of the actions {list(Action)}")
        bit = 1 << cell
        if not board & bit:
            raise RuntimeError(f"cell {cell} is not open")
        locs = (first, cell) if player else (cell, second)
        return tuple.__new__(Isolation, (board ^ bit, ply + 1, locs))

    def terminal_test(self) -> bool:
        """Return whether the game is over: at least one player has no liberties."""
        return not (self._has_liberties(0) and self._has_liberties(1))

    def utility(self, player_id: int) -> float:
        """Return inf for the winner, −inf for the loser, 0 while the game goes on.

        The player to move loses if it is stuck; otherwise the other player is stuck and loses.
        """
        if not self.terminal_test():
            return 0
        to_move = self.player()
        won = self._has_liberties(to_move) == (player_id == to_move)
        return float("inf") if won else float("-inf")

    def _has_liberties(self, player_id: int) -> bool:
        # The original uses any() on cell numbers: a player whose only liberty is cell 0 is stuck.
        return any(self.liberties(self.locs[player_id]))


_has_liberties = Isolation._has_liberties


class DebugState(Isolation):
    """A position that prints as a picture."""

    player_symbols: ClassVar[list[str]] = ["1", "2"]

    @staticmethod
    def from_state(gamestate: Isolation) -> DebugState:
        """Return the same position as a `DebugState`."""
        return DebugState(*gamestate)

    @property
    def bitboard_string(self) -> str:
        """Return the board in binary digits, the north-western cell first."""
        return f"{self.board:b}"

    @classmethod
    def ind2xy(cls, ind: int) -> tuple[int, int]:
        """Return a cell's column, counted from the east, and its row, counted from the south."""
        return ind % _ROW, ind // _ROW

    def __str__(self) -> str:
        rule = "+ - " * _WIDTH + "+"
        lines = ["", rule]
        for row in reversed(range(_HEIGHT)):
            cells = (row * _ROW + column for column in reversed(range(_WIDTH)))
            lines += ("".join(f"| {self._symbol(cell)} " for cell in cells) + "|", rule)
        return "\n".join([*lines, ""])

    def _symbol(self, cell: int) -> str:
        for player in (1, 0):
            if cell == self.locs[player]:
                # The original builds each line from the east and reverses it, symbols included.
                return str(self.player_symbols[player])[::-1]
        return " " if self.board >> cell & 1 else "X"


class TimedQueue:
    """The queue into which an agent puts its actions until its time is over.

    It holds one item, (context, action): a new item replaces an unread one, so the last one
    counts.  `receiver` and `sender` are the ends of a pipe.  The time starts with `start_timer`.
    """

    def __init__(self, receiver: Any, sender: Any, time_limit: float = TIME_LIMIT_MILLIS) -> None:
        self.agent: Any = None
        self._out, self._in = receiver, sender
        self._seconds = time_limit / 1000
        # Students' code reads this private name to find out how much time is left.
        self.__stop_time: float | None = None

    def start_timer(self) -> None:
        """Start the time of the move."""
        self.__stop_time = self._seconds + perf_counter()

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        """Store an action in place of the earlier one; raise StopSearch if the time is over."""
        late = self.__stop_time is not None and self.__stop_time < perf_counter()
        if late:
            raise StopSearch
        while self.full():
            self.get()
        self._in.send((getattr(self.agent, "context", None), item))

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Return the last item put: (context, action)."""
        return self._out.recv()

    def full(self) -> bool:
        """Return whether the queue holds an action."""
        return bool(self._out.poll())

    def qsize(self) -> int:
        """Return 1 if the queue holds an action, else 0."""
        return int(self.full())

    def empty(self) -> int:
        """Return -1 or -2, both of which are true: a bug of the original."""
        return ~self.qsize()

    # `put` and `get` never block.
    put_nowait = put
    get_nowait = get


# -- sample players ----------------------------------------------------------------------------


class BasePlayer:
    """The base class of agents for the successor's game.

    The game loop sets `queue` before each move.  Only `context` survives from move to move.
    """

    def __init__(self, player_id: int) -> None:
        self.player_id = player_id
        self.timer: Any = None
        self.queue: Any = None
        self.context: Any = None
        self.data: Any = None

    def get_action(self, state: Isolation) -> None:
        """Put any number of actions into `self.queue`; the last one in time counts."""
        raise NotImplementedError


class DataPlayer(BasePlayer):
    """An agent whose `data` is unpickled from `data.pickle` in the working folder, else None."""

    def __init__(self, player_id: int) -> None:
        super().__init__(player_id)
        try:
            with open("data.pickle", "rb") as file:
                self.data = pickle.load(file)
        except (OSError, TypeError) as problem:
            logger.info("no data: %s", problem)


class RandomPlayer(BasePlayer):
    """A player that chooses a random legal action."""

    def get_action(self, state: Isolation) -> None:
        """Put a random legal action into the queue."""
        self.queue.put(random.choice(state.actions()))


class GreedyPlayer(BasePlayer):
    """A player that chooses the action with the most own liberties afterwards."""

    def get_action(self, state: Isolation) -> None:
        """Put the action with the highest score into the queue; among equals the first."""
        self.queue.put(max(state.actions(), key=lambda action: self.score(state.result(action))))

    def score(self, state: Isolation) -> float:
        """Return the number of own liberties."""
        return len(state.liberties(state.locs[self.player_id]))


class MinimaxPlayer(BasePlayer):
    """A player that searches three plies with minimax; its placement is random."""

    def get_action(self, state: Isolation) -> None:
        """Put a random cell for the placement, otherwise the first of minimax's best actions."""
        if state.ply_count < 2:
            self.queue.put(random.choice(state.actions()))
        else:
            self.queue.put(self.minimax(state, depth=3))

    def minimax(self, state: Isolation, depth: int) -> Any:
        """Return the action with the highest minimax value, searching `depth` plies."""
        return max(
            state.actions(), key=lambda action: self._value(state.result(action), depth - 1, False)
        )

    def _value(self, state: Isolation, depth: int, own: bool) -> float:
        # The side to move follows from the depth, even if the search starts on the opponent's turn.
        if state.terminal_test():
            return state.utility(self.player_id)
        if depth <= 0:
            return self.score(state)
        values = (self._value(state.result(one), depth - 1, not own) for one in state.actions())
        return max(values, default=-inf) if own else min(values, default=inf)

    def score(self, state: Isolation) -> float:
        """Return the number of own liberties minus the opponent's."""
        own, opponent = state.locs[self.player_id], state.locs[1 - self.player_id]
        return len(state.liberties(own)) - len(state.liberties(opponent))


# -- the game loop -----------------------------------------------------------------------------


logger = logging.getLogger(__name__)

PROCESS_TIMEOUT = 5
"""Seconds after the end of its time at which an agent's process is terminated."""


class Agent(NamedTuple):
    """A participant of a match: a class that is created with `player_id`, and its name."""

    agent_class: Any
    name: str


class Status(Enum):
    """The state of a game, or how it ended."""

    NORMAL = 0
    EXCEPTION = 1
    TIMEOUT = 2
    INVALID_MOVE = 3
    GAME_OVER = 4


def play(args: Any) -> tuple[Agent, list[Any], Any]:
    """Play a game; return the winner, the actions and the match id.

    `args` is (agents, state, milliseconds, match id[, debug]), one argument so that a process pool
    can map it.
    """
    return _play(*args)


def _play(
    agents: Any, game_state: Isolation, time_limit: float, match_id: Any, debug: bool = False
) -> tuple[Agent, list[Any], Any]:
    players = [agent.agent_class(player_id=number) for number, agent in enumerate(agents)]
    history: list[Any] = []
    state, status = game_state, Status.GAME_OVER
    while not state.terminal_test():
        active = state.player()
        try:
            action = fork_get_action(state, players[active], time_limit, debug)
        except Empty:
            status = Status.TIMEOUT
        except Exception:
            logger.exception("%s failed", agents[active].name)
            status = Status.EXCEPTION
        else:
            if action not in state.actions():
                status = Status.INVALID_MOVE
        if status is not Status.GAME_OVER:
            winner = agents[1 - active]
            break
        state = state.result(action)
        history.append(action)
    else:
        winner = agents[0 if state.utility(0) > 0 else 1]
    logger.info("match %s: %s, won by %s after %s", match_id, status, winner.name, history)
    return winner, history, match_id


def fork_get_action(
    game_state: Isolation, active_player: Any, time_limit: float, debug: bool = False
) -> Any:
    """Run a player in a new process; return the last action that it puts into its queue in time.

    Raise `Empty` if there is none.  The player's `context` is updated.  With `debug`, a copy of the
    player is asked in this process, and its context is discarded.
    """
    receiver, sender = Pipe()
    queue = TimedQueue(receiver, sender, time_limit)
    if debug:
        active_player.queue = None
        active_player = deepcopy(active_player)
        _request_action(active_player, queue, game_state)
        time.sleep(time_limit / 1000)
    else:
        process = Process(target=_request_action, args=(active_player, queue, game_state))
        process.start()
        try:
            process.join(timeout=PROCESS_TIMEOUT + time_limit / 1000)
        finally:
            if process.is_alive():
                process.terminate()
    if not receiver.poll():
        raise Empty
    active_player.context, action = queue.get_nowait()
    return action


def _request_action(agent: Any, queue: TimedQueue, game_state: Isolation) -> None:
    agent.queue, queue.agent = queue, agent
    queue.start_timer()
    with suppress(StopSearch):
        agent.get_action(game_state)


# -- the generation ----------------------------------------------------------------------------


class SuccessorGeneration(Generation):
    """See `Generation`."""

    name = "successor"
    board = Isolation
    on_11x9 = True
    sample_players: ClassVar = {
        "BasePlayer": BasePlayer,
        "DataPlayer": DataPlayer,
        "GreedyPlayer": GreedyPlayer,
        "MinimaxPlayer": MinimaxPlayer,
        "RandomPlayer": RandomPlayer,
    }
    classes: ClassVar = {"minimax": "CustomPlayer", "alphabeta": "CustomPlayer"}

    def signs(self, found: GenerationEvidence) -> Iterator[tuple[Strength, str]]:
        """See `Generation`."""
        if found.acts or found.file.name == FILE:
            yield Strength.ANOTHER_GAME, "its players have get_action"

    def board_sign(self, source: BoardSource) -> str:
        """See `Generation`."""
        own = "Isolation" in source.classes and "Board" not in source.classes
        return "has a class Isolation, of 11×9" if own else ""

    def guess(self, file: Path, text: str) -> str:
        """See `Generation`."""
        return f"it is called {FILE}" if file.name == FILE else ""


FILE = "my_custom_player.py"
"""The name of the file that students complete."""

GENERATION = SuccessorGeneration()
