"""The exact solver against the plain method in C++, and what each idea is worth."""

from __future__ import annotations

import ctypes
import random
import subprocess
from collections.abc import Callable
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
"""As large a table as the solver's: that many megabytes of one-word entries."""
SMALL_BITS = 18

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
    """Random openings, always the same."""
    rng, board = random.Random(SEED), Board.of(7, 7)
    return [position_of(board, *rng.sample(range(board.cells), 2)) for _ in range(how_many)]


def cpp_solver(bits: int, *flags: str) -> Solve:
    """`solver.cpp` with some flags, as a function of a position."""
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
    """The solver, with an empty table each time."""

    def solve(position: Position) -> tuple[bool, int]:
        engine = Engine(position.board, threads=threads)
        return engine.wins(position), engine.nodes

    return solve


def run(how_many: int = OPENINGS, rounds: int = ROUNDS, classes: bool = True) -> Result:
    """All must agree on every winner."""
    positions = openings(how_many)
    truth = [ours()(position)[0] for position in positions]
    single = _time(ours(), positions, truth, rounds)
    spent = _by_threads(positions, rounds)
    ratios = {"two threads: speed ÷ one": Ratio(spent[1] / spent[2], at_least=THREADS_GOAL)}
    rows: list[dict[str, Any]] = [
        {
            "idea": "knightfall",
            "nodes": sum(ours()(position)[1] for position in positions),
            "seconds": single,
        }
    ]
    notes = []
    if compiler() is None:
        notes.append("Skipped: no C++ compiler found (looked for $CXX, g++ and clang++)")
    else:
        plain = {
            "-O3": cpp_solver(BITS, "-O3"),
            "-O3 -march=native": cpp_solver(BITS, "-O3", "-march=native"),
            f"-O3, a table of {8 << SMALL_BITS >> 20} MB": cpp_solver(SMALL_BITS, "-O3"),
        }
        for name, solve in plain.items():
            spent = _time(solve, positions, truth, rounds)
            goal = GOAL if name == "-O3" else None
            ratios[f"time ÷ C++ {name}"] = Ratio(single / spent, at_most=goal)
        rows += _ideas(positions, truth, rounds)
    figures: dict[str, Any] = {"openings": how_many, "table MB": TABLE_MB}
    if classes:
        figures |= _all_classes(ratios)
    return Result(ratios=ratios, figures=figures, rows=rows, notes=notes)


def _time(solve: Solve, positions: list[Position], truth: list[bool], rounds: int) -> float:
    if [solve(position)[0] for position in positions] != truth:
        raise AssertionError("the solvers do not agree")
    return fastest({"": lambda: [solve(position) for position in positions]}, rounds)[""]


def _by_threads(positions: list[Position], rounds: int) -> dict[int, float]:
    """Time by number of threads, one opening after the other, in turns; new tables not counted."""
    best = dict.fromkeys((1, 2), float("inf"))
    for _ in range(rounds):
        total = dict.fromkeys(best, 0.0)
        for position in positions:
            for threads in total:
                engine = Engine(position.board, threads=threads)
                total[threads] += seconds_of(lambda e=engine, p=position: e.wins(p))
        best = {threads: min(best[threads], total[threads]) for threads in best}
    return best


def _ideas(positions: list[Position], truth: list[bool], rounds: int) -> list[dict[str, Any]]:
    """What each idea is worth, in C++ for this machine and a table that fits its cache."""
    rows = []
    for name, switches in IDEAS.items():
        flags = [f"-D{switch}" for switch in switches]
        try:
            solve = cpp_solver(SMALL_BITS, "-O3", "-march=native", *flags)
        except subprocess.CalledProcessError as error:
            raise AssertionError(f"{name}: {error.stderr}") from None
        seconds = _time(solve, positions, truth, rounds)
        nodes = sum(solve(position)[1] for position in positions)
        rows.append({"idea": f"C++: {name}", "nodes": nodes, "seconds": seconds})
    return rows


def _all_classes(ratios: dict[str, Ratio]) -> dict[str, Any]:
    """Every class of 7×7 openings once, with an empty table each."""
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
