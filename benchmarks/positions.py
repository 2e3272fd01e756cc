"""The positions the benchmarks search: fixed, so that node counts can be compared for ever."""

from __future__ import annotations

import random

from knightfall.position import Position

# Twenty 7×7 positions, four each with 47 (an opening), 45, 43, 41 and 39 open cells: from
# random.Random(1), both placements and 0, 2, 4, 6, 8 random legal moves in turn; games in which
# the side to move was left with fewer than two moves were thrown away.
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
    "6*/4*2/5**/3*1*1/5N1/4*1*/6n w",
    "7/7/7/7/4N2/7/1n5 w",
    "7/5*1/6*/4N2/5n1/7/7 w",
    "7/7/7/7/1N1*1*1/6n/2*1*2 w",
    "7/7/1*5/3*3/2*1N2/2*1*2/1n4* w",
    "7/7/7/1*3N1/*1*n3/*1*1*2/1**4 w",
    "7/7/7/2N4/4n2/7/7 w",
    "1*5/3n3/7/7/7/6N/4*2 w",
    "7/7/5*1/5n1/4*2/6*/4*N1 w",
    "5*1/3*N2/4*1*/6*/4n*1/7/7 w",
    "5*1/7/4*1*/3n2N/4**1/1**4/3*3 w",
)


def fixed_positions() -> list[Position]:
    """The twenty of them."""
    return [Position.from_fen(fen) for fen in FENS]


def sampled_positions(how_many: int, seed: int) -> list[Position]:
    """Positions from all of random 7×7 games: both knights placed, the side to move can move."""
    rng = random.Random(seed)
    found: list[Position] = []
    while len(found) < how_many:
        position = Position.start(7, 7)
        while position.legal_moves:
            if position.placed:
                found.append(position)
            position = position.play(rng.choice(position.legal_moves))
    return found[:how_many]
