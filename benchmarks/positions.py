"""Fixed positions that the benchmarks search, so that node counts stay comparable."""

from __future__ import annotations

import random

from knightfall.position import Position

# Twenty 7×7 positions, four each with 47 (an opening), 45, 43, 41 and 39 open cells. They are made
# with random.Random(1): both placements, then 0, 2, 4, 6, 8 random legal moves in turn. Finished
# games were dropped, and so were positions that id(improved, depth=14) proves won or lost.
FENS = (
    "7/1N5/7/7/7/2n4/7 w",
    "4*2/2n4/7/7/7/4N2/6* w",
    "7/7/7/7/*1n*1N1/7/1*2*2 w",
    "1*5/2*4/*3n2/7/3*2N/4*2/2*4 w",
    "1*5/1*1N3/*1*4/*1*4/3*3/1n5/4*2 w",
    "7/6n/7/7/7/7/1N5 w",
    "7/5N1/7/6*/7/3n3/5*1 w",
    "4N2/2*4/*6/7/1*5/n6/2*4 w",
    "7/2*4/*3*2/2N*3/5n1/4*2/2*4 w",
    "4N2/6*/4*2/6*/2*n*2/*6/1**4 w",
    "7/7/1N5/7/7/7/6n w",
    "7/7/2N4/4*1*/4n2/7/7 w",
    "7/7/7/2n4/1N5/**5/2**3 w",
    "7/7/7/2*4/1*2*2/N2*3/*n*4 w",
    "1*5/2N4/*1*4/4*1n/3*2*/5*1/5*1 w",
    "7/7/n6/7/4N2/7/7 w",
    "*6/2N3*/4n2/7/7/7/7 w",
    "7/7/7/1*5/3**2/6*/2n1N2 w",
    "7/7/7/3*3/n2*3/*1*1*2/2*1N2 w",
    "5*1/7/4*1*/3n2N/4**1/1**4/3*3 w",
)

# Twenty more made the same way with random.Random(20261116), after the search was last tuned:
# nothing was ever tuned on them.
HELD_OUT = (
    "7/6N/n6/7/7/7/7 w",
    "7/7/7/4*2/2nN3/5*1/7 w",
    "5*1/3n3/6*/7/7/2N3*/4*2 w",
    "*6/2*4/7/N2*3/2*2n1/*6/2*4 w",
    "1*5/5n1/*1*4/2*1*2/N4*1/3*3/4*2 w",
    "7/4N2/1n5/7/7/7/7 w",
    "*6/2n4/7/1N5/7/2*4/7 w",
    "7/5n1/2*4/4*1*/1N2*2/7/7 w",
    "7/1N5/1*5/2*4/*1n4/3*3/1*3*1 w",
    "2*2*1/N3*2/1n2*2/2**3/*6/2*4/7 w",
    "7/7/7/7/7/4nN1/7 w",
    "7/7/4*1*/7/3n1N1/7/7 w",
    "7/5*1/1*5/3**1n/1N5/7/7 w",
    "7/*6/2*4/7/1*1*3/1*3*1/2nN3 w",
    "*1*4/*1*N3/**n*3/7/4*2/7/7 w",
    "1N5/7/7/7/7/4n2/7 w",
    "7/3N3/1*n4/*6/7/7/7 w",
    "7/1*5/3N3/2*4/7/2n3*/4*2 w",
    "7/2*2*1/5*1/1N1**1*/4n2/7/7 w",
    "*6/1**4/7/*1**3/n6/1**4/4N2 w",
)


def fixed_positions() -> list[Position]:
    """Return the twenty positions on which the search was tuned."""
    return [Position.from_fen(fen) for fen in FENS]


def held_out_positions() -> list[Position]:
    """Return the twenty positions on which it was not tuned."""
    return [Position.from_fen(fen) for fen in HELD_OUT]


def sampled_positions(how_many: int, seed: int) -> list[Position]:
    """Return positions from random 7×7 games: both knights placed, the side to move can move."""
    rng = random.Random(seed)
    found: list[Position] = []
    while len(found) < how_many:
        position = Position.start(7, 7)
        while position.legal_moves:
            if position.placed:
                found.append(position)
            position = position.play(rng.choice(position.legal_moves))
    return found[:how_many]
