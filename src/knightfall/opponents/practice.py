"""Practical chances from Python: a position and what may be spent on it, the move to try."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from knightfall.board import Board
from knightfall.kernel.interrupt import interruptibly, limit_to_nothing, stop_in, stopwatch
from knightfall.kernel.rules import words
from knightfall.opponents.beliefs import Beliefs
from knightfall.opponents.chances import shipped
from knightfall.opponents.models import seats, shuffle
from knightfall.opponents.room import WEIGHING_SHARE, Room, room_here
from knightfall.opponents.trials import practise
from knightfall.position import Position
from knightfall.solver.engine import Engine

SOON, NODES_SOON = 0.3, 5_000_000
"""What is done within a third of a second need not be interruptible."""

TURNS = 128
"""Trials after which all models were met, each as often as it is due."""

SAMPLES = 4
"""How often a player is asked about a position whose equal moves cannot be told."""


@dataclass(frozen=True)
class Chance:
    """A move, how often it wins against the models (0 to 1), and what it took to know."""

    move: str
    rate: float
    trials: int
    nodes: int


def best_chance(
    position: Position,
    engine: Engine,
    nodes: int,
    deadline: float | None,
    seed: int,
    beliefs: Beliefs,
    worth: float,
) -> tuple[Chance | None, Beliefs]:
    """The move that wins most often; both knights must stand, and there must be moves.

    At most so many nodes, searches and solver together, and until the deadline
    (`time.perf_counter`); `worth` is a guess of how many nodes that comes to.  None if not even one
    trial came to its end.  With it comes what is believed of the opponent now.
    """
    room = room_here()
    boards, practices = room.board(position.board), room.practices
    limit = min(nodes, int(2 * worth * WEIGHING_SHARE))
    room.begin(seed, limit=limit)
    boards["clock"] = 0
    alarms = []
    with engine.lent() as (solver_boards, solver_states):
        left = None
        if deadline is not None:
            left = deadline - time.perf_counter()
            if left <= 0:
                return None, beliefs
            for records in (practices, boards, solver_boards):
                stop_in(records, left)
        where = boards, room.states, solver_boards, solver_states
        room.recall(beliefs.memory, position)
        beliefs = room.weigh(beliefs, where, int(worth * WEIGHING_SHARE))
        places = seats(beliefs.shares, TURNS)
        turns: Any = np.array([places[seat] for seat in shuffle(seed, TURNS)])
        practices["limit"] = nodes
        practices["samples"] = SAMPLES
        if deadline is not None:
            # The searches reset their limit, but nobody resets this one.
            alarms = [stopwatch().stop_at(deadline, practices)]

        def run() -> None:
            practise(
                *(*where, practices, room.tree),
                *(room.replies, room.players, turns, *words(position)),
            )

        try:
            if (left is not None and left <= SOON) or nodes <= NODES_SOON:
                run()
            else:
                interruptibly(run, limit_to_nothing(practices), left)
        finally:
            for alarm in alarms:
                alarm.cancel()
    chance = _read(position, room)
    memory = None
    if chance is not None:
        memory = room.remember(chance.move, position.play(chance.move))
    return chance, replace(beliefs, memory=memory)


def _read(position: Position, room: Room) -> Chance | None:
    root, practice = room.tree[0], room.practices[0]
    number = int(root["number"])
    tries, total = root["tries"][:number], root["total"][:number]
    if not tries.any():
        return None
    rates = total / np.maximum(tries, 1)
    best = max(range(number), key=lambda move: (tries[move], rates[move]))
    return Chance(
        move=position.board.name(int(root["cells"][best])),
        rate=float(rates[best]),
        trials=int(tries.sum()),
        nodes=int(practice["spent"]),
    )


def spent_here() -> int:
    """The nodes that this thread's last practice took, also where nothing came of it."""
    return int(room_here().practices["spent"][0])


def warm_up(board: Board) -> None:
    """Make ready what the first practice on a board would."""
    shipped()
    room_here().board(board)
