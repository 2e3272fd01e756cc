"""``knightfall bench``: fixed workloads, told as ratios."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from knightfall.cli.options.common import Json
from knightfall.errors import KnightfallError

Only = Annotated[
    list[str] | None, typer.Option("--only", metavar="NAME", help="Run this one; may be repeated.")
]
All = Annotated[bool, typer.Option("--all", help="Also run those that take minutes.")]
List = Annotated[bool, typer.Option("--list", help="Only name them.")]


def bench(only: Only = None, all_: All = False, list_: List = False, json: Json = False) -> None:
    """Run the benchmarks.

    Node counts that must not change, and speed as ratios within one run.

    \b
    Examples:
      knightfall bench
      knightfall bench --list
      knightfall bench --only cpp --json
      knightfall bench --all
    """
    if only and all_:
        raise KnightfallError(f"--all runs every benchmark: leave out --only {only[0]}, or --all")
    benchmarks = _load(_folder() / "run.py")
    if list_:
        benchmarks.show_names(json=json)
    else:
        benchmarks.main(json=json, only=list(only or []), everything=all_)


def _folder() -> Path:
    """Where the benchmarks are: inside an installed package, or beside src in a checkout."""
    package = Path(__file__).resolve().parents[2]
    places = [package / "_benchmarks", package.parent.parent / "benchmarks"]
    for place in places:
        if (place / "run.py").is_file():
            return place
    raise KnightfallError(
        f"the benchmarks are not here: there is no run.py in {' or in '.join(map(str, places))}"
    )


def _load(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("knightfall_benchmarks_run", path)
    if spec is None or spec.loader is None:
        raise KnightfallError(f"{path} cannot be loaded as a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # as an import would
    spec.loader.exec_module(module)
    return module
