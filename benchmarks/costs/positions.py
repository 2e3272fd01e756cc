"""Positions for timing heuristics: those in which an agent's time is short.

They come from fourteen 7×7 games of `AB_Improved`, two against each opponent of the later protocol,
once from either seat, from openings drawn by random.Random(1). They are every third position in
which it was to move and could not see the end of the game with its 2,500 nodes. If the end is in
sight the search finishes early, so the cost of a node does not matter.
"""

from __future__ import annotations

from random import Random

from knightfall.agents import parse_agent
from knightfall.board import Board
from knightfall.openings import openings
from knightfall.position import Position

FENS = (
    "7/4*2/n1N4/2*4/7/7/7 w",
    "2*4/*3*2/*N*4/2*4/1*5/2n4/*6 w",
    "2*4/*2**2/***2*1/1**N3/1*n4/*1*4/*6 w",
    "7/7/7/6n/5N1/7/6* b",
    "3*3/5*1/2n4/6*/1*3*1/3*3/2N3* b",
    "3*3/n4*1/2*2N1/1*4*/1*1*1**/3**2/2*3* b",
    "2**N2/*3**1/2**1*1/1*3n*/1*1****/3**2/2*3* b",
    "5N1/7/5n1/7/7/7/7 w",
    "4**1/3*3/3*1*1/1n*4/7/3N3/7 w",
    "4**1/3*N2/3*1**/1**4/3*1*1/3*n2/2*4 w",
    "4**1/3**2/N1**1**/1**4/1***n*1/3**2/2**3 w",
    "7/1N5/1n5/*1*4/*6/1**4/7 b",
    "1*1*3/1*1*N2/n**4/*1*4/*6/1**4/7 b",
    "1*1*3/1*1**2/****3/*1*2*1/**N2n1/1***3/7 b",
    "1*1*3/1*1**2/****2*/*1*1**1/***N1*n/1***1*1/3*3 b",
    "1**4/3*3/N*5/7/2n4/7/7 w",
    "1**4/2n*3/**1*3/1**4/2*N3/1*5/7 w",
    "1***3/2**3/**n**2/1**4/2**1*1/1*5/4*1N w",
    "7/6*/N3n2/7/1*5/7/*6 b",
    "3*3/2*2**/*2n*2/1*5/1*5/2N4/*6 b",
    "2**3/2*N1**/**1**2/1**4/**n4/2*4/*6 b",
    "7/7/3n3/7/7/3N3/7 w",
    "7/7/3*n2/5*1/3*1*1/3*2N/4*2 w",
    "3*3/3N3/2***2/2*1n*1/3***1/3*2*/4*2 w",
    "3*2*/3*N2/2****1/2*n**1/3****/3**1*/4*2 w",
    "7/7/*2N3/5*1/1*1*3/3n1*1/7 b",
    "3n3/3N3/****3/4**1/1***3/3*1*1/7 b",
    "3*3/2N*1*1/****1*1/3****/1***n2/3*1*1/7 b",
    "3*3/1n5/4*2/6*/4*2/5N1/7 w",
    "2**3/1*2n2/3**2/N5*/2*1*2/5*1/3*3 w",
    "2**n2/1*2*1*/2***2/*4**/2***2/5*1/3*N2 w",
    "7/7/3*3/7/4N2/7/2n4 b",
    "7/7/3**2/6*/1*2*N1/2n4/*1*4 b",
    "7/7/1*1**2/3N2*/**n1**1/2*1*2/*1*3* b",
    "4*2/2*4/1*1**N1/*2*2*/***1**1/1**1*2/*1*n2* b",
    "*2N3/1*5/1n5/7/7/7/7 w",
    "*2*3/1*3N1/1*n1*2/3*2*/1*5/7/7 w",
    "*2*3/1*3*1/1**n*2/1*1**1*/1***3/7/3N3 w",
    "7/7/3n3/7/2*2N1/6*/4*2 b",
    "2*4/2*n3/1*1*N2/3*3/2*2*1/6*/4*2 b",
    "2*4/2**3/**1**2/2***2/1N*n1*1/5**/4*2 b",
    "N1*4/1*5/1*5/*1n4/7/7/7 w",
    "*1*4/1**4/**5/*1*4/*N5/2*4/4n2 w",
    "*1*4/***4/***4/*N*4/**3*1/2*1n2/4*1* w",
    "*1*4/***4/****3/***2*1/***1n*1/2*1*1*/3N*1* w",
    "7/2*2*1/N3*2/6*/5*1/5n1/7 b",
    "7/2**1*1/*N*1*2/2*1n1*/3*1*1/5*1/7 b",
    "2*4/2****1/***1*2/2*N*1*/n1**1*1/5*1/1*5 b",
)


def large_positions(games: int = 14) -> tuple[str, ...]:
    """Return unproven positions of 8×8 from games of `improved` against itself, every third one."""
    rng, agent, found = Random(1), parse_agent("id(improved, nodes=2500)"), []
    starts = openings(Board.of(8, 8))
    for _ in range(games):
        position = Position.from_fen(rng.choice(starts))
        while position.winner is None:
            report = agent.analyse(position)
            if not report.proven:
                found.append(position.fen)
            position = position.play(report.move)
    return tuple(found[::3])
