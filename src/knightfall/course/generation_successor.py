"""The course's successor: its board, its players, and its own way to play, name by name.

The board has 11 columns and 9 rows, and one integer holds all of them.

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

from knightfall.course.generations import BoardSource, Evidence, Generation, Strength

_WIDTH = 11
_HEIGHT = 9
_ROW = _WIDTH + 2
_SIZE = _ROW * _HEIGHT - 2
"""The bits of a board: 115."""

_BLANK_BOARD = sum(1 << cell for cell in range(_SIZE) if cell % _ROW < _WIDTH)

TIME_LIMIT_MILLIS = 150.0

Locations = tuple[int | None, int | None]


class StopSearch(Exception):
    """An agent has put an action after its time was up."""


class Action(IntEnum):
    """A knight's move, as what it adds to a cell; in the order in which moves are tried."""

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
    """The moves from a cell: each with where it leads, and the bit of it.

    Beside the board, too: there no bit is set.
    """
    return tuple(
        (action, cell + action, 1 << (cell + action)) for action in Action if cell + action >= 0
    )


class _Fields(NamedTuple):
    board: int
    ply_count: int
    locs: Locations


class Isolation(_Fields):
    """A position.  Players are 0 and 1; a player that is not placed is nowhere: None.

    It is a tuple; who likes can hang attributes on it.
    """

    def __new__(
        cls, board: int = _BLANK_BOARD, ply_count: int = 0, locs: Locations = (None, None)
    ) -> Isolation:
        """A position, the empty board by default."""
        return tuple.__new__(cls, (board, ply_count, locs))

    def player(self) -> int:
        """Whose turn it is."""
        return self.ply_count % 2

    def actions(self) -> list[Any]:
        """What the player to move can do: an open cell to be placed on, then an `Action`."""
        cell = self.locs[self.player()]
        if cell is None:
            return self.liberties(None)
        board = self.board
        return [action for action, _, bit in _steps(cell) if board & bit]

    def liberties(self, loc: int | None) -> list[int]:
        """The open cells a knight's move from a cell; every open cell if it is None."""
        board = self.board
        if loc is None:
            return [cell for cell in range(_SIZE) if board >> cell & 1]
        return [cell for _, cell, bit in _steps(loc) if board & bit]

    def result(self, action: int) -> Isolation:
        """The position after an action: a plain one, also if this is of a derived class.

        AssertionError for what is no `Action` of a knight that is placed; RuntimeError if its cell
        is not open.
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
        """Whether the game is over: either player is stuck, whoever is to move."""
        return not (self._has_liberties(0) and self._has_liberties(1))

    def utility(self, player_id: int) -> float:
        """inf for the winner and −inf for the loser, 0 while the game goes on.

        The player to move loses if it is stuck; else the other one is.
        """
        if not self.terminal_test():
            return 0
        to_move = self.player()
        won = self._has_liberties(to_move) == (player_id == to_move)
        return float("inf") if won else float("-inf")

    def _has_liberties(self, player_id: int) -> bool:
        # The course asked any() of the cells' numbers: who can only go to cell 0 is stuck.
        return any(self.liberties(self.locs[player_id]))


_has_liberties = Isolation._has_liberties


class DebugState(Isolation):
    """A position that prints as a picture."""

    player_symbols: ClassVar[list[str]] = ["1", "2"]

    @staticmethod
    def from_state(gamestate: Isolation) -> DebugState:
        """The same position, printable."""
        return DebugState(*gamestate)

    @property
    def bitboard_string(self) -> str:
        """The board in binary digits, the north-western cell first."""
        return f"{self.board:b}"

    @classmethod
    def ind2xy(cls, ind: int) -> tuple[int, int]:
        """The column of a cell, counted from the east, and its row, counted from the south."""
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
                # The course wrote lines from the east and turned them around.
                return str(self.player_symbols[player])[::-1]
        return " " if self.board >> cell & 1 else "X"


class TimedQueue:
    """What an agent puts its actions into, until its time is up, each with its `context`.

    The two ends are those of a pipe: (context, action) goes in, and what nobody has taken out by
    then makes room for it, so that the last one counts.  The time begins with `start_timer`.
    """

    def __init__(self, receiver: Any, sender: Any, time_limit: float = TIME_LIMIT_MILLIS) -> None:
        self.agent: Any = None
        self._out, self._in = receiver, sender
        self._seconds = time_limit / 1000
        # By this name a student finds it who looks how much time is left.
        self.__stop_time: float | None = None

    def start_timer(self) -> None:
        """From now on."""
        self.__stop_time = self._seconds + perf_counter()

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        """Answer with an action, until a better one is put; raises StopSearch when it is late."""
        late = self.__stop_time is not None and self.__stop_time < perf_counter()
        if late:
            raise StopSearch
        while self.full():
            self.get()
        self._in.send((getattr(self.agent, "context", None), item))

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """What was put last, with its context."""
        return self._out.recv()

    def full(self) -> bool:
        """Whether an action was put."""
        return bool(self._out.poll())

    def qsize(self) -> int:
        """1 after an action was put, 0 before."""
        return int(self.full())

    def empty(self) -> int:
        """-1 or -2, which are both true: the original's mistake."""
        return ~self.qsize()

    # Nobody waits for anything here.
    put_nowait = put
    get_nowait = get


# -- sample players ----------------------------------------------------------------------------


class BasePlayer:
    """An agent of the successor.

    Whoever plays with it sets `queue` before each move and keeps nothing of it but `context`.
    """

    def __init__(self, player_id: int) -> None:
        self.player_id = player_id
        self.timer: Any = None
        self.queue: Any = None
        self.context: Any = None
        self.data: Any = None

    def get_action(self, state: Isolation) -> None:
        """Put actions into `self.queue`, as many as you like; the last one in time counts."""
        raise NotImplementedError


class DataPlayer(BasePlayer):
    """An agent whose `data` is what `data.pickle` in the working folder holds, None without."""

    def __init__(self, player_id: int) -> None:
        super().__init__(player_id)
        try:
            with open("data.pickle", "rb") as file:
                self.data = pickle.load(file)
        except (OSError, TypeError) as problem:
            logger.info("no data: %s", problem)


class RandomPlayer(BasePlayer):
    """Any legal action."""

    def get_action(self, state: Isolation) -> None:
        """Put one."""
        self.queue.put(random.choice(state.actions()))


class GreedyPlayer(BasePlayer):
    """The action after which it has most liberties."""

    def get_action(self, state: Isolation) -> None:
        """Put the first of the best."""
        self.queue.put(max(state.actions(), key=lambda action: self.score(state.result(action))))

    def score(self, state: Isolation) -> float:
        """Own liberties."""
        return len(state.liberties(state.locs[self.player_id]))


class MinimaxPlayer(BasePlayer):
    """Minimax to a depth of three plies; placed anywhere."""

    def get_action(self, state: Isolation) -> None:
        """Put the first of the best actions, a random one for the placement."""
        if state.ply_count < 2:
            self.queue.put(random.choice(state.actions()))
        else:
            self.queue.put(self.minimax(state, depth=3))

    def minimax(self, state: Isolation, depth: int) -> Any:
        """The action whose worst outcome, so many plies deep, is best."""
        return max(
            state.actions(), key=lambda action: self._value(state.result(action), depth - 1, False)
        )

    def _value(self, state: Isolation, depth: int, own: bool) -> float:
        # Whose turn it is follows from the depth, also for who asks out of turn.
        if state.terminal_test():
            return state.utility(self.player_id)
        if depth <= 0:
            return self.score(state)
        values = (self._value(state.result(one), depth - 1, not own) for one in state.actions())
        return max(values, default=-inf) if own else min(values, default=inf)

    def score(self, state: Isolation) -> float:
        """Own liberties less the opponent's."""
        own, opponent = state.locs[self.player_id], state.locs[1 - self.player_id]
        return len(state.liberties(own)) - len(state.liberties(opponent))


# -- its own way to play -----------------------------------------------------------------------


logger = logging.getLogger(__name__)

PROCESS_TIMEOUT = 5
"""Seconds after the end of its time when an agent that has not come to an end is ended."""


class Agent(NamedTuple):
    """A player of a match: a class that is made with `player_id`, and how it is called."""

    agent_class: Any
    name: str


class Status(Enum):
    """How a game stands."""

    NORMAL = 0
    EXCEPTION = 1
    TIMEOUT = 2
    INVALID_MOVE = 3
    GAME_OVER = 4


def play(args: Any) -> tuple[Agent, list[Any], Any]:
    """Play (agents, state, milliseconds, match id[, debug]): the winner, the actions, the id.

    All in one argument, so that a pool can map it.
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
    """The last action that a player puts in its time, in a process of its own; Empty if none.

    Its `context` is kept.  To debug it is a copy of the player that is asked, in this process, and
    nothing of that is kept.
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

    def signs(self, found: Evidence) -> Iterator[tuple[Strength, str]]:
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
"""What the course called the file that students fill in."""

GENERATION = SuccessorGeneration()
