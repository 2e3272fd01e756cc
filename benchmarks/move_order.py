"""``python -m benchmarks.move_order``: learn the solver's move order from solved positions.

The solver (`solver/winloss.py`) tries the moves of a won position until one wins, so its cost
depends on their order. From random openings this walks down the solver's tree, choosing each move
in proportion to its nodes. At each won position it finds out of every move whether it wins and how
many nodes that takes. The cost of an order is the number of nodes up to the first winning move.
Positions are sampled by their cost, so the mean ratio to the present order estimates the savings
over the whole tree.

The weights are few small whole numbers, so all combinations are tried.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from knightfall.board import Board
from knightfall.display.printable import print_line
from knightfall.kernel.rules import geometry, spread, words
from knightfall.learning.split import SPLITS, class_splits, classes
from knightfall.position import Position
from knightfall.solver.atlas import position_of
from knightfall.solver.engine import SMALLEST_MB, UPPER_SHARE, Engine
from knightfall.solver.reflection import loses_by_reflection
from knightfall.solver.winloss import CONTACT, MEETING, WAYS, trapped

LARGEST_WEIGHT = 8

Weights = tuple[int, int, int]
"""Weights of a way on, of a way in contact and of a meeting place."""


@dataclass(frozen=True)
class Move:
    """A move with the counts by which the solver orders it, whether it wins, and its cost in nodes.

    `ways` on, how many of them are in `contact`, and the `meeting` places, as the solver counts
    them; whether it `wins`, and the `nodes` to find out.
    """

    cell: int
    ways: int
    contact: int
    meeting: int
    wins: bool
    nodes: int


@dataclass(frozen=True)
class Choice:
    """The moves of a won position, except those that lose at once."""

    upper: bool
    moves: tuple[Move, ...]

    def nodes(self, weights: Weights) -> int:
        """Return the nodes searched until the first winning move, if moves are ordered by these
        weights.
        """
        spent = 0
        for move in in_order(self.moves, weights):
            spent += move.nodes
            if move.wins:
                break
        return spent


def in_order(moves: Sequence[Move], weights: Weights) -> list[Move]:
    """Return the moves in the solver's order with these weights."""

    def key(move: Move) -> tuple[int, int]:
        sizes = (move.ways, move.contact, move.meeting)
        return -sum(map(int.__mul__, weights, sizes)), move.cell

    return sorted(moves, key=key)


def present(upper: bool) -> Weights:
    """Return the solver's present weights, for the upper part of the tree or the rest."""
    return (WAYS, CONTACT, MEETING if upper else 0)


def moves_of(position: Position) -> tuple[Move, ...]:
    """Return every move of a position except those that lose at once."""
    board = geometry(position.board)[0]
    open, _, waiter = words(position)
    theirs = open & int(board.knight[waiter])
    second = open & int(spread(board, theirs))
    third = open & int(spread(board, second))
    found = []
    for name in position.legal_moves:
        cell = position.board.cell(name)
        after = open & ~(1 << cell)
        ways = after & int(board.knight[cell])
        if trapped(ways, theirs & after):
            continue
        meeting = after & int(spread(board, ways)) & (second | third)
        wins, nodes = _judged(position.play(name))
        contact = (ways & (theirs | second)).bit_count()
        found.append(Move(cell, ways.bit_count(), contact, meeting.bit_count(), wins, nodes))
    return tuple(found)


def _judged(after: Position) -> tuple[bool, int]:
    """Return whether the player who has just moved wins, and the nodes that the solver needs to
    know.
    """
    if loses_by_reflection(after):
        return True, 1
    engine = Engine(after.board, table_mb=SMALLEST_MB)
    wins = not engine.wins(after)
    return wins, engine.nodes


def walk(position: Position, rng: random.Random) -> Iterator[Choice]:
    """Yield the choices on a random path down the solver's tree."""
    while moves := moves_of(position):
        upper = len(position.open) >= round(position.board.cells * UPPER_SHARE)
        tried = in_order(moves, present(upper))
        winning = [number for number, move in enumerate(tried) if move.wins]
        if winning:
            del tried[winning[0] + 1 :]
            if len(moves) > 1:
                yield Choice(upper, moves)
        chosen = rng.choices(tried, [move.nodes for move in tried])[0]
        position = position.play(position.board.name(chosen.cell))


def choices(board: Board, split: str, walks: int, seed: int) -> list[Choice]:
    """Return the choices met on random walks from openings of a split (`split.py`)."""
    rng = random.Random(f"{seed}/{split}")
    where = class_splits(board)
    own = [cells for cells, number in classes(board).items() if SPLITS[where[number]] == split]
    found: list[Choice] = []
    for _ in range(walks):
        found.extend(walk(position_of(board, *rng.choice(own)), rng))
    return found


def cost(some: Sequence[Choice], weights: Weights) -> float:
    """Return the mean ratio of an order's nodes to those of the present order."""
    ratios = [one.nodes(weights) / one.nodes(present(one.upper)) for one in some]
    return sum(ratios) / max(1, len(ratios))


def learned(some: Sequence[Choice], upper: bool) -> Weights:
    """Return the weights that cost the fewest nodes in one part of the tree; that of a way on is
    always 1.
    """
    part = [one for one in some if one.upper == upper]
    sizes = range(LARGEST_WEIGHT + 1)
    tried = [(1, *more) for more in product(sizes, sizes if upper else (0,))]
    return min(tried, key=lambda weights: cost(part, weights))


def main() -> None:
    """Learn the weights from training openings and print what they cost on test openings."""
    reads = argparse.ArgumentParser(description=main.__doc__)
    reads.add_argument("--board", default="7x7")
    reads.add_argument("--walks", type=int, default=400)
    reads.add_argument("--seed", type=int, default=0)
    given = reads.parse_args()
    board = Board.named(given.board)
    train, test = (choices(board, one, given.walks, given.seed) for one in ("train", "test"))
    print_line(f"{len(train)} choices of training openings, {len(test)} of test openings")
    best = {upper: learned(train, upper) for upper in (True, False)}
    for upper, part in ((True, "upper part"), (False, "lower part")):
        trained, tested = ([one for one in some if one.upper == upper] for some in (train, test))
        print_line(f"{part}, nodes ÷ those of {present(upper)} in training and test")
        for weights in (best[upper], (1, 0, 0), (1, 1, 0), (1, 2, 0), (1, 4, 0), (1, 8, 0)):
            ratios = (cost(some, weights) for some in (trained, tested))
            print_line(f"  {weights}  " + "  ".join(f"{ratio:.3f}" for ratio in ratios))


if __name__ == "__main__":
    main()
