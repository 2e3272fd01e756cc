"""The compiled alpha-beta against the same function in C++ -O3: time for the same trees."""

from __future__ import annotations

import subprocess

from knightfall.heuristics.evaluator import evaluator
from knightfall.search.alphabeta import alphabeta

from .cpp_build import build, compiler, compiler_version, search_of
from .measure import fastest
from .positions import fixed_positions
from .result import Ratio, Result
from .searching import Call

SUMMARY = "Time of the Numba-compiled `alphabeta(improved)` ÷ time of the same function in C++"
GOAL = 1.25
DEPTH = 14
ROUNDS = 7
BUILDS = {"-O3 -march=native": ("-O3", "-march=native"), "-O3": ("-O3",)}
"""The goal is for -O3. Numba compiles for the host machine, so -march=native is also shown."""


def run(depth: int = DEPTH, rounds: int = ROUNDS) -> Result:
    """Measure all builds on the same trees (checked: nodes, scores, principal variations)."""
    if compiler() is None:
        return Result(skipped="no C++ compiler found (looked for $CXX, g++ and clang++)")
    try:
        searches = {name: search_of(build(*flags)) for name, flags in BUILDS.items()}
    except subprocess.CalledProcessError as error:
        return Result(skipped=f"alphabeta.cpp does not compile: {error.stderr.strip()}")
    improved = evaluator("improved")
    nodes, spent = 0, dict.fromkeys(["Numba", *searches], 0.0)
    for position in fixed_positions():
        call = Call(position, depth)
        call.compiled(alphabeta, improved)
        expected = call.found
        nodes += expected.nodes
        sides = {"Numba": lambda call=call: call.compiled(alphabeta, improved)}
        for name, search in searches.items():
            twin = Call(position, depth)
            search(twin.boards, twin.states, *twin.words)
            if twin.found != expected:
                raise AssertionError(f"{position}: Numba {expected}, C++ {name} {twin.found}")
            sides[name] = lambda search=search, twin=twin: search(
                twin.boards, twin.states, *twin.words
            )
        for name, seconds in fastest(sides, rounds).items():
            spent[name] += seconds
    native, portable = BUILDS
    return Result(
        ratios={
            f"time ÷ C++ {native}": Ratio(spent["Numba"] / spent[native]),
            f"time ÷ C++ {portable}": Ratio(spent["Numba"] / spent[portable], at_most=GOAL),
        },
        figures={
            "compiler": compiler_version(),
            "depth": depth,
            "positions": len(fixed_positions()),
            "nodes": nodes,
            **{f"{name} nodes per second": nodes / seconds for name, seconds in spent.items()},
        },
    )
