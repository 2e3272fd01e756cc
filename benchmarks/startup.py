"""Startup time of the command line: help, an analysis, and the very first analysis."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from .measure import fastest, seconds_of
from .result import Ratio, Result

SUMMARY = "Wall time of whole commands, in seconds and ÷ `python -c pass`"
ROUNDS = 5
GOALS = {
    "knightfall --help": 0.3,
    "knightfall analyse": 1.5,
    "knightfall analyse, the very first": 30.0,
}
KNIGHTFALL = [sys.executable, "-c", "from knightfall.cli import main; main()"]
HELP = [*KNIGHTFALL, "--help"]
FEN = "7/7/1N5/7/7/4n2/7 w"
ANALYSE = [*KNIGHTFALL, "analyse", FEN, "--agent", "id(improved, nodes=2500)", "--json"]
PYTHON = [sys.executable, "-c", "pass"]


def run(rounds: int = ROUNDS) -> Result:
    """Measure commands; only the first analysis may compile, and must say so.

    They use a temporary cache folder, so that other runs have no influence.
    """
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "KNIGHTFALL_CACHE_DIR": cache}
        environment.pop("KNIGHTFALL_QUIET", None)

        def command(arguments: list[str]) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                arguments, capture_output=True, text=True, check=True, env=environment
            )

        said: list[str] = []
        first = seconds_of(lambda: said.append(command(ANALYSE).stderr))
        if "compiling" not in said[0]:
            raise AssertionError(f"the first run did not say that it compiles: {said[0]!r}")
        second = command(ANALYSE)
        if "compiling" in second.stderr:
            raise AssertionError(f"a later run compiled again: {second.stderr!r}")
        json.loads(second.stdout)
        times = fastest(
            {
                "python -c pass": lambda: command(PYTHON),
                "knightfall --help": lambda: command(HELP),
                "knightfall analyse": lambda: command(ANALYSE),
            },
            rounds,
        )
    times["knightfall analyse, the very first"] = first
    bare = times["python -c pass"]
    return Result(
        ratios={
            name: Ratio(seconds / bare) for name, seconds in times.items() if seconds is not bare
        }
        | {f"{name}, in seconds": Ratio(times[name], at_most=goal) for name, goal in GOALS.items()},
        figures={f"{name}: seconds": seconds for name, seconds in times.items()},
        notes=["The very first analysis compiles everything and says so; it was run once"],
    )
