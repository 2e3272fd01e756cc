"""The exact solver against the plain method in C++, and what each improvement contributes."""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from knightfall.board import Board
from knightfall.position import Position
from knightfall.solver.atlas import position_of, representatives
from knightfall.solver.engine import TABLE_MB, Engine

from .cpp_build import build_from, compiler
from .measure import fastest, percentile, seconds_of
from .result import Ratio, Result

SUMMARY = "Win or loss of forty random 7×7 openings: time ÷ that of the plain method in C++"
GOAL, THREADS_GOAL = 0.5, 1.6
OPENINGS, SEED = 40, 7
ROUNDS = 3
SOURCE = Path(__file__).parent / "solver.cpp"
BITS = (TABLE_MB << 20).bit_length() - 1 - 3
"""Binary logarithm of the table's number of 8-byte entries; the table is as large as the solver's.
"""
SMALL_BITS = 18

PLAIN = {
    "-O3": (BITS, "-O3"),
    "-O3 -march=native": (BITS, "-O3", "-march=native"),
    f"-O3, a table of {8 << SMALL_BITS >> 20} MB": (SMALL_BITS, "-O3"),
}
"""The plain method's table size and compiler flags."""

IDEAS = {
    "plain": (),
    "see the end two plies early": ("TRAPPED=1",),
    "… table only above 30 open cells": ("TRAPPED=1", "TABLE_FROM=30"),
    "… order by space above 30": ("TRAPPED=1", "TABLE_FROM=30", "SPACE_FROM=30"),
    "… and children looked up first": (
        "TRAPPED=1",
        "TABLE_FROM=30",
        "SPACE_FROM=30",
        "CUTOFFS=1",
    ),
    "early end and separation": ("TRAPPED=1", "SEPARATION=1"),
    "… and unreachable cells left out": ("TRAPPED=1", "SEPARATION=1", "REACHABLE=1"),
    "order by space everywhere": ("TRAPPED=1", "TABLE_FROM=30", "SPACE_FROM=0"),
}

Solve = Callable[[Position], tuple[bool, int]]


def openings(how_many: int = OPENINGS) -> list[Position]:
    """Return random openings, always the same."""
    rng, board = random.Random(SEED), Board.of(7, 7)
    return [position_of(board, *rng.sample(range(board.cells), 2)) for _ in range(how_many)]


def cpp_solver(bits: int, *flags: str) -> Solve:
    """Return `solver.cpp`, compiled with these flags, as a function of a position."""
    entry = build_from(SOURCE, *flags).solve
    entry.argtypes = [ctypes.c_int] * 4 + [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
    table, nodes = np.zeros(1 << bits, np.uint64), ctypes.c_int64()

    def solve(position: Position) -> tuple[bool, int]:
        table.fill(2**64 - 1)
        board, white, black = position.board, position.knight("w"), position.knight("b")
        address = table.ctypes.data
        won = entry(board.width, board.height, white, black, address, bits, ctypes.byref(nodes))
        return bool(won), nodes.value

    return solve


def ours(threads: int = 1) -> Solve:
    """Return the solver as a function of a position, with an empty table each time."""

    def solve(position: Position) -> tuple[bool, int]:
        engine = Engine(position.board, threads=threads)
        return engine.wins(position), engine.nodes

    return solve


def run(how_many: int = OPENINGS, rounds: int = ROUNDS, classes: bool = True) -> Result:
    """Measure all solvers; they must agree on every winner."""
    positions = openings(how_many)
    solvers, notes = {"knightfall": ours()}, []
    if compiler() is None:
        notes.append("Skipped: no C++ compiler found (looked for $CXX, g++ and clang++)")
    else:
        solvers |= _in_cpp()
    nodes, seconds = _race(solvers, positions, rounds)
    by_threads = _by_threads(positions, rounds)
    speedup = Ratio(by_threads[1] / by_threads[2], at_least=THREADS_GOAL)
    ratios = {"two threads: speed ÷ one": speedup}
    for name in PLAIN:
        if name in seconds:
            goal = GOAL if name == "-O3" else None
            ratios[f"time ÷ C++ {name}"] = Ratio(
                seconds["knightfall"] / seconds[name], at_most=goal
            )
    rows = [
        {"idea": name, "nodes": nodes[name], "seconds": seconds[name]}
        for name in solvers
        if name not in PLAIN
    ]
    figures: dict[str, Any] = {"openings": how_many, "table MB": TABLE_MB}
    if classes:
        figures |= _all_classes(ratios)
    return Result(ratios=ratios, figures=figures, rows=rows, notes=notes)


def _in_cpp() -> dict[str, Solve]:
    """Return the C++ solvers: the plain method, and variants with more and more improvements."""
    ideas = {
        f"C++: {name}": (SMALL_BITS, "-O3", "-march=native", *(f"-D{one}" for one in switches))
        for name, switches in IDEAS.items()
    }
    solvers = {}
    for name, (bits, *flags) in (PLAIN | ideas).items():
        try:
            solvers[name] = cpp_solver(bits, *flags)
        except subprocess.CalledProcessError as error:
            raise AssertionError(f"{name}: {error.stderr}") from None
    return solvers


def _race(
    solvers: dict[str, Solve], positions: list[Position], rounds: int
) -> tuple[dict[str, int], dict[str, float]]:
    """Return nodes and shortest time of each solver over all positions, timed in turns."""
    nodes: dict[str, int] = {}
    winners: list[list[bool]] = []

    def solve_all(name: str) -> None:
        found = [solvers[name](position) for position in positions]
        nodes[name] = sum(spent for _, spent in found)
        winners.append([won for won, _ in found])
        if winners[-1] != winners[0]:
            raise AssertionError(f"{name} does not agree with {next(iter(solvers))}")

    return nodes, fastest({name: partial(solve_all, name) for name in solvers}, rounds)


def _by_threads(positions: list[Position], rounds: int) -> dict[int, float]:
    """Return the shortest time with one and with two threads, without the allocation of tables."""
    best = dict.fromkeys((1, 2), float("inf"))
    for _ in range(rounds):
        total = dict.fromkeys(best, 0.0)
        for position in positions:
            for threads in total:
                engine = Engine(position.board, threads=threads)
                total[threads] += seconds_of(lambda e=engine, p=position: e.wins(p))
        best = {threads: min(best[threads], total[threads]) for threads in best}
    return best


def _all_classes(ratios: dict[str, Ratio]) -> dict[str, Any]:
    """Solve every class of 7×7 openings once, with an empty table each."""
    board = Board.of(7, 7)
    engines = ours()
    spent = []
    for cells in representatives(board):
        position = position_of(board, *cells)
        spent.append(min(seconds_of(lambda p=position: engines(p)) for _ in range(2)))
    spent.sort()
    ratios["median 7×7 opening, in seconds"] = Ratio(percentile(spent, 0.5), at_most=0.1)
    ratios["slowest 7×7 opening, in seconds"] = Ratio(spent[-1], at_most=1.0)
    return {
        "classes of 7×7 openings": len(spent),
        "all of them, seconds": sum(spent),
        "second slowest, seconds": spent[-2],
    }
