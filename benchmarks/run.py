"""Run the benchmarks: ``python benchmarks/run.py`` or ``knightfall bench``.

With ``--write-docs`` everything but `board_size` is run, `time_budget` included (about half an
hour; ``--calls`` shortens it), and docs/performance.md is written from the results.  What
docs/theory.md says about `solver` and `board_size` is measured by ``make measure``.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import json as json_module
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGE = "knightfall_benchmarks"

DEFAULT = (
    "python_baseline",
    "deepening",
    "cpp",
    "evaluation_cost",
    "user_heuristic",
    "solver",
    "arena",
    "startup",
    "signature",
)
ON_REQUEST = ("time_budget", "board_size", "million_games")
WRITTEN = (*DEFAULT, "time_budget", "million_games")
"""What docs/performance.md tells."""


def module(name: str) -> ModuleType:
    """A module of this folder.

    The folder becomes a package of a name of its own, whatever it is called and however this
    file was loaded.
    """
    if PACKAGE not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            PACKAGE, HERE / "__init__.py", submodule_search_locations=[str(HERE)]
        )
        assert spec is not None
        assert spec.loader is not None
        package = importlib.util.module_from_spec(spec)
        sys.modules[PACKAGE] = package
        spec.loader.exec_module(package)
    return importlib.import_module(f"{PACKAGE}.{name}")


def show_names(json: bool = False) -> None:
    """Print what there is to run, and what each is about; nothing is loaded for it."""
    about = {}
    for name in DEFAULT + ON_REQUEST:
        text = ast.get_docstring(ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8")))
        about[name] = (text or "").split("\n\n")[0].replace("\n", " ")
    if json:
        print(json_module.dumps({"default": DEFAULT, "on_request": ON_REQUEST, "about": about}))
        return
    width = max(map(len, about))
    for name, text in about.items():
        only = "" if name in DEFAULT else " (only by name)"
        print(f"{name:<{width}}  {text}{only}")


def main(
    json: bool = False,
    only: list[str] | None = None,
    *,
    calls: int | None = None,
    write_docs: bool = False,
) -> None:
    """Run the benchmarks named in `only` (by default all but the slow ones) and print them.

    `calls` is how often `time_budget` calls its agents.  `write_docs` runs what
    docs/performance.md tells and writes it.
    """
    names = list(only or (WRITTEN if write_docs else DEFAULT))
    known = DEFAULT + ON_REQUEST
    for name in names:
        if name not in known:
            from knightfall.errors import KnightfallError

            raise KnightfallError(f"no benchmark {name!r}: there are {', '.join(known)}")
    if calls is not None:
        os.environ["KNIGHTFALL_BENCH_CALLS"] = str(calls)
    machine = module("machine").describe()
    summaries, results = {}, {}
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        benchmark = module(name)
        summaries[name], results[name] = benchmark.SUMMARY, benchmark.run()
    if json:
        found: dict[str, Any] = {name: result.to_json() for name, result in results.items()}
        report = {"machine": machine, "benchmarks": found}
        print(json_module.dumps(report, indent=2, ensure_ascii=False))
    else:
        from rich.console import Console

        console = Console()
        if not console.is_terminal:
            console.width = 120
        module("report").print_results(console, machine, summaries, results)
    if write_docs:
        written = module("document").write(HERE.parent / "docs", machine, summaries, results)
        for path in written:
            print(f"wrote {path}", file=sys.stderr)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        help=f"run this one; may be repeated ({', '.join(DEFAULT + ON_REQUEST)})",
    )
    parser.add_argument("--calls", type=int, help="calls that time_budget makes (10000)")
    parser.add_argument(
        "--write-docs",
        action="store_true",
        help="run everything that docs/performance.md tells and write it",
    )
    given = parser.parse_args()
    if given.write_docs and given.only:
        parser.error("--write-docs has its own list: it cannot be used with --only")
    return given


if __name__ == "__main__":
    given = _arguments()
    main(json=given.json, only=given.only, calls=given.calls, write_docs=given.write_docs)
