"""The players that the successor's `sample_players` offers: `get_action(state)` fills a queue."""

from __future__ import annotations

import logging
import pickle
import random
from math import inf
from typing import Any

from knightfall.course.successor import Isolation

logger = logging.getLogger(__name__)


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
