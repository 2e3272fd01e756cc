"""Run benchmarks by name, and list them, for ``python -m benchmarks``."""

from __future__ import annotations

import ast
import importlib
import json as json_module
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent

DEFAULT = (
    "python_baseline",
    "deepening",
    "student",
    "cpp",
    "evaluation_cost",
    "user_heuristic",
    "course_library",
    "solver",
    "arena",
    "startup",
    "signature",
)
ON_REQUEST = ("time_budget", "board_size", "million_games")
"""Benchmarks that take a minute or more and seldom change."""

BY_NAME = (
    "in_process",
    "course_process",
    "student_score",
    "page",
    "equal_time",
    "reflections",
    "environments",
)
"""Benchmarks that run only by name; pages other than docs/performance.md report their results."""


def module(name: str) -> ModuleType:
    """Import and return a module of this package."""
    return importlib.import_module(f"{__package__}.{name}")


def show_names(json: bool = False) -> None:
    """Print the name of every benchmark and what it measures, without importing any."""
    about = {}
    for name in DEFAULT + ON_REQUEST + BY_NAME:
        text = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8")))
        about[name] = (text or "").split("\n\n")[0].replace("\n", " ")
    if json:
        when = {"default": DEFAULT, "on_request": ON_REQUEST, "by_name": BY_NAME}
        print(json_module.dumps({**when, "about": about}))
        return
    width = max(map(len, about))
    for name, text in about.items():
        only = "" if name in DEFAULT else " (only by name or with --all)"
        if name in BY_NAME:
            only = " (only by name)"
        print(f"{name:<{width}}  {text}{only}")


def main(json: bool = False, only: list[str] | None = None, everything: bool = False) -> None:
    """Run the benchmarks in `only`, or all if `everything`, else the quicker ones; print them.

    The JSON output is the format of docs/measured.json.
    """
    from knightfall.display.numbers import duration
    from knightfall.errors import KnightfallError

    known = DEFAULT + ON_REQUEST + BY_NAME
    names = list(only or (DEFAULT + ON_REQUEST if everything else DEFAULT))
    for name in names:
        if name not in known:
            raise KnightfallError(f"unknown benchmark {name!r}; known: {', '.join(known)}")
    measured: dict[str, Any] = {"machine": module("machine").describe(), "benchmarks": {}}
    for name in names:
        print(f"{name} …", end=" ", file=sys.stderr, flush=True)
        benchmark, start = module(name), time.perf_counter()
        found = benchmark.run().to_json()
        seconds = time.perf_counter() - start
        measured["benchmarks"][name] = {"about": benchmark.SUMMARY, "seconds": seconds, **found}
        print(duration(seconds), file=sys.stderr, flush=True)
    if json:
        print(json_module.dumps(measured, indent=1, ensure_ascii=False))
        return
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console.width = 120
    module("report").print_results(console, measured)
