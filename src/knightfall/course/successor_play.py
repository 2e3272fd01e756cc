"""The successor's own way to play a game, for scripts that were written around it.

`knightfall course run` plays otherwise (`successor_moves`), to the same rules.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from copy import deepcopy
from enum import Enum
from multiprocessing import Pipe, Process
from queue import Empty
from typing import Any, NamedTuple

from knightfall.course.successor import Isolation, StopSearch, TimedQueue

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
