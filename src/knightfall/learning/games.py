"""Games to take positions from: a random opening, perhaps some random moves, then two agents."""

from __future__ import annotations

import random
from dataclasses import dataclass

from knightfall.arena.game.compiled import Searcher, play_compiled, searcher
from knightfall.board import Board
from knightfall.errors import KnightfallError
from knightfall.kernel.geometry import bitset
from knightfall.learning.agents import draw
from knightfall.position import Position, Side

RANDOM_PLIES = (0, 0, 0, 1, 2, 3, 4, 6, 8, 10, 14)
"""How many random moves may come first, each as often as it stands here."""

Words = tuple[int, int, int]
"""A position for the mover: the open cells as bits, the mover's cell, the waiter's cell."""


@dataclass(frozen=True, slots=True)
class Game:
    """Every position of a game, the last one being that of the loser, who cannot move.

    `opening` are the cells of mover and waiter at first, `drawn` counts the random moves that were
    made, and `agents` made the others; the first of them was to move in the opening.
    """

    board: Board
    opening: tuple[int, int]
    drawn: int
    agents: tuple[str, str]
    positions: tuple[Words, ...]

    def result(self, ply: int) -> int:
        """1 if whoever was to move there won the game, else 0."""
        return (len(self.positions) - 1 - ply) % 2


def draw_game(board: Board, rng: random.Random) -> Game:
    """The next game; which one depends on the generator alone."""
    while True:
        mover, waiter = rng.sample(range(board.cells), 2)
        everywhere = (1 << board.cells) - 1
        line: list[Words] = [(everywhere & ~(1 << mover | 1 << waiter), mover, waiter)]
        drawn = rng.choice(RANDOM_PLIES)
        while len(line) <= drawn and (ways := _ways(board, line[-1])):
            line.append(after(line[-1], rng.choice(ways)))
        agents, seed = (draw(rng), draw(rng)), rng.randrange(1, 2**62)
        # A game that random moves have ended, or nearly, tells little of how games go.
        if len(line) == drawn + 1 and _ways(board, line[-1]):
            break
    movers = agents if drawn % 2 == 0 else agents[::-1]
    open, here, there = line[-1]
    start = Position(board, frozenset(cells_of(open)), here, there, "w")
    seats: dict[Side, Searcher] = {"w": _ready(movers[0]), "b": _ready(movers[1])}
    for cell in play_compiled(seats, start.fen, seed).cells:
        line.append(after(line[-1], cell))
    return Game(board, (mover, waiter), drawn, agents, tuple(line))


def after(position: Words, cell: int) -> Words:
    """The position after the mover went to that cell, for the other one."""
    open, _, waiter = position
    return open & ~(1 << cell), waiter, cell


def cells_of(open: int) -> list[int]:
    """The cells of a set, in board order."""
    return [cell for cell in range(open.bit_length()) if open >> cell & 1]


def _ways(board: Board, position: Words) -> list[int]:
    open, mover, _ = position
    return cells_of(open & bitset(board.knight[mover]))


def _ready(agent: str) -> Searcher:
    found = searcher(agent)
    if found is None:
        raise KnightfallError(f"{agent} takes more than compiled code to play")
    return found
